//! How long the contract's tools take, once built.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use super::table::Row;
use crate::test::steps::cargo_command;

/// The scenario's name, and what it is.
pub(super) const SCENARIO: (&str, &str) = ("tools", "codegen and check of the contract");

/// Each tool with the seconds it may take.
const TOOLS: &[(&[&str], f64)] = &[(&["codegen", "--check"], 1.0), (&["check"], 2.0)];

/// Runs that are measured; the middle one counts.
const RUNS: usize = 5;

/// Runs each tool once to have it built, then measures it.
///
/// # Errors
/// A tool could not run. That it finds something is not an error here.
pub(super) fn measure() -> Result<Vec<Row>> {
    TOOLS.iter().map(|(args, goal)| time(args, *goal)).collect()
}

fn time(args: &[&str], goal: f64) -> Result<Row> {
    let name = format!("cargo xtask {}", args.join(" "));
    let mut seconds = Vec::with_capacity(RUNS);
    let mut findings = false;
    for run in 0..=RUNS {
        let start = Instant::now();
        // By way of cargo, as everybody calls it, and since `check` puts a program of its own in the place of this one.
        let mut tool = cargo_command();
        tool.arg("xtask").args(args).stdout(Stdio::null()).stderr(Stdio::null());
        let status = tool.status().context("cannot start cargo")?;
        match status.code() {
            Some(0) => {}
            Some(1) => findings = true,
            _ => bail!("`{name}` ended with {status}"),
        }
        if run > 0 {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    seconds.sort_by(f64::total_cmp);
    let figure = seconds[RUNS / 2];
    Ok(Row {
        scenario: SCENARIO.0.to_owned(),
        what: name,
        figure,
        unit: "s".to_owned(),
        beside: None,
        ratio: None,
        goal: format!("under {goal} s"),
        met: Some(figure < goal),
        detail: if findings { "with findings".to_owned() } else { String::new() },
    })
}
