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
use crate::site::{BenchSite, GENERATED_WORKSPACE};

pub const NAME: &str = "memory";

/// The number of keys in use.
const KEYS: usize = 10_000;

/// How long a server is idle before its memory is read.
const IDLE_TIME: Duration = Duration::from_secs(2);

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    site.generate_workspace(bench.scale().large_students()).await?;
    let keys = site.insert_keys(GENERATED_WORKSPACE, KEYS).await?;
    let server = site.serve().await?;
    tokio::time::sleep(IDLE_TIME).await;
    let idle = memory(server.id)?.resident;
    let row = |condition: &str, bytes: u64, goal_mb| {
        let name = format!("memory {condition}, {}", site.kind.name());
        ResultRow::new(NAME, name, (bytes as f64 / 1e6, "MB"), None, Goal::Below(goal_mb))
    };
    bench.report(row("idle", idle, 35.0));

    let requests: Vec<Vec<u8>> = keys.iter().map(|key| get("/api/v1/courses", Some(key))).collect();
    // Each connection uses different keys, so that all keys are soon in use.
    let round_robin = |number: usize| -> Box<dyn RequestScript> {
        let requests = requests.iter().skip(number % CONNECTIONS).step_by(CONNECTIONS);
        RequestCycle::script(requests.cloned().collect(), 0)
    };
    let peak = MemoryPeak::start(server.id);
    let (warm_up, window) = (Duration::from_millis(500), bench.window());
    let mut courses =
        HttpLoad { server: &server, connections: CONNECTIONS, status: 200, script: round_robin };
    let courses_load = courses.measure(0, warm_up, window).await?;
    let students = ListSource::new(&server, "/api/v1/students", &keys[0]).await?;
    let orders = ListSource::new(&server, "/api/v1/orders", &keys[0]).await?;
    let mixed = |number: usize| match number % 3 {
        0 => students.page_walk(number, 100),
        1 => orders.page_walk(number, 100),
        _ => round_robin(number),
    };
    let mut mixed = HttpLoad { server: &server, connections: CONNECTIONS, status: 200, script: mixed };
    let mixed_load = mixed.measure(0, warm_up, window).await?;
    let peak = peak.finish().await?;
    tokio::time::sleep(IDLE_TIME).await;
    let afterwards = memory(server.id)?.resident;
    let detail = format!(
        "peak of {} requests with {KEYS} keys, then {} requests for pages of 100; {:.1} MB when shared pages count once per \
         mapping; {:.1} MB by that measure afterwards",
        courses_load.count(),
        mixed_load.count(),
        peak.resident as f64 / 1e6,
        afterwards as f64 / 1e6
    );
    bench.report(row("under full load", peak.proportional, 120.0).detail(detail));
    server.stop().await
}
