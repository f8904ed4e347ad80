//! `getAnalyticsSummary` over a year of many orders beside a year of a hundredth of them.

use anyhow::{Context as _, Result};
use jiff::{SignedDuration, Timestamp};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::fetch_json;
use crate::bench::Bench;
use crate::compare::{Http, compare};
use crate::http::write_get;
use crate::load::Script;
use crate::measured::Measured;
use crate::process::Server;
use crate::report::{Goal, Row};
use crate::site::{Site, orders};

pub const NAME: &str = "analytics";

/// The longest window there is.
const WINDOW: SignedDuration = SignedDuration::from_hours(366 * 24);

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let large = site.generated(bench.scale().large()).await?;
    let mut other = Site::new(bench, site.kind, "small").await?;
    let small = other.generated(bench.scale().small()).await?;
    let (server, other) = (site.serve().await?, other.serve().await?);
    for (what, series) in [("sums of 366 days", ""), ("366 days, day by day", "&interval=day")] {
        let mut few = side(&other, &small, series).await?;
        let mut many = side(&server, &large, series).await?;
        let (few, many) = compare(bench, Measured::median_ms, &mut few, &mut many).await?;
        let scale = bench.scale();
        let row = Row::new(
            NAME,
            format!("{what}, {} orders, {}", orders(scale.large()), site.kind.name()),
            (many.median_ms(), "ms"),
            Some((&format!("{} orders", orders(scale.small())), few.median_ms())),
            Goal::AtMostAndBelow(3.0, 20.0),
        );
        bench.report(row.detail(format!("many {}; few {}", many.latencies(), few.latencies())));
    }
    other.stop().await?;
    server.stop().await
}

/// One client that asks for windows that end near a workspace's newest order.
async fn side<'a>(
    server: &'a Server,
    key: &str,
    series: &'static str,
) -> Result<Http<'a, impl Fn(usize) -> Box<dyn Script>>> {
    let page = fetch_json(server, "/api/v1/orders?limit=1&sort=-paid_at", key).await?;
    let newest: Timestamp = page["data"][0]["paid_at"].as_str().context("there are no orders")?.parse()?;
    let key = key.to_owned();
    let script = move |number: usize| -> Box<dyn Script> {
        let random = SmallRng::seed_from_u64(number as u64);
        Box::new(Windows { newest, key: key.clone(), series, random })
    };
    Ok(Http { server, connections: 1, status: 200, script })
}

/// Asks for another window with every request, so that both edges are ragged and none was asked for before.
struct Windows {
    newest: Timestamp,
    key: String,
    series: &'static str,
    random: SmallRng,
}

impl Script for Windows {
    fn request(&mut self, request: &mut Vec<u8>) {
        let back = SignedDuration::from_millis(self.random.random_range(0..24 * 3_600_000));
        let to = self.newest - back;
        let from = to - WINDOW;
        let path = format!("/api/v1/analytics/summary?from={from}&to={to}{}", self.series);
        write_get(request, &path, Some(&self.key));
    }
}
