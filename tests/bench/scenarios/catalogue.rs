//! `listCourses` and `getCourse` of a catalogue that does not change, beside a fixed body of the same bytes.

use anyhow::{Context as _, Result};

use super::{fetch, fetch_json};
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, Http, compare};
use crate::fixed;
use crate::http::get;
use crate::load::InTurn;
use crate::measured::Measured;
use crate::process::Server;
use crate::report::{Goal, Row, describe};
use crate::site::Site;

pub const NAME: &str = "catalogue";

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let keys = site.catalogue().await?;
    let server = site.serve().await?;
    let lists: Vec<Vec<u8>> = keys.iter().map(|key| get("/api/v1/courses", Some(key))).collect();
    measure(bench, site, &server, "listCourses", lists).await?;
    let mut courses = Vec::with_capacity(keys.len());
    for key in &keys {
        let list = fetch_json(&server, "/api/v1/courses", key).await?;
        let id = list["data"][courses.len() % 25]["id"].as_str().context("the catalogue has no courses")?;
        courses.push(get(&format!("/api/v1/courses/{id}"), Some(key)));
    }
    measure(bench, site, &server, "getCourse", courses).await?;
    server.stop().await
}

async fn measure(
    bench: &mut Bench,
    site: &Site,
    server: &Server,
    operation: &str,
    requests: Vec<Vec<u8>>,
) -> Result<()> {
    let body = fetch(server, &requests[0], 200).await?;
    let limit = fixed::start(bench, &body, 200).await?;
    let side = |server| {
        let script = |number: usize| InTurn::script(requests.clone(), number * 37);
        Http { server, connections: CONNECTIONS, status: 200, script }
    };
    let (fixed, ours) = compare(bench, Measured::per_second, &mut side(&limit), &mut side(server)).await?;
    let row = Row::new(
        NAME,
        format!("{operation}, {}", site.kind.name()),
        (ours.per_second(), "req/s"),
        Some(("fixed body", fixed.per_second())),
        Goal::AtLeast(0.5),
    );
    let size = format!("{} bytes, {} keys; {}", body.len(), requests.len(), describe(&ours, Some(&fixed)));
    bench.report(row.detail(size));
    limit.stop().await
}
