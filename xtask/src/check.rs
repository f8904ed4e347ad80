//! `cargo xtask check`: the generated files are fresh, and contract, code, tests and tables agree.
//!
//! The second half links the server, so it is a program of its own (the crate `check`), built when it is needed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use codegen::stale;
use contract::diagnostic::Format;

use crate::Outcome;
use crate::test::steps::cargo_command;

/// Runs both halves.
///
/// # Errors
/// When the contract cannot be read, or the server not built.
pub fn run(workspace: &Path, format: Format, print_code: bool) -> anyhow::Result<Outcome> {
    if print_code {
        return compare(workspace, format, true);
    }
    let mut outcome = Outcome::Fine;
    for names in codegen::CONTRACTS {
        let contract = match contract::read(contract::open(workspace, names.contract)?, &names.customs) {
            Ok(contract) => contract,
            Err(refused) => {
                refused.told(format)?;
                return Ok(Outcome::Findings);
            }
        };
        let stale = stale::of(workspace, &contract, names)?;
        print!("{}", stale::render(&stale, format));
        if !stale.is_empty() {
            outcome = Outcome::Findings;
        }
    }
    let compared = compare(workspace, format, false)?;
    Ok(if outcome == Outcome::Fine { compared } else { outcome })
}

/// Builds and runs the comparisons.
fn compare(workspace: &Path, format: Format, print_code: bool) -> anyhow::Result<Outcome> {
    let format = format.to_possible_value().context("every format has a name")?;
    let mut command = Command::new(build(workspace)?);
    command.current_dir(workspace).args(["--format", format.get_name()]);
    if print_code {
        command.arg("--print-code");
    }
    match command.status().context("cannot start the comparisons")?.code() {
        Some(0) => Ok(Outcome::Fine),
        Some(1) => Ok(Outcome::Findings),
        _ => bail!("the comparisons could not run; see above"),
    }
}

/// Builds the comparisons, with the features of all tests, and returns the program.
fn build(workspace: &Path) -> anyhow::Result<PathBuf> {
    let output = cargo_command()
        .current_dir(workspace)
        .args(["test", "--quiet", "--workspace", "--all-features", "--locked", "--test", "check"])
        .args(["--no-run", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    ensure!(output.status.success(), "the server could not be built; see above");
    let text = String::from_utf8(output.stdout).context("cargo does not write UTF-8")?;
    let program = text.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        (message["target"]["name"] == "check").then_some(())?;
        Some(PathBuf::from(message["executable"].as_str()?))
    });
    program.context("cargo did not name the program that it built")
}
