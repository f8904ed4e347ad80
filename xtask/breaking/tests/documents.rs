//! Tests every rule that is not a schema rule, on a small document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::catalog;
use super::super::rule::Level;
use super::{differences, ids_and_levels, yaml};

/// Abbreviations of JSON pointers in the test cases.
const POINTER_ABBREVIATIONS: [(&str, &str); 5] = [
    ("ITEM", "/paths/~1a~1{id}"),
    ("CX", "/paths/~1c~1{x}"),
    ("CY", "/paths/~1c~1{y}"),
    ("BODY", "/paths/~1a~1{id}/post/requestBody/content/application~1json/schema"),
    ("RESPONSE", "/paths/~1a~1{id}/get/responses/200/content/application~1json/schema"),
];

/// New values by JSON pointer; null removes a value.
type Changes = serde_json::Map<String, Value>;

/// A test case of a rule.
struct RuleCase {
    id: String,
    /// Changes that prepare the base.
    before: Changes,
    /// Changes of the base that the rule reports.
    change: Changes,
    /// Similar changes of the base that break no client; `None` only for rules at level info.
    harmless: Option<Changes>,
}

/// Returns the document that the cases change, and the cases.
fn cases() -> (Value, Vec<RuleCase>) {
    let file = yaml(include_str!("cases/documents.yaml"));
    let changes = |case: &Value, key: &str| case.get(key).and_then(Value::as_object).cloned();
    let cases_by_id = file["cases"].as_object().expect("the cases are a mapping");
    let cases = cases_by_id.iter().map(|(id, case)| RuleCase {
        id: id.clone(),
        before: changes(case, "before").unwrap_or_default(),
        change: changes(case, "change").unwrap_or_else(|| panic!("{id} has no `change`")),
        harmless: changes(case, "harmless"),
    });
    (file["base"].clone(), cases.collect())
}

/// Applies changes to a document.
pub(super) fn apply_changes(document: &Value, changes: &Changes) -> Value {
    let mut document = document.clone();
    for (pointer, value) in changes {
        let mut pointer = pointer.clone();
        for (abbreviation, expansion) in POINTER_ABBREVIATIONS {
            pointer = pointer.replace(abbreviation, expansion);
        }
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer has at least one step");
        let key = key.replace("~1", "/").replace("~0", "~");
        match document.pointer_mut(parent).unwrap_or_else(|| panic!("{parent} does not exist")) {
            Value::Array(items) => {
                let index: usize = key.parse().expect("the last step of a pointer into a list is an index");
                if value.is_null() { drop(items.remove(index)) } else { items[index] = value.clone() }
            }
            Value::Object(object) => {
                if value.is_null() {
                    drop(object.remove(&key))
                } else {
                    drop(object.insert(key, value.clone()))
                }
            }
            _ => panic!("{parent} is neither an array nor an object"),
        }
    }
    document
}

/// Compares two documents. Returns the ids and levels of the findings.
fn reported_rules(base: &Value, revision: &Value) -> Vec<(String, Level)> {
    let text = |value: &Value| serde_json::to_string_pretty(value).expect("a JSON value can be serialized");
    ids_and_levels(&differences(&text(base), &text(revision)))
}

#[test]
fn every_rule_is_reported_with_its_level_and_its_counterpart_is_harmless() {
    let (document, cases) = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let rule = catalog::rule(&case.id).unwrap_or_else(|| panic!("{} is not a rule", case.id));
        let base = apply_changes(&document, &case.before);
        let reported = reported_rules(&base, &apply_changes(&base, &case.change));
        if !reported.contains(&(case.id.clone(), rule.level)) {
            wrong.push(format!("{}: got {reported:?}", case.id));
        }
        let is_info = rule.level == Level::Info;
        let breaks = |reported: &[(String, Level)]| reported.iter().any(|(_, level)| *level == Level::Error);
        match &case.harmless {
            Some(harmless) => {
                let reported = reported_rules(&base, &apply_changes(&base, harmless));
                if breaks(&reported) || reported.iter().any(|(id, _)| *id == case.id) {
                    wrong.push(format!("the counterpart of {} reports {reported:?}", case.id));
                }
            }
            None if !is_info => wrong.push(format!("{} has no harmless counterpart", case.id)),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules without a test case, and the reason.
const UNTESTED: [(&str, &str); 1] = [(
    "new-request-path-parameter",
    "a path with other parameters is a different path: the old one is removed, a new one added",
)];

#[test]
fn every_rule_has_a_case() {
    let tested: BTreeSet<String> = cases().1.into_iter().map(|case| case.id).collect();
    let untested: Vec<&str> = catalog::rules()
        .map(|rule| rule.id)
        .filter(|id| !tested.contains(*id) && !UNTESTED.iter().any(|(untested, _)| untested == id))
        .collect();
    assert!(untested.is_empty(), "rules without a case: {untested:?}");
}

#[test]
fn the_inverse_of_an_addition_is_reported_as_a_removal() {
    let (document, cases) = cases();
    let removals: BTreeMap<&str, &str> = BTreeMap::from([
        ("endpoint-added", "api-path-removed-without-deprecation"),
        ("webhook-added", "webhook-removed"),
        ("new-optional-request-parameter", "request-parameter-removed"),
        ("response-header-added", "optional-response-header-removed"),
        ("response-success-status-added", "response-success-status-removed"),
        ("request-body-media-type-added", "request-body-media-type-removed"),
        ("response-media-type-added", "response-media-type-removed"),
        ("api-server-added", "api-server-removed"),
        ("callback-added", "callback-removed"),
        ("api-security-alternative-added", "api-security-removed"),
        ("response-required-property-added", "response-required-property-removed"),
    ]);
    for case in &cases {
        let Some(inverse) = removals.get(case.id.as_str()) else { continue };
        let base = apply_changes(&document, &case.before);
        let reported = reported_rules(&apply_changes(&base, &case.change), &base);
        assert!(
            reported.iter().any(|(id, _)| id == inverse),
            "inverse of {}: expected {inverse}, got {reported:?}",
            case.id
        );
    }
}
