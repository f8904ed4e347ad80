//! A healthy endpoint beside twenty that hang.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::events::Run;
use crate::report::{Goal, Row};
use crate::site::Site;

pub const NAME: &str = "hung";

/// Events a second.
const PACE: u32 = 50;

/// Endpoints that never answer.
const HUNG: u32 = 20;

/// Longer than an attempt may take, so that the first of those that hang end inside.
const WINDOW: Duration = Duration::from_secs(18);

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let kind = site.kind;
    let site = Site::new(bench, kind, "hung").await?;
    let window = WINDOW.max(bench.window());
    let alone = Run { subscriptions: 1, hung: 0, rate: Some(PACE), window };
    let beside = Run { hung: HUNG, ..alone }.on(&site, "beside").await?;
    let alone = alone.on(&site, "alone").await?;
    let row = Row::new(
        NAME,
        format!("{PACE} events/s to a healthy endpoint beside {HUNG} that hang, p95, {}", kind.name()),
        (beside.ms[1], "ms"),
        Some(("without those", alone.ms[1])),
        Goal::AtMost(1.1),
    );
    bench.report(row.detail(format!("{}; alone {}", beside.latencies(), alone.latencies())));
    Ok(())
}
