//! Changes of a contract like this project's, and the findings for each.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::rule::Level;
use super::{TODAY, compare, read, yaml};

/// The contract that the cases change. Not the served one, so that a new line there moves no position in the snapshots.
const CONTRACT: &str = include_str!("cases/contract.yaml");

/// Applies a case to the contract: from the first line that begins with `under`, replaces the first `cut` with `put`,
/// and then those of `also`, if the case has it.
fn apply_case(contract: &str, case: &Value) -> String {
    let text = |case: &Value, key: &str| {
        case[key].as_str().unwrap_or_else(|| panic!("{case} has no `{key}`")).to_owned()
    };
    let under = text(case, "under");
    let start =
        contract.find(&format!("\n{under}")).unwrap_or_else(|| panic!("no line starts with `{under}`"));
    let (head, tail) = contract.split_at(start);
    let mut tail = tail.to_owned();
    for change in [Some(case), case.get("also")].into_iter().flatten() {
        let cut = text(change, "cut");
        assert!(tail.contains(&cut), "`{cut}` does not follow `{under}`");
        tail = tail.replacen(&cut, &text(change, "put"), 1);
    }
    format!("{head}{tail}")
}

/// Renders the verdict of each case of this kind, and a line for each finding, except those about the version.
fn table(kind: &str) -> String {
    let base = read("base.yaml", CONTRACT);
    let cases = yaml(include_str!("cases/mutations.yaml"));
    let mut table = String::new();
    for case in cases[kind].as_array().expect("the cases are a list") {
        let revision = read("v1.yaml", &apply_case(CONTRACT, case));
        let findings = compare(&base, &revision, TODAY);
        let highest_level = findings.iter().map(|finding| finding.level).max();
        let verdict = highest_level.map_or("no change", |level| match level {
            Level::Error => "breaking",
            Level::Warning => "warning",
            Level::Info => "harmless",
        });
        writeln!(table, "{}: {verdict}", case["name"].as_str().expect("each case has a name"))
            .expect("writing to a string cannot fail");
        let version_rules = ["api-version-not-bumped", "api-major-version-not-bumped"];
        for finding in findings.iter().filter(|finding| !version_rules.contains(&finding.id.as_str())) {
            let position = revision.source.position(finding.revision);
            let path = finding.operations.first().map_or("-", |affected| affected.path.as_str());
            let further_count = finding.operations.len().saturating_sub(1);
            writeln!(
                table,
                "  {} {} {}:{} {path} (+{further_count}): {}",
                finding.level, finding.id, position.line, position.column, finding.message
            )
            .expect("writing to a string cannot fail");
        }
    }
    table
}

#[test]
fn sixty_breaking_changes_of_the_contract_are_reported_as_breaking() {
    let table = table("breaking");
    insta::assert_snapshot!("breaking", table);
    let verdicts: Vec<&str> = table.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(verdicts.len() >= 60, "only {} cases", verdicts.len());
    let wrong: Vec<&&str> = verdicts.iter().filter(|line| !line.ends_with(": breaking")).collect();
    assert!(wrong.is_empty(), "not reported as breaking: {wrong:?}");
}

#[test]
fn changes_of_the_contract_that_may_break_clients_are_reported_as_warnings() {
    let table = table("warning");
    insta::assert_snapshot!("warning", table);
    let mut verdicts = table.lines().filter(|line| !line.starts_with(' '));
    assert!(verdicts.all(|line| line.ends_with(": warning")), "{table}");
}

#[test]
fn thirty_harmless_changes_of_the_contract_are_reported_as_harmless() {
    let table = table("harmless");
    insta::assert_snapshot!("harmless", table);
    let verdicts: Vec<&str> = table.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(verdicts.len() >= 30, "only {} cases", verdicts.len());
    let wrong: Vec<&&str> =
        verdicts.iter().filter(|line| line.ends_with(": breaking") || line.ends_with(": warning")).collect();
    assert!(wrong.is_empty(), "not reported as harmless: {wrong:?}");
}

#[test]
fn the_contract_compared_with_itself_has_no_findings() {
    assert!(compare(&read("a.yaml", CONTRACT), &read("b.yaml", CONTRACT), TODAY).is_empty());
}
