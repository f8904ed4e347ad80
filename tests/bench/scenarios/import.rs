//! The import of mixed changes through `importChanges`, into an empty database.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use reqwest::Client;

use crate::bench::Bench;
use crate::process::MemoryPeak;
use crate::report::{Goal, ResultRow};
use crate::site::{BenchSite, DatabaseKind};
use crate::speed::MachineSpeed;

pub const NAME: &str = "import";

/// The number of imports, each into a new database. The result is the median.
const ROUNDS: usize = 3;

/// The numbers of students and orders for which about 27,000 changes are generated.
const SIZE: [&str; 4] = ["--students", "4000", "--orders", "8080"];

/// The changes per second that are the goal on a machine of the reference speed.
const fn goal(kind: DatabaseKind) -> f64 {
    match kind {
        DatabaseKind::Sqlite => 5_000.0,
        DatabaseKind::Postgres => 3_000.0,
    }
}

/// The figures of one import.
struct ImportFigures {
    changes_per_second: f64,
    /// The peak memory of the server, in bytes.
    memory: u64,
}

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let kind = site.kind;
    let changes = site.run(&[&["generate", "--out", "-"], &SIZE[..]].concat()).await?;
    let mut machine = MachineSpeed::start(bench).await?;
    let mut imports = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        let site = BenchSite::new(bench, kind, &format!("import_{round}")).await?;
        imports.push(import(&site, changes.clone()).await?);
    }
    let speed = machine.mean_since_last().await?;
    machine.stop().await?;
    imports.sort_by(|a, b| a.changes_per_second.total_cmp(&b.changes_per_second));
    let peak = imports.iter().map(|import| import.memory).max().unwrap_or_default();
    let row = ResultRow::new(
        NAME,
        format!("{} mixed changes through importChanges, {}", changes.lines().count(), kind.name()),
        (imports[ROUNDS / 2].changes_per_second, "changes/s"),
        Some(("the goal at this speed", goal(kind) * speed)),
        Goal::AtLeast(1.0),
    );
    bench.report(row.detail(format!(
        "{ROUNDS} imports, {:.0} to {:.0} changes/s; the server used up to {:.0} MB; machine at {speed:.2} of the reference speed",
        imports[0].changes_per_second,
        imports[ROUNDS - 1].changes_per_second,
        peak as f64 / 1e6,
    )));
    Ok(())
}

/// Imports the changes in one request. Every one must be applied.
async fn import(site: &BenchSite, changes: String) -> Result<ImportFigures> {
    let create = ["platform-tokens", "create", "--name", "bench", "--scope", "write:changes"];
    let token = site.run(&create).await?;
    let server = site.serve().await?;
    // Fails if another scenario has already installed the provider, which can be ignored.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().build()?;
    let request = client.post(format!("http://{}/platform/v1/changes", server.address));
    let request = request.bearer_auth(token.trim()).header("content-type", "application/x-ndjson");
    let count = changes.lines().count();
    let peak = MemoryPeak::start(server.id);
    let started = Instant::now();
    let response = request.body(changes).send().await.context("cannot send the changes")?;
    let results = response.error_for_status()?.text().await.context("the import failed")?;
    let changes_per_second = count as f64 / started.elapsed().as_secs_f64();
    let memory = peak.finish().await?.resident;
    let applied = results.lines().filter(|line| line.contains(r#""result":"applied""#)).count();
    ensure!(applied == count, "only {applied} of {count} changes were applied");
    server.stop().await?;
    Ok(ImportFigures { changes_per_second, memory })
}
