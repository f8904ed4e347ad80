//! Text: diagnostics with excerpts of both documents.

use annotate_snippets::{AnnotationKind, Group, Level as ReportLevel, Renderer, Snippet};
use contract::source::Span;

use super::super::document::OpenApiDocument;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::{ComparisonResult, Selection, affected_operations, count, groups, select, summary};

/// The maximum number of affected operations that are listed; further ones are only counted.
const MAX_LISTED_OPERATIONS: usize = 3;
/// The maximum length of an excerpt's line in bytes; longer lines are shortened. A JSON document can be one long line.
const MAX_LINE_BYTES: usize = 400;

pub(super) fn breaking_changes(result: &ComparisonResult, findings: &[&Finding]) -> String {
    let Selection { shown, left_out } = select(findings);
    let mut text: String = shown.iter().map(|finding| render(result, finding) + "\n\n").collect();
    if let Some(left_out) = left_out {
        text += &format!("note: {left_out}\n\n");
    }
    for waiver_error in &result.waiver_errors {
        text += &format!("error[waiver]: {waiver_error}\n\n");
    }
    text + &summary(result) + "\n"
}

pub(super) fn changelog(result: &ComparisonResult) -> String {
    let mut text = String::new();
    for (heading, findings) in groups(result) {
        text += &format!("{heading}\n");
        for finding in findings {
            text += &format!("  {}: {}\n", affected_operations(finding), finding.message);
            text += &format!("    {} at {}\n", finding.id, result.revision_position(finding));
        }
        text.push('\n');
    }
    text + &summary(result) + "\n"
}

fn render(result: &ComparisonResult, finding: &Finding) -> String {
    let level = match finding.level {
        _ if finding.waived.is_some() => ReportLevel::INFO.with_name("waived"),
        Level::Error => ReportLevel::ERROR,
        Level::Warning => ReportLevel::WARNING,
        Level::Info => ReportLevel::INFO,
    };
    let mut group = Group::with_title(level.primary_title(finding.message.as_str()).id(finding.id.as_str()));
    let sides = [(&result.revision, finding.revision, "revision"), (&result.base, finding.base, "base")];
    for (document, span, label) in sides {
        group = group.element(snippet(document, span, label));
    }
    for (name, sentence) in notes(finding) {
        group = group.element(ReportLevel::NOTE.with_name(name).message(sentence));
    }
    Renderer::plain().render(&[group])
}

/// Creates an excerpt of one line. Only that line is passed to the renderer, which would otherwise scan the whole
/// document.
fn snippet<'a>(
    document: &'a OpenApiDocument,
    span: Span,
    label: &str,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = &document.source;
    let position = source.position(span);
    let range = source.first_line_range(span);
    let start = source.text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = source.text[range.start..].find('\n').map_or(source.text.len(), |offset| range.start + offset);
    let line = &source.text[start..end];
    let mut label = label.to_owned();
    let (line, highlighted) = if line.len() > MAX_LINE_BYTES {
        label = format!("{label}, at column {}", position.column);
        let end = (range.start..=range.end.min(range.start + MAX_LINE_BYTES))
            .rev()
            .find(|end| source.text.is_char_boundary(*end));
        let line = &source.text[range.start..end.unwrap_or(range.start)];
        (line, 0..line.len())
    } else {
        (line, range.start - start..range.end - start)
    };
    Snippet::source(line)
        .line_start(position.line)
        .path(source.file_name(span))
        .annotation(AnnotationKind::Primary.span(highlighted).label(label))
}

fn notes(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    for affected in finding.operations.iter().take(MAX_LISTED_OPERATIONS) {
        notes.push(("affects", affected.path.clone()));
    }
    if finding.operations.len() > MAX_LISTED_OPERATIONS {
        notes.push((
            "affects",
            count(finding.operations.len() - MAX_LISTED_OPERATIONS, "more operation", "more operations"),
        ));
    }
    for (name, sentence) in [("impact", &finding.impact), ("remedy", &finding.remedy)] {
        if !sentence.is_empty() {
            notes.push((name, sentence.clone()));
        }
    }
    if let Some(usage) = &finding.usage {
        notes.push(("usage", usage.sentence()));
    }
    if let Some(reason) = &finding.waived {
        notes.push(("waived", reason.clone()));
    }
    notes.push(("path", finding.path.clone()));
    notes.push(("fingerprint", finding.fingerprint.clone()));
    notes
}
