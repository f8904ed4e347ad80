//! The steps of `cargo xtask test`. Fast steps come first.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::chromium::BrowserPrograms;
use super::install::find_in_path;
use super::{StepContext, licenses, postgres, redis, skips};

/// A step of `cargo xtask test`.
pub(super) struct TestStep {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&StepContext) -> Result<()>,
}

/// All steps, in order. `TEST_POSTGRES_URL` specifies a server on which tests can create databases. If it is set, the
/// integration tests use PostgreSQL instead of SQLite, and unit tests that need a database use both.
pub(super) const STEPS: &[TestStep] = &[
    TestStep { name: "format", about: "the source code is formatted", run: format },
    TestStep { name: "tidy", about: "the project rules are followed", run: tidy },
    TestStep {
        name: "codegen",
        about: "generated code is up to date",
        run: |_| run_xtask(&["codegen", "--check"], None),
    },
    TestStep {
        name: "breaking",
        about: "the contracts have no breaking changes since the release",
        run: breaking,
    },
    TestStep {
        name: "licenses",
        about: "the licenses and sources of all dependencies are allowed",
        run: |_| licenses::run(),
    },
    TestStep {
        name: "alerts",
        about: "the alert rules fire when they should (if promtool is installed)",
        run: test_alert_rules,
    },
    TestStep { name: "clippy", about: "there are no lint warnings", run: clippy },
    TestStep { name: "check", about: "contract, code, tests and tables agree", run: check },
    TestStep { name: "unit", about: "unit tests of the workspace", run: unit },
    TestStep { name: "doc", about: "code examples in doc comments", run: doc },
    TestStep { name: "sqlite", about: "integration tests on SQLite", run: test_on_sqlite },
    TestStep {
        name: "postgres",
        about: "integration tests on PostgreSQL, with Valkey or Redis",
        run: test_on_postgres,
    },
    TestStep { name: "browser", about: "the dashboard in a real browser", run: test_in_browser },
];

fn format(_: &StepContext) -> Result<()> {
    run_cargo(["fmt", "--all", "--check"]).context("run `cargo fmt --all`")
}

fn tidy(_: &StepContext) -> Result<()> {
    match crate::tidy::check(Path::new("."))? {
        0 => Ok(()),
        1 => bail!("1 violation of the project rules; see above"),
        findings => bail!("{findings} violations of the project rules; see above"),
    }
}

/// Compares each contract with the released one, and with the contract at the commit from which the branch starts.
/// A branch can edit the released contract, so the first comparison alone is not sufficient.
fn breaking(_: &StepContext) -> Result<()> {
    let workspace = Path::new(".");
    let branch_point = breaking::branch_point(workspace);
    if branch_point.is_none() {
        println!(
            "note: origin/HEAD does not exist in this repository; contracts are compared only with the released files"
        );
    }
    for contract in [codegen::V1.contract, codegen::PLATFORM_V1.contract] {
        run_xtask(&["breaking", "--contract", contract], None)?;
        // A contract that the branch adds has no earlier version.
        if let Some(revision) = &branch_point
            && breaking::contains(workspace, revision, contract)?
        {
            run_xtask(&["breaking", "--contract", contract, "--base", revision], None)?;
        }
    }
    Ok(())
}

/// Runs the tests of the alert rules. The package that contains `promtool` also starts Prometheus, so it is not installed.
fn test_alert_rules(_: &StepContext) -> Result<()> {
    let Some(promtool) = find_in_path(&["promtool"]) else {
        println!(
            "note: promtool is not installed, so the alert rules are not tested; install it with `apt-get install prometheus`"
        );
        return Ok(());
    };
    run(Command::new(promtool).args(["test", "rules", "alerts_test.yaml"]).current_dir("xtask/dist"))
}

fn clippy(_: &StepContext) -> Result<()> {
    run_cargo([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--locked",
        "--",
        "-D",
        "warnings",
    ])
}

/// Runs the unit tests, and the tests of `openapi-gate`, with a PostgreSQL server: those that need a database use both
/// SQLite and PostgreSQL. The tests of the breaking-change gate change every value of the contract instead of every seventh.
fn unit(context: &StepContext) -> Result<()> {
    let selection = ["--lib", "--bins", "--test", "openapi-gate"];
    let mut command = with_redis(context, test_command(&selection, Some(context.postgres_url()?)))?;
    skips::record(&mut command, "unit")?;
    run(command.env("BREAKING_VALUE_STRIDE", "1"))
}

