//! Tests that the figures of any window equal the sums over the records.

use std::collections::{BTreeMap, BTreeSet};

use entity::enrollments::StoredEnrollmentStatus;
use entity::{SpanMs, certificates, enrollments, order_items, orders, refunds, students};
use jiff::Timestamp;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{FeedFixture, line};
use domain::analytics::{self, AnalyticsFigures, AnalyticsQuery, Interval, Revenue};
use domain::rollups::percent_complete;
use domain::workspaces;
use foundation::clock::from_ms;
use foundation::id::{CourseId, WorkspaceId};

/// 2026-01-10, 00:00 UTC.
const BASE_MS: i64 = 1_768_003_200_000;
const DAY_MS: i64 = 86_400_000;
const QUARTER_HOUR_MS: i64 = 900_000;

/// Returns a random time within 40 days, often close to the start of a day or a quarter-hour.
fn random_time(random: &mut StdRng) -> i64 {
    let day = BASE_MS + random.random_range(0..40) * DAY_MS;
    let offset = random.random_range(-1..=1);
    match random.random_range(0..4) {
        0 => day + offset,
        1 => day + random.random_range(0..96) * QUARTER_HOUR_MS + offset,
        // Many times within the same quarter-hour.
        2 => day + 10 * 3_600_000 + random.random_range(0..QUARTER_HOUR_MS),
        _ => day + random.random_range(0..DAY_MS),
    }
}

/// Returns a random change of a small school. The domain may reject it.
fn random_change(random: &mut StdRng, id: usize) -> String {
    let mut at = random_time(random);
    let student = format!("s-{}", random.random_range(0..12));
    let course = format!("c-{}", random.random_range(0..3));
    let lesson = format!("{course}-l-{}", random.random_range(0..3));
    let enrollment = json!({"student": student, "course": course});
    let (kind, data) = match random.random_range(0..100) {
        0..15 => ("student.upsert", json!({"key": student, "email": format!("{student}@example.com")})),
        15..18 => ("student.delete", json!({"student": student})),
        18..28 => {
            let expires_at = from_ms(random_time(random)).to_string();
            let expires_at = if random.random_bool(0.5) { Value::Null } else { expires_at.into() };
            ("enrollment.grant", json!({"student": student, "course": course, "expires_at": expires_at}))
        }
        28..34 => ("enrollment.revoke", enrollment),
        34..60 => ("progress.record", json!({"student": student, "course": course, "lesson": lesson})),
        60..65 => ("certificate.issue", enrollment),
        65..67 => ("course.upsert", course_data(&course, random.random_range(1..4))),
        67..85 => ("order.pay", random_order(random, id, &student)),
        _ => {
            // Refunds are later than payments.
            at += random.random_range(0..20) * DAY_MS;
            let amount =
                if random.random_bool(0.5) { Value::Null } else { random.random_range(1..3000).into() };
            (
                "order.refund",
                json!({"order": format!("o-{}", random.random_range(0..id.max(1))), "amount": amount}),
            )
        }
    };
    line(&format!("n-{id}"), kind, &from_ms(at).to_string(), data)
}

fn random_order(random: &mut StdRng, id: usize, student: &str) -> Value {
    let items: Vec<Value> = (0..random.random_range(1..4))
        .map(|_| {
            json!({"course": format!("c-{}", random.random_range(0..3)), "unit_amount": random.random_range(0..9999),
                "quantity": random.random_range(1..3)})
        })
        .collect();
    let currency = *["EUR", "USD", "JPY"].choose(random).unwrap();
    json!({"key": format!("o-{id}"), "number": format!("A-{id}"), "student": student, "items": items,
        "currency": currency, "tax_amount": random.random_range(0..500)})
}

fn course_data(course: &str, lessons: u32) -> Value {
    let lessons: Vec<Value> = (0..lessons)
        .map(|lesson| json!({"key": format!("{course}-l-{lesson}"), "title": "Lesson", "type": "text"}))
        .collect();
    json!({"key": course, "slug": course, "title": course, "status": "published",
        "modules": [{"key": format!("{course}-m"), "title": "Part", "lessons": lessons}]})
}

/// Returns the changes that create a workspace with three courses, and then this number of random changes.
fn random_school(random: &mut StdRng, changes: usize) -> String {
    let begin = from_ms(BASE_MS).to_string();
    let workspace = json!({"key": "acme", "name": "Acme", "owner_email": "ada@example.com"});
    let mut text = line("w", "workspace.upsert", &begin, workspace);
    for course in ["c-0", "c-1", "c-2"] {
        text += &line(course, "course.upsert", &begin, course_data(course, 3));
    }
    (0..changes).for_each(|id| text += &random_change(random, id));
    text
}

