//! The table of results, as Markdown and as JSON.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// One row of the table: a result, what it is compared with, and the goal. The load programs write this structure as
/// JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BenchmarkRow {
    /// The name of the scenario.
    pub(super) scenario: String,
    /// The name of the result.
    #[serde(rename = "what")]
    pub(super) name: String,
    /// The result, in `unit`.
    pub(super) figure: f64,
    /// The unit of the result.
    pub(super) unit: String,
    /// What the result is compared with: a limit, a goal, another result of the project, or a figure of another
    /// program.
    #[serde(rename = "beside")]
    pub(super) compared_with: Option<ComparedFigure>,
    /// The result divided by the figure that it is compared with. `None` if there is no such figure, or if it is 0.
    pub(super) ratio: Option<f64>,
    /// The goal, in words.
    pub(super) goal: String,
    /// Whether the goal is met; `None` if this run cannot determine it.
    pub(super) met: Option<bool>,
    /// Additional measurements.
    pub(super) detail: String,
}

/// The figure that a result is compared with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ComparedFigure {
    #[serde(rename = "what")]
    name: String,
    figure: f64,
}

/// All rows of a run, with the parameters of the run.
#[derive(Debug, Serialize)]
pub(super) struct BenchmarkTable {
    scale: String,
    seconds: f64,
    /// The number of processor cores, or 0 if it is unknown.
    cores: usize,
    pub(super) rows: Vec<BenchmarkRow>,
}

const HEADING: [&str; 6] = ["measurement", "figure", "compared with", "ratio", "goal", "met"];

impl BenchmarkTable {
    /// Creates an empty table.
    pub(super) fn new(scale: String, seconds: f64) -> Self {
        let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
        Self { scale, seconds, cores, rows: Vec::new() }
    }

    /// Writes `bench.md` and `bench.json`.
    ///
    /// # Errors
    /// Returns an error when a file cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let text = format!("{}\n{}", self.markdown(), self.details());
        fs::write(folder.join("bench.md"), text).context("cannot write the table")?;
        fs::write(folder.join("bench.json"), serde_json::to_vec_pretty(self)?)
            .context("cannot write the table")
    }

    /// Returns the table as Markdown with aligned columns.
    pub(super) fn markdown(&self) -> String {
        let lines: Vec<[String; 6]> = self.rows.iter().map(cells).collect();
        let width = |column: usize| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.chain([HEADING[column].len()]).max().unwrap_or_default()
        };
        let widths: [usize; 6] = std::array::from_fn(width);
        let mut text = format!(
            "Scale {}, --seconds {}, {} cores shared by the load generator and the measured programs:\n\
             compare only the ratios of one run.\n\n",
            self.scale, self.seconds, self.cores
        );
        let mut push = |cells: &[String; 6]| {
            for (cell, width) in cells.iter().zip(widths) {
                let _ = write!(text, "| {cell:<width$} ");
            }
            text.push_str("|\n");
        };
        push(&HEADING.map(str::to_owned));
        push(&widths.map(|width| "-".repeat(width)));
        lines.iter().for_each(push);
        text
    }

    /// Returns the additional measurements, one line for each row that has any.
    fn details(&self) -> String {
        let mut text = String::new();
        for row in self.rows.iter().filter(|row| !row.detail.is_empty()) {
            let _ = writeln!(text, "- {}: {}", row.name, row.detail);
        }
        text
    }
}

fn cells(row: &BenchmarkRow) -> [String; 6] {
    let compared_with = row
        .compared_with
        .as_ref()
        .map(|compared| format!("{}: {} {}", compared.name, number(compared.figure), row.unit));
    let ratio = row.ratio.map(|ratio| format!("{ratio:.2}"));
    let met = match row.met {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "-",
    };
    [
        row.name.clone(),
        format!("{} {}", number(row.figure), row.unit),
        compared_with.unwrap_or_default(),
        ratio.unwrap_or_default(),
        row.goal.clone(),
        met.to_owned(),
    ]
}

/// Formats a number with at least three digits and with thousands separators. Numbers below 10 have two decimals.
fn number(figure: f64) -> String {
    let decimals = match figure.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{figure:.decimals$}");
    let (integer_part, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in integer_part.char_indices() {
        let remaining = integer_part.len() - index;
        if index > 0 && remaining.is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figure: f64, limit: f64, met: bool) -> BenchmarkRow {
        BenchmarkRow {
            scenario: "catalogue".to_owned(),
            name: "listCourses, SQLite".to_owned(),
            figure,
            unit: "req/s".to_owned(),
            compared_with: Some(ComparedFigure { name: "fixed body".to_owned(), figure: limit }),
            ratio: Some(figure / limit),
            goal: "at least 0.5 x".to_owned(),
            met: Some(met),
            detail: "p50/p95/p99 1/2/3 ms".to_owned(),
        }
    }

    #[test]
    fn numbers_have_at_least_three_digits_and_thousands_separators() {
        let texts = [1_234_567.8, 999.9, 123.4, 12.34, 1.234, 0.0456].map(number);
        assert_eq!(texts, ["1,234,568", "1,000", "123", "12.3", "1.23", "0.05"]);
    }

    #[test]
    fn a_missed_goal_is_marked_in_capitals() {
        let mut table =
            BenchmarkTable { scale: "small".to_owned(), seconds: 3.0, cores: 2, rows: Vec::new() };
        table.rows = vec![row(52_000.0, 98_000.0, true), row(9_000.0, 98_000.0, false)];
        let text = table.markdown();
        let lines: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "| measurement         | figure       | compared with            | ratio | goal           | met |",
                "| ------------------- | ------------ | ------------------------ | ----- | -------------- | --- |",
                "| listCourses, SQLite | 52,000 req/s | fixed body: 98,000 req/s | 0.53  | at least 0.5 x | yes |",
                "| listCourses, SQLite | 9,000 req/s  | fixed body: 98,000 req/s | 0.09  | at least 0.5 x | NO  |",
            ]
        );
        assert!(table.details().starts_with("- listCourses, SQLite: p50"));
    }
}
