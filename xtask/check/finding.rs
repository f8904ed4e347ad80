//! Findings about files, and their output.

use contract::diagnostic::{self, DiagnosticFormat};

/// A finding at a position of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CheckFinding {
    /// The stable code of this kind of finding.
    pub code: &'static str,
    /// The file, relative to the workspace root.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// The message.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// Renders findings in the given order.
pub(crate) fn render(findings: &[CheckFinding], format: DiagnosticFormat) -> String {
    findings.iter().map(|finding| finding.render(format)).collect()
}

impl CheckFinding {
    fn render(&self, format: DiagnosticFormat) -> String {
        let Self { code, file, line, column, message, help } = self;
        match format {
            DiagnosticFormat::Text => {
                format!("error[{code}]: {message}\n  --> {file}:{line}:{column}\nhelp: {help}\n\n")
            }
            DiagnosticFormat::Json => diagnostic::json_line(&serde_json::json!({
                "code": code, "file": file, "line": line, "column": column, "message": message, "help": help,
            })),
            DiagnosticFormat::Github => {
                diagnostic::workflow_command(file, *line, *column, code, &format!("{message}\nhelp: {help}"))
            }
        }
    }
}
