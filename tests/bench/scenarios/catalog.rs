//! `listCourses` and `getCourse` on a catalog that does not change, compared with a fixed body of the same bytes.

use anyhow::{Context as _, Result};

use super::{fetch, fetch_json};
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, HttpLoad, compare};
use crate::fixed;
use crate::http::get;
use crate::load::RequestCycle;
use crate::measurement::Measurement;
use crate::process::BenchServer;
use crate::report::{Goal, ResultRow, describe};
use crate::site::BenchSite;

pub const NAME: &str = "catalogue";

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let keys = site.catalog().await?;
    let server = site.serve().await?;
    let lists: Vec<Vec<u8>> = keys.iter().map(|key| get("/api/v1/courses", Some(key))).collect();
    measure(bench, site, &server, "listCourses", lists).await?;
    let mut courses = Vec::with_capacity(keys.len());
    for key in &keys {
        let list = fetch_json(&server, "/api/v1/courses", key).await?;
        let id = list["data"][courses.len() % 25]["id"].as_str().context("the catalog has no courses")?;
        courses.push(get(&format!("/api/v1/courses/{id}"), Some(key)));
    }
    measure(bench, site, &server, "getCourse", courses).await?;
    server.stop().await
}

async fn measure(
    bench: &mut Bench,
    site: &BenchSite,
    server: &BenchServer,
    operation: &str,
    requests: Vec<Vec<u8>>,
) -> Result<()> {
    let body = fetch(server, &requests[0], 200).await?;
    let limit = fixed::start(bench, &body, 200).await?;
    let side = |server| {
        let script = |number: usize| RequestCycle::script(requests.clone(), number * 37);
        HttpLoad { server, connections: CONNECTIONS, status: 200, script }
    };
    let (fixed, ours) = compare(bench, Measurement::per_second, &mut side(&limit), &mut side(server)).await?;
    let row = ResultRow::new(
        NAME,
        format!("{operation}, {}", site.kind.name()),
        (ours.per_second(), "req/s"),
        Some(("fixed body", fixed.per_second())),
        Goal::AtLeast(0.75),
    );
    let detail = format!("{} bytes, {} keys; {}", body.len(), requests.len(), describe(&ours, Some(&fixed)));
    bench.report(row.detail(detail));
    limit.stop().await
}
