//! The output of `doctor`: a line per check and finding, or a JSON object per check.

use std::time::Instant;

use domain::doctor::{Finding, Report};
use serde_json::{Value, json};

use super::super::outcome::CommandError;
use super::super::output;

/// Prints reports.
pub(super) struct Printer {
    json: bool,
    findings: bool,
}

impl Printer {
    pub(super) fn new(json: bool) -> Self {
        Self { json, findings: false }
    }

    /// Returns whether a report had findings.
    pub(super) fn has_findings(&self) -> bool {
        self.findings
    }

    /// Prints the report of a check that began at `started`.
    pub(super) fn print(
        &mut self,
        check: &str,
        started: Instant,
        report: Report,
    ) -> Result<(), CommandError> {
        let Report { summary, findings, more } = report;
        let is_ok = findings.is_empty();
        self.findings |= !is_ok;
        if self.json {
            let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            return output::print(json!({
                "check": check,
                "ok": is_ok,
                "summary": summary,
                "duration_ms": milliseconds,
                "findings": findings.iter().map(to_json).collect::<Vec<_>>(),
                "more_findings": more,
            }));
        }
        output::print(format_args!("{:<8}{check:<18}{summary}", if is_ok { "ok" } else { "FAILED" }))?;
        for Finding { table, id, problem, remedy } in findings {
            let place: Vec<&str> =
                [table.as_str(), id.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
            let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(" ")) };
            output::print(format_args!("        {place}{problem}\n            {remedy}"))?;
        }
        if more > 0 {
            output::print(format_args!("        and {more} more findings"))?;
        }
        Ok(())
    }
}

fn to_json(finding: &Finding) -> Value {
    let Finding { table, id, problem, remedy } = finding;
    json!({"table": table, "id": id, "problem": problem, "remedy": remedy})
}
