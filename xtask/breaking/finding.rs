//! Findings: one for each change, with all operations that it affects.
//!
//! A change of a shared object is detected several times. This module merges the detected changes into findings and
//! computes their fingerprints.

use std::collections::BTreeMap;

use contract::plain_text::plain_text;
use contract::source::Span;
use sha2::{Digest, Sha256};

use super::advice;
use super::compare::{AffectedOperation, Comparison, DetectedChange, Origin, Positions, affected};
use super::rule::{Direction, Level, Rule, SchemaSite};
use super::usage::{self, Usage};

/// A change between base and revision.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The rule id.
    pub id: String,
    /// The level.
    pub level: Level,
    /// What changed: one sentence without a period.
    pub message: String,
    /// How clients can break; empty at level info.
    pub impact: String,
    /// How to avoid the break; empty at level info.
    pub remedy: String,
    /// The position in the base.
    pub base: Span,
    /// The position in the revision.
    pub revision: Span,
    /// The path of keys to the position in the base, independent of line numbers.
    pub path: String,
    /// The affected operations.
    pub operations: Vec<AffectedOperation>,
    /// The identifier for waivers: a digest of direction, rule, path and details, independent of line numbers and
    /// messages.
    pub fingerprint: String,
    /// The reason of the waiver that accepts the finding, if any.
    pub waived: Option<String>,
    /// What distinguishes the change from others at the same position, such as the name of a property.
    pub details: String,
    /// Whether the change is about a schema, or found by a rule for schemas.
    pub is_about_schema: bool,
    /// Whether the change is about requests.
    pub is_about_requests: bool,
    /// Whether validation against the revision rejects each request that the change breaks.
    pub is_validated: bool,
    /// The consumers of what the change breaks or, if requests do not show that, the callers of the operations. `None` without a usage
    /// report, and for harmless changes that are not about requests.
    pub usage: Option<Usage>,
}

/// The key by which detected changes are merged: direction, rule (without the prefix of the site), both positions and
/// the details.
type ChangeKey<'a> = (Option<Direction>, &'a str, Span, Span, &'a str);

/// Returns one finding for each change, sorted by position in the revision.
pub(crate) fn merge_changes(comparison: &Comparison<'_>) -> Vec<Finding> {
    let mut changes: BTreeMap<ChangeKey<'_>, Vec<&DetectedChange>> = BTreeMap::new();
    for change in comparison.changes() {
        let direction = change.site.map(SchemaSite::direction);
        let key = (
            direction,
            change.suffix.as_str(),
            change.positions.base,
            change.positions.revision,
            change.details.as_str(),
        );
        changes.entry(key).or_default().push(change);
    }
    let mut findings: Vec<Finding> =
        changes.into_values().map(|changes| merge(comparison, &changes)).collect();
    sort(&mut findings);
    make_fingerprints_unique(&mut findings);
    findings
}

/// Sorts findings by their position in the revision.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by(|left, right| {
        let key = |finding: &Finding| (finding.revision.start, finding.base.start);
        (key(left), &left.id, &left.message).cmp(&(key(right), &right.id, &right.message))
    });
}

/// Returns a finding about an object outside of operations, such as `info`.
pub(crate) fn about_object(
    rule: &Rule,
    object: &str,
    path: &str,
    positions: Positions,
    details: &str,
    message: &str,
) -> Finding {
    let object = AffectedOperation {
        operation: object.to_owned(),
        path: object.to_owned(),
        part: String::new(),
        steps: Vec::new(),
    };
    Finding {
        id: rule.id.to_owned(),
        level: rule.level,
        message: plain_text(message),
        impact: rule.impact.to_owned(),
        remedy: rule.remedy.to_owned(),
        base: positions.base,
        revision: positions.revision,
        path: plain_text(path),
        operations: vec![object],
        fingerprint: fingerprint(None, rule.id, path, details),
        waived: None,
        details: details.to_owned(),
        is_about_schema: false,
        is_about_requests: false,
        is_validated: false,
        usage: None,
    }
}

/// Merges changes with the same key into one finding.
fn merge(comparison: &Comparison<'_>, changes: &[&DetectedChange]) -> Finding {
    // The change with the highest level names the finding; if levels are equal, the one at the first site does.
    let worst_change = changes.iter().max_by_key(|change| (change.level, std::cmp::Reverse(change.site)));
    let change = worst_change.expect("changes with the same key contain at least one change");
    let origins: Vec<&Origin> = changes.iter().map(|change| &change.origin).collect();
    let path = comparison.base.path_of(change.positions.base);
    let (impact, remedy) =
        if change.level == Level::Info { Default::default() } else { advice::for_change(change) };
    let direction = change.site.map(SchemaSite::direction);
    let mut operations = affected::operations(comparison, &origins);
    for affected in &mut operations {
        affected.operation = plain_text(&affected.operation);
        affected.path = plain_text(&affected.path);
    }
    Finding {
        id: change.id.clone(),
        level: change.level,
        message: plain_text(&change.message),
        impact: plain_text(&impact),
        remedy: plain_text(&remedy),
        base: change.positions.base,
        revision: change.positions.revision,
        path: plain_text(&path),
        operations,
        fingerprint: fingerprint(direction, &change.suffix, &path, &change.details),
        waived: None,
        details: change.details.clone(),
        is_about_schema: direction.is_some(),
        is_about_requests: match direction {
            Some(direction) => direction == Direction::Request,
            None => usage::is_request_rule(&change.id),
        },
        // The validator does not know all formats.
        is_validated: match direction {
            Some(_) => change.is_about_valid_values() && !change.details.starts_with("format "),
            None => usage::is_validated_rule(&change.id, &change.details),
        },
        usage: None,
    }
}

/// Returns the fingerprint of a change. `suffix` is the rule, without the prefix of the site.
fn fingerprint(direction: Option<Direction>, suffix: &str, path: &str, details: &str) -> String {
    let direction = direction.map(|direction| format!("{direction:?}")).unwrap_or_default();
    digest(&[direction.as_str(), suffix, path, details].join("\n"))
}

/// Returns the first twelve hexadecimal digits of the SHA-256 digest of a string.
fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..6])
}

/// Makes fingerprints unique. If several findings have the same fingerprint, the first one keeps it; each further one
/// gets a digest of the fingerprint and its number, counted from 2.
fn make_fingerprints_unique(findings: &mut [Finding]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        let count = counts.entry(finding.fingerprint.clone()).or_default();
        *count += 1;
        if *count > 1 {
            finding.fingerprint = digest(&format!("{} {count}", finding.fingerprint));
        }
    }
}
