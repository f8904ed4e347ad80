//! Renders the result of a comparison: as text with source excerpts, JSON, GitHub workflow commands,
//! Markdown or SARIF.

mod github;
mod guide;
mod json;
mod markdown;
mod sarif;
mod text;

use contract::InvalidContract;
use contract::plain_text::plain_lines;

use super::ReportFormat;
use super::document::OpenApiDocument;
use super::finding::Finding;
use super::path_version::PathVersions;
use super::policies::VERSION_RULES;
use super::rule::Level;

#[cfg(test)]
pub(crate) use self::guide::template as guide_template;

/// The maximum number of diagnostics or findings of one kind that are shown to people; further ones are only counted.
pub(crate) const MAX_SHOWN: usize = 50;

/// The result of a comparison.
#[derive(Debug)]
pub(crate) struct ComparisonResult {
    /// The base.
    pub base: OpenApiDocument,
    /// The revision: the new document.
    pub revision: OpenApiDocument,
    /// The findings, including waived ones.
    pub findings: Vec<Finding>,
    /// Messages about unused and expired waivers.
    pub waiver_errors: Vec<String>,
    /// The versions in the paths, if they differ and the operations were compared nevertheless.
    pub path_versions: Option<PathVersions>,
}

/// The number of findings of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Breaking changes that are not waived.
    pub breaking: usize,
    /// Warnings that are not waived.
    pub warnings: usize,
    /// Harmless changes that are not waived.
    pub harmless: usize,
    /// Waived findings of any level.
    pub waived: usize,
}

impl ComparisonResult {
    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for finding in &self.findings {
            match (finding.waived.is_some(), finding.level) {
                (true, _) => totals.waived += 1,
                (false, Level::Error) => totals.breaking += 1,
                (false, Level::Warning) => totals.warnings += 1,
                (false, Level::Info) => totals.harmless += 1,
            }
        }
        totals
    }

    /// Formats the position in the base as `file:line:column`.
    fn base_position(&self, finding: &Finding) -> String {
        position_of(&self.base, finding.base)
    }

    /// Formats the position in the revision as `file:line:column`.
    fn revision_position(&self, finding: &Finding) -> String {
        position_of(&self.revision, finding.revision)
    }
}

fn position_of(document: &OpenApiDocument, span: contract::source::Span) -> String {
    let position = document.source.position(span);
    format!("{}:{}:{}", document.source.file_name(span), position.line, position.column)
}

/// Renders breaking changes and warnings, including waived ones, and the waiver errors. In text and for GitHub, only the
/// first ones are shown.
pub(crate) fn breaking_changes(result: &ComparisonResult, format: ReportFormat) -> String {
    let findings: Vec<&Finding> =
        result.findings.iter().filter(|finding| finding.level != Level::Info).collect();
    match format {
        ReportFormat::Text => plain_lines(&text::breaking_changes(result, &findings)),
        ReportFormat::Json => json::lines(result, &findings),
        ReportFormat::Github => plain_lines(&github::commands(result, &findings)),
        ReportFormat::Markdown => plain_lines(&markdown::breaking_changes(result, &findings)),
        ReportFormat::Sarif => sarif::log(result, &findings),
    }
}

/// Renders all findings, including harmless changes and waived findings.
pub(crate) fn changelog(result: &ComparisonResult, format: ReportFormat) -> String {
    let findings: Vec<&Finding> = result.findings.iter().collect();
    match format {
        ReportFormat::Text => plain_lines(&text::changelog(result)),
        ReportFormat::Json => json::lines(result, &findings),
        ReportFormat::Github => plain_lines(&github::commands(result, &findings)),
        ReportFormat::Markdown => plain_lines(&markdown::changelog(result)),
        ReportFormat::Sarif => sarif::log(result, &findings),
    }
}

/// Renders the changes of a release for the file `CHANGELOG.md`.
pub(crate) fn release(result: &ComparisonResult) -> String {
    plain_lines(&markdown::release(result))
}

/// Renders the migration guide, which is Markdown.
pub(crate) fn guide(result: &ComparisonResult) -> String {
    plain_lines(&guide::render(result))
}

