//! The time from the commit of an event to its receipt: at a steady rate, and at the maximum rate.

use anyhow::Result;

use crate::bench::Bench;
use crate::events::EventsRun;
use crate::report::{Goal, ResultRow};
use crate::site::BenchSite;
use crate::speed::MachineSpeed;

pub const NAME: &str = "events";

/// Events per second at the steady rate.
const EVENTS_PER_SECOND: u32 = 200;

/// The goal for the 95th percentile, in milliseconds. That of svix-server 1.100 is 3.1 ms.
const P95_GOAL_MS: f64 = 1.5;

/// Numbers of subscriptions, the deliveries per second measured for svix-server, and the goals beside it with SQLite and with
/// PostgreSQL.
const LOADS: [(u32, f64, [f64; 2]); 2] = [(1, 960.0, [7.0, 7.0]), (10, 3_260.0, [4.5, 3.5])];

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let kind = site.kind;
    let site = BenchSite::new(bench, kind, "events").await?;
    let mut machine = MachineSpeed::start(bench).await?;
    for (subscriptions, peer_rate, [sqlite_goal, postgres_goal]) in LOADS {
        let target = if subscriptions == 1 { "1 subscription" } else { "10 subscriptions" };
        let run = EventsRun {
            subscriptions,
            hung: 0,
            filtered: false,
            rate: Some(EVENTS_PER_SECOND),
            window: bench.window(),
        };
        let steady = run.run_on(&site, &format!("steady-{subscriptions}")).await?;
        let speed = machine.mean_since_last().await?;
        let name =
            format!("{EVENTS_PER_SECOND} events/s to {target}, p95 from commit to receipt, {}", kind.name());
        let row = ResultRow::new(
            NAME,
            name,
            (steady.latency_percentiles_ms[1], "ms"),
            None,
            Goal::Below(P95_GOAL_MS),
        );
        bench.report(row.detail(format!("{}; {}", steady.latencies(), describe(speed))));

        let full = EventsRun { rate: None, ..run }.run_on(&site, &format!("full-{subscriptions}")).await?;
        let speed = machine.mean_since_last().await?;
        let name = format!("maximum rate, 16 events per commit, to {target}, {}", kind.name());
        let (figure, compared_with) =
            ((full.per_second, "deliveries/s"), ("svix-server at this speed", peer_rate * speed));
        let goal = Goal::AtLeast(kind.choose(sqlite_goal, postgres_goal));
        let row = ResultRow::new(NAME, name, figure, Some(compared_with), goal);
        bench.report(row.detail(format!("{}; {}", full.latencies(), describe(speed))));
    }
    machine.stop().await
}

/// Formats the current speed of the machine. The peer's throughput is multiplied by it; the peer's latency is not.
fn describe(speed: f64) -> String {
    format!("machine at {speed:.2} of the speed at the peer's measurement")
}
