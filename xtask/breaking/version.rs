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
    "Increase the major version of `info.version`; below 1.0.0, the minor version is enough.",
);

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[NOT_BUMPED, DECREASED, MAJOR_NOT_BUMPED];

/// Reports a version that decreased, that has the same text although there are findings, or that has the same major version
/// although there are breaking changes. Versions that are not semantic have no order, so nothing is reported. The configuration
/// was already applied to the levels of `findings`.
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
    let Some((old, new)) = semantic(&before).zip(semantic(&after)) else {
        return Vec::new();
    };
    let mut violations = Vec::new();
    if before == after {
        if !findings.is_empty() {
            violations.push((NOT_BUMPED, format!("version {after} was not increased")));
        }
    } else if new.cmp_precedence(&old).is_lt() {
        violations.push((DECREASED, format!("the version decreased from {before} to {after}")));
    }
    let has_breaking_change = findings.iter().any(|finding| finding.level == Level::Error);
    let (name, number) = compatibility_number(&new);
    if has_breaking_change && compatibility_number(&old) == (name, number) {
        let message = format!("breaking changes, but {after} has the same {name} version as {before}");
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

/// Parses a semantic version, which may begin with `v` and may lack the last numbers: `v1` and `1.0` are 1.0.0, and `1.0-beta` is
/// 1.0.0-beta. Returns `None` for other versions, such as dates.
fn semantic(version: &str) -> Option<semver::Version> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let (numbers, suffix) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let missing_numbers = match numbers.split('.').count() {
        1 if suffix.is_empty() => ".0.0",
        2 => ".0",
        _ => "",
    };
    semver::Version::parse(&format!("{numbers}{missing_numbers}{suffix}")).ok()
}

/// Returns the name and the value of the number that increases with a breaking change: below 1.0.0, the minor version.
const fn compatibility_number(version: &semver::Version) -> (&'static str, u64) {
    if version.major == 0 { ("minor", version.minor) } else { ("major", version.major) }
}
