//! `listCourses` and `getCourse` with the request log, compared with the same without it.

use anyhow::{Context as _, Result};

use super::fetch_json;
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, HttpLoad, compare};
use crate::http::get;
use crate::load::RequestCycle;
use crate::measurement::Measurement;
use crate::process::BenchServer;
use crate::report::{Goal, ResultRow, describe};
use crate::site::BenchSite;

pub const NAME: &str = "request-log";

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let keys = site.catalog().await?;
    let without = site.serve_with("without", &["--request-log", "off"]).await?;
    let with = site.serve_with("with", &["--request-log", "on"]).await?;
    let lists: Vec<Vec<u8>> = keys.iter().map(|key| get("/api/v1/courses", Some(key))).collect();
    measure(bench, site, (&without, &with), "listCourses", lists).await?;
    let mut courses = Vec::with_capacity(keys.len());
    for key in &keys {
        let list = fetch_json(&without, "/api/v1/courses", key).await?;
        let id = list["data"][courses.len() % 25]["id"].as_str().context("the catalog has no courses")?;
        courses.push(get(&format!("/api/v1/courses/{id}"), Some(key)));
    }
    measure(bench, site, (&without, &with), "getCourse", courses).await?;
    without.stop().await?;
    with.stop().await
}

async fn measure(
    bench: &mut Bench,
    site: &BenchSite,
    (without, with): (&BenchServer, &BenchServer),
    operation: &str,
    requests: Vec<Vec<u8>>,
) -> Result<()> {
    let side = |server| {
        let script = |number: usize| RequestCycle::script(requests.clone(), number * 37);
        HttpLoad { server, connections: CONNECTIONS, status: 200, script }
    };
    let (without, with) =
        compare(bench, Measurement::per_second, &mut side(without), &mut side(with)).await?;
    let row = ResultRow::new(
        NAME,
        format!("{operation} with the request log, {}", site.kind.name()),
        (with.per_second(), "req/s"),
        Some(("without it", without.per_second())),
        Goal::AtLeast(0.95),
    );
    bench.report(row.detail(describe(&with, Some(&without))));
    Ok(())
}
