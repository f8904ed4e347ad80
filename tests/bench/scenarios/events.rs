//! From the commit of an event to its receipt: at a steady pace, and with as many events as arrive.

use anyhow::Result;

use crate::bench::Bench;
use crate::events::Run;
use crate::report::{Goal, Row};
use crate::site::Site;

pub const NAME: &str = "events";

/// Events a second at the steady pace.
const PACE: u32 = 200;

/// The 95th of a hundred that svix-server 1.100 was measured with, in milliseconds.
const PEER_MS: f64 = 3.1;

/// Subscriptions, and twice the deliveries a second that svix-server was measured with.
const LOADS: [(u32, f64); 2] = [(1, 1_920.0), (10, 6_520.0)];

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let kind = site.kind;
    let site = Site::new(bench, kind, "events").await?;
    for (subscriptions, goal) in LOADS {
        let to = if subscriptions == 1 { "1 subscription" } else { "10 subscriptions" };
        let run = Run { subscriptions, hung: 0, rate: Some(PACE), window: bench.window() };
        let steady = run.on(&site, &format!("steady-{subscriptions}")).await?;
        let what = format!("{PACE} events/s to {to}, p95 from commit to receipt, {}", kind.name());
        let row = Row::new(NAME, what, (steady.ms[1], "ms"), None, Goal::Below(PEER_MS));
        bench.report(row.detail(steady.latencies()));

        let full = Run { rate: None, ..run }.on(&site, &format!("full-{subscriptions}")).await?;
        let what = format!("as many events as arrive, 16 a commit, to {to}, {}", kind.name());
        let figure = (full.per_second, "deliveries/s");
        bench.report(Row::new(NAME, what, figure, None, Goal::Above(goal)).detail(full.latencies()));
    }
    Ok(())
}
