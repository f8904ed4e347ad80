//! SARIF 2.1.0 (OASIS): one run with a result for each finding.

use std::collections::BTreeMap;

use contract::source::{Source, Span};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};

use super::super::finding::Finding;
use super::super::rule::Level;
use super::{ComparisonResult, affected_operations};

/// The address of the schema of SARIF logs.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";
/// The characters of a file name that must be escaped in a URI reference. A colon would end a scheme.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b':')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Returns a log with the findings.
pub(super) fn log(result: &ComparisonResult, findings: &[&Finding]) -> String {
    let rules: BTreeMap<&str, Value> =
        findings.iter().map(|finding| (finding.id.as_str(), rule(finding))).collect();
    let results: Vec<Value> = findings.iter().map(|finding| sarif_result(result, finding)).collect();
    let notifications: Vec<Value> = result
        .waiver_errors
        .iter()
        .map(|error| json!({"level": "error", "message": {"text": error}}))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "openapi-gate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.into_values().collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolConfigurationNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).expect("plain values serialize to JSON") + "\n"
}

fn rule(finding: &Finding) -> Value {
    let mut rule = json!({"id": finding.id});
    if !finding.remedy.is_empty() {
        rule["help"] = json!({"text": finding.remedy});
    }
    rule
}

fn sarif_result(result: &ComparisonResult, finding: &Finding) -> Value {
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    };
    let message = [&finding.message, &finding.impact, &finding.remedy];
    let sentences: Vec<String> = message
        .into_iter()
        .filter(|sentence| !sentence.is_empty())
        .map(|sentence| format!("{}.", sentence.trim_end_matches('.')))
        .collect();
    let mut base = location(&result.base.source, finding.base);
    base["id"] = json!(0);
    base["message"] = json!({"text": "base"});
    let mut value = json!({
        "ruleId": finding.id,
        "level": level,
        "message": {"text": format!("{} Affects: {}.", sentences.join(" "), affected_operations(finding))},
        "locations": [location(&result.revision.source, finding.revision)],
        "relatedLocations": [base],
        "partialFingerprints": {"openapiGate/v1": finding.fingerprint},
    });
    if let Some(reason) = &finding.waived {
        value["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    value
}

fn location(source: &Source, span: Span) -> Value {
    let position = source.position(span);
    let uri = utf8_percent_encode(source.file_name(span), ESCAPED).to_string();
    json!({"physicalLocation": {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": position.line, "startColumn": position.column},
    }})
}
