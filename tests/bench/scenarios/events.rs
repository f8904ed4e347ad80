//! From the commit of an event to its receipt: at a steady pace, and with as many events as arrive.

use anyhow::Result;

use crate::bench::Bench;
use crate::events::Run;
use crate::report::{Goal, Row};
use crate::site::Site;
use crate::speed::Speed;

pub const NAME: &str = "events";

/// Events a second at the steady pace.
const PACE: u32 = 200;

/// The 95th of a hundred that svix-server 1.100 was measured with, in milliseconds.
const PEER_MS: f64 = 3.1;

/// Subscriptions, and the deliveries a second that svix-server was measured with.
const LOADS: [(u32, f64); 2] = [(1, 960.0), (10, 3_260.0)];

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let kind = site.kind;
    let site = Site::new(bench, kind, "events").await?;
    let mut machine = Speed::start(bench).await?;
    for (subscriptions, peer) in LOADS {
        let to = if subscriptions == 1 { "1 subscription" } else { "10 subscriptions" };
        let run = Run { subscriptions, hung: 0, rate: Some(PACE), window: bench.window() };
        let steady = run.on(&site, &format!("steady-{subscriptions}")).await?;
        let speed = machine.since_last().await?;
        let what = format!("{PACE} events/s to {to}, p95 from commit to receipt, {}", kind.name());
        let row = Row::new(NAME, what, (steady.ms[1], "ms"), None, Goal::Below(PEER_MS));
        bench.report(row.detail(format!("{}; {}", steady.latencies(), words(speed))));

        let full = Run { rate: None, ..run }.on(&site, &format!("full-{subscriptions}")).await?;
        let speed = machine.since_last().await?;
        let what = format!("as many events as arrive, 16 a commit, to {to}, {}", kind.name());
        let (figure, beside) =
            ((full.per_second, "deliveries/s"), ("svix-server at this speed", peer * speed));
        let row = Row::new(NAME, what, figure, Some(beside), Goal::AtLeast(2.0));
        bench.report(row.detail(format!("{}; {}", full.latencies(), words(speed))));
    }
    machine.stop().await
}

/// What the peers' figures are scaled with.
fn words(speed: f64) -> String {
    format!("a fixed body at {speed:.2} of the peer's hour")
}
