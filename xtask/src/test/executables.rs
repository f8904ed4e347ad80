//! Compiles the tests and runs their executables.
//!
//! All tests are compiled once, with lints: `clippy-driver` compiles the crates of the workspace instead of `rustc`. A separate
//! `cargo clippy` would check every crate a second time.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::steps::{cargo_command, cargo_program};

/// How many executables of unit tests run at the same time. Each has as many threads as the machine has processors.
const CONCURRENT_EXECUTABLES: usize = 3;

/// What the compilation of all tests produced.
#[derive(Clone)]
pub(super) struct Compilation {
    executables: Vec<TestExecutable>,
    /// The number of warnings, including lints.
    pub(super) warnings: usize,
}

/// An executable with tests.
#[derive(Debug, Clone)]
pub(super) struct TestExecutable {
    /// The name of the crate, or of the file in `tests`.
    pub(super) name: String,
    /// The folder of the package, in which its tests run.
    folder: PathBuf,
    /// `lib`, `bin` or `test`.
    kind: String,
    program: PathBuf,
}

/// Returns a cargo command that compiles the crates of the workspace with lints.
pub(super) fn linting_cargo() -> Command {
    let mut command = cargo_command();
    command.env("RUSTC_WORKSPACE_WRAPPER", cargo_program().with_file_name("clippy-driver"));
    command
}

/// Compiles all tests with all features, and prints warnings and errors. `benches` also compiles `tests/bench` and `tests/fleet`.
///
/// # Errors
/// Returns an error when the code does not compile.
pub(super) fn compile(benches: bool) -> Result<Compilation> {
    let mut command = linting_cargo();
    command.args(["test", "--workspace", "--all-features", "--locked", "--no-run", "--message-format=json"]);
    if benches {
        command.args(["--lib", "--bins", "--tests", "--benches"]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let mut compilation = Compilation { executables: Vec::new(), warnings: 0 };
    for line in BufReader::new(child.stdout.take().context("cargo has no standard output")?).lines() {
        let message: Value = serde_json::from_str(&line?).context("cargo's message is not JSON")?;
        compilation.read(&message);
    }
    ensure!(child.wait()?.success(), "the code does not compile");
    Ok(compilation)
}

impl Compilation {
    /// Reads a message of cargo.
    fn read(&mut self, message: &Value) {
        match message["reason"].as_str() {
            Some("compiler-message") => {
                eprint!("{}", message["message"]["rendered"].as_str().unwrap_or_default());
                // The summary at the end of a crate has no code and no location.
                let has_location =
                    message["message"]["spans"].as_array().is_some_and(|spans| !spans.is_empty());
                if has_location && message["message"]["level"] == "warning" {
                    self.warnings += 1;
                }
            }
            Some("compiler-artifact") => self.executables.extend(TestExecutable::new(message)),
            _ => {}
        }
    }

    /// Returns the tests in `tests/it` of the server, which run with different databases.
    pub(super) fn integration_tests(&self) -> Result<&TestExecutable> {
        let found = self.executables.iter().find(|executable| executable.is_integration_test());
        found.context("cargo compiled no executable of tests/it")
    }

    /// Returns the second part of `cargo xtask check`.
    pub(super) fn check_program(&self) -> Result<&TestExecutable> {
        let found = self.executables.iter().find(|executable| executable.is_check_program());
        found.context("cargo compiled no program `check`")
    }

    /// Returns all other tests.
    pub(super) fn other_tests(&self) -> Vec<&TestExecutable> {
        let others = self.executables.iter();
        others
            .filter(|executable| !executable.is_integration_test() && !executable.is_check_program())
            .collect()
    }
}

impl TestExecutable {
    /// Returns the executable of a message about a compiled target. `None` if it contains no tests.
    fn new(message: &Value) -> Option<Self> {
        let target = &message["target"];
        let kind = target["kind"][0].as_str()?;
        if kind == "bench" || message["profile"]["test"] != true {
            return None;
        }
        Some(Self {
            name: target["name"].as_str()?.to_owned(),
            kind: kind.to_owned(),
            folder: Path::new(message["manifest_path"].as_str()?).parent()?.to_owned(),
            program: message["executable"].as_str()?.into(),
        })
    }

    fn is_integration_test(&self) -> bool {
        self.name == "it" && self.folder == crate::workspace()
    }

    fn is_check_program(&self) -> bool {
        self.name == "check" && self.kind == "test"
    }

    /// Returns a command that runs the tests.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        // Tests must not use a developer's own database.
        command.env_remove("DATABASE_URL").env_remove("TEST_POSTGRES_URL");
        command
    }
}

/// Runs executables side by side. `prepare` sets the arguments and the environment of each. Prints the output of those that fail.
///
/// # Errors
/// Returns an error when an executable cannot be started, or when a test fails.
pub(super) fn run_concurrently(
    executables: Vec<&TestExecutable>,
    prepare: impl Fn(&mut Command) + Sync,
) -> Result<()> {
    let queue = Mutex::new(VecDeque::from(executables));
    let failed = Mutex::new(Vec::new());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        let run_all = || {
            while let Some(executable) = next() {
                if let Err(error) = run_one(executable, &prepare) {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{error:#}"));
                }
            }
        };
        for _ in 0..CONCURRENT_EXECUTABLES {
            scope.spawn(run_all);
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("; ")) }
}

/// Runs an executable and shows its output while it runs.
///
/// # Errors
/// Returns an error with what the failed tests printed. The summary prints it again, so that you need not scroll up.
pub(super) fn run_and_print(command: &mut Command) -> Result<()> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the tests")?;
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().context("the tests have no standard output")?).lines() {
        let line = line?;
        println!("{line}");
        text.push_str(&line);
        text.push('\n');
    }
    let status = child.wait()?;
    ensure!(status.success(), "{status}\n{}", failures(&text));
    Ok(())
}

/// Returns what the failed tests printed, without backtraces. Empty if the executable ended before it could report that.
fn failures(output: &str) -> String {
    let Some(start) = output.find("\nfailures:\n") else { return String::new() };
    let mut is_backtrace = false;
    let lines = output[start..].lines().filter(|line| {
        is_backtrace = *line == "stack backtrace:" || (is_backtrace && line.starts_with(' '));
        !is_backtrace
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn run_one(executable: &TestExecutable, prepare: impl Fn(&mut Command)) -> Result<()> {
    let name = &executable.name;
    let start = Instant::now();
    let mut command = executable.command();
    prepare(&mut command);
    let output = command.output().with_context(|| format!("cannot start the tests of {name}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let summary =
        text.lines().rev().find_map(|line| line.strip_prefix("test result: ")).unwrap_or("no result");
    println!("{name:<20} {summary} ({:.1} s)", start.elapsed().as_secs_f64());
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        println!("{text}");
        bail!("the tests of {name} failed: {}\n{}", output.status, failures(&text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::failures;

    #[test]
    fn failures_have_no_backtraces() {
        let output = "test a ... FAILED\n\nfailures:\n\n---- a stdout ----\n  12: expected\nstack backtrace:\n   0: main\n             at ./a.rs:1\n\nfailures:\n    a\n";
        assert_eq!(failures(output), "\nfailures:\n\n---- a stdout ----\n  12: expected\n\nfailures:\n    a");
        assert_eq!(failures("test a ... ok\n"), "");
    }
}
