//! An import whose connections are cut off has the same result as the command line without an interruption.

use std::collections::HashMap;

use feed::generate::{Spec, WORKSPACE, write_changes};
use serde_json::Value;

use super::changes::{import, import_cut_off};
use crate::support::TestApp;
use crate::support::platform::platform_token;

/// The number of connections that are cut off.
const CUTS: usize = 10;
/// Selects the names and amounts of the changes.
const SEED: u64 = 7;

/// Replaces ids by the order of their first appearance, because they differ between two imports.
fn number_ids(value: &mut Value, numbers: &mut HashMap<String, usize>) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| number_ids(member, numbers)),
        Value::Array(items) => items.iter_mut().for_each(|item| number_ids(item, numbers)),
        Value::String(text) => {
            let is_id = text.rsplit_once('_').is_some_and(|(_, random)| random.len() == 26);
            if is_id {
                let next = numbers.len();
                *text = format!("id {}", numbers.entry(std::mem::take(text)).or_insert(next));
            }
        }
        _ => {}
    }
}

/// Returns all events in their order, and all records, with numbers instead of ids.
async fn contents(app: &TestApp) -> (Vec<String>, Vec<String>) {
    let mut numbers = HashMap::new();
    let mut numbered = |mut value: Value| {
        number_ids(&mut value, &mut numbers);
        value.to_string()
    };
    let events = app.events().await.into_iter().map(&mut numbered).collect();
    let workspace = app.workspace(WORKSPACE).await;
    let key = workspace.key_with_all_scopes().await;
    let mut records = Vec::new();
    for path in ["/api/v1/courses", "/api/v1/students", "/api/v1/orders"] {
        records.extend(key.list_all(path).await.into_iter().map(&mut numbered));
    }
    let analytics = key
        .get("/api/v1/analytics/summary?from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z")
        .await
        .assert_status(200);
    records.push(numbered(analytics.json()));
    records.sort_unstable();
    (events, records)
}

#[tokio::test]
async fn ten_cut_connections_lose_and_repeat_nothing() {
    let spec = Spec {
        courses: 3,
        students: 60,
        orders: 400,
        seed: SEED,
        until: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let mut lines = Vec::new();
    write_changes(&spec, &mut lines, &mut |_| ()).expect("a valid spec");

    let cut = TestApp::start().await;
    let token = platform_token(&cut, "write:changes").await;
    let (mut rest, mut advanced) = (&lines[..], 0);
    for number in 1..=CUTS {
        // Mostly within a line.
        let results = import_cut_off(&cut, &token, rest, lines.len() / (CUTS + 1) + number).await;
        let answered = results.last().map_or(0, |last| last["line"].as_u64().expect("a number"));
        assert!(results.iter().all(|result| result["result"] != "rejected"), "{results:?}");
        advanced += usize::from(answered > 0);
        for _ in 0..answered {
            let end = rest.iter().position(|byte| *byte == b'\n').expect("an answered line is complete");
            rest = &rest[end + 1..];
        }
    }
    assert!(advanced > CUTS / 2, "only {advanced} connections returned results");
    let results = import(&token, "", rest.to_vec()).await;
    assert!(results.iter().all(|result| result["result"] != "rejected"), "{results:?}");

    let uninterrupted = TestApp::start().await;
    let (outcome, rejected) = uninterrupted.try_apply(std::str::from_utf8(&lines).expect("UTF-8")).await;
    assert_eq!((outcome.rejected, rejected), (0, Vec::new()));
    let (expected_events, expected_records) = contents(&uninterrupted).await;
    let (events, records) = contents(&cut).await;
    assert!(expected_events.len() > 500, "{}", expected_events.len());
    assert_eq!(events.len(), expected_events.len());
    for (event, expected) in events.iter().zip(&expected_events) {
        assert_eq!(event, expected);
    }
    assert_eq!(records, expected_records);
}
