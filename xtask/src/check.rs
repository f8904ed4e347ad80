//! `cargo xtask check`: checks that the generated files are up to date, and that contract, code, tests and tables
//! agree.
//!
//! The second part links the server, so it is a separate program (the crate `check`), which is built on demand.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use codegen::stale;
use contract::diagnostic::DiagnosticFormat;

use crate::TaskOutcome;
use crate::test::steps::cargo_command;

/// Runs both parts. If `print_code` is set, runs only the second part, which then prints the OpenAPI document of the
/// code.
///
/// # Errors
/// Returns an error when a contract cannot be read, the server does not compile, or the second part cannot run.
pub fn run(workspace: &Path, format: DiagnosticFormat, print_code: bool) -> anyhow::Result<TaskOutcome> {
    let program = build(workspace)?;
    if print_code {
        return run_program(Command::new(program).arg("--print-code"), workspace, format);
    }
    run_with(workspace, format, &mut Command::new(program))
}

/// Runs both parts, the second with this command.
///
/// # Errors
/// Returns an error when a contract cannot be read, or the second part cannot run.
pub(crate) fn run_with(
    workspace: &Path,
    format: DiagnosticFormat,
    program: &mut Command,
) -> anyhow::Result<TaskOutcome> {
    let mut outcome = TaskOutcome::Success;
    for config in codegen::CONTRACTS {
        let contract =
            match contract::read(contract::read_file(workspace, config.contract)?, &config.conventions) {
                Ok(contract) => contract,
                Err(invalid) => {
                    invalid.print(format)?;
                    return Ok(TaskOutcome::Findings);
                }
            };
        let stale = stale::find(workspace, &contract, config)?;
        print!("{}", stale::render(&stale, format));
        if !stale.is_empty() {
            outcome = TaskOutcome::Findings;
        }
    }
    let program_outcome = run_program(program, workspace, format)?;
    Ok(if outcome == TaskOutcome::Success { program_outcome } else { outcome })
}

/// Runs the second part.
fn run_program(
    command: &mut Command,
    workspace: &Path,
    format: DiagnosticFormat,
) -> anyhow::Result<TaskOutcome> {
    let format = format.to_possible_value().context("the format has no name")?;
    command.current_dir(workspace).args(["--format", format.get_name()]);
    match command.status().context("cannot start the program `check`")?.code() {
        Some(0) => Ok(TaskOutcome::Success),
        Some(1) => Ok(TaskOutcome::Findings),
        _ => bail!("the program `check` could not run; see above"),
    }
}

/// Builds the program with the features of all tests, and returns its path.
fn build(workspace: &Path) -> anyhow::Result<PathBuf> {
    let output = cargo_command()
        .current_dir(workspace)
        .args(["test", "--quiet", "--workspace", "--all-features", "--locked", "--test", "check"])
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "the server does not compile; see above");
    let text = String::from_utf8(output.stdout).context("the output of cargo is not UTF-8")?;
    let program = text.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == "check").then_some(())?;
        Some(PathBuf::from(message["executable"].as_str()?))
    });
    program.context("cargo does not report the path of `check`")
}
