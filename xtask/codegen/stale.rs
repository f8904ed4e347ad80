//! Finds and reports generated files that are out of date.

use std::path::Path;

use contract::Contract;
use contract::diagnostic::{self, DiagnosticFormat};

use super::generate::generate_folders;
use super::{ContractConfig, files};

pub use super::files::StaleFile;

/// Compares the generated folders of a contract with the expected files.
///
/// # Errors
/// Returns an error when an entry of a folder cannot be read.
pub fn find(
    workspace: &Path,
    contract: &Contract,
    config: &ContractConfig<'_>,
) -> anyhow::Result<Vec<StaleFile>> {
    let mut stale = Vec::new();
    for (folder, files) in generate_folders(contract, config) {
        stale.extend(files::compare(workspace, folder, &files)?);
    }
    Ok(stale)
}

/// How to update the files.
const REMEDY: &str = "run `cargo xtask codegen` and commit the result";

/// Formats the findings.
pub fn render(stale: &[StaleFile], format: DiagnosticFormat) -> String {
    let (mut text, mut only_headings) = (String::new(), Vec::new());
    for file in stale {
        let message = match file {
            StaleFile::Differs { .. } => "is out of date with the contract",
            StaleFile::Orphan { .. } => "is in the generated folder but is not generated",
        };
        match (format, file) {
            (DiagnosticFormat::Github, _) => {
                let annotation = format!("{} {message}\n{REMEDY}", file.path());
                text += &diagnostic::workflow_command(file.path(), 1, 1, "stale", &annotation);
            }
            (DiagnosticFormat::Json, _) => {
                let path = file.path();
                text += &diagnostic::json_line(
                    &serde_json::json!({ "code": "stale", "file": path, "message": message, "help": REMEDY }),
                );
            }
            (DiagnosticFormat::Text, StaleFile::Differs { diff, .. }) if diff.is_empty() => {
                only_headings.push(file.path())
            }
            (DiagnosticFormat::Text, StaleFile::Differs { diff, path }) => {
                text += &format!("{path} {message}\n{diff}\n")
            }
            (DiagnosticFormat::Text, StaleFile::Orphan { path }) => text += &format!("{path} {message}\n"),
        }
    }
    if !only_headings.is_empty() {
        let paths = only_headings.join(", ");
        text += &format!(
            "only the first line, which contains the digest of the contract, is out of date: {paths}\n\n"
        );
    }
    if format == DiagnosticFormat::Text && !stale.is_empty() {
        text += &format!("{REMEDY}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_printed_unless_only_the_first_line_differs() {
        let differs = |path: &str, diff: &str| StaleFile::Differs { path: path.into(), diff: diff.into() };
        let stale = [
            differs("out/a.rs", ""),
            differs("out/b.rs", "-one\n+two\n"),
            differs("out/c.rs", ""),
            StaleFile::Orphan { path: "out/d.rs".into() },
        ];
        insta::assert_snapshot!(render(&stale, DiagnosticFormat::Text), @r"
        out/b.rs is out of date with the contract
        -one
        +two

        out/d.rs is in the generated folder but is not generated
        only the first line, which contains the digest of the contract, is out of date: out/a.rs, out/c.rs

        run `cargo xtask codegen` and commit the result
        ");
        assert_eq!(render(&stale, DiagnosticFormat::Json).lines().count(), 4, "one line for each file");
    }
}
