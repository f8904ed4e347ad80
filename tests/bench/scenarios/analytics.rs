//! `getAnalyticsSummary` over a year with many orders, compared with a year with a hundredth of them.

use anyhow::{Context as _, Result};
use jiff::{SignedDuration, Timestamp};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::fetch_json;
use crate::bench::Bench;
use crate::compare::{HttpLoad, compare};
use crate::http::write_get;
use crate::load::RequestScript;
use crate::measurement::Measurement;
use crate::process::BenchServer;
use crate::report::{Goal, ResultRow};
use crate::site::{BenchSite, orders};

pub const NAME: &str = "analytics";

/// The longest time range that the operation allows.
const WINDOW: SignedDuration = SignedDuration::from_hours(366 * 24);

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let large_key = site.generate_workspace(bench.scale().large_students()).await?;
    let mut small_site = BenchSite::new(bench, site.kind, "small").await?;
    let small_key = small_site.generate_workspace(bench.scale().small_students()).await?;
    let (large_server, small_server) = (site.serve().await?, small_site.serve().await?);
    for (name, interval) in [("sums of 366 days", ""), ("366 days by day", "&interval=day")] {
        let mut small_load = windows_load(&small_server, &small_key, interval).await?;
        let mut large_load = windows_load(&large_server, &large_key, interval).await?;
        let (small_load, large_load) =
            compare(bench, Measurement::median_ms, &mut small_load, &mut large_load).await?;
        let scale = bench.scale();
        let row = ResultRow::new(
            NAME,
            format!("{name}, {} orders, {}", orders(scale.large_students()), site.kind.name()),
            (large_load.median_ms(), "ms"),
            Some((&format!("{} orders", orders(scale.small_students())), small_load.median_ms())),
            Goal::AtMostAndBelow(1.5, 20.0),
        );
        bench.report(row.detail(format!(
            "large {}; small {}",
            large_load.latencies(),
            small_load.latencies()
        )));
    }
    small_server.stop().await?;
    large_server.stop().await
}

/// Creates one client that requests windows ending in the 24 hours before a workspace's newest order. `interval` is the
/// query parameter of the same name with `&`, or empty.
async fn windows_load<'a>(
    server: &'a BenchServer,
    key: &str,
    interval: &'static str,
) -> Result<HttpLoad<'a, impl Fn(usize) -> Box<dyn RequestScript>>> {
    let page = fetch_json(server, "/api/v1/orders?limit=1&sort=-paid_at", key).await?;
    let newest: Timestamp = page["data"][0]["paid_at"].as_str().context("there are no orders")?.parse()?;
    let key = key.to_owned();
    let script = move |number: usize| -> Box<dyn RequestScript> {
        let random = SmallRng::seed_from_u64(number as u64);
        Box::new(AnalyticsWindows { newest, key: key.clone(), interval, random })
    };
    Ok(HttpLoad { server, connections: 1, status: 200, script })
}

/// Requests a different window each time, so that its start and end fall inside the quarter-hours of the stored sums,
/// and no response repeats.
struct AnalyticsWindows {
    /// The payment time of the newest order.
    newest: Timestamp,
    key: String,
    interval: &'static str,
    random: SmallRng,
}

impl RequestScript for AnalyticsWindows {
    fn request(&mut self, request: &mut Vec<u8>) {
        let offset = SignedDuration::from_millis(self.random.random_range(0..24 * 3_600_000));
        let to = self.newest - offset;
        let from = to - WINDOW;
        let path = format!("/api/v1/analytics/summary?from={from}&to={to}{}", self.interval);
        write_get(request, &path, Some(&self.key));
    }
}
