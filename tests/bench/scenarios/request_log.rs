//! `listCourses` and `getCourse` with the request log, beside the same without it.

use anyhow::{Context as _, Result};

use super::fetch_json;
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, Http, compare};
use crate::http::get;
use crate::load::InTurn;
use crate::measured::Measured;
use crate::process::Server;
use crate::report::{Goal, Row, describe};
use crate::site::Site;

pub const NAME: &str = "request-log";

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let keys = site.catalogue().await?;
    let without = site.serve_with("without", &["--request-log", "off"]).await?;
    let with = site.serve_with("with", &["--request-log", "on"]).await?;
    let lists: Vec<Vec<u8>> = keys.iter().map(|key| get("/api/v1/courses", Some(key))).collect();
    measure(bench, site, (&without, &with), "listCourses", lists).await?;
    let mut courses = Vec::with_capacity(keys.len());
    for key in &keys {
        let list = fetch_json(&without, "/api/v1/courses", key).await?;
        let id = list["data"][courses.len() % 25]["id"].as_str().context("the catalogue has no courses")?;
        courses.push(get(&format!("/api/v1/courses/{id}"), Some(key)));
    }
    measure(bench, site, (&without, &with), "getCourse", courses).await?;
    without.stop().await?;
    with.stop().await
}

async fn measure(
    bench: &mut Bench,
    site: &Site,
    (without, with): (&Server, &Server),
    operation: &str,
    requests: Vec<Vec<u8>>,
) -> Result<()> {
    let side = |server| {
        let script = |number: usize| InTurn::script(requests.clone(), number * 37);
        Http { server, connections: CONNECTIONS, status: 200, script }
    };
    let (without, with) = compare(bench, Measured::per_second, &mut side(without), &mut side(with)).await?;
    let row = Row::new(
        NAME,
        format!("{operation} with the request log, {}", site.kind.name()),
        (with.per_second(), "req/s"),
        Some(("without it", without.per_second())),
        Goal::AtLeast(0.95),
    );
    bench.report(row.detail(describe(&with, Some(&without))));
    Ok(())
}
