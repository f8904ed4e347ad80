//! The configuration and the waivers.

use crate::support::{CONTRACT, Folder, Outcome, breaking_contract};

const CONFIG: &str = "openapi-gate.toml";
const WAIVERS: &str = "openapi-gate-waivers.toml";

fn check(folder: &Folder, args: &[&str]) -> Outcome {
    folder.run(&[&["check", "--base", "old.yaml", "new.yaml"], args].concat())
}

/// Creates a folder with an old and a new document.
fn documents(old: &str, new: &str) -> Folder {
    let folder = Folder::new();
    folder.write("old.yaml", old);
    folder.write("new.yaml", new);
    folder
}

#[test]
fn levels_of_rules_and_the_failing_level_are_configurable() {
    let folder = documents(CONTRACT, &breaking_contract());
    assert_eq!(check(&folder, &[]).code, Some(1));
    let configured = |level: &str| {
        folder.write(CONFIG, format!("[rules]\nresponse-property-max-length-increased = '{level}'\n"));
        check(&folder, &[])
    };
    assert!(configured("warning").output.contains("0 breaking changes, 1 warning, 0 harmless"));
    assert_eq!(configured("warning").code, Some(0));
    assert_eq!(check(&folder, &["--fail-on", "warning"]).code, Some(1));
    assert!(configured("info").output.contains("0 breaking changes, 0 warnings, 1 harmless"));
    assert!(configured("off").output.contains("0 breaking changes, 0 warnings, 0 harmless"));
    folder
        .write(CONFIG, "fail-on = 'warning'\n[rules]\nresponse-property-max-length-increased = 'warning'\n");
    assert_eq!(check(&folder, &[]).code, Some(1));
    assert_eq!(check(&folder, &["--fail-on", "error"]).code, Some(0));
    folder.write("other.toml", "");
    assert_eq!(check(&folder, &["--config", "other.toml"]).code, Some(1));
    // A harmless change can become an error. It has an explanation then.
    let folder = documents(&breaking_contract(), CONTRACT);
    folder.write(CONFIG, "[rules]\nresponse-property-max-length-decreased = 'error'\n");
    let raised = check(&folder, &[]);
    assert!(
        raised.code == Some(1) && raised.output.contains("impact: The configuration raised"),
        "{raised:?}"
    );
}

#[test]
fn an_unknown_rule_in_the_configuration_is_an_error() {
    let folder = documents(CONTRACT, CONTRACT);
    folder.write(CONFIG, "[rules]\nno-such-rule = 'off'\n");
    let outcome = check(&folder, &[]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.errors.contains("openapi-gate.toml: `no-such-rule` is not a rule"), "{outcome:?}");
    assert_eq!(check(&folder, &["--config", "missing.toml"]).code, Some(2));
}

#[test]
fn policies_apply_only_if_they_are_configured() {
    let totals = |new: &str, policies: &str| {
        let folder = documents(CONTRACT, new);
        folder.write(CONFIG, policies);
        let outcome = check(&folder, &[]);
        let totals = outcome.output.rsplit(": ").next().unwrap_or_default().trim().to_owned();
        assert!(outcome.errors.is_empty(), "{outcome:?}");
        totals
    };
    let deprecated = CONTRACT.replace("operationId: getA", "operationId: getA\n      deprecated: true");
    assert_eq!(totals(&deprecated, ""), "0 breaking changes, 0 warnings, 1 harmless change");
    assert_eq!(
        totals(&deprecated, "[policies]\nsunset-days = 30"),
        "1 breaking change, 0 warnings, 0 harmless changes"
    );
    let secured = CONTRACT.replace("[{key: []}]", "[{key: [admin]}]");
    assert_eq!(totals(&secured, ""), "0 breaking changes, 0 warnings, 1 harmless change");
    assert_eq!(
        totals(&secured, "[policies]\nraised-security = true"),
        "1 breaking change, 0 warnings, 0 harmless changes"
    );
    assert_eq!(
        totals(&secured, "[policies]\nraised-security = true\nversion-bump = true"),
        "1 breaking change, 0 warnings, 2 harmless changes"
    );
}

#[test]
fn ignored_paths_are_not_compared() {
    let folder = documents(CONTRACT, &CONTRACT.replace("/a:", "/b:"));
    assert_eq!(check(&folder, &[]).code, Some(1));
    folder.write(CONFIG, "ignored-paths = ['/b']");
    assert_eq!(check(&folder, &[]).code, Some(1), "only the new path is ignored");
    folder.write(CONFIG, "ignored-paths = ['/a*']");
    assert_eq!(check(&folder, &[]).code, Some(0));
}

/// Returns a waiver of the breaking change.
fn waiver(folder: &Folder, expires: &str) -> String {
    folder.write("old.yaml", CONTRACT);
    folder.write("new.yaml", breaking_contract());
    let json = check(folder, &["--format", "json"]).output;
    let finding: serde_json::Value = serde_json::from_str(json.lines().next().expect("a finding")).unwrap();
    let fingerprint = finding["fingerprint"].as_str().expect("a fingerprint");
    format!("[[waiver]]\nfingerprint = '{fingerprint}'\nreason = 'agreed'\nexpires = '{expires}'\n")
}

#[test]
fn waivers_apply_until_they_expire() {
    let folder = Folder::new();
    let valid = waiver(&folder, "2999-12-31");
    folder.write(WAIVERS, &valid);
    let not_specified = check(&folder, &[]);
    assert_eq!(not_specified.code, Some(1));
    assert!(not_specified.errors.contains("openapi-gate-waivers.toml is ignored"), "{not_specified:?}");
    assert_eq!(check(&folder, &["--waivers", WAIVERS]).code, Some(0));
    folder.write(WAIVERS, valid.replace("2999", "2020"));
    let expired = check(&folder, &["--waivers", WAIVERS, "--format", "github"]);
    assert_eq!(expired.code, Some(2));
    assert!(
        expired.output.contains("::error title=waivers::openapi-gate-waivers.toml: waiver"),
        "{expired:?}"
    );
    assert!(expired.errors.contains("expired on 2020-12-31"), "{expired:?}");
}

#[test]
fn a_change_cannot_waive_itself() {
    let folder = Folder::repository();
    let waiver = waiver(&Folder::new(), "2999-12-31");
    folder.write("api.yaml", CONTRACT);
    folder.commit("one");
    folder.git(&["checkout", "--quiet", "-b", "topic"]);
    folder.write("api.yaml", breaking_contract());
    folder.write(WAIVERS, &waiver);
    folder.write(CONFIG, "[rules]\nresponse-property-max-length-increased = 'off'\n");
    let run = || folder.run(&["check", "--base", "main", "api.yaml"]);
    for _ in 0..2 {
        let outcome = run();
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        for name in [WAIVERS, CONFIG] {
            let note = format!("note: {name} is ignored because `main` does not contain it; merge it before");
            assert!(outcome.errors.contains(&note), "{outcome:?}");
        }
        folder.commit("two");
        folder.git(&["commit", "--quiet", "--allow-empty", "--message", "three"]);
        folder.write("unrelated", outcome.output);
    }
    // The waiver is merged first.
    folder.git(&["checkout", "--quiet", "main"]);
    folder.write(WAIVERS, &waiver);
    folder.commit("four");
    folder.git(&["checkout", "--quiet", "topic"]);
    assert_eq!(run().code, Some(0));
}
