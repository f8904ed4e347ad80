//! The overview: revenue, students, API requests, webhook deliveries, and what needs attention.

use askama::Template;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use poem::handler;

use crate::chart::Chart;
use crate::frame::{Frame, Section};
use crate::query::PageQuery;
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui;
use domain::analytics::{self, DayFigures};
use domain::attention;
use domain::keys::{self, KeyUsage};
use domain::requests::{self, DailyRequests};
use domain::roles::Permission;
use domain::webhooks::{self, HourlyOutcomes, Outcomes};

mod charts;
mod notices;

use super::webhooks::{newest_label, outcomes_chart};
use notices::AttentionNotice;

/// Time windows in days, and the default.
const WINDOWS: [i64; 3] = [7, 30, 90];
const DEFAULT_DAYS: i64 = 30;
/// Hours covered by the delivery chart.
const HOURS: i64 = 48;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at("/dashboard", get(Permission::ReadWorkspace, overview))
}

#[derive(Template)]
#[template(path = "overview/overview.html")]
struct OverviewPage {
    frame: Frame,
    days: i64,
    hours: i64,
    notices: Vec<AttentionNotice>,
    tiles: Vec<Tile>,
    revenue: Vec<Chart>,
    students: Option<Chart>,
    requests: Option<Chart>,
    /// The active keys with the requests that count toward their daily quotas.
    keys: Vec<KeyQuotaRow>,
    /// When the daily quotas reset.
    quota_resets_at: Timestamp,
    deliveries: Option<Chart>,
}

/// A key and the used share of its daily quota.
struct KeyQuotaRow {
    requests: String,
    daily_quota: String,
    used_share: String,
    /// The number of requests from which the page shows the quota as nearly used: 80% of it.
    warning_threshold: u32,
    usage: KeyUsage,
}

/// A figure with a note. Covers the time window, except for the webhook success rate, which covers [`HOURS`].
struct Tile {
    label: String,
    value: String,
    note: String,
}

#[handler]
async fn overview(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let days =
        WINDOWS.into_iter().find(|days| days.to_string() == query.text("days")).unwrap_or(DEFAULT_DAYS);
    let (app, workspace, zone) = (request.app(), request.workspace(), request.zone());
    let quota_resets_at = keys::daily_quota_resets_at(app);
    let today = app.clock.now().to_zoned(TimeZone::UTC).date();
    let (figures, daily_requests, usage, outcomes, attention) = tokio::try_join!(
        analytics::daily_figures(app, workspace, days, zone.rules()),
        requests::list_daily(app, workspace, days, zone.rules()),
        keys::list_usage(app, workspace),
        webhooks::outcomes(app, workspace, None, HOURS),
        attention::list(app, workspace),
    )?;
    request.show(&OverviewPage {
        frame: request.frame(Section::Overview, "Overview"),
        days,
        hours: HOURS,
        notices: attention
            .iter()
            .map(|item| AttentionNotice::new(item, zone, today, quota_resets_at))
            .collect(),
        tiles: tiles(&figures, &daily_requests, &outcomes),
        revenue: charts::revenue(&figures, zone),
        students: charts::students(&figures, zone),
        requests: charts::requests(&daily_requests, zone),
        keys: active_keys(&request, usage),
        quota_resets_at,
        deliveries: outcomes_chart(&outcomes, zone),
    })
}

/// Returns the keys that are neither revoked nor expired, busiest first.
fn active_keys(request: &DashboardRequest, usage: Vec<KeyUsage>) -> Vec<KeyQuotaRow> {
    let now = request.app().clock.now();
    let is_active = |usage: &KeyUsage| {
        usage.key.revoked_at.is_none() && usage.key.expires_at.is_none_or(|expires_at| expires_at > now)
    };
    let mut keys: Vec<KeyUsage> = usage.into_iter().filter(is_active).collect();
    keys.sort_by_key(|usage| std::cmp::Reverse(usage.calls_today));
    let row = |usage: KeyUsage| KeyQuotaRow {
        requests: ui::number(usage.calls_today),
        daily_quota: ui::number(usage.quota.per_day.requests),
        used_share: ui::percent(usage.calls_today, usage.quota.per_day.requests.into()),
        warning_threshold: usage.quota.per_day.requests / 5 * 4,
        usage,
    };
    keys.into_iter().map(row).collect()
}

fn tiles(figures: &[DayFigures], daily_requests: &[DailyRequests], outcomes: &Outcomes) -> Vec<Tile> {
    let mut tiles: Vec<Tile> =
        charts::currencies(figures).into_iter().map(|currency| revenue(figures, currency)).collect();
    if tiles.is_empty() {
        tiles.push(tile("Revenue", "none".to_owned(), "No paid orders".to_owned()));
    }
    let new_students: i64 = figures.iter().map(|day| day.students_new).sum();
    let completions: i64 = figures.iter().map(|day| day.completions).sum();
    tiles.push(tile("New students", ui::number(new_students), String::new()));
    tiles.push(tile("Courses completed", ui::number(completions), String::new()));
    let total: u64 = daily_requests.iter().map(DailyRequests::total).sum();
    let succeeded: u64 = daily_requests.iter().map(|day| day.succeeded).sum();
    let note = format!("{} succeeded", ui::percent(succeeded, total));
    tiles.push(tile("API requests", ui::number(total), if total == 0 { String::new() } else { note }));
    let success_rate = HourlyOutcomes::success_percent(&outcomes.hours)
        .map_or("none".to_owned(), |percent| format!("{percent}%"));
    let note = match outcomes.is_truncated {
        true => format!("Of the {} deliveries per webhook", newest_label()),
        false => format!("Of deliveries attempted in the last {HOURS} hours"),
    };
    tiles.push(tile("Webhook success rate", success_rate, note));
    tiles
}

/// Returns the tile with the net revenue in one currency.
fn revenue(figures: &[DayFigures], currency: &str) -> Tile {
    let rows = || figures.iter().flat_map(|day| &day.revenue).filter(|row| row.currency == currency);
    let net = rows().map(|row| row.net_amount).sum();
    let refunded: i64 = rows().map(|row| row.refunded_amount).sum();
    let orders: i64 = rows().map(|row| row.orders).sum();
    let orders = if orders == 1 { "1 order".to_owned() } else { format!("{} orders", ui::number(orders)) };
    let note = match refunded {
        0 => orders,
        refunded => format!("{orders}, {} refunded", ui::money(refunded, currency)),
    };
    tile(&format!("Revenue, {currency}"), ui::money(net, currency), note)
}

fn tile(label: &str, value: String, note: String) -> Tile {
    Tile { label: label.to_owned(), value, note }
}
