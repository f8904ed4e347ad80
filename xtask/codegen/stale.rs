//! What of a generated folder is not what its contract generates.

use std::path::Path;

use contract::Contract;
use contract::diagnostic::{self, Format};

use super::{Names, files, generate};

pub use super::files::Stale;

/// Compares a generated folder with what its contract generates.
///
/// # Errors
/// When the folder cannot be read.
pub fn of(workspace: &Path, contract: &Contract, names: &Names<'_>) -> anyhow::Result<Vec<Stale>> {
    files::compare(workspace, names.output, &generate(contract, names))
}

/// What to do about stale files.
const REMEDY: &str = "run `cargo xtask codegen` and commit what it writes";

/// Stale files as people or programs read them.
pub fn render(stale: &[Stale], format: Format) -> String {
    let (mut text, mut headings) = (String::new(), Vec::new());
    for file in stale {
        let what = match file {
            Stale::Differs { .. } => "is not what the contract generates",
            Stale::Orphan { .. } => "stands in the generated folder and nothing generates it",
        };
        match (format, file) {
            (Format::Github, _) => {
                let message = format!("{} {what}\n{REMEDY}", file.path());
                text += &diagnostic::workflow_command(file.path(), 1, 1, "stale", &message);
            }
            (Format::Json, _) => {
                let path = file.path();
                text += &diagnostic::line(
                    &serde_json::json!({ "code": "stale", "file": path, "message": what, "help": REMEDY }),
                );
            }
            (Format::Text, Stale::Differs { diff, .. }) if diff.is_empty() => headings.push(file.path()),
            (Format::Text, Stale::Differs { diff, path }) => text += &format!("{path} {what}\n{diff}\n"),
            (Format::Text, Stale::Orphan { path }) => text += &format!("{path} {what}\n"),
        }
    }
    if !headings.is_empty() {
        let which = headings.join(", ");
        text += &format!(
            "these differ in their first line alone, which names the text of the contract: {which}\n\n"
        );
    }
    if format == Format::Text && !stale.is_empty() {
        text += &format!("{REMEDY}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_shown_and_what_has_another_heading_is_named() {
        let differs = |path: &str, diff: &str| Stale::Differs { path: path.into(), diff: diff.into() };
        let stale = [
            differs("out/a.rs", ""),
            differs("out/b.rs", "-one\n+two\n"),
            differs("out/c.rs", ""),
            Stale::Orphan { path: "out/d.rs".into() },
        ];
        insta::assert_snapshot!(render(&stale, Format::Text), @r"
        out/b.rs is not what the contract generates
        -one
        +two

        out/d.rs stands in the generated folder and nothing generates it
        these differ in their first line alone, which names the text of the contract: out/a.rs, out/c.rs

        run `cargo xtask codegen` and commit what it writes
        ");
        assert_eq!(render(&stale, Format::Json).lines().count(), 4, "programs hear of each");
    }
}
