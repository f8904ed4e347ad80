//! The table of results, as text, Markdown and JSON.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::guarantee;

/// The output format of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TableFormat {
    /// An aligned table and the failures
    Text,
    /// A Markdown table and the failures
    Markdown,
    /// The same data as JSON
    Json,
}

/// The result of a scenario. The fleet program writes this structure as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ScenarioResult {
    /// The name of the scenario.
    scenario: String,
    /// Its duration in seconds.
    seconds: f64,
    /// Why it could not be completed, if so.
    error: Option<String>,
    figures: Vec<Figure>,
}

/// A measured figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Figure {
    /// The name of the figure.
    name: String,
    /// The figure, in `unit`.
    value: f64,
    unit: String,
    /// The guarantee, in words, or a goal that is not checked.
    expected: String,
    /// The figure of revision 5e25179, if known.
    before: String,
    /// Whether the guarantee is met; `None` if there is none.
    met: Option<bool>,
    /// Additional measurements.
    detail: String,
}

/// The results of all scenarios of a run.
#[derive(Debug, Serialize)]
pub(super) struct FleetTable {
    profile: &'static str,
    /// The number of processor cores, or 0 if it is unknown.
    cores: usize,
    /// The duration of all scenarios in seconds, without the builds.
    seconds: f64,
    scenarios: Vec<ScenarioResult>,
}

const HEADING: [&str; 6] = ["scenario", "measurement", "figure", "expected", "before", "met"];

impl FleetTable {
    pub(super) fn new(release: bool, duration: Duration, scenarios: Vec<ScenarioResult>) -> Self {
        let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
        let profile = if release { "release" } else { "dev" };
        Self { profile, cores, seconds: duration.as_secs_f64(), scenarios }
    }

    /// Writes `fleet.md` and `fleet.json`.
    ///
    /// # Errors
    /// Returns an error when a file cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        fs::write(folder.join("fleet.md"), self.render(TableFormat::Markdown)?)
            .and_then(|()| {
                fs::write(folder.join("fleet.json"), self.render(TableFormat::Json).unwrap_or_default())
            })
            .context("cannot write the table")
    }

    /// Returns whether a guarantee is violated or a scenario could not be completed.
    pub(super) fn has_failures(&self) -> bool {
        !self.failures().is_empty()
    }

    /// Returns the results in this format.
    ///
    /// # Errors
    /// Returns an error when the results cannot be serialized.
    pub(super) fn render(&self, format: TableFormat) -> Result<String> {
        if format == TableFormat::Json {
            return Ok(serde_json::to_string_pretty(self)?);
        }
        let mut text = format!(
            "{} scenarios in {:.0} s, profile {}, {} cores; `before` is revision 5e25179\n\n",
            self.scenarios.len(),
            self.seconds,
            self.profile,
            self.cores
        );
        text.push_str(&self.rows(format));
        text.push('\n');
        for result in &self.scenarios {
            let _ = writeln!(
                text,
                "- {} ({:.0} s): {}",
                result.scenario,
                result.seconds,
                guarantee(&result.scenario)
            );
            for figure in result.figures.iter().filter(|figure| !figure.detail.is_empty()) {
                let _ = writeln!(text, "  - {}: {}", figure.name, figure.detail);
            }
        }
        match self.failures().as_slice() {
            [] => text.push_str("\nall guarantees are met\n"),
            failures => {
                let _ = writeln!(text, "\n{} failures:", failures.len());
                for failure in failures {
                    let _ = writeln!(text, "- {failure}");
                }
            }
        }
        Ok(text)
    }

    /// Returns one message for each violated guarantee and each scenario that could not be completed.
    fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for result in &self.scenarios {
            let violated = result.figures.iter().filter(|figure| figure.met == Some(false));
            failures.extend(violated.map(|figure| {
                let found = measured(figure);
                format!("{}: {}: expected {}, found {found}", result.scenario, figure.name, figure.expected)
            }));
            failures.extend(result.error.iter().map(|error| format!("{}: {error}", result.scenario)));
        }
        failures
    }

    /// Returns the rows with aligned columns.
    fn rows(&self, format: TableFormat) -> String {
        let lines: Vec<[String; 6]> = self.scenarios.iter().flat_map(cells).collect();
        let width = |column: usize| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.chain([HEADING[column].len()]).max().unwrap_or_default()
        };
        let widths: [usize; 6] = std::array::from_fn(width);
        let separator = if format == TableFormat::Markdown { "| " } else { "" };
        let end = if format == TableFormat::Markdown { "|" } else { "" };
        let mut text = String::new();
        let mut push = |cells: &[String; 6]| {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(widths) {
                let _ = write!(line, "{separator}{cell:<width$} ");
            }
            text.push_str(format!("{line}{end}").trim_end());
            text.push('\n');
        };
        push(&HEADING.map(str::to_owned));
        push(&widths.map(|width| "-".repeat(width)));
        lines.iter().for_each(push);
        text
    }
}

/// Returns the rows of a scenario: one for each figure, and one if it could not be completed.
fn cells(result: &ScenarioResult) -> Vec<[String; 6]> {
    let row = |figure: &Figure| {
        let met = match figure.met {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "-",
        };
        let (expected, before) = (figure.expected.clone(), figure.before.clone());
        [result.scenario.clone(), figure.name.clone(), measured(figure), expected, before, met.to_owned()]
    };
    let mut rows: Vec<_> = result.figures.iter().map(row).collect();
    if result.error.is_some() {
        let [name, text, found] =
            [result.scenario.as_str(), "the scenario", "not completed"].map(str::to_owned);
        rows.push([name, text, found, String::new(), String::new(), "NO".to_owned()]);
    }
    rows
}

/// Formats a figure with its unit, without decimals that are zero.
fn measured(figure: &Figure) -> String {
    let decimals = if figure.value.fract() == 0.0 { 0 } else { 2 };
    format!("{:.decimals$} {}", figure.value, figure.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(met: Option<bool>, error: Option<&str>) -> FleetTable {
        let figure = Figure {
            name: "admitted, most".to_owned(),
            value: 180.0,
            unit: "requests".to_owned(),
            expected: "exactly 60".to_owned(),
            before: "180".to_owned(),
            met,
            detail: "20 times".to_owned(),
        };
        let scenario = "rate-limit".to_owned();
        let error = error.map(str::to_owned);
        let result = ScenarioResult { scenario, seconds: 1.0, error, figures: vec![figure] };
        FleetTable { profile: "dev", cores: 2, seconds: 1.0, scenarios: vec![result] }
    }

    #[test]
    fn a_violated_guarantee_is_a_failure_that_says_what_was_found() {
        let text = table(Some(false), None).render(TableFormat::Markdown).unwrap();
        let row = "| rate-limit | admitted, most | 180 requests | exactly 60 | 180    | NO  |";
        assert!(text.contains(row), "{text}");
        let failure = "- rate-limit: admitted, most: expected exactly 60, found 180 requests";
        assert!(text.contains(failure), "{text}");
    }

    #[test]
    fn a_scenario_that_could_not_be_completed_is_a_failure() {
        let table = table(Some(true), Some("haproxy did not start"));
        assert!(table.has_failures());
        assert!(table.render(TableFormat::Text).unwrap().contains("- rate-limit: haproxy did not start"));
    }

    #[test]
    fn a_figure_without_a_guarantee_is_no_failure() {
        assert!(!table(None, None).has_failures());
        assert!(table(None, None).render(TableFormat::Text).unwrap().contains("all guarantees are met"));
    }
}
