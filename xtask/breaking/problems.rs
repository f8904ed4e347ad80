//! Errors and warnings of the documents themselves.

use std::collections::HashSet;
use std::fmt;

use anyhow::Result;
use contract::InvalidContract;
use contract::diagnostic::{self, Code, Diagnostic, DiagnosticFormat};
use contract::source::Source;

use super::report::{self, ComparisonResult, MAX_SHOWN};
use super::{ReportFormat, output};

/// A document that cannot be compared.
#[derive(Debug)]
pub(crate) struct InvalidDocument(pub Box<InvalidContract>);

impl std::error::Error for InvalidDocument {}

impl fmt::Display for InvalidDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidContract { source, diagnostics } = &*self.0;
        let rendered = render(source, diagnostics, DiagnosticFormat::Text, "errors");
        let count = report::count(diagnostics.len(), "error", "errors");
        write!(formatter, "cannot compare {}\n{rendered}{}: {count}", source.name, source.name)
    }
}

/// Prints the errors of a document that cannot be compared, if a service reads the format. For people, the error itself
/// contains them.
///
/// # Errors
/// Returns the given error, or an error when the output cannot be written.
pub(crate) fn print_invalid_document<T>(result: Result<T>, format: ReportFormat) -> Result<T> {
    if let Err(error) = &result
        && let Some(InvalidDocument(invalid)) = error.downcast_ref()
    {
        match format {
            ReportFormat::Github => {
                let InvalidContract { source, diagnostics } = &**invalid;
                output::print(&render(source, diagnostics, DiagnosticFormat::Github, "errors"))?;
            }
            ReportFormat::Sarif => output::print(&report::invalid_document(invalid))?,
            ReportFormat::Text | ReportFormat::Json | ReportFormat::Markdown => {}
        }
    }
    result
}

/// Prints the minor errors of both documents: as annotations for GitHub, otherwise to standard error. An error of the
/// base is printed only if the revision does not have it too.
///
/// # Errors
/// Returns an error when the annotations cannot be written.
pub(crate) fn print_document_warnings(result: &ComparisonResult, format: ReportFormat) -> Result<()> {
    let diagnostic_format = match format {
        ReportFormat::Github => DiagnosticFormat::Github,
        _ => DiagnosticFormat::Text,
    };
    let ComparisonResult { base, revision, .. } = result;
    let known: HashSet<_> =
        revision.warnings.iter().map(|warning| identity(&revision.source, warning)).collect();
    let is_new = |warning: &&Diagnostic| !known.contains(&identity(&base.source, warning));
    let only_in_base: Vec<Diagnostic> = base.warnings.iter().filter(is_new).cloned().collect();
    let text = render(&revision.source, &revision.warnings, diagnostic_format, "warnings")
        + &render(&base.source, &only_in_base, diagnostic_format, "warnings");
    match format {
        ReportFormat::Github => output::print(&text),
        _ => {
            output::print_message(&text);
            Ok(())
        }
    }
}

/// Returns what identifies a minor error in both documents: the message and the text of the line, because other lines
/// may have been added before it.
fn identity<'a>(source: &'a Source, warning: &'a Diagnostic) -> (Code, &'a str, &'a str) {
    let at = warning.span.start;
    let start = source.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = source.text[at..].find('\n').map_or(source.text.len(), |length| at + length);
    (warning.code, &warning.message, source.text[start..end].trim())
}

/// Renders the first diagnostics and the number of further ones. `kind` is what they are called.
fn render(source: &Source, diagnostics: &[Diagnostic], format: DiagnosticFormat, kind: &str) -> String {
    let mut ordered: Vec<Diagnostic> = diagnostics.to_vec();
    ordered.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    let shown = &ordered[..ordered.len().min(MAX_SHOWN)];
    let rendered = diagnostic::render(source, shown, format);
    let further_count = ordered.len() - shown.len();
    if further_count == 0 {
        return rendered;
    }
    let further = format!("{further_count} further {kind} of {} are not shown", source.name);
    let level = kind.trim_end_matches('s');
    match format {
        DiagnosticFormat::Github => rendered + &diagnostic::annotation(level, None, kind, &further),
        _ => format!("{rendered}{level}: {further}\n\n"),
    }
}
