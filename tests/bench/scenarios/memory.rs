//! Memory of the server: idle, and under full load with many keys.

use std::time::Duration;

use anyhow::Result;

use super::walk::ListSource;
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, HttpLoad, MeasuredSide};
use crate::http::get;
use crate::load::{RequestCycle, RequestScript};
use crate::process::{MemoryPeak, memory};
use crate::report::{Goal, ResultRow};
use crate::site::{BenchSite, SYNTHETIC};

pub const NAME: &str = "memory";

/// The number of keys in use.
const KEYS: usize = 10_000;

/// How long a server is idle before its memory is read.
const IDLE_TIME: Duration = Duration::from_secs(2);

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    site.generated(bench.scale().large()).await?;
    let keys = site.keys(SYNTHETIC, KEYS).await?;
    let server = site.serve().await?;
    tokio::time::sleep(IDLE_TIME).await;
    let idle = memory(server.id)?.resident;
    let row = |what: &str, bytes: u64, goal| {
        let what = format!("memory {what}, {}", site.kind.name());
        ResultRow::new(NAME, what, (bytes as f64 / 1e6, "MB"), None, Goal::Below(goal))
    };
    bench.report(row("idle", idle, 40.0));

    let all: Vec<Vec<u8>> = keys.iter().map(|key| get("/api/v1/courses", Some(key))).collect();
    // Each connection uses a share of the keys, so that all of them are soon in use.
    let round_robin = |number: usize| -> Box<dyn RequestScript> {
        RequestCycle::script(all.iter().skip(number % CONNECTIONS).step_by(CONNECTIONS).cloned().collect(), 0)
    };
    let peak = MemoryPeak::start(server.id);
    let (warm_up, window) = (Duration::from_millis(500), bench.window());
    let mut courses =
        HttpLoad { server: &server, connections: CONNECTIONS, status: 200, script: round_robin };
    let used = courses.measure(0, warm_up, window).await?;
    let students = ListSource::new(&server, "/api/v1/students", &keys[0]).await?;
    let orders = ListSource::new(&server, "/api/v1/orders", &keys[0]).await?;
    let mixed = |number: usize| match number % 3 {
        0 => students.page_walk(number, 100),
        1 => orders.page_walk(number, 100),
        _ => round_robin(number),
    };
    let mut mixed = HttpLoad { server: &server, connections: CONNECTIONS, status: 200, script: mixed };
    let load = mixed.measure(0, warm_up, window).await?;
    let peak = peak.finish().await?;
    tokio::time::sleep(IDLE_TIME).await;
    let rest = memory(server.id)?.resident;
    let detail = format!(
        "peak of {} requests with {KEYS} keys, then {} requests for pages of 100; {:.1} MB when shared pages count once per \
         mapping; {:.1} MB by that measure afterwards",
        used.count(),
        load.count(),
        peak.resident as f64 / 1e6,
        rest as f64 / 1e6
    );
    bench.report(row("under full load", peak.proportional, 150.0).detail(detail));
    server.stop().await
}
