//! Every rule that is not about a schema alone, on a small document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::catalogue;
use super::super::rule::Level;
use super::{differences, told, yaml};

/// What stands for a long pointer in the cases.
const SHORT: [(&str, &str); 5] = [
    ("ITEM", "/paths/~1a~1{id}"),
    ("CX", "/paths/~1c~1{x}"),
    ("CY", "/paths/~1c~1{y}"),
    ("BODY", "/paths/~1a~1{id}/post/requestBody/content/application~1json/schema"),
    ("ANSWER", "/paths/~1a~1{id}/get/responses/200/content/application~1json/schema"),
];

/// Changes by their pointers; null takes away.
type Changes = serde_json::Map<String, Value>;

struct Case {
    id: String,
    before: Changes,
    change: Changes,
    twin: Option<Changes>,
}

fn cases() -> (Value, Vec<Case>) {
    let file = yaml(include_str!("cases/documents.yaml"));
    let changes = |case: &Value, key: &str| case.get(key).and_then(Value::as_object).cloned();
    let all = file["cases"].as_object().expect("cases by their rules");
    let cases = all.iter().map(|(id, case)| Case {
        id: id.clone(),
        before: changes(case, "before").unwrap_or_default(),
        change: changes(case, "change").unwrap_or_else(|| panic!("{id} changes nothing")),
        twin: changes(case, "twin"),
    });
    (file["base"].clone(), cases.collect())
}

/// A document with changes made to it.
pub(super) fn changed(document: &Value, changes: &Changes) -> Value {
    let mut document = document.clone();
    for (pointer, value) in changes {
        let mut pointer = pointer.clone();
        for (short, long) in SHORT {
            pointer = pointer.replace(short, long);
        }
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer has a step");
        let key = key.replace("~1", "/").replace("~0", "~");
        match document.pointer_mut(parent).unwrap_or_else(|| panic!("{parent} leads nowhere")) {
            Value::Array(items) => {
                let at: usize = key.parse().expect("a number of an item");
                if value.is_null() { drop(items.remove(at)) } else { items[at] = value.clone() }
            }
            Value::Object(object) => {
                if value.is_null() {
                    drop(object.remove(&key))
                } else {
                    drop(object.insert(key, value.clone()))
                }
            }
            _ => panic!("{parent} holds nothing"),
        }
    }
    document
}

fn found(base: &Value, revision: &Value) -> Vec<(String, Level)> {
    let text = |value: &Value| serde_json::to_string_pretty(value).expect("JSON");
    told(&differences(&text(base), &text(revision)))
}

#[test]
fn every_rule_fires_with_its_level_and_its_twin_is_harmless() {
    let (document, cases) = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let rule = catalogue::rule(&case.id).unwrap_or_else(|| panic!("{} is no rule", case.id));
        let base = changed(&document, &case.before);
        let found_here = found(&base, &changed(&base, &case.change));
        if !found_here.contains(&(case.id.clone(), rule.level)) {
            wrong.push(format!("{} is not among {found_here:?}", case.id));
        }
        let news = rule.level == Level::Info;
        let breaks = |found: &[(String, Level)]| found.iter().any(|(_, level)| *level == Level::Error);
        match &case.twin {
            Some(twin) => {
                let twin = found(&base, &changed(&base, twin));
                if breaks(&twin) || twin.iter().any(|(id, _)| *id == case.id) {
                    wrong.push(format!("the twin of {} is {twin:?}", case.id));
                }
            }
            None if !news => wrong.push(format!("{} has no twin", case.id)),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules without a case, and why.
const UNTRIED: [(&str, &str); 1] = [(
    "new-request-path-parameter",
    "a path with other braces is another path: the old one is removed, a new one added",
)];

#[test]
fn every_rule_has_a_case() {
    let tried: BTreeSet<String> = cases().1.into_iter().map(|case| case.id).collect();
    let untried: Vec<&str> = catalogue::rules()
        .map(|rule| rule.id)
        .filter(|id| !tried.contains(*id) && !UNTRIED.iter().any(|(known, _)| known == id))
        .collect();
    assert!(untried.is_empty(), "{untried:?}");
}

#[test]
fn what_is_added_one_way_is_removed_the_other() {
    let (document, cases) = cases();
    let pairs: BTreeMap<&str, &str> = BTreeMap::from([
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
        let Some(mirror) = pairs.get(case.id.as_str()) else { continue };
        let base = changed(&document, &case.before);
        let back = found(&changed(&base, &case.change), &base);
        assert!(back.iter().any(|(id, _)| id == mirror), "{} mirrors {mirror}, not {back:?}", case.id);
    }
}
