//! The first page: what was sold and learned, how the API and the webhooks fare, and what needs attention.

use askama::Template;
use poem::handler;

use crate::chart::Chart;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::query::Asked;
use crate::routes::{Route, get};
use crate::ui;
use domain::analytics::{self, DayFigures};
use domain::attention;
use domain::keys::{self, KeyUsage};
use domain::requests::{self, Day};
use domain::webhooks::{self, Hour, Outcomes};

mod charts;
mod notices;

use super::webhooks::{newest, outcomes};
use notices::Notice;

/// Days that can be looked back at, and those without a choice.
const WINDOWS: [i64; 3] = [7, 30, 90];
const DEFAULT_DAYS: i64 = 30;
/// Hours of deliveries.
const HOURS: i64 = 48;

pub(super) fn routes(route: Route) -> Route {
    route.at("/dashboard", get(overview))
}

#[derive(Template)]
#[template(path = "overview/overview.html")]
struct OverviewPage {
    frame: Frame,
    days: i64,
    hours: i64,
    notices: Vec<Notice>,
    tiles: Vec<Tile>,
    revenue: Vec<Chart>,
    people: Option<Chart>,
    calls: Option<Chart>,
    /// The keys that may be used, with their calls of today.
    keys: Vec<Used>,
    deliveries: Option<Chart>,
}

/// A key and what it has used of its day's quota.
struct Used {
    calls: String,
    cap: String,
    share: String,
    /// Calls from which it is nearly used.
    high: u32,
    usage: KeyUsage,
}

/// One figure over the whole window.
struct Tile {
    label: String,
    value: String,
    note: String,
}

#[handler]
async fn overview(page: Page, asked: Asked) -> Answer {
    let days =
        WINDOWS.into_iter().find(|days| days.to_string() == asked.text("days")).unwrap_or(DEFAULT_DAYS);
    let (app, workspace) = (page.app(), page.workspace());
    let (figures, calls, usage, counted, attention) = tokio::try_join!(
        analytics::days(app, workspace, days, None),
        requests::days(app, workspace, days),
        keys::usage(app, workspace),
        webhooks::outcomes(app, workspace, None, HOURS),
        attention::list(app, workspace),
    )?;
    page.show(&OverviewPage {
        frame: page.frame(Section::Overview, "Overview"),
        days,
        hours: HOURS,
        notices: attention.iter().map(Notice::of).collect(),
        tiles: tiles(&figures, &calls, &counted),
        revenue: charts::revenue(&figures),
        people: charts::people(&figures),
        calls: charts::calls(&calls),
        keys: live(&page, usage),
        deliveries: outcomes(&counted),
    })
}

/// The keys that are neither revoked nor expired, the busiest first.
fn live(page: &Page, usage: Vec<KeyUsage>) -> Vec<Used> {
    let now = page.app().clock.now();
    let usable =
        |usage: &KeyUsage| usage.key.revoked_at.is_none() && usage.key.expires_at.is_none_or(|end| end > now);
    let mut keys: Vec<KeyUsage> = usage.into_iter().filter(usable).collect();
    keys.sort_by_key(|usage| std::cmp::Reverse(usage.calls_today));
    let used = |usage: KeyUsage| Used {
        calls: ui::number(usage.calls_today),
        cap: ui::number(usage.quota.per_day.requests),
        share: ui::percent(usage.calls_today, usage.quota.per_day.requests.into()),
        high: usage.quota.per_day.requests / 5 * 4,
        usage,
    };
    keys.into_iter().map(used).collect()
}

fn tiles(figures: &[DayFigures], calls: &[Day], counted: &Outcomes) -> Vec<Tile> {
    let mut tiles: Vec<Tile> =
        charts::currencies(figures).into_iter().map(|currency| revenue(figures, currency)).collect();
    if tiles.is_empty() {
        tiles.push(tile("Revenue", "none".to_owned(), "No order was paid".to_owned()));
    }
    let students: i64 = figures.iter().map(|day| day.students_new).sum();
    let completions: i64 = figures.iter().map(|day| day.completions).sum();
    tiles.push(tile("New students", ui::number(students), String::new()));
    tiles.push(tile("Courses completed", ui::number(completions), String::new()));
    let total: u64 = calls.iter().map(Day::total).sum();
    let good: u64 = calls.iter().map(|day| day.succeeded).sum();
    let note = format!("{} succeeded", ui::percent(good, total));
    tiles.push(tile("API calls", ui::number(total), if total == 0 { String::new() } else { note }));
    let arrived =
        Hour::success_percent(&counted.hours).map_or("-".to_owned(), |percent| format!("{percent} %"));
    let note = match counted.is_cut {
        true => format!("Of those tried {} of a webhook", newest()),
        false => format!("Of those tried in the last {HOURS} hours"),
    };
    tiles.push(tile("Webhooks delivered", arrived, note));
    tiles
}

/// What was earned in one currency: paid less refunded.
fn revenue(figures: &[DayFigures], currency: &str) -> Tile {
    let rows = || figures.iter().flat_map(|day| &day.revenue).filter(|row| row.currency == currency);
    let net = rows().map(|row| row.net_amount).sum();
    let refunded: i64 = rows().map(|row| row.refunded_amount).sum();
    let orders: i64 = rows().map(|row| row.orders).sum();
    let sold = if orders == 1 { "1 order".to_owned() } else { format!("{} orders", ui::number(orders)) };
    let note = match refunded {
        0 => sold,
        refunded => format!("{sold}, less {} refunded", ui::money(refunded, currency)),
    };
    tile(&format!("Revenue, {currency}"), ui::money(net, currency), note)
}

fn tile(label: &str, value: String, note: String) -> Tile {
    Tile { label: label.to_owned(), value, note }
}
