//! The integration tests on PostgreSQL pass through pgbouncer.

use std::process::Stdio;

use anyhow::{Context as _, Result};

use crate::engines::pgbouncer::Pgbouncer;
use crate::engines::postgres::Postgres;
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "pgbouncer-suite";

/// The number of connections that PostgreSQL accepts.
const MAX_CONNECTIONS: u32 = 500;
/// The number of connections to each database that pgbouncer shares. Each test has its own database, and a server uses more
/// connections than this, so that its transactions take turns.
const POOL_SIZE: u32 = 5;

/// Tests that do not apply: those in a browser, and those of checks that a server cannot perform through a proxy, or need a role that it does not know.
const SKIPPED: &[&str] = &[
    "browser::",
    "process::a_postgresql_role_without_a_statement_timeout_is_reported",
    "process::a_process_refuses_to_start_when_postgresql_allows_too_few_connections",
    "start_checks::a_server_accepts_no_connections_before_it_can_respond",
    "start_checks::a_process_refuses_to_start_as_a_role_that_cannot_drop_partitions",
];

/// Runs the tests.
///
/// # Errors
/// Returns an error when PostgreSQL, pgbouncer or the tests do not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let suite = context.programs.suite.as_ref().context("the tests were not built")?;
    let postgres = Postgres::start_primary(context, MAX_CONNECTIONS).await?;
    let pgbouncer = Pgbouncer::start_for(context, postgres.port, POOL_SIZE).await?;
    let mut command = tokio::process::Command::new(suite);
    // With the slow tests, too.
    command.arg("--include-ignored").args(SKIPPED.iter().flat_map(|test| ["--skip", test]));
    command.env("TEST_POSTGRES_URL", format!("postgres://postgres@127.0.0.1:{}/postgres", pgbouncer.port));
    command.env("TEST_REDIS_SERVER", &context.programs.redis).env("CREATOR_API_LOG_FILTER", "warn");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    let text = String::from_utf8_lossy(&output.stdout);
    std::fs::write(context.logs.join("tests.log"), &*text)?;
    let failed: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED")).collect();
    let passed = text.lines().filter(|line| line.starts_with("test ") && line.ends_with(" ... ok")).count();
    let figure = Figure::measured("passed tests", count(passed), "tests");
    report.add(figure.detail(&pgbouncer.description));
    let figure = Figure::exactly("failed tests", count(failed.len()), "tests", 0.0);
    report.add(figure.detail(failed.join(", ")));
    anyhow::ensure!(
        output.status.success() || !failed.is_empty(),
        "the tests ended early: {}",
        output.status
    );
    Ok(())
}
