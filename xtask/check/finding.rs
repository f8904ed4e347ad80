//! A finding of `check` about a file, as people or programs read it.

use contract::diagnostic::{self, Format};

/// Something that does not hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The stable name of its kind.
    pub code: &'static str,
    /// The file, from the workspace.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Renders findings in their order.
pub(crate) fn render(findings: &[Finding], format: Format) -> String {
    findings.iter().map(|finding| finding.render(format)).collect()
}

impl Finding {
    fn render(&self, format: Format) -> String {
        let Self { code, file, line, column, message, help } = self;
        match format {
            Format::Text => {
                format!("error[{code}]: {message}\n  --> {file}:{line}:{column}\nhelp: {help}\n\n")
            }
            Format::Json => diagnostic::line(&serde_json::json!({
                "code": code, "file": file, "line": line, "column": column, "message": message, "help": help,
            })),
            Format::Github => {
                diagnostic::workflow_command(file, *line, *column, code, &format!("{message}\nhelp: {help}"))
            }
        }
    }
}
