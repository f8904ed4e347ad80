//! For programs: one JSON object a line, at last the sums.

use contract::diagnostic::line;
use contract::source::Span;
use serde::Serialize;

use super::super::compare::Reach;
use super::super::document::Document;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::Compared;

#[derive(Serialize)]
struct Printed<'a> {
    id: &'a str,
    level: Level,
    message: &'a str,
    who: &'a str,
    instead: &'a str,
    base: Place<'a>,
    revision: Place<'a>,
    path: &'a str,
    operations: &'a [Reach],
    fingerprint: &'a str,
    waived: Option<&'a str>,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct Total<'a> {
    breaking: usize,
    warnings: usize,
    harmless: usize,
    waived: usize,
    waiver_faults: &'a [String],
}

pub(super) fn lines(compared: &Compared, findings: &[&Finding]) -> String {
    let mut text: String = findings.iter().map(|finding| line(&printed(compared, finding))).collect();
    let sums = compared.sums();
    text += &line(&Total {
        breaking: sums.breaking,
        warnings: sums.warnings,
        harmless: sums.harmless,
        waived: sums.waived,
        waiver_faults: &compared.faults,
    });
    text
}

fn printed<'a>(compared: &'a Compared, finding: &'a Finding) -> Printed<'a> {
    Printed {
        id: &finding.id,
        level: finding.level,
        message: &finding.message,
        who: &finding.who,
        instead: &finding.instead,
        base: place(&compared.base, finding.base),
        revision: place(&compared.revision, finding.revision),
        path: &finding.path,
        operations: &finding.reach,
        fingerprint: &finding.fingerprint,
        waived: finding.waived.as_deref(),
    }
}

fn place(document: &Document, span: Span) -> Place<'_> {
    let place = document.source.place(span);
    Place { file: &document.source.name, line: place.line, column: place.column }
}
