//! The table of a run, as Markdown and as JSON.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// One line: a figure, what it stands beside, and the goal. The load programs write it in this form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    /// The scenario's name.
    pub(super) scenario: String,
    /// What was measured.
    pub(super) what: String,
    /// The figure, in `unit`.
    pub(super) figure: f64,
    /// The figure's unit.
    pub(super) unit: String,
    /// The limit, or another figure of ours.
    pub(super) beside: Option<Beside>,
    /// The figure by what stands beside it.
    pub(super) ratio: Option<f64>,
    /// What is wanted, in words.
    pub(super) goal: String,
    /// Whether it was reached; `None` when the run cannot say.
    pub(super) met: Option<bool>,
    /// What else was seen.
    pub(super) detail: String,
}

/// What a figure is compared with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Beside {
    what: String,
    figure: f64,
}

/// All rows of a run, and what they were measured with.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    scale: String,
    seconds: f64,
    cores: usize,
    pub(super) rows: Vec<Row>,
}

const HEADING: [&str; 6] = ["what", "figure", "limit or peer", "ratio", "goal", "met"];

impl Table {
    /// An empty table.
    pub(super) fn new(scale: String, seconds: f64) -> Self {
        let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
        Self { scale, seconds, cores, rows: Vec::new() }
    }

    /// Writes `bench.md` and `bench.json`.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let text = format!("{}\n{}", self.markdown(), self.details());
        fs::write(folder.join("bench.md"), text).context("cannot write the table")?;
        fs::write(folder.join("bench.json"), serde_json::to_vec_pretty(self)?)
            .context("cannot write the table")
    }

    /// The table, aligned so that it reads well as it is.
    pub(super) fn markdown(&self) -> String {
        let lines: Vec<[String; 6]> = self.rows.iter().map(cells).collect();
        let width = |column: usize| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.chain([HEADING[column].len()]).max().unwrap_or_default()
        };
        let widths: [usize; 6] = std::array::from_fn(width);
        let mut text = format!(
            "Scale {}, --seconds {}, {} cores shared by the load generator and everything it measures:\n\
             only the ratios of one run count.\n\n",
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

    /// What else was seen, a line a row.
    fn details(&self) -> String {
        let mut text = String::new();
        for row in self.rows.iter().filter(|row| !row.detail.is_empty()) {
            let _ = writeln!(text, "- {}: {}", row.what, row.detail);
        }
        text
    }
}

fn cells(row: &Row) -> [String; 6] {
    let beside =
        row.beside.as_ref().map(|beside| format!("{}: {} {}", beside.what, number(beside.figure), row.unit));
    let ratio = row.ratio.map(|ratio| format!("{ratio:.2}"));
    let met = match row.met {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "-",
    };
    [
        row.what.clone(),
        format!("{} {}", number(row.figure), row.unit),
        beside.unwrap_or_default(),
        ratio.unwrap_or_default(),
        row.goal.clone(),
        met.to_owned(),
    ]
}

/// Three figures that mean something, with the thousands set apart.
fn number(figure: f64) -> String {
    let decimals = match figure.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{figure:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (place, digit) in whole.char_indices() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figure: f64, beside: f64, met: bool) -> Row {
        Row {
            scenario: "catalogue".to_owned(),
            what: "listCourses, SQLite".to_owned(),
            figure,
            unit: "req/s".to_owned(),
            beside: Some(Beside { what: "fixed body".to_owned(), figure: beside }),
            ratio: Some(figure / beside),
            goal: "at least 0.5 x".to_owned(),
            met: Some(met),
            detail: "p50/p95/p99 1/2/3 ms".to_owned(),
        }
    }

    #[test]
    fn numbers_are_read_at_a_glance() {
        let texts = [1_234_567.8, 999.9, 123.4, 12.34, 1.234, 0.0456].map(number);
        assert_eq!(texts, ["1,234,568", "1,000", "123", "12.3", "1.23", "0.05"]);
    }

    #[test]
    fn a_goal_that_is_not_met_stands_out() {
        let mut table = Table { scale: "small".to_owned(), seconds: 3.0, cores: 2, rows: Vec::new() };
        table.rows = vec![row(52_000.0, 98_000.0, true), row(9_000.0, 98_000.0, false)];
        let text = table.markdown();
        let lines: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            lines,
            [
                "| what                | figure       | limit or peer            | ratio | goal           | met |",
                "| ------------------- | ------------ | ------------------------ | ----- | -------------- | --- |",
                "| listCourses, SQLite | 52,000 req/s | fixed body: 98,000 req/s | 0.53  | at least 0.5 x | yes |",
                "| listCourses, SQLite | 9,000 req/s  | fixed body: 98,000 req/s | 0.09  | at least 0.5 x | NO  |",
            ]
        );
        assert!(table.details().starts_with("- listCourses, SQLite: p50"));
    }
}
