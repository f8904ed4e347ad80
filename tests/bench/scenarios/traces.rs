//! `getCourse` and `createStudent` while traces are exported, compared with the same without traces.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::create::CreateStudents;
use super::fetch_json;
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, HttpLoad, compare};
use crate::http::get;
use crate::load::{RequestCycle, RequestScript};
use crate::measurement::Measurement;
use crate::process::BenchServer;
use crate::report::{Goal, ResultRow, describe};
use crate::site::BenchSite;

pub const NAME: &str = "traces";

/// The measured sampling ratios, each with its name.
const RATIOS: [(&str, &str); 2] = [("0.1", "10 %"), ("1", "100 %")];
/// The workspace of the students that the scenario creates.
const WORKSPACE: &str = "traces";

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let collector = TcpListener::bind("127.0.0.1:0").await?;
    let address = collector.local_addr()?;
    let collecting = tokio::spawn(collect(collector));
    let write_key = site.create_workspace(WORKSPACE).await?;
    for ratio in RATIOS {
        measure(bench, site, (address, &write_key), ratio).await?;
    }
    collecting.abort();
    Ok(())
}

async fn measure(
    bench: &mut Bench,
    site: &mut BenchSite,
    (collector, write_key): (SocketAddr, &str),
    (ratio, name): (&str, &str),
) -> Result<()> {
    let keys = site.catalog().await?;
    let without = site.serve_with("without", &[]).await?;
    let with = site.serve_traced("with", ratio, collector).await?;
    let key = keys.first().context("the catalog has no keys")?;
    let list = fetch_json(&without, "/api/v1/courses", key).await?;
    let id = list["data"][0]["id"].as_str().context("the catalog has no courses")?;
    let request = get(&format!("/api/v1/courses/{id}"), Some(key));
    let reads = |_: &'static str| {
        let request = request.clone();
        move |number: usize| RequestCycle::script(vec![request.clone()], number)
    };
    compare_sides(bench, site, (&without, &with), ("getCourse", name, 200), reads).await?;
    let writes = |label: &'static str| {
        let (key, ratio) = (write_key.to_owned(), ratio.to_owned());
        move |number: usize| -> Box<dyn RequestScript> {
            Box::new(CreateStudents::new(key.clone(), format!("traces-{ratio}-{label}-{number}")))
        }
    };
    compare_sides(bench, site, (&without, &with), ("createStudent", name, 201), writes).await?;
    without.stop().await?;
    with.stop().await
}

/// Measures an operation of both servers and reports the result.
async fn compare_sides<F: Fn(usize) -> Box<dyn RequestScript>>(
    bench: &mut Bench,
    site: &BenchSite,
    (without, with): (&BenchServer, &BenchServer),
    (operation, name, status): (&str, &str, u16),
    script: impl Fn(&'static str) -> F,
) -> Result<()> {
    let side = |server, label| HttpLoad { server, connections: CONNECTIONS, status, script: script(label) };
    let (mut off, mut on) = (side(without, "off"), side(with, "on"));
    let (without, with) = compare(bench, Measurement::per_second, &mut off, &mut on).await?;
    let row = ResultRow::new(
        NAME,
        format!("{operation} with traces at {name}, {}", site.kind.name()),
        (with.per_second(), "req/s"),
        Some(("without them", without.per_second())),
        if name == "10 %" { Goal::AtLeast(0.97) } else { Goal::NotEvaluated("no goal") },
    );
    bench.report(row.detail(describe(&with, Some(&without))));
    Ok(())
}

/// Accepts all exports and discards them.
async fn collect(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream));
    }
}

async fn answer(stream: TcpStream) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await?;
    }
}
