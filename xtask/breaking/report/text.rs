//! For people: the lines of both documents are drawn.

use annotate_snippets::{AnnotationKind, Group, Level as Drawn, Renderer, Snippet};
use contract::source::Span;

use super::super::document::Document;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::{Compared, count, groups, reached, verdict};

/// Operations that are named before the rest is counted.
const NAMED: usize = 3;
/// Characters beyond which a line is not drawn: JSON may stand on one.
const LONGEST_LINE: usize = 400;

pub(super) fn gate(compared: &Compared, findings: &[&Finding]) -> String {
    let mut text: String = findings.iter().map(|finding| draw(compared, finding) + "\n\n").collect();
    for fault in &compared.faults {
        text += &format!("error[waiver]: {fault}\n\n");
    }
    text + &verdict(compared) + "\n"
}

pub(super) fn changelog(compared: &Compared) -> String {
    let mut text = String::new();
    for (heading, findings) in groups(compared) {
        text += &format!("{heading}\n");
        for finding in findings {
            text += &format!("  {}: {}\n", reached(finding), finding.message);
            text += &format!("    {} at {}\n", finding.id, compared.revision_place(finding));
        }
        text.push('\n');
    }
    text + &verdict(compared) + "\n"
}

fn draw(compared: &Compared, finding: &Finding) -> String {
    let level = match finding.level {
        _ if finding.waived.is_some() => Drawn::INFO.with_name("waived"),
        Level::Error => Drawn::ERROR,
        Level::Warning => Drawn::WARNING,
        Level::Info => Drawn::INFO,
    };
    let mut group = Group::with_title(level.primary_title(finding.message.as_str()).id(finding.id.as_str()));
    let sides = [(&compared.revision, finding.revision, "now"), (&compared.base, finding.base, "before")];
    for (document, span, label) in sides {
        group = group.element(snippet(document, span, label));
    }
    for (name, sentence) in notes(finding) {
        group = group.element(Drawn::NOTE.with_name(name).message(sentence));
    }
    Renderer::plain().render(&[group])
}

/// One line of a document, drawn by itself: a renderer reads all that it is given.
fn snippet<'a>(
    document: &'a Document,
    span: Span,
    label: &str,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = &document.source;
    let place = source.place(span);
    let range = source.on_one_line(span);
    let start = source.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source.text[range.start..].find('\n').map_or(source.text.len(), |at| range.start + at);
    let line = &source.text[start..end];
    let mut label = label.to_owned();
    let (line, within) = if line.len() > LONGEST_LINE {
        label = format!("{label}, at column {}", place.column);
        let end = (range.start..=range.end.min(range.start + LONGEST_LINE))
            .rev()
            .find(|at| source.text.is_char_boundary(*at));
        let line = &source.text[range.start..end.unwrap_or(range.start)];
        (line, 0..line.len())
    } else {
        (line, range.start - start..range.end - start)
    };
    Snippet::source(line)
        .line_start(place.line)
        .path(source.name.as_str())
        .annotation(AnnotationKind::Primary.span(within).label(label))
}

fn notes(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    for reach in finding.reach.iter().take(NAMED) {
        notes.push(("reached by", reach.path.clone()));
    }
    if finding.reach.len() > NAMED {
        notes.push(("reached by", count(finding.reach.len() - NAMED, "more operation", "more operations")));
    }
    for (name, sentence) in [("who breaks", &finding.who), ("instead", &finding.instead)] {
        if !sentence.is_empty() {
            notes.push((name, sentence.clone()));
        }
    }
    if let Some(reason) = &finding.waived {
        notes.push(("waived", reason.clone()));
    }
    notes.push(("path", finding.path.clone()));
    notes.push(("fingerprint", finding.fingerprint.clone()));
    notes
}