/// All records of a workspace.
struct StoredRecords {
    students: Vec<students::Model>,
    enrollments: Vec<enrollments::Model>,
    orders: Vec<(orders::Model, BTreeSet<Uuid>)>,
    refunds: Vec<refunds::Model>,
    certificates: Vec<certificates::Model>,
    now_ms: i64,
}

impl StoredRecords {
    async fn read(fixture: &FeedFixture, workspace: WorkspaceId) -> Self {
        let (workspace_id, conn, all) = (workspace.uuid(), fixture.app.db.read(), SpanMs::default());
        let orders = orders::in_workspace(workspace_id).paid_in(conn, None, all).await.unwrap();
        let ids: Vec<Uuid> = orders.iter().map(|order| order.id).collect();
        let items = order_items::in_workspace(workspace_id).of_orders(conn, &ids).await.unwrap();
        let courses = |order: &orders::Model| {
            items.iter().filter(|item| item.order_id == order.id).map(|item| item.course_id).collect()
        };
        Self {
            students: students::in_workspace(workspace_id).created_in(conn, all).await.unwrap(),
            enrollments: enrollments::in_workspace(workspace_id).created_in(conn, None, all).await.unwrap(),
            orders: orders.into_iter().map(|order| (order.clone(), courses(&order))).collect(),
            refunds: refunds::in_workspace(workspace_id).created_in(conn, all).await.unwrap(),
            certificates: certificates::in_workspace(workspace_id).issued_in(conn, None, all).await.unwrap(),
            now_ms: fixture.app.clock.now_ms(),
        }
    }

    /// Calculates the figures from single records, following the wording of the contract.
    fn figures(&self, from: Timestamp, to: Timestamp, course: Option<Uuid>) -> AnalyticsFigures {
        let (from, to) = (from.as_millisecond(), to.as_millisecond());
        let is_in_window = |at: i64| from <= at && at < to;
        let is_in_course = |id: Uuid| course.is_none_or(|course| course == id);
        let enrollments: Vec<_> =
            self.enrollments.iter().filter(|enrollment| is_in_course(enrollment.course_id)).collect();
        let students: Vec<_> = self
            .students
            .iter()
            .filter(|student| {
                course.is_none() || enrollments.iter().any(|enrollment| enrollment.student_id == student.id)
            })
            .collect();
        let cohort: Vec<_> =
            enrollments.iter().filter(|enrollment| is_in_window(enrollment.created_at)).collect();
        let percents = cohort
            .iter()
            .map(|enrollment| percent_complete(enrollment.completed_lessons, enrollment.total_lessons));
        let (size, sum) = (cohort.len() as i64, percents.clone().map(i64::from).sum::<i64>());
        let completed = percents.filter(|percent| *percent == 100).count() as i64;
        let is_active = |enrollment: &&&enrollments::Model| {
            enrollment.status == StoredEnrollmentStatus::Active
                && enrollment.created_at < to
                && enrollment.expires_at.is_none_or(|end| end > self.now_ms)
        };
        let is_revoked = |enrollment: &&&enrollments::Model| {
            enrollment.status == StoredEnrollmentStatus::Revoked
                && enrollment.revoked_at.is_some_and(is_in_window)
        };
        AnalyticsFigures {
            revenue: self.revenue(is_in_window, course),
            students_new: students.iter().filter(|student| is_in_window(student.created_at)).count() as i64,
            students_total: students.iter().filter(|student| student.created_at < to).count() as i64,
            enrollments_created: size,
            enrollments_revoked: enrollments.iter().filter(is_revoked).count() as i64,
            enrollments_active: enrollments.iter().filter(is_active).count() as i64,
            completed,
            completion_rate_percent: (size > 0).then(|| completed * 100 / size),
            average_percent_complete: (size > 0).then(|| sum / size),
            certificates_issued: self
                .certificates
                .iter()
                .filter(|certificate| {
                    is_in_window(certificate.issued_at) && is_in_course(certificate.course_id)
                })
                .count() as i64,
        }
    }

