//! The last page of a long list, compared with its first.

use anyhow::{Result, bail};

use super::walk::cursor;
use crate::bench::Bench;
use crate::compare::{HttpLoad, compare};
use crate::http::{Connection, get};
use crate::load::RequestCycle;
use crate::measurement::Measurement;
use crate::process::BenchServer;
use crate::report::{Goal, ResultRow};
use crate::site::BenchSite;

pub const NAME: &str = "pages";

/// Items per page.
const PAGE_SIZE: u64 = 100;

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let key = site.generate_workspace(bench.scale().large_students()).await?;
    let server = site.serve().await?;
    let (last_cursor, count, rows) = walk_to_the_end(&server, &key, bench.scale().large_students()).await?;
    let side = |path: String| {
        let request = get(&path, Some(&key));
        let script = move |_| RequestCycle::script(vec![request.clone()], 0);
        HttpLoad { server: &server, connections: 1, status: 200, script }
    };
    // The list in reverse order starts with the same rows, so both pages have the same content.
    let mut first = side(format!("/api/v1/students?sort=-created_at&limit={rows}"));
    let mut last = side(format!("/api/v1/students?sort=created_at&limit={PAGE_SIZE}&cursor={last_cursor}"));
    let (first, last) = compare(bench, Measurement::median_ms, &mut first, &mut last).await?;
    let row = ResultRow::new(
        NAME,
        format!("last page of {count} students, {}", site.kind.name()),
        (last.median_ms(), "ms"),
        Some(("the same rows as a first page", first.median_ms())),
        Goal::AtMost(1.1),
    );
    let times = format!("last {}; first {}", last.latencies(), first.latencies());
    bench.report(row.detail(format!("{rows} students each; {times}")));
    server.stop().await
}

/// Follows the cursor through the whole list, oldest first. Returns the cursor of the last page, the number of items of
/// the list, and the number of items of the last page.
async fn walk_to_the_end(server: &BenchServer, key: &str, expected: u64) -> Result<(String, u64, u64)> {
    let mut connection = Connection::open(server.address).await?;
    let mut last_cursor = String::new();
    let mut pages = 0;
    loop {
        let separator = if last_cursor.is_empty() { "" } else { "&cursor=" };
        let path = format!("/api/v1/students?sort=created_at&limit={PAGE_SIZE}{separator}{last_cursor}");
        let response = connection.exchange(&get(&path, Some(key))).await?;
        if response.status != 200 {
            bail!("page {pages}: {} {}", response.status, String::from_utf8_lossy(response.body));
        }
        pages += 1;
        if pages > expected / PAGE_SIZE + 10 {
            bail!("the list of {expected} students does not end");
        }
        let Some(next) = cursor(response.body) else {
            let page: serde_json::Value = serde_json::from_slice(response.body)?;
            let items = page["data"].as_array().map_or(0, Vec::len) as u64;
            return Ok((last_cursor, (pages - 1) * PAGE_SIZE + items, items));
        };
        last_cursor = next.to_owned();
    }
}
