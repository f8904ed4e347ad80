//! GitHub workflow commands: one annotation for each finding, at its position in the revision, and one for each waiver
//! error.

use contract::diagnostic::workflow_command;

use super::super::finding::Finding;
use super::super::rule::Level;
use super::{ComparisonResult, affected_operations, summary};

pub(super) fn commands(result: &ComparisonResult, findings: &[&Finding]) -> String {
    let source = &result.revision.source;
    let mut text = String::new();
    for finding in findings {
        let position = source.position(finding.revision);
        let mut message = format!("{} ({})", finding.message, affected_operations(finding));
        for (label, sentence) in [("", &finding.impact), ("remedy: ", &finding.remedy)] {
            if !sentence.is_empty() {
                message += &format!("\n{label}{sentence}");
            }
        }
        let command = workflow_command(&source.name, position.line, position.column, &finding.id, &message);
        // `workflow_command` always returns an `::error` command.
        let level = match (finding.waived.is_some(), finding.level) {
            (true, _) | (_, Level::Info) => "::notice",
            (false, Level::Warning) => "::warning",
            (false, Level::Error) => "::error",
        };
        text += &command.replacen("::error", level, 1);
    }
    for waiver_error in &result.waiver_errors {
        text += &format!("::error title=waivers::{waiver_error}\n");
    }
    text + &summary(result) + "\n"
}
