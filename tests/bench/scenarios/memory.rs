//! Memory of the server: with nothing to do, and under full load with many keys.

use std::time::Duration;

use anyhow::Result;

use super::walk::List;
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, Http, Side};
use crate::http::get;
use crate::load::{InTurn, Script};
use crate::process::{Height, memory};
use crate::report::{Goal, Row};
use crate::site::{SYNTHETIC, Site};

pub const NAME: &str = "memory";

/// Keys that are in use.
const KEYS: usize = 10_000;

/// How long a server has nothing to do before its memory is read.
const REST: Duration = Duration::from_secs(2);

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    site.generated(bench.scale().large()).await?;
    let keys = site.keys(SYNTHETIC, KEYS).await?;
    let server = site.serve().await?;
    tokio::time::sleep(REST).await;
    let idle = memory(server.id)?.resident;
    let row = |what: &str, bytes: u64, goal| {
        let what = format!("memory {what}, {}", site.kind.name());
        Row::new(NAME, what, (bytes as f64 / 1e6, "MB"), None, Goal::Below(goal))
    };
    bench.report(row("idle", idle, 40.0));

    let all: Vec<Vec<u8>> = keys.iter().map(|key| get("/api/v1/courses", Some(key))).collect();
    // Each connection has a share of the keys, so that all of them are soon in use.
    let share = |number: usize| -> Box<dyn Script> {
        InTurn::script(all.iter().skip(number % CONNECTIONS).step_by(CONNECTIONS).cloned().collect(), 0)
    };
    let height = Height::watch(server.id);
    let (warm_up, window) = (Duration::from_millis(500), bench.window());
    let mut courses = Http { server: &server, connections: CONNECTIONS, status: 200, script: share };
    let used = courses.turn(0, warm_up, window).await?;
    let students = List::new(&server, "/api/v1/students", &keys[0]).await?;
    let orders = List::new(&server, "/api/v1/orders", &keys[0]).await?;
    let mixed = |number: usize| match number % 3 {
        0 => students.walk(number, 100),
        1 => orders.walk(number, 100),
        _ => share(number),
    };
    let mut mixed = Http { server: &server, connections: CONNECTIONS, status: 200, script: mixed };
    let load = mixed.turn(0, warm_up, window).await?;
    let height = height.reached().await?;
    tokio::time::sleep(REST).await;
    let rest = memory(server.id)?.resident;
    let detail = format!(
        "the highest of {} requests with {KEYS} keys, then {} with pages of 100; {:.1} MB when a page of the database that \
         several connections map counts for each of them; that way {:.1} MB afterwards",
        used.count(),
        load.count(),
        height.resident as f64 / 1e6,
        rest as f64 / 1e6
    );
    bench.report(row("under full load", height.proportional, 150.0).detail(detail));
    server.stop().await
}
