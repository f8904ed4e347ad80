//! The schema `Change` of the contract and the parser of changes accept the same lines. Lines are not validated against the schema,
//! so that a rejected line names its fields like an import on the command line.

use std::collections::BTreeSet;

use feed::InputLine;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Returns the data of a change of each kind, with all fields.
fn data() -> Vec<(&'static str, Value)> {
    let lesson =
        json!({"key": "l", "title": "L", "type": "video", "duration_seconds": 60, "free_preview": true});
    vec![
        (
            "workspace.upsert",
            json!({"key": "acme", "name": "A", "owner_email": "a@example.com", "per_minute": 60, "per_day": 9}),
        ),
        (
            "course.upsert",
            json!({"key": "c", "slug": "c", "title": "C", "status": "draft", "description": "D", "language": "en",
                "image_url": "https://a.example", "url": "https://a.example",
                "price": {"amount": 100, "currency": "EUR"},
                "modules": [{"key": "m", "title": "M", "lessons": [lesson]}]}),
        ),
        (
            "student.upsert",
            json!({"key": "s", "email": "s@example.com", "name": "S", "external_id": "x", "tags": ["t"],
                "metadata": {"k": "v"}}),
        ),
        ("student.delete", json!({"student": "s"})),
        (
            "enrollment.grant",
            json!({"student": "s", "course": "c", "source": "manual", "expires_at": "2026-03-01T10:00:00Z"}),
        ),
        ("enrollment.revoke", json!({"student": "s", "course": "c", "reason": "R"})),
        ("progress.record", json!({"student": "s", "course": "c", "lesson": "l"})),
        (
            "order.pay",
            json!({"key": "o", "number": "1", "student": "s", "currency": "EUR", "discount_amount": 1,
                "tax_amount": 2, "receipt": {"number": "1", "url": "https://a.example"},
                "items": [{"course": "c", "title": "C", "quantity": 1, "unit_amount": 100}]}),
        ),
        ("order.refund", json!({"order": "o", "amount": 1, "reason": "R"})),
        (
            "live_session.upsert",
            json!({"key": "l", "title": "L", "course": "c", "scheduled_at": "2026-03-01T10:00:00Z"}),
        ),
        ("live_session.start", json!({"live_session": "l"})),
        ("live_session.end", json!({"live_session": "l"})),
        (
            "recording.ready",
            json!({"key": "r", "live_session": "l", "title": "R", "duration_seconds": 60, "size_bytes": 9,
                "content_type": "video/mp4"}),
        ),
        ("certificate.issue", json!({"student": "s", "course": "c", "number": "1"})),
    ]
}

/// Returns the JSON pointers of all values in a value.
fn pointers(value: &Value) -> Vec<String> {
    let inner = |key: &str, value: &Value| {
        let prefix = format!("/{key}");
        let deeper =
            pointers(value).into_iter().map(|pointer| format!("{prefix}{pointer}")).collect::<Vec<_>>();
        [vec![prefix.clone()], deeper].concat()
    };
    match value {
        Value::Object(fields) => fields.iter().flat_map(|(key, value)| inner(key, value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(index, value)| inner(&index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the change with each value replaced by others, removed, or followed by an unknown field.
fn variants(change: &Value) -> Vec<(String, Value)> {
    let mut variants = vec![("unchanged".to_owned(), change.clone())];
    let others =
        [json!(null), json!(true), json!(7), json!(7.0), json!(7.5), json!("text"), json!([]), json!({})];
    for pointer in pointers(change) {
        for other in &others {
            let mut variant = change.clone();
            *variant.pointer_mut(&pointer).expect("a value") = other.clone();
            variants.push((format!("{pointer} is {other}"), variant));
        }
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let mut variant = change.clone();
        if let Some(fields) = variant.pointer_mut(parent).and_then(Value::as_object_mut) {
            fields.remove(key);
            variants.push((format!("{pointer} is missing"), variant.clone()));
        }
        if let Some(fields) = variant.pointer_mut(parent).and_then(Value::as_object_mut) {
            fields.insert("unknown".to_owned(), json!(1));
            variants.push((format!("{parent} has an unknown field instead of {key}"), variant));
        }
    }
    variants
}

#[test]
fn the_contract_and_the_import_accept_the_same_changes() {
    let document: Value =
        serde_json::from_str(include_str!("../../../src/api/platform/generated/platform-v1.json"))
            .expect("JSON");
    let schema = json!({"$ref": "#/components/schemas/Change", "components": document["components"]});
    let validator =
        jsonschema::draft202012::options().should_validate_formats(true).build(&schema).expect("a schema");
    let described = document["components"]["schemas"]["Change"]["discriminator"]["mapping"].as_object();
    let described: BTreeSet<&str> = described.expect("the kinds").keys().map(String::as_str).collect();
    assert_eq!(data().into_iter().map(|(kind, _)| kind).collect::<BTreeSet<_>>(), described);
    let now: Timestamp = "2026-03-02T10:00:00Z".parse().expect("a time");
    let mut differences = Vec::new();
    for (kind, data) in data() {
        let change = json!({"change": kind, "id": "1", "workspace": "acme", "at": "2026-03-01T10:00:00Z", "data": data});
        for (name, variant) in variants(&change) {
            let line = InputLine { number: 1, bytes: variant.to_string().into_bytes(), truncated: false };
            let imported = feed::validate(&line, now);
            assert!(imported.is_ok() || name != "unchanged", "{kind}: {imported:?}");
            // The schema cannot say that the two keys of the workspace are equal.
            let is_key_only = imported.as_ref().is_err_and(|rejected| {
                rejected.errors.iter().all(|error| error.message.contains("must equal `workspace`"))
            });
            if imported.is_ok() != validator.is_valid(&variant) && !is_key_only {
                differences.push(format!("{kind}: {name}: the import says {imported:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
