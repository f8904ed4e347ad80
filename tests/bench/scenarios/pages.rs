//! The last page of a long list beside its first.

use anyhow::{Result, bail};

use super::walk::cursor;
use crate::bench::Bench;
use crate::compare::{Http, compare};
use crate::http::{Connection, get};
use crate::load::InTurn;
use crate::measured::Measured;
use crate::process::Server;
use crate::report::{Goal, Row};
use crate::site::Site;

pub const NAME: &str = "pages";

/// Rows of a page.
const LIMIT: u64 = 100;

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let key = site.generated(bench.scale().large()).await?;
    let server = site.serve().await?;
    let (last, count, rows) = walk_to_the_end(&server, &key, bench.scale().large()).await?;
    let side = |path: String| {
        let request = get(&path, Some(&key));
        let script = move |_| InTurn::script(vec![request.clone()], 0);
        Http { server: &server, connections: 1, status: 200, script }
    };
    // The list turned round begins with the same rows, so that both pages have the same to tell.
    let mut first = side(format!("/api/v1/students?sort=-created_at&limit={rows}"));
    let mut last = side(format!("/api/v1/students?sort=created_at&limit={LIMIT}&cursor={last}"));
    let (first, last) = compare(bench, Measured::median_ms, &mut first, &mut last).await?;
    let row = Row::new(
        NAME,
        format!("last page of {count} students, {}", site.kind.name()),
        (last.median_ms(), "ms"),
        Some(("the same as a first page", first.median_ms())),
        Goal::AtMost(1.2),
    );
    let times = format!("last {}; first {}", last.latencies(), first.latencies());
    bench.report(row.detail(format!("{rows} students each; {times}")));
    server.stop().await
}

/// Follows the cursor through the whole list, oldest first; gives the one that leads to the last page, how many items the list
/// has, and how many that page.
async fn walk_to_the_end(server: &Server, key: &str, expected: u64) -> Result<(String, u64, u64)> {
    let mut connection = Connection::open(server.address).await?;
    let mut here = String::new();
    let mut pages = 0;
    loop {
        let glue = if here.is_empty() { "" } else { "&cursor=" };
        let path = format!("/api/v1/students?sort=created_at&limit={LIMIT}{glue}{here}");
        let answer = connection.exchange(&get(&path, Some(key))).await?;
        if answer.status != 200 {
            bail!("page {pages}: {} {}", answer.status, String::from_utf8_lossy(answer.body));
        }
        pages += 1;
        if pages > expected / LIMIT + 10 {
            bail!("the list of {expected} students does not end");
        }
        let Some(next) = cursor(answer.body) else {
            let page: serde_json::Value = serde_json::from_slice(answer.body)?;
            let items = page["data"].as_array().map_or(0, Vec::len) as u64;
            return Ok((here, (pages - 1) * LIMIT + items, items));
        };
        here = next.to_owned();
    }
}
