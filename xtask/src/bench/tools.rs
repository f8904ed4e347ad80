//! Measures the run time of the contract tools.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use super::table::BenchmarkRow;
use crate::test::steps::cargo_command;

/// The name and the description of the scenario.
pub(super) const SCENARIO: (&str, &str) = ("tools", "codegen and check of the contract");

/// Each tool with its limit in seconds.
const TOOLS: &[(&[&str], f64)] = &[(&["codegen", "--check"], 1.0), (&["check"], 2.0)];

/// The number of measured runs. The result is their median.
const RUNS: usize = 5;

/// Runs each tool once to build it, then measures it.
///
/// # Errors
/// Returns an error when a tool cannot run. Findings are not errors.
pub(super) fn measure() -> Result<Vec<BenchmarkRow>> {
    TOOLS.iter().map(|(args, limit_seconds)| measure_tool(args, *limit_seconds)).collect()
}

fn measure_tool(args: &[&str], limit_seconds: f64) -> Result<BenchmarkRow> {
    let name = format!("cargo xtask {}", args.join(" "));
    let mut seconds = Vec::with_capacity(RUNS);
    let mut findings = false;
    for run in 0..=RUNS {
        let start = Instant::now();
        // Run the tool through cargo, as users do.
        let mut tool = cargo_command();
        tool.arg("xtask").args(args).stdout(Stdio::null()).stderr(Stdio::null());
        let status = tool.status().context("cannot start cargo")?;
        match status.code() {
            Some(0) => {}
            Some(1) => findings = true,
            _ => bail!("`{name}` failed: {status}"),
        }
        if run > 0 {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    seconds.sort_by(f64::total_cmp);
    let figure = seconds[RUNS / 2];
    Ok(BenchmarkRow {
        scenario: SCENARIO.0.to_owned(),
        name,
        figure,
        unit: "s".to_owned(),
        compared_with: None,
        ratio: None,
        goal: format!("under {limit_seconds} s"),
        met: Some(figure < limit_seconds),
        detail: if findings { "with findings".to_owned() } else { String::new() },
    })
}
