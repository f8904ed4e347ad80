//! Markdown for a comment or a release note.

use std::collections::BTreeMap;

use contract::node::Node;

use super::super::compare::{AffectedOperation, operations_in};
use super::super::document::OpenApiDocument;
use super::super::finding::Finding;
use super::super::policies::VERSION_RULES;
use super::{ComparisonResult, affected_operations, groups, summary};

pub(super) fn breaking_changes(result: &ComparisonResult, findings: &[&Finding]) -> String {
    let mut text = format!("{}\n", escape(&summary(result)));
    for finding in findings {
        text += &format!("\n### {}: {}\n\n", finding.level, escape(&finding.message));
        text += &format!(
            "`{}` at {} (base: {})\n\n",
            finding.id,
            code(&result.revision_position(finding)),
            code(&result.base_position(finding))
        );
        text += &format!("- Affects: {}\n", path_as_code(&affected_operations(finding)));
        text += &format!("- Impact: {}\n- Remedy: {}\n", escape(&finding.impact), escape(&finding.remedy));
        if let Some(usage) = &finding.usage {
            text += &format!("- Usage: {}\n", escape(&usage.sentence()));
        }
        text += &format!("- Fingerprint: `{}`\n", finding.fingerprint);
        if let Some(reason) = &finding.waived {
            text += &format!("- Waived: {}\n", escape(reason));
        }
    }
    for waiver_error in &result.waiver_errors {
        text += &format!("\n- {}\n", escape(waiver_error));
    }
    text
}

pub(super) fn changelog(result: &ComparisonResult) -> String {
    let groups = groups(result);
    if groups.is_empty() {
        return "No changes.\n".to_owned();
    }
    let mut text = String::new();
    for (heading, findings) in groups {
        text += &format!("{}## {heading}\n\n", if text.is_empty() { "" } else { "\n" });
        for finding in findings {
            text +=
                &format!("- {}: {}", path_as_code(&affected_operations(finding)), escape(&finding.message));
            if !finding.remedy.is_empty() {
                text += &format!(". {}", escape(&finding.impact));
            }
            text += &format!(" (`{}`)\n", finding.id);
        }
    }
    text
}

/// Renders the changes of a release, with a line for each change and operation or webhook, under headings of level 3. Findings
/// about the version are left out.
pub(super) fn release(result: &ComparisonResult) -> String {
    let webhooks: BTreeMap<&str, &str> =
        [&result.base, &result.revision].into_iter().flat_map(webhooks).collect();
    let mut sections = Vec::new();
    for (heading, findings) in groups(result) {
        let findings = findings.into_iter().filter(|finding| !VERSION_RULES.contains(&finding.id.as_str()));
        let lines: Vec<String> = findings.flat_map(|finding| release_lines(finding, &webhooks)).collect();
        if !lines.is_empty() {
            sections.push(format!("### {heading}\n\n{}\n", lines.concat()));
        }
    }
    if sections.is_empty() {
        return "### Changed\n\n- Only descriptions and examples changed.\n".to_owned();
    }
    sections.join("\n")
}

/// Returns the names of the webhooks by operation id. Receivers know a webhook by its name.
fn webhooks(document: &OpenApiDocument) -> impl Iterator<Item = (&str, &str)> {
    let webhooks = document.root.get("webhooks").and_then(Node::entries).unwrap_or_default();
    webhooks.iter().flat_map(move |webhook| {
        let entries = webhook.value.entries().unwrap_or_default().iter();
        let operations = operations_in(entries, document.version);
        let ids = operations.filter_map(|(_, operation)| operation.value.get("operationId")?.as_str());
        ids.map(|id| (id, &*webhook.key.text))
    })
}

/// Returns the lines of a finding in the changes of a release: the change and, unless it is harmless, what clients must adapt.
fn release_lines(finding: &Finding, webhooks: &BTreeMap<&str, &str>) -> Vec<String> {
    let change = escape(&finding.message);
    let mut advice = escape(&finding.impact);
    if finding.id.ends_with("deprecated-with-sunset") {
        advice += "Stop using it before this day.";
    }
    let end = if advice.is_empty() { ".\n".to_owned() } else { format!(". {advice}\n") };
    let line = |affected: &AffectedOperation| {
        let place = affected.path.strip_prefix(&affected.operation).unwrap_or(&affected.path);
        let place = place.strip_prefix(" -> ").unwrap_or(place).trim_start();
        let place = if place.is_empty() { String::new() } else { format!(" ({})", code(place)) };
        let name = webhooks.get(&*affected.operation).copied().unwrap_or(&affected.operation);
        format!("- {}: {change}{place}{end}", code(name))
    };
    match finding.operations.as_slice() {
        [] => vec![format!("- {change}{end}")],
        operations => operations.iter().map(line).collect(),
    }
}

/// Formats the path in the description of affected operations as code, without the number of further operations.
fn path_as_code(description: &str) -> String {
    match description.rsplit_once(" and ").filter(|(_, count)| count.ends_with(" more")) {
        Some((path, count)) => format!("{} and {count}", code(path)),
        None => code(description),
    }
}

/// Formats a text of one line as code.
pub(super) fn code(text: &str) -> String {
    let longest_run = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest_run + 1);
    let space = if text.is_empty() || text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Escapes a text of one line. Its parts between backticks stay code, and a backtick without a counterpart is escaped.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        escaped += &escape_plain(&rest[..at]);
        let after = &rest[at + 1..];
        rest =
            match after.split_once('`').filter(|(inner, after)| !inner.is_empty() && !after.starts_with('`'))
            {
                Some((inner, after)) => {
                    escaped += &code(inner);
                    after
                }
                None => {
                    escaped += "\\`";
                    after
                }
            };
    }
    escaped + &escape_plain(rest)
}

/// Escapes the characters that can begin a link, emphasis, HTML, a mention or a table cell.
fn escape_plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if ['\\', '*', '_', '<', '[', ']', '|', '~', '&', '@', '!'].contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
