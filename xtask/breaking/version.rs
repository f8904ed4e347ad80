//! Checks whether `info.version` increased as the changes of a document require.

use contract::node::Node;
use contract::source::Span;

use super::compare::Positions;
use super::document::{IndexedDocument, OpenApiDocument};
use super::finding::{self, Finding};
use super::rule::{Inverse, Level, Rule};
use super::schema::value;

const VERSION_INCREASED: Inverse = Inverse::None("an increased version is not reported");
const UNKNOWN_CHANGE: &str = "Clients cannot tell by the version that the API changed.";

const NOT_BUMPED: Rule = Rule::expectation(
    "api-version-not-bumped",
    VERSION_INCREASED,
    UNKNOWN_CHANGE,
    "Increase `info.version`.",
);
const DECREASED: Rule = Rule::expectation(
    "api-version-decreased",
    VERSION_INCREASED,
    "Clients cannot tell by the version which document is newer.",
    "Set `info.version` to a higher version than the old one.",
);
const MAJOR_NOT_BUMPED: Rule = Rule::expectation(
    "api-major-version-not-bumped",
    VERSION_INCREASED,
    "Clients cannot tell by the version that the API has breaking changes.",
    "Increase the major version of `info.version`.",
);

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[NOT_BUMPED, DECREASED, MAJOR_NOT_BUMPED];

/// Reports a version that decreased, that has the same text although there are findings, or that has the same major version
/// although there are breaking changes. The configuration was already applied to the levels of `findings`.
pub(crate) fn check(
    base: &OpenApiDocument,
    revision: &OpenApiDocument,
    findings: &[Finding],
) -> Vec<Finding> {
    let (Some((before, base_span)), Some((after, revision_span))) =
        (version_of(&base.root), version_of(&revision.root))
    else {
        return Vec::new();
    };
    let mut violations = Vec::new();
    if before == after {
        if !findings.is_empty() {
            violations.push((NOT_BUMPED, format!("version {after} was not increased")));
        }
    } else if numbers(&after) < numbers(&before) {
        violations.push((DECREASED, format!("the version decreased from {before} to {after}")));
    }
    let has_breaking_change = findings.iter().any(|finding| finding.level == Level::Error);
    if has_breaking_change && major(&before) == major(&after) {
        let message = format!("breaking changes, but {after} has the same major version as {before}");
        violations.push((MAJOR_NOT_BUMPED, message));
    }
    if violations.is_empty() {
        return Vec::new();
    }
    let path = IndexedDocument::new(base).path_of(base_span);
    let positions = Positions::new(base_span, revision_span);
    let to_finding = |(rule, message): (Rule, String)| {
        finding::about_object(&rule, "info", &path, positions, &after, &message)
    };
    violations.into_iter().map(to_finding).collect()
}

/// Returns the version of a document, or an empty string if it has none.
pub(crate) fn version(document: &OpenApiDocument) -> String {
    version_of(&document.root).map(|(version, _)| version).unwrap_or_default()
}

/// Returns the version of a document and its position.
fn version_of(root: &Node) -> Option<(String, Span)> {
    let entry = root.get("info")?.entry("version")?;
    let text = entry.value.as_str().map(str::to_owned);
    // A version without quotes is parsed as a number.
    Some((text.unwrap_or_else(|| value::display_value(&entry.value)), entry.key.span))
}

/// Returns the major version; 0 if the version does not begin with a number.
fn major(version: &str) -> u64 {
    numbers(version).first().copied().unwrap_or(0)
}

/// Returns the leading numbers of a version, without trailing zeros, to compare which of two versions is lower: 1.0, 1.0.0 and
/// 1.0.0-beta have the same.
fn numbers(version: &str) -> Vec<u64> {
    let mut numbers: Vec<u64> = version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect();
    let significant = numbers.iter().rposition(|number| *number > 0).map_or(0, |index| index + 1);
    numbers.truncate(significant);
    numbers
}
