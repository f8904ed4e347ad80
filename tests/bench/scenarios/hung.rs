//! Latency of deliveries to a healthy endpoint while twenty other endpoints never respond.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::events::EventsRun;
use crate::report::{Goal, ResultRow};
use crate::site::BenchSite;

pub const NAME: &str = "hung";

/// Events per second.
const EVENTS_PER_SECOND: u32 = 50;

/// The number of endpoints that never respond.
const HUNG_ENDPOINTS: u32 = 20;

/// Longer than the timeout of an attempt, so that the first attempts time out inside the window.
const WINDOW: Duration = Duration::from_secs(18);

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let kind = site.kind;
    let site = BenchSite::new(bench, kind, "hung").await?;
    let window = WINDOW.max(bench.window());
    let alone =
        EventsRun { subscriptions: 1, hung: 0, filtered: false, rate: Some(EVENTS_PER_SECOND), window };
    let with_hung_endpoints = EventsRun { hung: HUNG_ENDPOINTS, ..alone }.run_on(&site, "beside").await?;
    let alone = alone.run_on(&site, "alone").await?;
    let row = ResultRow::new(
        NAME,
        format!(
            "{EVENTS_PER_SECOND} events/s to a healthy endpoint beside {HUNG_ENDPOINTS} hung ones, p95, {}",
            kind.name()
        ),
        (with_hung_endpoints.latency_percentiles_ms[1], "ms"),
        Some(("without hung endpoints", alone.latency_percentiles_ms[1])),
        Goal::AtMost(1.1),
    );
    bench.report(row.detail(format!("{}; alone {}", with_hung_endpoints.latencies(), alone.latencies())));
    Ok(())
}
