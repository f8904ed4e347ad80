//! The table of the clients: `openapi/clients/table.json` and, for readers, `openapi/clients/table.md`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::matrix::Unavailable;

/// The columns: the name of a cell, and its heading.
const COLUMNS: [(&str, &str); 13] = [
    ("compile", "Compiles"),
    ("operations", "Operations"),
    ("pages", "Pages"),
    ("filters", "Filters"),
    ("null", "Null"),
    ("errors", "Errors"),
    ("unknown_enum", "Unknown enum value"),
    ("unknown_field", "Unknown field"),
    ("unknown_event", "Unknown event"),
    ("money", "64-bit amounts"),
    ("metadata", "Metadata"),
    ("event", "Events"),
    ("names", "Names"),
];

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum CellResult {
    Passed,
    Failed,
    /// The check does not apply.
    None,
}

/// A cell of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Cell {
    result: CellResult,
    /// Why the check failed or does not apply.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    note: String,
    /// Whether the generator is the cause, as `note` says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    known: bool,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Row {
    pub name: String,
    pub language: String,
    /// The packages with their versions.
    pub packages: Vec<String>,
    /// The document that the client was generated from.
    pub document: String,
    pub cells: BTreeMap<String, Cell>,
}

impl Cell {
    pub fn passed() -> Self {
        Self { result: CellResult::Passed, note: String::new(), known: false }
    }

    pub fn failed(note: &str) -> Self {
        Self { result: CellResult::Failed, note: note.to_owned(), known: false }
    }

    pub fn is_passed(&self) -> bool {
        self.result == CellResult::Passed
    }

    /// Replaces the note of a failed cell by the known issue of the generator if it contains this part.
    pub fn explain(&mut self, failure: &str, issue: &str) {
        if self.result == CellResult::Failed && self.note.contains(failure) {
            (self.note, self.known) = (issue.to_owned(), true);
        }
    }
}

impl Row {
    /// Returns whether no cell failed, except for known issues of the generator.
    pub fn has_passed(&self) -> bool {
        self.cells.values().all(|cell| cell.result != CellResult::Failed || cell.known)
    }

    /// Returns the failed cells with their notes.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        let failed = self.cells.iter().filter(|(_, cell)| cell.result == CellResult::Failed);
        failed.map(|(name, cell)| format!("{name}: {}", cell.note))
    }

    /// Counts the cells that passed.
    pub fn passed_count(&self) -> usize {
        self.cells.values().filter(|cell| cell.is_passed()).count()
    }

    /// Returns the cells that passed in `committed` but not in this row.
    fn worse_than<'a>(&'a self, committed: &'a Self) -> impl Iterator<Item = String> + 'a {
        let passed = committed.cells.iter().filter(|(_, cell)| cell.is_passed());
        let lost = passed.filter(|(name, _)| !self.cells.get(*name).is_some_and(Cell::is_passed));
        lost.map(|(name, _)| format!("{}: `{name}` passed before", self.name))
    }
}

/// Compares rows with the committed table, and writes the table unless a cell is worse. Returns what is worse. Rows of other jobs keep
/// their committed cells.
///
/// # Errors
/// Returns an error when the table cannot be read or written.
pub fn update(
    workspace: &Path,
    names: &[&str],
    rows: &[Row],
    unavailable: &[Unavailable],
) -> anyhow::Result<Vec<String>> {
    let folder = workspace.join("openapi/clients");
    let committed: Vec<Row> = match fs::read_to_string(folder.join("table.json")) {
        Ok(text) => serde_json::from_str(&text).context("openapi/clients/table.json is invalid")?,
        Err(_) => Vec::new(),
    };
    let find = |rows: &[Row], name: &str| rows.iter().find(|row| row.name == name).cloned();
    let worse: Vec<String> = rows
        .iter()
        .filter_map(|row| Some((row, committed.iter().find(|committed| committed.name == row.name)?)))
        .flat_map(|(row, committed)| row.worse_than(committed))
        .collect();
    if worse.is_empty() {
        let merged: Vec<Row> =
            names.iter().filter_map(|name| find(rows, name).or_else(|| find(&committed, name))).collect();
        // One line for each row, so that a change shows its row.
        let lines = merged.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
        let json = format!("[\n{}\n]\n", lines.join(",\n"));
        for (name, text) in [("table.json", json), ("table.md", markdown(&merged, unavailable))] {
            fs::write(folder.join(name), text).with_context(|| format!("cannot write {name}"))?;
        }
    }
    Ok(worse)
}