    fn revenue(&self, is_in_window: impl Fn(i64) -> bool, course: Option<Uuid>) -> Vec<Revenue> {
        let mut sums = BTreeMap::<String, Revenue>::new();
        for (order, courses) in &self.orders {
            if course.is_some_and(|course| !courses.contains(&course)) {
                continue;
            }
            let no_revenue = || Revenue {
                currency: order.currency.clone(),
                gross_amount: 0,
                discount_amount: 0,
                tax_amount: 0,
                refunded_amount: 0,
                net_amount: 0,
                orders: 0,
                refunds: 0,
            };
            if is_in_window(order.paid_at) {
                let sum = sums.entry(order.currency.clone()).or_insert_with(no_revenue);
                sum.orders += 1;
                sum.gross_amount += order.total_amount;
                sum.discount_amount += order.discount_amount;
                sum.tax_amount += order.tax_amount;
                sum.net_amount += order.total_amount;
            }
            for refund in self.refunds.iter().filter(|refund| refund.order_id == order.id) {
                if is_in_window(refund.created_at) {
                    let sum = sums.entry(order.currency.clone()).or_insert_with(no_revenue);
                    sum.refunds += 1;
                    sum.refunded_amount += refund.amount;
                    sum.net_amount -= refund.amount;
                }
            }
        }
        sums.into_values().collect()
    }
}

/// Returns a random query. Some name a course that does not exist.
fn random_query(random: &mut StdRng, courses: &[Uuid]) -> AnalyticsQuery {
    let (first, second) = (random_time(random), random_time(random));
    let zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Kiritimati"];
    let intervals = [None, Some(Interval::Day), Some(Interval::Week), Some(Interval::Month)];
    AnalyticsQuery {
        from: Some(from_ms(first.min(second))),
        to: Some(from_ms(first.max(second) + 1)),
        timezone: zones.choose(random).map(|zone| (*zone).to_owned()),
        course: courses.choose(random).filter(|_| random.random_bool(0.5)).map(|id| CourseId::from_uuid(*id)),
        interval: *intervals.choose(random).unwrap(),
    }
}

/// Imports random changes and compares the figures of random windows with the records. Returns the numbers of refunds
/// and certificates.
async fn assert_every_window_equals_the_records(fixture: &FeedFixture, seed: u64) -> (usize, usize) {
    let mut random = StdRng::seed_from_u64(seed);
    let (outcome, reasons) = fixture.apply(&random_school(&mut random, 500)).await;
    assert!(outcome.applied > 150, "{outcome:?} {reasons:#?}");
    let workspace = workspaces::by_key(&fixture.app, "acme").await.unwrap().id;
    let records = StoredRecords::read(fixture, workspace).await;
    let mut courses: Vec<Uuid> = records.enrollments.iter().map(|enrollment| enrollment.course_id).collect();
    courses.push(Uuid::from_u128(7));
    for _ in 0..150 {
        let query = random_query(&mut random, &courses);
        let course = query.course.map(CourseId::uuid);
        let summary = analytics::summarize(&fixture.app, workspace, query.clone()).await.unwrap();
        let expected = records.figures(summary.from, summary.to, course);
        assert_eq!(summary.figures, expected, "seed {seed}: {query:?}");
        let ends = summary.series.iter().skip(1).map(|point| point.starts_at).chain([summary.to]);
        for (point, end) in summary.series.iter().zip(ends) {
            let expected = records.figures(point.starts_at, end, course);
            assert_eq!(point.figures, expected, "seed {seed}: {} of {query:?}", point.starts_at);
        }
        assert_eq!(summary.series.is_empty(), query.interval.is_none());
    }
    (records.refunds.len(), records.certificates.len())
}

#[tokio::test]
#[ignore = "slow"]
async fn every_window_equals_the_sum_over_the_records() {
    let check = async |seed| {
        let (mut refunds, mut certificates) = (0, 0);
        for fixture in FeedFixture::on_all_databases().await {
            let (more_refunds, more_certificates) =
                assert_every_window_equals_the_records(&fixture, seed).await;
            refunds += more_refunds;
            certificates += more_certificates;
        }
        (refunds, certificates)
    };
    let counts = tokio::join!(check(0), check(1), check(2), check(3));
    let counts = [counts.0, counts.1, counts.2, counts.3];
    let refunds: usize = counts.iter().map(|count| count.0).sum();
    let certificates: usize = counts.iter().map(|count| count.1).sum();
    assert!(refunds >= 10 && certificates >= 3, "{refunds} refunds, {certificates} certificates");
}
