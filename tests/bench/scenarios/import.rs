//! The import of mixed changes through `importChanges`, into an empty database.

use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use reqwest::Client;

use crate::bench::Bench;
use crate::process::MemoryPeak;
use crate::report::{Goal, ResultRow};
use crate::site::{BenchSite, DatabaseKind};
use crate::speed::MachineSpeed;

pub const NAME: &str = "import";

/// The number of imports, each into a new database. The result is the median.
const ROUNDS: usize = 3;

/// The arguments for which about 27,000 changes are generated.
const SIZE_ARGS: [&str; 4] = ["--students", "4000", "--orders", "8080"];

/// The changes per second that are the goal on the machine on which the peers were measured.
fn goal_per_second(kind: DatabaseKind) -> f64 {
    kind.choose(5_000.0, 3_000.0)
}

/// The figures of one import.
struct ImportFigures {
    per_second: f64,
    /// The peak memory of the server.
    peak_memory_bytes: u64,
}

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let kind = site.kind;
    let changes = site.run(&[&["generate", "--out", "-"], &SIZE_ARGS[..]].concat()).await?;
    let mut machine = MachineSpeed::start(bench).await?;
    let mut imports = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        let site = BenchSite::new(bench, kind, &format!("import_{round}")).await?;
        let figures = import(&site, changes.clone()).await?;
        imports.push((figures, machine.mean_since_last().await?));
    }
    machine.stop().await?;
    let ratio = |(import, speed): &(ImportFigures, f64)| import.per_second / speed;
    imports.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let peak_memory_bytes = imports.iter().map(|(import, _)| import.peak_memory_bytes).max();
    let (median, speed) = &imports[ROUNDS / 2];
    let row = ResultRow::new(
        NAME,
        format!("27,000 mixed changes through importChanges, {}", kind.name()),
        (median.per_second, "changes/s"),
        Some(("the goal at this speed", goal_per_second(kind) * speed)),
        Goal::AtLeast(1.0),
    );
    bench.report(row.detail(format!(
        "{} changes; the median of {ROUNDS} imports; the server used up to {:.0} MB; machine at {speed:.2} of the speed at the peers' \
         measurement",
        changes.lines().count(),
        peak_memory_bytes.unwrap_or_default() as f64 / 1e6,
    )));
    Ok(())
}

/// Imports the changes in one request. All of them must be applied.
async fn import(site: &BenchSite, changes: String) -> Result<ImportFigures> {
    let create = ["platform-tokens", "create", "--name", "bench", "--scope", "write:changes"];
    let token = site.run(&create).await?;
    let server = site.serve().await?;
    let client = Client::builder().no_proxy().build()?;
    let request = client.post(format!("http://{}/platform/v1/changes", server.address));
    let request = request.bearer_auth(token.trim()).header("content-type", "application/x-ndjson");
    let count = changes.lines().count();
    let peak = MemoryPeak::start(server.id);
    let started_at = Instant::now();
    let response = request.body(changes).send().await.context("cannot send the changes")?;
    let status = response.status();
    let results = response.text().await.context("the import failed")?;
    let per_second = count as f64 / started_at.elapsed().as_secs_f64();
    let peak_memory_bytes = peak.finish().await?.resident;
    let is_applied = |line: &&str| line.contains(r#""result":"applied""#);
    if let Some(other) = results.lines().find(|line| !is_applied(line)) {
        bail!("a change was not applied ({status}): {other}");
    }
    let applied = results.lines().count();
    if applied != count {
        bail!("only {applied} of {count} changes were applied");
    }
    server.stop().await?;
    Ok(ImportFigures { per_second, peak_memory_bytes })
}
