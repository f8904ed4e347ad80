//! The last page of a long list beside its first.

use anyhow::{Result, bail};

use super::walk::cursor;
use crate::bench::Bench;
use crate::compare::{Http, compare};
use crate::http::{Connection, get};
use crate::load::InTurn;
use crate::process::Server;
use crate::report::{Goal, Row};
use crate::site::Site;

pub const NAME: &str = "pages";

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let key = site.generated(bench.scale().large()).await?;
    let server = site.serve().await?;
    let (last, count) = walk_to_the_end(&server, &key, bench.scale().large()).await?;
    let side = |path: String| {
        let request = get(&path, Some(&key));
        let script = move |_| InTurn::script(vec![request.clone()], 0);
        Http { server: &server, connections: 1, status: 200, script }
    };
    let mut first = side("/api/v1/students?limit=25".to_owned());
    let mut last = side(format!("/api/v1/students?limit=25&cursor={last}"));
    let (first, last) = compare(bench, &mut first, &mut last).await?;
    let row = Row::new(
        NAME,
        format!("last page of {count} students, {}", site.kind.name()),
        (last.percentile_ms(50.0), "ms"),
        Some(("the first page", first.percentile_ms(50.0))),
        Goal::AtMost(1.2),
    );
    bench.report(row.detail(format!("last {}; first {}", last.latencies(), first.latencies())));
    server.stop().await
}

/// Follows the cursor through the whole list; gives the one that leads to the last full page, and how many items the list has.
async fn walk_to_the_end(server: &Server, key: &str, expected: u64) -> Result<(String, u64)> {
    const LIMIT: u64 = 100;
    let mut connection = Connection::open(server.address).await?;
    let mut before = String::new();
    let mut here = String::new();
    let mut pages = 0;
    loop {
        let glue = if here.is_empty() { "" } else { "&cursor=" };
        let answer = connection
            .exchange(&get(&format!("/api/v1/students?limit={LIMIT}{glue}{here}"), Some(key)))
            .await?;
        if answer.status != 200 {
            bail!("page {pages}: {} {}", answer.status, String::from_utf8_lossy(answer.body));
        }
        pages += 1;
        if pages > expected / LIMIT + 10 {
            bail!("the list of {expected} students does not end");
        }
        match cursor(answer.body) {
            Some(next) => before = std::mem::replace(&mut here, next.to_owned()),
            // The last page may be short; the one before it is as full as the first.
            None => {
                let page: serde_json::Value = serde_json::from_slice(answer.body)?;
                let items = page["data"].as_array().map_or(0, Vec::len) as u64;
                let last = if items < 25 { before } else { here };
                return Ok((last, (pages - 1) * LIMIT + items));
            }
        }
    }
}
