//! For a CI service that understands GitHub's workflow commands: an annotation at each place of the revision.

use contract::diagnostic::workflow_command;

use super::super::finding::Finding;
use super::super::rule::Level;
use super::{Compared, reached, verdict};

pub(super) fn commands(compared: &Compared, findings: &[&Finding]) -> String {
    let source = &compared.revision.source;
    let mut text = String::new();
    for finding in findings {
        let place = source.place(finding.revision);
        let mut message = format!("{} ({})", finding.message, reached(finding));
        for (word, sentence) in [("", &finding.who), ("instead: ", &finding.instead)] {
            if !sentence.is_empty() {
                message += &format!("\n{word}{sentence}");
            }
        }
        let command = workflow_command(&source.name, place.line, place.column, &finding.id, &message);
        let level = match (finding.waived.is_some(), finding.level) {
            (true, _) | (_, Level::Info) => "::notice",
            (false, Level::Warning) => "::warning",
            (false, Level::Error) => "::error",
        };
        text += &command.replacen("::error", level, 1);
    }
    for fault in &compared.faults {
        text += &format!("::error title=waivers::{fault}\n");
    }
    text + &verdict(compared) + "\n"
}
