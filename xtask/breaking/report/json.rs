//! JSON: one object per finding and line; the last line contains the totals. `findings.schema.json` describes a line.

use contract::diagnostic::json_line;
use contract::source::Span;
use serde::Serialize;

use super::super::compare::AffectedOperation;
use super::super::document::OpenApiDocument;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::super::usage::Usage;
use super::ComparisonResult;

/// The version of the format. It increases when a field is removed or changes its meaning.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct JsonFinding<'a> {
    version: u32,
    id: &'a str,
    level: Level,
    message: &'a str,
    #[serde(rename = "who")]
    impact: &'a str,
    #[serde(rename = "instead")]
    remedy: &'a str,
    base: JsonPosition<'a>,
    revision: JsonPosition<'a>,
    path: &'a str,
    operations: &'a [AffectedOperation],
    fingerprint: &'a str,
    waived: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a Usage>,
}

#[derive(Serialize)]
struct JsonPosition<'a> {
    file: &'a str,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct JsonTotals<'a> {
    version: u32,
    breaking: usize,
    warnings: usize,
    harmless: usize,
    waived: usize,
    #[serde(rename = "waiver_faults")]
    waiver_errors: &'a [String],
}

pub(super) fn lines(result: &ComparisonResult, findings: &[&Finding]) -> String {
    let mut text: String = findings.iter().map(|finding| json_line(&json_finding(result, finding))).collect();
    let totals = result.totals();
    text += &json_line(&JsonTotals {
        version: VERSION,
        breaking: totals.breaking,
        warnings: totals.warnings,
        harmless: totals.harmless,
        waived: totals.waived,
        waiver_errors: &result.waiver_errors,
    });
    text
}

fn json_finding<'a>(result: &'a ComparisonResult, finding: &'a Finding) -> JsonFinding<'a> {
    JsonFinding {
        version: VERSION,
        id: &finding.id,
        level: finding.level,
        message: &finding.message,
        impact: &finding.impact,
        remedy: &finding.remedy,
        base: position_of(&result.base, finding.base),
        revision: position_of(&result.revision, finding.revision),
        path: &finding.path,
        operations: &finding.operations,
        fingerprint: &finding.fingerprint,
        waived: finding.waived.as_deref(),
        usage: finding.usage.as_ref(),
    }
}

fn position_of(document: &OpenApiDocument, span: Span) -> JsonPosition<'_> {
    let position = document.source.position(span);
    JsonPosition { file: document.source.file_name(span), line: position.line, column: position.column }
}
