//! Changes of this project's contract and their findings.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::super::compare::compare;
use super::super::rule::Level;
use super::{TODAY, read, yaml};

fn contract() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi/v1.yaml");
    std::fs::read_to_string(path).expect("the contract can be read")
}

/// Applies a change to the contract.
fn mutated(contract: &str, case: &Value) -> String {
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

/// Renders a table with one line for each finding.
fn table(kind: &str) -> String {
    let contract = contract();
    let base = read("base.yaml", &contract);
    let cases = yaml(include_str!("cases/mutations.yaml"));
    let mut table = String::new();
    for case in cases[kind].as_array().expect("a list of cases") {
        let revision = read("v1.yaml", &mutated(&contract, case));
        let findings = compare(&base, &revision, TODAY);
        let worst = findings.iter().map(|finding| finding.level).max();
        let verdict = worst.map_or("no change", |level| match level {
            Level::Error => "breaking",
            Level::Warning => "warning",
            Level::Info => "harmless",
        });
        writeln!(table, "{}: {verdict}", case["name"].as_str().expect("a name")).expect("text");
        let about = ["api-version-not-bumped", "api-major-version-not-bumped"];
        for finding in findings.iter().filter(|finding| !about.contains(&finding.id.as_str())) {
            let position = revision.source.position(finding.revision);
            let path = finding.operations.first().map_or("-", |affected| affected.path.as_str());
            let others = finding.operations.len().saturating_sub(1);
            writeln!(
                table,
                "  {} {} {}:{} {path} (+{others}): {}",
                finding.level, finding.id, position.line, position.column, finding.message
            )
            .expect("text");
        }
    }
    table
}

#[test]
fn sixty_breaking_changes_of_the_contract() {
    let table = table("breaking");
    insta::assert_snapshot!("breaking", table);
    let verdicts: Vec<&str> = table.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(verdicts.len() >= 60, "{} cases", verdicts.len());
    let passed: Vec<&&str> = verdicts.iter().filter(|line| !line.ends_with(": breaking")).collect();
    assert!(passed.is_empty(), "{passed:?}");
}

#[test]
fn changes_of_the_contract_that_may_break_someone() {
    let table = table("warning");
    insta::assert_snapshot!("warning", table);
    let mut verdicts = table.lines().filter(|line| !line.starts_with(' '));
    assert!(verdicts.all(|line| line.ends_with(": warning")), "{table}");
}

#[test]
fn thirty_harmless_changes_of_the_contract() {
    let table = table("harmless");
    insta::assert_snapshot!("harmless", table);
    let verdicts: Vec<&str> = table.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(verdicts.len() >= 30, "{} cases", verdicts.len());
    let refused: Vec<&&str> =
        verdicts.iter().filter(|line| line.ends_with(": breaking") || line.ends_with(": warning")).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn the_contract_against_itself_has_no_difference() {
    let contract = contract();
    assert!(compare(&read("a.yaml", &contract), &read("b.yaml", &contract), TODAY).is_empty());
}
