//! The revenue of a window equals the sum of the listed orders and refunds in that window, exactly.

use std::collections::BTreeMap;

use domain::rollups;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use sea_orm::DbBackend;
use serde_json::{Value, json};

use crate::support::{TestApp, TestWorkspace};

const HOUR_MS: i64 = 3_600_000;
/// 2025-12-01T00:00:00Z in milliseconds since the epoch. All orders are paid within about ninety days from then.
const START_MS: i64 = 1_764_547_200_000;
const SPAN_MS: i64 = 90 * 24 * HOUR_MS;

/// The gross, discount, tax and refunded amounts and the numbers of orders and refunds, by currency.
type CurrencySums = BTreeMap<String, [i64; 6]>;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).expect("a time in the supported range")
}

/// Returns a random time in milliseconds since the epoch, often at the start of a day or quarter-hour, or one
/// millisecond before or after it.
fn random_time(random: &mut SmallRng) -> i64 {
    let ms = START_MS + random.random_range(0..SPAN_MS);
    let rounding_ms = [1, 1, HOUR_MS / 4, 24 * HOUR_MS][random.random_range(0..4)];
    (ms / rounding_ms) * rounding_ms + [0, 0, -1, 1][random.random_range(0..4)]
}

/// Returns changes with random orders and refunds, sorted by time.
fn random_orders(workspace: &TestWorkspace<'_>, random: &mut SmallRng) -> Vec<Value> {
    let mut changes = Vec::new();
    for number in 0..80 {
        let paid = random_time(random);
        let currency = ["USD", "EUR", "JPY"][random.random_range(0..3)];
        let mut items: Vec<Value> = Vec::new();
        let mut subtotal = 0;
        for course in ["rust", "ink"] {
            if random.random_range(0..3) == 0 {
                continue;
            }
            let (quantity, unit_amount) = (random.random_range(1..4), random.random_range(0..20_000));
            subtotal += quantity * unit_amount;
            items.push(json!({"course": course, "quantity": quantity, "unit_amount": unit_amount}));
        }
        if items.is_empty() {
            items.push(json!({"course": "rust", "unit_amount": 0}));
        }
        let (discount, tax) = (random.random_range(0..=subtotal), random.random_range(0..3_000));
        let data = json!({
            "key": format!("o{number}"), "number": format!("{number}"), "student": "ada", "currency": currency,
            "items": items, "discount_amount": discount, "tax_amount": tax,
        });
        changes.push((paid, workspace.build_change(&at(paid).to_string(), "order.pay", data)));
        let mut refundable = subtotal - discount + tax;
        while refundable > 0 && random.random_range(0..2) == 0 {
            let amount = random.random_range(1..=refundable);
            refundable -= amount;
            let refunded = paid.max(random_time(random)) + 1;
            let data = json!({"order": format!("o{number}"), "amount": amount});
            changes.push((refunded, workspace.build_change(&at(refunded).to_string(), "order.refund", data)));
        }
    }
    // The sort is stable, so changes of one order keep their order.
    changes.sort_by_key(|(at, _)| *at);
    changes.into_iter().map(|(_, change)| change).collect()
}

/// Computes the sums of a window from the listed orders.
fn sums_of_orders(orders: &[Value], from: Timestamp, to: Timestamp, course: Option<&str>) -> CurrencySums {
    let is_inside = |time: &Value| (from..to).contains(&crate::support::time(time));
    let amount = |value: &Value| value.as_i64().expect("an amount is an integer");
    let mut sums = CurrencySums::new();
    for order in orders {
        let items = order["items"].as_array().expect("items are a list");
        if course.is_some_and(|course| items.iter().all(|item| item["courseId"] != course)) {
            continue;
        }
        let currency = order["currency"].as_str().expect("a currency is a string").to_owned();
        if is_inside(&order["paid_at"]) {
            let sum = sums.entry(currency.clone()).or_default();
            sum[0] += amount(&order["total_amount"]);
            sum[1] += amount(&order["discount_amount"]);
            sum[2] += amount(&order["tax_amount"]);
            sum[4] += 1;
        }
        for refund in order["refunds"].as_array().expect("refunds are a list") {
            if is_inside(&refund["created_at"]) {
                let sum = sums.entry(currency.clone()).or_default();
                sum[3] += amount(&refund["amount"]);
                sum[5] += 1;
            }
        }
    }
    sums
}

/// Returns the sums of a summary or of a point of its series.
fn sums_of_summary(revenue: &Value) -> CurrencySums {
    let entries = revenue.as_array().expect("revenue is a list");
    let names = ["gross_amount", "discount_amount", "tax_amount", "refunded_amount", "orders", "refunds"];
    let sums: CurrencySums = entries
        .iter()
        .map(|entry| {
            let sum = names.map(|name| entry[name].as_i64().expect("a sum is an integer"));
            assert_eq!(entry["net_amount"], sum[0] - sum[3]);
            (entry["currency"].as_str().expect("a currency is a string").to_owned(), sum)
        })
        .collect();
    assert_eq!(sums.len(), entries.len(), "each currency occurs once: {revenue}");
    assert!(
        sums.keys().eq(entries.iter().map(|entry| entry["currency"].as_str().unwrap_or_default())),
        "the currencies are sorted"
    );
    sums
}

#[tokio::test]
async fn the_summary_equals_the_listed_orders_in_every_window() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let courses = [workspace.course("rust", 1).await, workspace.course("ink", 1).await];
    workspace.student("ada").await;
    let mut random = SmallRng::seed_from_u64(20_260_302);
    app.apply(&random_orders(&workspace, &mut random)).await;
    let orders = key.list_all("/api/v1/orders?limit=100").await;
    assert_eq!(orders.len(), 80);

    let zones = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"];
    for round in 0..40 {
        if round == 20 {
            // Merging the rollup shards of old days does not change the sums.
            let merged = rollups::merge_shards(&app.app).await.unwrap();
            assert_eq!(merged > 0, app.app.db.backend() == DbBackend::Postgres);
        }
        let (first, second) = (random_time(&mut random), random_time(&mut random));
        let (from, to) = (at(first.min(second)), at(first.max(second) + 1));
        let course = (round % 3 == 0).then(|| courses[round % 2].as_str());
        let (zone, interval) = (zones[round % 4], ["day", "week", "month"][round % 3]);
        let mut query = format!("from={from}&to={to}&timezone={zone}&interval={interval}");
        if let Some(course) = course {
            query += &format!("&courseId={course}");
        }
        let summary = key.get(&format!("/api/v1/analytics/summary?{query}")).await.assert_status(200).json();
        assert_eq!(
            sums_of_summary(&summary["revenue"]),
            sums_of_orders(&orders, from, to, course),
            "{query}"
        );

        let series = summary["series"].as_array().expect("the summary has a series");
        let mut starts: Vec<Timestamp> =
            series.iter().map(|point| crate::support::time(&point["starts_at"])).collect();
        assert_eq!(starts[0], from, "{query}");
        starts.push(to);
        for (point, span) in series.iter().zip(starts.windows(2)) {
            assert_eq!(
                sums_of_summary(&point["revenue"]),
                sums_of_orders(&orders, span[0], span[1], course),
                "{query} at {}",
                span[0]
            );
            let local = span[0].to_zoned(TimeZone::get(zone).expect("the zone exists"));
            assert!(span[0] == from || local.time() == jiff::civil::Time::midnight(), "{query} at {local}");
        }
    }
}
