//! GitHub workflow commands: one annotation for each finding, at its position in the revision, and one for each waiver
//! error.

use contract::diagnostic::{annotation, annotation_at};

use super::super::finding::Finding;
use super::super::rule::Level;
use super::{ComparisonResult, Selection, affected_operations, select, summary};

pub(super) fn commands(result: &ComparisonResult, findings: &[&Finding]) -> String {
    let source = &result.revision.source;
    let mut text = String::new();
    let Selection { shown, left_out } = select(findings);
    for finding in shown {
        let mut message = format!("{} ({})", finding.message, affected_operations(finding));
        for (label, sentence) in [("", &finding.impact), ("remedy: ", &finding.remedy)] {
            if !sentence.is_empty() {
                message += &format!("\n{label}{sentence}");
            }
        }
        if let Some(usage) = &finding.usage {
            message += &format!("\nusage: {}", usage.sentence());
        }
        let command = match (finding.waived.is_some(), finding.level) {
            (true, _) | (_, Level::Info) => "notice",
            (false, Level::Warning) => "warning",
            (false, Level::Error) => "error",
        };
        text += &annotation_at(command, (source, finding.revision), &finding.id, &message);
    }
    if let Some(left_out) = left_out {
        text += &annotation("notice", None, "findings", &left_out);
    }
    for waiver_error in &result.waiver_errors {
        text += &annotation("error", None, "waivers", waiver_error);
    }
    text + &summary(result) + "\n"
}
