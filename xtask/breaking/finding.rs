//! A finding: one change, whoever reaches it.
//!
//! Owns how notes about one and the same change become one finding, and what it is known by. It never prints.

use std::collections::BTreeMap;

use contract::source::Span;
use sha2::{Digest, Sha256};

use super::advice;
use super::compare::{Comparison, Note, Origin, Reach, reach};
use super::rule::{Direction, Level};

/// A difference between two documents.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The id of its rule.
    pub id: String,
    /// How bad it is.
    pub level: Level,
    /// What changed, in one sentence without a full stop.
    pub message: String,
    /// Who breaks and why; empty when nobody does.
    pub who: String,
    /// How to make the change without breaking; empty when it is harmless.
    pub instead: String,
    /// Where in the base.
    pub base: Span,
    /// Where in the revision.
    pub revision: Span,
    /// What it is about, whatever the line.
    pub path: String,
    /// The operations that reach it.
    pub reach: Vec<Reach>,
    /// What a waiver names it by: the rule, the place and the change itself, whatever the line.
    pub fingerprint: String,
    /// Why it does not count, when a waiver says so.
    pub waived: Option<String>,
}

/// What makes notes one change: which way the values go, the rule, both places and the facts; whoever reaches it.
type Change<'a> = (Option<Direction>, &'a str, Span, Span, &'a str);

/// One finding for each change, in the order of the revision's text.
pub(crate) fn gather(comparison: &Comparison<'_>) -> Vec<Finding> {
    let mut changes: BTreeMap<Change<'_>, Vec<&Note>> = BTreeMap::new();
    for note in comparison.notes() {
        let direction = note.site.map(super::rule::Site::direction);
        let key =
            (direction, note.word.as_str(), note.places.base, note.places.revision, note.facts.as_str());
        changes.entry(key).or_default().push(note);
    }
    let mut findings: Vec<Finding> = changes.into_values().map(|notes| finding(comparison, &notes)).collect();
    findings.sort_by(|left, right| {
        let key = |finding: &Finding| (finding.revision.start, finding.base.start);
        (key(left), &left.id, &left.message).cmp(&(key(right), &right.id, &right.message))
    });
    tell_apart(&mut findings);
    findings
}

fn finding(comparison: &Comparison<'_>, notes: &[&Note]) -> Finding {
    // The worst of them speaks for all; among equals, the site that comes first.
    let worst = notes.iter().max_by_key(|note| (note.level, std::cmp::Reverse(note.site)));
    let note = worst.expect("a change has a note");
    let origins: Vec<&Origin> = notes.iter().map(|note| &note.from).collect();
    let path = comparison.base.path_of(note.places.base);
    let (who, instead) = if note.level == Level::Info { Default::default() } else { advice::on(note) };
    let direction = note.site.map(|site| format!("{:?}", site.direction())).unwrap_or_default();
    let known_by = [direction.as_str(), note.word.as_str(), path.as_str(), note.facts.as_str()].join("\n");
    Finding {
        id: note.id.clone(),
        level: note.level,
        message: note.message.clone(),
        who,
        instead,
        base: note.places.base,
        revision: note.places.revision,
        path,
        reach: reach::of(comparison, &origins),
        fingerprint: digest(&known_by),
        waived: None,
    }
}

/// The first twelve hexadecimal digits of the SHA-256 of a text.
fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Two findings may share all that a fingerprint is made of; the second one is then known by its place among them too.
fn tell_apart(findings: &mut [Finding]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings {
        let count = seen.entry(finding.fingerprint.clone()).or_default();
        *count += 1;
        if *count > 1 {
            finding.fingerprint = digest(&format!("{} {count}", finding.fingerprint));
        }
    }
}
