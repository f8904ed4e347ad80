//! SARIF 2.1.0 (OASIS): one run with a result for each finding, or for each error of a document that cannot be compared.

use std::collections::{BTreeMap, BTreeSet};

use contract::InvalidContract;
use contract::diagnostic::Diagnostic;
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
    let notifications: Vec<Value> = result.waiver_errors.iter().map(|error| notification(error)).collect();
    let invocation = json!({
        "executionSuccessful": notifications.is_empty(),
        "toolConfigurationNotifications": notifications,
    });
    render(rules.into_values().collect(), &invocation, &results)
}

/// Returns a log with the errors of a document that cannot be compared.
pub(super) fn invalid_document(invalid: &InvalidContract) -> String {
    let InvalidContract { source, diagnostics } = invalid;
    let codes: BTreeSet<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    let to_result = |diagnostic: &Diagnostic| {
        let sentences = [&diagnostic.message, &diagnostic.help];
        let text = located_message(source, diagnostic.span, &sentences_of(&sentences));
        let mut value =
            json!({"ruleId": diagnostic.code.as_str(), "level": "error", "message": {"text": text}});
        if let Some(location) = location(source, diagnostic.span) {
            value["locations"] = json!([location]);
        }
        value
    };
    let results: Vec<Value> = diagnostics.iter().map(to_result).collect();
    let invocation = json!({
        "executionSuccessful": false,
        "toolExecutionNotifications": [notification(&format!("cannot compare {}", source.name))],
    });
    render(codes.into_iter().map(|code| json!({"id": code})).collect(), &invocation, &results)
}

fn notification(text: &str) -> Value {
    json!({"level": "error", "message": {"text": text}})
}

fn render(rules: Vec<Value>, invocation: &Value, results: &[Value]) -> String {
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "openapi-gate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [invocation],
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
    let text = sentences_of(&[&finding.message, &finding.impact, &finding.remedy]);
    let mut text = format!("{text} Affects: {}.", affected_operations(finding));
    if let Some(usage) = &finding.usage {
        text += &format!(" Usage: {}.", usage.sentence());
    }
    let (base, revision) = (&result.base.source, &result.revision.source);
    let position = base.position(finding.base);
    let name = format!("base: {}:{}:{}", base.file_name(finding.base), position.line, position.column);
    let mut related = location(base, finding.base).unwrap_or_else(|| json!({}));
    related["id"] = json!(0);
    related["message"] = json!({"text": name});
    let mut value = json!({
        "ruleId": finding.id,
        "level": level,
        "message": {"text": located_message(revision, finding.revision, &text)},
        "relatedLocations": [related],
        "partialFingerprints": {"openapiGate/v1": finding.fingerprint},
    });
    if let Some(usage) = &finding.usage {
        value["properties"] = json!({"usage": usage});
    }
    if let Some(location) = location(revision, finding.revision) {
        value["locations"] = json!([location]);
    }
    if let Some(reason) = &finding.waived {
        value["suppressions"] = json!([{"kind": "external", "justification": reason}]);
    }
    value
}

/// Joins sentences, without empty ones.
fn sentences_of(sentences: &[&String]) -> String {
    let sentences = sentences.iter().filter(|sentence| !sentence.is_empty());
    let ended: Vec<String> =
        sentences.map(|sentence| format!("{}.", sentence.trim_end_matches('.'))).collect();
    ended.join(" ")
}

/// Returns a message, with the position before it if the file is not part of the working tree.
fn located_message(source: &Source, span: Span, message: &str) -> String {
    if source.path(span).is_some() {
        return message.to_owned();
    }
    let position = source.position(span);
    format!("{}:{}:{}: {message}", source.file_name(span), position.line, position.column)
}

/// Returns the location of a span, or `None` if its file is not part of the working tree.
fn location(source: &Source, span: Span) -> Option<Value> {
    let position = source.position(span);
    let uri = utf8_percent_encode(&source.path(span)?, ESCAPED).to_string();
    Some(json!({"physicalLocation": {
        "artifactLocation": {"uri": uri},
        "region": {"startLine": position.line, "startColumn": position.column},
    }}))
}