/// Renders the table.
fn markdown(rows: &[Row], unavailable: &[Unavailable]) -> String {
    let headings: Vec<&str> = COLUMNS.iter().map(|(_, heading)| *heading).collect();
    let mut text = format!(
        "| Client | Versions | {} |\n|---|---|{}\n",
        headings.join(" | "),
        "---|".repeat(COLUMNS.len())
    );
    let mut notes = Vec::new();
    for row in rows {
        let cells: Vec<String> =
            COLUMNS.iter().map(|(name, _)| mark(row.cells.get(*name), &mut notes)).collect();
        let (name, language, versions) = (&row.name, &row.language, row.packages.join(", "));
        let _ = writeln!(text, "| {language}: {name} | {versions} | {} |", cells.join(" | "));
    }
    text += "\n";
    for (number, note) in (1..).zip(&notes) {
        let _ = writeln!(text, "{number}. {note}");
    }
    text += "\nThese generators were not run:\n\n| Generator | Language | Reason | What its issue tracker reports |\n|---|---|---|---|\n";
    for Unavailable { name, language, reason, trouble } in unavailable {
        let _ = writeln!(text, "| {name} | {language} | {reason} | {trouble} |");
    }
    text
}

/// Returns the text of a cell. A note is numbered, and added to `notes`.
fn mark(cell: Option<&Cell>, notes: &mut Vec<String>) -> String {
    let Some(cell) = cell else { return String::new() };
    let mark = match cell.result {
        CellResult::Passed => return "yes".to_owned(),
        CellResult::Failed => "no",
        CellResult::None => "–",
    };
    let note = cell.note.replace('|', "\\|");
    let number = notes.iter().position(|known| *known == note).unwrap_or_else(|| {
        notes.push(note);
        notes.len() - 1
    });
    format!("{mark} ({})", number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, cells: &[(&str, Cell)]) -> Row {
        let cells = cells.iter().map(|(name, cell)| ((*name).to_owned(), cell.clone())).collect();
        Row {
            name: name.to_owned(),
            language: "Go".to_owned(),
            packages: vec!["generator 1.0".to_owned()],
            document: "v1.json".to_owned(),
            cells,
        }
    }

    #[test]
    fn a_worse_cell_is_reported_and_the_table_is_kept() {
        let workspace = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(workspace.path().join("openapi/clients")).expect("the folder is writable");
        let update =
            |rows: &[Row]| update(workspace.path(), &["a", "b"], rows, &[]).expect("the table is written");
        assert!(update(&[row("a", &[("pages", Cell::passed())]), row("b", &[])]).is_empty());
        let table =
            || fs::read_to_string(workspace.path().join("openapi/clients/table.json")).expect("the table");
        let before = table();
        assert_eq!(
            update(&[row("a", &[("pages", Cell::failed("no cursor"))])]),
            ["a: `pages` passed before"]
        );
        assert_eq!(table(), before);
        assert!(update(&[row("b", &[("pages", Cell::passed())])]).is_empty());
        assert!(table().contains("\"a\""), "the row of a job that was not run is kept");
    }

    #[test]
    fn notes_are_numbered_once() {
        let mut issue = Cell::failed("");
        issue.explain("", "issue 1");
        let rows =
            [row("a", &[("null", issue.clone()), ("pages", Cell::passed())]), row("b", &[("null", issue)])];
        let text = markdown(&rows, &[]);
        assert_eq!(text.matches("no (1)").count(), 2, "{text}");
        assert!(text.contains("\n1. issue 1\n") && rows[0].has_passed(), "{text}");
    }
}
