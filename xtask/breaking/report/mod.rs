//! How differences are printed.
//!
//! Owns the forms: for people, for programs, for CI, for a release note. It never judges.

mod github;
mod json;
mod markdown;
mod text;

use super::Format;
use super::document::Document;
use super::finding::Finding;
use super::rule::Level;

/// Two documents and what differs.
#[derive(Debug)]
pub(crate) struct Compared {
    /// What was promised.
    pub base: Document,
    /// What is promised now.
    pub revision: Document,
    /// The differences.
    pub findings: Vec<Finding>,
    /// What is wrong with the waivers.
    pub faults: Vec<String>,
}

/// How many findings there are of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// Findings that close the gate.
    pub breaking: usize,
    /// Findings that may break someone.
    pub warnings: usize,
    /// Findings that break nobody.
    pub harmless: usize,
    /// Findings that a waiver lets pass.
    pub waived: usize,
}

impl Compared {
    fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for finding in &self.findings {
            match (finding.waived.is_some(), finding.level) {
                (true, _) => sums.waived += 1,
                (false, Level::Error) => sums.breaking += 1,
                (false, Level::Warning) => sums.warnings += 1,
                (false, Level::Info) => sums.harmless += 1,
            }
        }
        sums
    }

    /// A place in the base, as `file:line:column`.
    fn base_place(&self, finding: &Finding) -> String {
        place(&self.base, finding.base)
    }

    /// A place in the revision, as `file:line:column`.
    fn revision_place(&self, finding: &Finding) -> String {
        place(&self.revision, finding.revision)
    }
}

fn place(document: &Document, span: contract::source::Span) -> String {
    let place = document.source.place(span);
    format!("{}:{}:{}", document.source.name, place.line, place.column)
}

/// What the gate says: all that breaks or may break.
pub(crate) fn gate(compared: &Compared, format: Format) -> String {
    let shown: Vec<&Finding> =
        compared.findings.iter().filter(|finding| finding.level != Level::Info).collect();
    match format {
        Format::Text => text::gate(compared, &shown),
        Format::Json => json::lines(compared, &shown),
        Format::Github => github::commands(compared, &shown),
        Format::Markdown => markdown::gate(compared, &shown),
    }
}

/// What a changelog says: every difference that a client can notice.
pub(crate) fn changelog(compared: &Compared, format: Format) -> String {
    let shown: Vec<&Finding> = compared.findings.iter().collect();
    match format {
        Format::Text => text::changelog(compared),
        Format::Json => json::lines(compared, &shown),
        Format::Github => github::commands(compared, &shown),
        Format::Markdown => markdown::changelog(compared),
    }
}

/// The headings of a changelog, with what stands under each.
fn groups(compared: &Compared) -> Vec<(&'static str, Vec<&Finding>)> {
    let heading = |finding: &Finding| match finding.level {
        Level::Error => 0,
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
    let mut groups: Vec<(&str, Vec<&Finding>)> = headings.iter().map(|name| (*name, Vec::new())).collect();
    for finding in &compared.findings {
        groups[heading(finding)].1.push(finding);
    }
    groups.retain(|(_, findings)| !findings.is_empty());
    groups
}

/// Where a finding is, in words: the way of the first operation, and how many others there are.
fn reached(finding: &Finding) -> String {
    match finding.reach.as_slice() {
        [] => "nothing reaches it".to_owned(),
        [one] => one.path.clone(),
        [one, rest @ ..] => format!("{} and {} more", one.path, rest.len()),
    }
}

/// A count with its noun.
fn count(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The last line of what the gate says.
fn verdict(compared: &Compared) -> String {
    let sums = compared.sums();
    let mut parts = vec![
        count(sums.breaking, "breaking change", "breaking changes"),
        count(sums.warnings, "warning", "warnings"),
        count(sums.harmless, "harmless change", "harmless changes"),
    ];
    if sums.waived > 0 {
        parts.push(format!("{} waived", sums.waived));
    }
    if !compared.faults.is_empty() {
        parts.push(count(compared.faults.len(), "fault in the waivers", "faults in the waivers"));
    }
    format!("{} against {}: {}", compared.revision.source.name, compared.base.source.name, parts.join(", "))
}
