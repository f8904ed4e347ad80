//! For a comment or a release note.

use super::super::finding::Finding;
use super::{Compared, groups, reached, verdict};

pub(super) fn gate(compared: &Compared, findings: &[&Finding]) -> String {
    let mut text = format!("{}\n", verdict(compared));
    for finding in findings {
        text += &format!("\n### {}: {}\n\n", finding.level, finding.message);
        text += &format!(
            "`{}` at `{}`, before at `{}`\n\n",
            finding.id,
            compared.revision_place(finding),
            compared.base_place(finding)
        );
        text += &format!("- Reached by: {}\n", code(&reached(finding)));
        text += &format!("- Who breaks: {}\n- Instead: {}\n", finding.who, finding.instead);
        text += &format!("- Fingerprint: `{}`\n", finding.fingerprint);
        if let Some(reason) = &finding.waived {
            text += &format!("- Waived: {reason}\n");
        }
    }
    for fault in &compared.faults {
        text += &format!("\n- {fault}\n");
    }
    text
}

pub(super) fn changelog(compared: &Compared) -> String {
    let groups = groups(compared);
    if groups.is_empty() {
        return "No changes.\n".to_owned();
    }
    let mut text = String::new();
    for (heading, findings) in groups {
        text += &format!("{}## {heading}\n\n", if text.is_empty() { "" } else { "\n" });
        for finding in findings {
            text += &format!("- {}: {}", code(&reached(finding)), finding.message);
            if !finding.instead.is_empty() {
                text += &format!(". {}", finding.who);
            }
            text += &format!(" (`{}`)\n", finding.id);
        }
    }
    text
}

/// A way through the contract, set as code.
fn code(path: &str) -> String {
    match path.rsplit_once(" and ").filter(|(_, rest)| rest.ends_with(" more")) {
        Some((path, rest)) => format!("`{path}` and {rest}"),
        None => format!("`{path}`"),
    }
}
