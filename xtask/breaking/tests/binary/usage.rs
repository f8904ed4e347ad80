//! `check --usage`.

use contract::operations;
use contract::source::Source;
use contract::usage::{DayUsage, OperationUsage, UsageReport, VERSION};
use contract::yaml;
use jiff::{Timestamp, ToSpan as _};

use crate::support::Folder;

const BASE: &str = "openapi: 3.1.0
info: {title: T, version: 1.0.0}
paths:
  /a:
    get:
      operationId: listA
      parameters: [{in: query, name: limit, schema: {type: integer, maximum: 100}}]
      responses: {'200': {description: Fine.}}
";

#[allow(clippy::disallowed_methods, reason = "the program compares the report with the system clock")]
fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns a report of the last 30 days without rejected requests, as JSON.
fn report(created_at: Timestamp, revision: &str) -> String {
    let read = |text: &str| yaml::read(&Source::new("a.yaml", text), &mut Vec::new()).unwrap();
    let today = created_at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let day = |days: i32| DayUsage {
        day: today.checked_sub(days.days()).unwrap(),
        seen: 1,
        checked: 1,
        dropped: 0,
    };
    let operation = |pair: operations::OperationPair| OperationUsage {
        candidate: pair.candidate_digest().to_owned(),
        operation: pair.base.id,
        base: pair.base.digest,
        keys: 1,
        callers: Vec::new(),
        days: (0..30).rev().map(day).collect(),
    };
    let report = UsageReport {
        version: VERSION,
        created_at,
        since: today.checked_sub(29.days()).unwrap(),
        operations: operations::pairs(&read(BASE), &read(revision)).into_iter().map(operation).collect(),
        findings: Vec::new(),
    };
    serde_json::to_string(&report).unwrap()
}

#[test]
fn a_finding_that_nobody_uses_is_lowered_by_the_policy_only() {
    let revision = BASE.replace("100", "50");
    let folder = Folder::new();
    folder.write("old.yaml", BASE);
    folder.write("new.yaml", &revision);
    folder.write("usage.json", report(now(), &revision));
    folder.write("lowers.toml", "[policies]\nusage = { days = 30, threshold = 0 }\n");
    let check = |args: &[&str]| folder.run(&[&["check", "--base", "old.yaml", "new.yaml"], args].concat());
    assert_eq!(check(&[]).code, Some(1));
    let shown = check(&["--usage", "usage.json"]);
    assert_eq!(shown.code, Some(1));
    let sentence = "usage: unused: none of the requests of 1 active key in 30 days breaks";
    assert!(shown.output.contains(sentence), "{shown:?}");
    let lowered = check(&["--usage", "usage.json", "--config", "lowers.toml"]);
    assert!(lowered.code == Some(0) && lowered.output.starts_with("warning["), "{lowered:?}");
    assert_eq!(check(&["--config", "lowers.toml"]).code, Some(1), "without a report");
    let strict = check(&["--usage", "usage.json", "--config", "lowers.toml", "--fail-on", "warning"]);
    assert_eq!(strict.code, Some(1));
}

#[test]
fn a_report_that_cannot_be_used_is_an_error() {
    let folder = Folder::new();
    folder.write("old.yaml", BASE);
    folder.write("new.yaml", BASE.replace("100", "50"));
    let error = |name: &str| {
        let outcome = folder.run(&["check", "--base", "old.yaml", "new.yaml", "--usage", name]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        outcome.errors
    };
    assert!(error("missing.json").contains("cannot read missing.json"));
    folder.write("future.json", report(now() + 1.hour(), BASE));
    assert!(error("future.json").contains("which is in the future"));
    folder.write("other.json", report(now(), BASE));
    assert!(error("other.json").contains("the usage report is about other contracts"));
    folder.write("cut.json", &report(now(), BASE)[..100]);
    assert!(error("cut.json").contains("the usage report cut.json is cut short"));
}
