//! Markdown for a comment or a release note.

use super::super::finding::Finding;
use super::{ComparisonResult, affected_operations, groups, summary};

pub(super) fn breaking_changes(result: &ComparisonResult, findings: &[&Finding]) -> String {
    let mut text = format!("{}\n", summary(result));
    for finding in findings {
        text += &format!("\n### {}: {}\n\n", finding.level, finding.message);
        text += &format!(
            "`{}` at `{}` (base: `{}`)\n\n",
            finding.id,
            result.revision_position(finding),
            result.base_position(finding)
        );
        text += &format!("- Affects: {}\n", path_as_code(&affected_operations(finding)));
        text += &format!("- Impact: {}\n- Remedy: {}\n", finding.impact, finding.remedy);
        text += &format!("- Fingerprint: `{}`\n", finding.fingerprint);
        if let Some(reason) = &finding.waived {
            text += &format!("- Waived: {reason}\n");
        }
    }
    for waiver_error in &result.waiver_errors {
        text += &format!("\n- {waiver_error}\n");
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
            text += &format!("- {}: {}", path_as_code(&affected_operations(finding)), finding.message);
            if !finding.remedy.is_empty() {
                text += &format!(". {}", finding.impact);
            }
            text += &format!(" (`{}`)\n", finding.id);
        }
    }
    text
}

/// Formats the path in the description of affected operations as code, without the number of further operations.
fn path_as_code(description: &str) -> String {
    match description.rsplit_once(" and ").filter(|(_, count)| count.ends_with(" more")) {
        Some((path, count)) => format!("`{path}` and {count}"),
        None => format!("`{description}`"),
    }
}