/// Lets tests start Valkey or Redis servers.
fn with_redis(context: &StepContext, mut command: Command) -> Result<Command> {
    command.env("TEST_REDIS_SERVER", redis::find_or_install(context.install)?);
    Ok(command)
}

fn doc(_: &StepContext) -> Result<()> {
    run_tests(&["--doc"], None)
}

/// Arguments that exclude the browser tests, which have a separate step.
const WITHOUT_BROWSER: [&str; 3] = ["--", "--skip", "browser::"];

/// Runs the integration tests, and the tests of the second contract and of a contract with other rules, which need no
/// database server.
fn test_on_sqlite(_: &StepContext) -> Result<()> {
    let tests = ["--test", "it", "--test", "second_version", "--test", "open_profile"];
    let mut command = test_command(&[&tests[..], &WITHOUT_BROWSER[..]].concat(), None);
    skips::record(&mut command, "sqlite")?;
    run(&mut command)
}

fn test_on_postgres(context: &StepContext) -> Result<()> {
    let selection = [&["--test", "it"], &WITHOUT_BROWSER[..]].concat();
    let mut command = with_redis(context, test_command(&selection, Some(context.postgres_url()?)))?;
    skips::record(&mut command, "postgres")?;
    // Tests of standbys start servers of their own.
    run(command.env("TEST_POSTGRES_PROGRAMS", postgres::find_or_install(context.install)?))
}

fn test_in_browser(context: &StepContext) -> Result<()> {
    let chromium = BrowserPrograms::find_or_install(context.install)?;
    let mut command = test_command(&["--test", "it", "browser::"], None);
    run(command.env("TEST_CHROMIUM", chromium.browser).env("TEST_CHROMEDRIVER", chromium.driver))
}

/// Runs tests of the whole workspace, with or without a PostgreSQL server.
fn run_tests(selection: &[&str], postgres_url: Option<&str>) -> Result<()> {
    run(&mut test_command(selection, postgres_url))
}

fn test_command(selection: &[&str], postgres_url: Option<&str>) -> Command {
    let mut command = cargo_command();
    command.args(["test", "--workspace", "--all-features", "--locked", "--no-fail-fast"]).args(selection);
    match postgres_url {
        Some(url) => command.env("TEST_POSTGRES_URL", url),
        None => command.env_remove("TEST_POSTGRES_URL"),
    };
    // Tests must not use a developer's own database.
    command.env_remove("DATABASE_URL");
    command
}

/// Runs `cargo xtask check` with the database schemas of both SQLite and PostgreSQL.
fn check(context: &StepContext) -> Result<()> {
    run_xtask(&["check"], Some(context.postgres_url()?))
}

/// Runs another command of this program, with or without a PostgreSQL server.
fn run_xtask(args: &[&str], postgres_url: Option<&str>) -> Result<()> {
    let program = std::env::current_exe().context("cannot determine the path of this program")?;
    let mut command = Command::new(program);
    match postgres_url {
        Some(url) => command.env("DATABASE_URL", url),
        None => command.env_remove("DATABASE_URL"),
    };
    run(command.args(args))
}

/// Returns the cargo that started this program, so that all steps use the same Rust toolchain.
pub(crate) fn cargo_program() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

fn run_cargo<const N: usize>(args: [&str; N]) -> Result<()> {
    run(cargo_command().args(args))
}

/// Returns a cargo command without the environment variables that describe the package `xtask`.
///
/// `cargo run`, which starts this program, sets them. Some build scripts, such as that of `ring`, run again when these
/// variables change. With them, every switch between a direct cargo command and `cargo xtask` would cause a rebuild.
pub(crate) fn cargo_command() -> Command {
    let mut command = Command::new(cargo_program());
    for (name, _) in std::env::vars_os() {
        let variable = name.to_string_lossy();
        if variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command and shows its output. If the command fails, the error contains the command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let words: Vec<&OsStr> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let command_line = words.join(OsStr::new(" ")).to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start `{command_line}`"))?;
    if status.success() { Ok(()) } else { bail!("`{command_line}` failed: {status}") }
}