/// The first findings of each kind, for formats that people read.
struct Selection<'a> {
    shown: Vec<&'a Finding>,
    /// The number of findings that are not shown, by kind, if there are any.
    left_out: Option<String>,
}

/// Selects the first findings of each kind: breaking changes, warnings, harmless changes and waived findings.
fn select<'a>(findings: &[&'a Finding]) -> Selection<'a> {
    let kind = |finding: &Finding| match (finding.waived.is_some(), finding.level) {
        (false, Level::Error) => 0,
        (false, Level::Warning) => 1,
        (false, Level::Info) => 2,
        (true, _) => 3,
    };
    let mut counts = [0; 4];
    let is_shown = |finding: &&&Finding| {
        counts[kind(finding)] += 1;
        counts[kind(finding)] <= MAX_SHOWN
    };
    let shown = findings.iter().filter(is_shown).copied().collect();
    let nouns = [
        ("further breaking change", "further breaking changes"),
        ("further warning", "further warnings"),
        ("further harmless change", "further harmless changes"),
        ("further waived finding", "further waived findings"),
    ];
    let mut further: Vec<String> = Vec::new();
    let mut further_count = 0;
    for (number, (singular, plural)) in
        counts.into_iter().zip(nouns).filter(|(number, _)| *number > MAX_SHOWN)
    {
        further.push(count(number - MAX_SHOWN, singular, plural));
        further_count += number - MAX_SHOWN;
    }
    let left_out = further.pop().map(|last| {
        let list = if further.is_empty() { last } else { format!("{} and {last}", further.join(", ")) };
        let verb = if further_count == 1 { "is" } else { "are" };
        format!("{list} {verb} not shown; `--format json` lists all")
    });
    Selection { shown, left_out }
}

/// Renders the errors of a document that cannot be compared, as SARIF.
pub(crate) fn invalid_document(invalid: &InvalidContract) -> String {
    sarif::invalid_document(invalid)
}

/// Groups the findings under the headings of a changelog. Empty groups are left out.
fn groups(result: &ComparisonResult) -> Vec<(&'static str, Vec<&Finding>)> {
    // Returns the index in `headings`.
    let heading_index = |finding: &Finding| match finding.level {
        Level::Error => 0,
        Level::Warning if VERSION_RULES.contains(&finding.id.as_str()) => 5,
        Level::Warning => 1,
        Level::Info
            if ["deprecated", "sunset", "reactivated"].iter().any(|word| finding.id.contains(word)) =>
        {
            2
        }
        Level::Info if finding.id.contains("added") || finding.id.starts_with("new-") => 3,
        Level::Info if finding.id.contains("removed") => 4,
        Level::Info => 5,
    };
    let headings = ["Breaking", "May break", "Deprecations", "Added", "Removed", "Changed"];
    let mut groups: Vec<(&str, Vec<&Finding>)> =
        headings.iter().map(|heading| (*heading, Vec::new())).collect();
    for finding in &result.findings {
        groups[heading_index(finding)].1.push(finding);
    }
    groups.retain(|(_, findings)| !findings.is_empty());
    groups
}

/// Describes the affected operations: the path to the change in the first one, and the number of further operations.
fn affected_operations(finding: &Finding) -> String {
    match finding.operations.as_slice() {
        [] => "no operation".to_owned(),
        [only] => only.path.clone(),
        [first, further @ ..] => format!("{} and {} more", first.path, further.len()),
    }
}

/// Formats a count with its noun.
pub(crate) fn count(count: usize, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

/// Formats the summary line with the totals.
fn summary(result: &ComparisonResult) -> String {
    let totals = result.totals();
    let mut parts = vec![
        count(totals.breaking, "breaking change", "breaking changes"),
        count(totals.warnings, "warning", "warnings"),
        count(totals.harmless, "harmless change", "harmless changes"),
    ];
    if totals.waived > 0 {
        parts.push(format!("{} waived", totals.waived));
    }
    if !result.waiver_errors.is_empty() {
        parts.push(count(result.waiver_errors.len(), "waiver error", "waiver errors"));
    }
    format!("{} compared with {}: {}", result.revision.source.name, result.base.source.name, parts.join(", "))
}
