//! The steps of `cargo xtask test`, in their order: quick ones first.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::chromium::Chromium;
use super::{Context, licences};

/// One step.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&Context) -> Result<()>,
}

/// Every step. `TEST_POSTGRES_URL` is the address of a server on which tests may make databases: with it, the
/// integration tests use PostgreSQL, without it SQLite; unit tests that need a database try both.
pub(super) const STEPS: &[Step] = &[
    Step { name: "format", about: "the source is formatted", run: format },
    Step { name: "tidy", about: "the house rules hold", run: tidy },
    Step { name: "codegen", about: "generated code is fresh", run: |_| xtask(&["codegen", "--check"], None) },
    Step { name: "breaking", about: "the contract keeps what was released", run: breaking },
    Step {
        name: "licences",
        about: "every dependency is under a licence we may use",
        run: |_| licences::run(),
    },
    Step { name: "clippy", about: "no lint fires", run: clippy },
    Step { name: "check", about: "contract, code, tests and tables say the same", run: check },
    Step { name: "unit", about: "unit tests of the workspace", run: unit },
    Step { name: "doc", about: "examples in the documentation", run: doc },
    Step { name: "sqlite", about: "integration tests on SQLite", run: on_sqlite },
    Step { name: "postgres", about: "integration tests on PostgreSQL", run: on_postgres },
    Step { name: "browser", about: "the dashboard in a real browser", run: in_browser },
];

fn format(_: &Context) -> Result<()> {
    cargo(["fmt", "--all", "--check"]).context("run `cargo fmt --all`")
}

fn tidy(_: &Context) -> Result<()> {
    match crate::tidy::check(Path::new("."))? {
        0 => Ok(()),
        findings => bail!("{findings} findings"),
    }
}

/// The released file is part of the change. The contract where the change branched off is not: a change that also moves the
/// released file forward is still compared with that.
fn breaking(_: &Context) -> Result<()> {
    xtask(&["breaking"], None)?;
    match breaking::branch_point(Path::new(".")) {
        Some(revision) => xtask(&["breaking", "--base", &revision], None),
        None => {
            println!(
                "note: git does not know origin/HEAD here; the contract is compared with the released file alone"
            );
            Ok(())
        }
    }
}

fn clippy(_: &Context) -> Result<()> {
    cargo(["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "-D", "warnings"])
}

/// The tests that need a database try each on both. The breaking gate is tried with each value of the contract.
fn unit(context: &Context) -> Result<()> {
    let mut command = test_command(&["--lib", "--bins"], Some(context.postgres_url()?));
    run(command.env("UNSEEN_EVERY", "1"))
}

fn doc(_: &Context) -> Result<()> {
    tests(&["--doc"], None)
}

/// What is told in a browser has a step of its own.
const BESIDE_BROWSER: [&str; 3] = ["--", "--skip", "browser::"];

fn on_sqlite(_: &Context) -> Result<()> {
    tests(&[&["--test", "it", "--test", "second"], &BESIDE_BROWSER[..]].concat(), None)
}

fn on_postgres(context: &Context) -> Result<()> {
    tests(&[&["--test", "it"], &BESIDE_BROWSER[..]].concat(), Some(context.postgres_url()?))
}

fn in_browser(context: &Context) -> Result<()> {
    let chromium = Chromium::find_or_install(context.install)?;
    let mut command = test_command(&["--test", "it", "browser::"], None);
    run(command.env("TEST_CHROMIUM", chromium.browser).env("TEST_CHROMEDRIVER", chromium.driver))
}

/// Runs tests of the whole workspace, with or without a PostgreSQL server.
fn tests(which: &[&str], postgres_url: Option<&str>) -> Result<()> {
    run(&mut test_command(which, postgres_url))
}

fn test_command(which: &[&str], postgres_url: Option<&str>) -> Command {
    let mut command = cargo_command();
    command.args(["test", "--workspace", "--all-features", "--locked", "--no-fail-fast"]).args(which);
    match postgres_url {
        Some(url) => command.env("TEST_POSTGRES_URL", url),
        None => command.env_remove("TEST_POSTGRES_URL"),
    };
    // What developers have set for a server of their own is no business of the tests.
    command.env_remove("DATABASE_URL");
    command
}

/// The schema is looked at on both databases.
fn check(context: &Context) -> Result<()> {
    xtask(&["check"], Some(context.postgres_url()?))
}

/// Runs another task of this program, with or without a PostgreSQL server.
fn xtask(args: &[&str], postgres_url: Option<&str>) -> Result<()> {
    let program = std::env::current_exe().context("this program does not know where it stands")?;
    let mut command = Command::new(program);
    match postgres_url {
        Some(url) => command.env("DATABASE_URL", url),
        None => command.env_remove("DATABASE_URL"),
    };
    run(command.args(args))
}

/// The cargo that started this program, so that its toolchain is used throughout.
pub(crate) fn cargo_program() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

fn cargo<const N: usize>(args: [&str; N]) -> Result<()> {
    run(cargo_command().args(args))
}

/// The same, to be started as if from a shell.
///
/// `cargo xtask` is a `cargo run`, which leaves the names of this package in the environment. Build scripts that look at
/// them (ring's does) would run anew, and with them everything above be built anew, at each change between the two.
pub(crate) fn cargo_command() -> Command {
    let mut command = Command::new(cargo_program());
    for (name, _) in std::env::vars_os() {
        let left = name.to_string_lossy();
        if left.starts_with("CARGO_PKG_") || left.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command with its output shown; anything but success is an error that names it.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let shown = || {
        let words: Vec<&OsStr> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
        words.join(OsStr::new(" ")).to_string_lossy().into_owned()
    };
    let shown = shown();
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if status.success() { Ok(()) } else { bail!("`{shown}` ended with {status}") }
}
