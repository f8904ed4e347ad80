//! `cargo xtask check`: contract == code, both ways.
//!
//! Owns the order: the generated files are held against the contract first, here; then [`linked`] holds the contract
//! against what poem-openapi says of the code. That part links the server, so it runs as a second process, built with the
//! feature `check`, and everything else keeps building when the server does not.

// Without the feature nothing below is called; the tests call it with and without.
#[cfg(any(feature = "check", test))]
mod compare;
#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "taken apart by the linked half"))]
mod facts;
mod finding;
mod gates;
#[cfg(feature = "check")]
pub mod linked;
#[cfg(feature = "check")]
mod own;
#[cfg(feature = "check")]
mod report;
#[cfg(feature = "check")]
mod tables;
#[cfg_attr(not(feature = "check"), allow(dead_code, reason = "judged by the linked half"))]
mod unsayable;

use std::path::Path;

use anyhow::{Context, bail};
use codegen::{V1, stale};
use contract::diagnostic::Format;

use crate::Outcome;
use crate::test::steps::cargo_command;

/// Runs both halves.
///
/// # Errors
/// When the contract cannot be read, or the server not built.
pub fn run(workspace: &Path, format: Format, print_code: bool) -> anyhow::Result<Outcome> {
    if print_code {
        return second_half(workspace, format, true);
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
        // The gates are those of the contract that the server serves.
        let open = if names.stem == V1.stem { gates::judge(workspace, &contract)? } else { Vec::new() };
        print!("{}", finding::render(&open, format));
        if !stale.is_empty() || !open.is_empty() {
            outcome = Outcome::Findings;
        }
    }
    let second = second_half(workspace, format, false)?;
    Ok(if outcome == Outcome::Fine { second } else { outcome })
}

/// Builds the server with this tool and runs `check-linked`.
fn second_half(workspace: &Path, format: Format, print_code: bool) -> anyhow::Result<Outcome> {
    let format = clap::ValueEnum::to_possible_value(&format).context("every format has a name")?;
    let mut command = cargo_command();
    command
        .current_dir(workspace)
        .args(["run", "--quiet", "--package", "xtask", "--features", "check", "--"])
        .args(["check-linked", "--format", format.get_name()]);
    if print_code {
        command.arg("--print-code");
    }
    match command.status().context("cannot start cargo")?.code() {
        Some(0) => Ok(Outcome::Fine),
        Some(1) => Ok(Outcome::Findings),
        _ => bail!("the server could not be built or asked; see above"),
    }
}
