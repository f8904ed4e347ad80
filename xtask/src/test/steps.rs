//! The steps of `cargo xtask test`. Fast steps come first.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result, bail};
use contract::diagnostic::DiagnosticFormat;

use super::chromium::BrowserPrograms;
use super::install::find_in_path;
use super::{StepContext, executables, instructions, licenses, oidc_provider, postgres, redis, skips};
use crate::TaskOutcome;

/// A step of `cargo xtask test`.
pub(super) struct TestStep {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Whether `--fast` includes the step.
    pub(super) is_fast: bool,
    pub(super) run: fn(&StepContext) -> Result<()>,
}

/// All steps, in order. `TEST_POSTGRES_URL` specifies a server on which tests can create databases. If it is set, the
/// integration tests use PostgreSQL instead of SQLite, and unit tests that need a database use both.
pub(super) const STEPS: &[TestStep] = &[
    TestStep { name: "format", about: "the source code is formatted", is_fast: true, run: format },
    TestStep { name: "tidy", about: "the project rules are followed", is_fast: true, run: tidy },
    TestStep {
        name: "codegen",
        about: "generated code is up to date",
        is_fast: true,
        run: |_| run_xtask(&["codegen", "--check"]),
    },
    TestStep {
        name: "breaking",
        about: "the contracts have no breaking changes since the release",
        is_fast: true,
        run: breaking,
    },
    TestStep {
        name: "licenses",
        about: "the licenses and sources of all dependencies are allowed",
        is_fast: false,
        run: |_| licenses::run(),
    },
    TestStep {
        name: "alerts",
        about: "the alert rules fire when they should (if promtool is installed)",
        is_fast: false,
        run: test_alert_rules,
    },
    TestStep {
        name: "lint",
        about: "the code compiles without warnings and lints",
        is_fast: true,
        run: lint,
    },
    TestStep { name: "check", about: "contract, code, tests and tables agree", is_fast: true, run: check },
    TestStep { name: "unit", about: "unit tests, and tests of the tools", is_fast: true, run: unit },
    TestStep { name: "doc", about: "code examples in doc comments", is_fast: false, run: doc },
    TestStep { name: "sqlite", about: "integration tests on SQLite", is_fast: true, run: test_on_sqlite },
    TestStep {
        name: "instructions",
        about: "eight paths execute no more instructions than their budgets",
        is_fast: false,
        run: instructions::run,
    },
    TestStep {
        name: "postgres",
        about: "integration tests on PostgreSQL, with Valkey or Redis",
        is_fast: false,
        run: test_on_postgres,
    },
    TestStep {
        name: "browser",
        about: "the dashboard in a real browser",
        is_fast: false,
        run: test_in_browser,
    },
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
    for contract in codegen::SERVED.map(|config| config.contract) {
        run_xtask(&["breaking", "--contract", contract])?;
        // A contract that the branch adds has no earlier version.
        if let Some(revision) = &branch_point
            && breaking::contains(workspace, revision, contract)?
        {
            run_xtask(&["breaking", "--contract", contract, "--base", revision])?;
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

fn lint(context: &StepContext) -> Result<()> {
    match context.compilation()?.warnings {
        0 => Ok(()),
        1 => bail!("1 warning; see above"),
        warnings => bail!("{warnings} warnings; see above"),
    }
}

/// Runs all tests but those in `tests/it`. With a PostgreSQL server, those that need a database use both SQLite and PostgreSQL.
/// The tests of the breaking-change gate change every value of v1 instead of every seventh.
fn unit(context: &StepContext) -> Result<()> {
    let mut environment = vec![skips::record("unit")?];
    if !context.is_fast {
        environment.push(("TEST_POSTGRES_URL", context.postgres_url()?.into()));
        environment.push(("TEST_REDIS_SERVER", redis::find_or_install(context.install)?.into()));
        environment.push(("BREAKING_VALUE_STRIDE", "1".into()));
    }
    let arguments = context.test_arguments();
    executables::run_concurrently(context.compilation()?.other_tests(), |command| {
        command.envs(environment.iter().cloned()).args(arguments);
    })
}

fn doc(_: &StepContext) -> Result<()> {
    run(executables::linting_cargo().args(["test", "--workspace", "--all-features", "--locked", "--doc"]))
}

/// The least number of integration tests that run at the same time. They wait about as long as they compute.
const MIN_INTEGRATION_TEST_THREADS: usize = 6;
/// Arguments that exclude the browser tests, which have a separate step.
const WITHOUT_BROWSER: [&str; 2] = ["--skip", "browser::"];

/// Modules of tests that do not depend on the kind of the database. They run on SQLite only.
pub(super) const ON_ONE_DATABASE: [&str; 9] = [
    "connections::",
    "connections_flood::",
    "dashboard_times::",
    "data_folder::",
    "instructions::",
    "mail_server::",
    "malformed::",
    "systemd::",
    "webhooks_outbound::",
];

fn test_on_sqlite(context: &StepContext) -> Result<()> {
    executables::run_and_print(integration_tests(context, "sqlite")?.args(WITHOUT_BROWSER))
}

fn test_on_postgres(context: &StepContext) -> Result<()> {
    let mut command = integration_tests(context, "postgres")?;
    command.env("TEST_POSTGRES_URL", context.postgres_url()?);
    command.env("TEST_REDIS_SERVER", redis::find_or_install(context.install)?);
    // Tests of standbys start servers of their own.
    command.env("TEST_POSTGRES_PROGRAMS", postgres::find_or_install(context.install)?);
    executables::run_and_print(
        command.args(WITHOUT_BROWSER).args(ON_ONE_DATABASE.iter().flat_map(|module| ["--skip", module])),
    )
}

fn test_in_browser(context: &StepContext) -> Result<()> {
    let chromium = BrowserPrograms::find_or_install(context.install)?;
    let mut command = integration_tests(context, "browser")?;
    command
        .envs(oidc_provider::find_or_install(context.install)?.map(|folder| ("TEST_OIDC_PROVIDER", folder)));
    executables::run_and_print(
        command
            .arg("browser::")
            .env("TEST_CHROMIUM", chromium.browser)
            .env("TEST_CHROMEDRIVER", chromium.driver),
    )
}

/// Returns a command that runs the tests in `tests/it` for a step.
fn integration_tests(context: &StepContext, step: &str) -> Result<Command> {
    let mut command = context.compilation()?.integration_tests()?.command();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.max(MIN_INTEGRATION_TEST_THREADS);
    command
        .envs([skips::record(step)?])
        .arg(format!("--test-threads={threads}"))
        .args(context.test_arguments());
    Ok(command)
}

/// Checks that contract, code, tests and tables agree, with the schemas of SQLite and, unless `--fast` is set, PostgreSQL.
fn check(context: &StepContext) -> Result<()> {
    let mut program = context.compilation()?.check_program()?.command();
    if !context.is_fast {
        program.env("DATABASE_URL", context.postgres_url()?);
    }
    match crate::check::run_with(Path::new("."), DiagnosticFormat::Text, &mut program)? {
        TaskOutcome::Success => Ok(()),
        TaskOutcome::Findings => bail!("see above; run `cargo xtask check`"),
    }
}

/// Runs another command of this program.
fn run_xtask(args: &[&str]) -> Result<()> {
    let program = std::env::current_exe().context("cannot determine the path of this program")?;
    run(Command::new(program).args(args))
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
