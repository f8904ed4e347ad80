//! The time from the start of the server on an existing database to its first response.

use anyhow::Result;

use super::fetch;
use crate::bench::Bench;
use crate::http::get;
use crate::report::{Goal, ResultRow};
use crate::site::BenchSite;

pub const NAME: &str = "start";

/// The number of starts. The result is the median time.
const STARTS: usize = 7;

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let keys = site.catalog().await?;
    let request = get("/api/v1/courses", Some(&keys[0]));
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let server = site.serve().await?;
        fetch(&server, &request, 200).await?;
        times.push(server.started_at.elapsed().as_secs_f64() * 1000.0);
        server.stop().await?;
    }
    times.sort_by(f64::total_cmp);
    let name = format!("start to first response, {}", site.kind.name());
    let row = ResultRow::new(NAME, name, (times[STARTS / 2], "ms"), None, Goal::Below(50.0));
    bench.report(row.detail(format!("{STARTS} starts, {:.0} to {:.0} ms", times[0], times[STARTS - 1])));
    Ok(())
}
