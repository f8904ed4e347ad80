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
    // A finding that became harmless has no explanation who breaks.
    configured("info");
    let changelog = folder.run(&["changelog", "--base", "old.yaml", "new.yaml", "--format", "json"]).output;
    assert!(changelog.contains(r#""who":"","instead":"""#), "{changelog}");
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
fn a_waiver_file_that_the_configuration_names_must_exist() {
    let folder = Folder::repository();
    folder.write("old.yaml", CONTRACT);
    folder.write("new.yaml", breaking_contract());
    folder.write(CONFIG, "waivers = 'accepted.toml'\n");
    let missing = check(&folder, &[]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let message =
        "error: openapi-gate.toml names the waivers accepted.toml, which do not exist; add the file";
    assert!(missing.errors.contains(message), "{missing:?}");
    folder.commit("one");
    let at_revision = || folder.run(&["check", "--base", "main:old.yaml", "new.yaml"]);
    let missing = at_revision();
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let message = "error: main:openapi-gate.toml names the waivers accepted.toml, which git revision `main` does not contain";
    assert!(missing.errors.contains(message), "{missing:?}");
    folder.write("accepted.toml", "");
    assert_eq!(check(&folder, &[]).code, Some(1));
    folder.commit("two");
    assert_eq!(at_revision().code, Some(1));
    let other = folder.run(&["check", "--base", "main:old.yaml", "new.yaml", "--waivers", "none.toml"]);
    assert!(other.code == Some(2) && other.errors.contains("none.toml"), "{other:?}");
}

/// The configuration that hides the breaking change.
const HIDING: &str = "[rules]\nresponse-property-max-length-increased = 'off'\n";

#[test]
fn the_configuration_of_a_revision_can_be_specified() {
    let folder = Folder::repository();
    folder.write("old.yaml", CONTRACT);
    folder.write("new.yaml", breaking_contract());
    folder.write(CONFIG, HIDING);
    folder.write("settings/gate.toml", HIDING);
    folder.commit("one");
    folder.write(CONFIG, "");
    let with = |name: &str| check(&folder, &["--config", name]);
    for name in [
        "main",
        "main:openapi-gate.toml",
        "main:settings/gate.toml",
        "main:./settings/gate.toml",
        ":openapi-gate.toml",
    ] {
        let outcome = with(name);
        assert_eq!((outcome.code, outcome.errors.as_str()), (Some(0), ""), "{name}: {outcome:?}");
    }
    assert_eq!(with(CONFIG).code, Some(1));
    for (name, message) in [
        ("main:other.toml", "config not found: git revision `main` does not contain other.toml"),
        (":other.toml", "config not found: the index does not contain other.toml"),
        ("v9:openapi-gate.toml", "`v9` is neither a file nor a git revision"),
        ("https://example.com/gate.toml", "is a URL, and files are not downloaded"),
        ("", "--config is empty"),
    ] {
        let outcome = with(name);
        assert!(outcome.code == Some(2) && outcome.errors.contains(message), "{name}: {outcome:?}");
    }
    folder.write("main:openapi-gate.toml", "");
    assert!(with("main:openapi-gate.toml").errors.contains("is ambiguous"));
}

#[test]
fn a_change_cannot_configure_itself_if_the_base_is_a_file() {
    let folder = Folder::repository();
    folder.write("old.yaml", CONTRACT);
    folder.write("new.yaml", breaking_contract());
    folder.commit("one");
    folder.git(&["checkout", "--quiet", "-b", "topic"]);
    folder.write(CONFIG, HIDING);
    folder.commit("two");
    // A person sees what applies.
    let local = check(&folder, &[]);
    assert_eq!(local.code, Some(0), "{local:?}");
    let note =
        "note: the configuration is the file openapi-gate.toml, which the compared change may have edited";
    assert!(local.errors.contains(note), "{local:?}");
    let in_ci = |args: &[&str], value: &str| {
        let fixed = ["check", "--base", "old.yaml", "new.yaml"];
        folder.run_with_variables(&[&fixed, args].concat(), &[("CI", value)])
    };
    for value in ["true", "1", "yes"] {
        let rejected = in_ci(&[], value);
        assert_eq!((rejected.code, rejected.output.as_str()), (Some(2), ""), "{rejected:?}");
        let message = "a change could configure its own findings away; in CI, specify a git revision without the change, such as `--config origin/main`";
        assert!(rejected.errors.contains(message), "{rejected:?}");
    }
    assert_eq!(in_ci(&[], "false").code, Some(0));
    let list = folder.run_with_variables(&["changelog", "--base", "old.yaml", "new.yaml"], &[("CI", "true")]);
    assert!(list.code == Some(0) && list.errors.contains(note), "{list:?}");
    let trusted = in_ci(&["--config", CONFIG], "true");
    assert!(trusted.code == Some(0) && trusted.errors.contains(note), "{trusted:?}");
    let of_target = in_ci(&["--config", "main:openapi-gate.toml"], "true");
    assert!(of_target.code == Some(2) && of_target.errors.contains("does not contain"), "{of_target:?}");
    // The configuration is merged first.
    folder.git(&["branch", "--quiet", "--force", "main", "topic"]);
    let of_target = in_ci(&["--config", "main"], "true");
    assert_eq!((of_target.code, of_target.errors.as_str()), (Some(0), ""), "{of_target:?}");
    let of_base =
        folder.run_with_variables(&["check", "--base", "main:old.yaml", "new.yaml"], &[("CI", "true")]);
    assert_eq!((of_base.code, of_base.errors.as_str()), (Some(0), ""), "{of_base:?}");
}

#[test]
fn waivers_from_a_file_are_noted_in_ci() {
    let folder = Folder::repository();
    folder.write(WAIVERS, waiver(&folder, "2999-12-31"));
    folder.commit("one");
    let check_in_ci = |waivers: &str| {
        let args = ["check", "--base", "old.yaml", "new.yaml", "--waivers", waivers];
        folder.run_with_variables(&args, &[("CI", "true")])
    };
    let of_file = check_in_ci(WAIVERS);
    let note = "note: the waivers are the file openapi-gate-waivers.toml, which the compared change may have edited; \
                specify a git revision without the change with `--waivers REVISION`\n";
    assert_eq!((of_file.code, of_file.errors.as_str()), (Some(0), note), "{of_file:?}");
    for args in [check_in_ci("main"), check(&folder, &["--waivers", WAIVERS])] {
        assert_eq!((args.code, args.errors.as_str()), (Some(0), ""), "{args:?}");
    }
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
            let note = format!(
                "note: {name} is ignored because git revision `main` does not contain it; merge it before"
            );
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
