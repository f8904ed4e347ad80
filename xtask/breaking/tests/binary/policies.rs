//! The policies of the configuration.

use crate::support::{CONTRACT, Folder, breaking_contract};

const CONFIG: &str = "openapi-gate.toml";

/// Compares two documents with a configuration. Returns the totals and the exit code.
fn totals_of(old: &str, new: &str, config: &str) -> String {
    let folder = Folder::new();
    folder.write("old.yaml", old);
    folder.write("new.yaml", new);
    folder.write(CONFIG, config);
    let outcome = folder.run(&["check", "--base", "old.yaml", "new.yaml", "--config", CONFIG]);
    assert!(outcome.errors.is_empty(), "{outcome:?}");
    outcome.output.rsplit(": ").next().unwrap_or_default().trim().to_owned()
}

fn totals(new: &str, config: &str) -> String {
    totals_of(CONTRACT, new, config)
}

const ONE_ERROR: &str = "1 breaking change, 0 warnings, 0 harmless changes";
const ONE_WARNING: &str = "0 breaking changes, 1 warning, 0 harmless changes";
const HARMLESS: &str = "0 breaking changes, 0 warnings, 1 harmless change";

#[test]
fn policies_apply_only_if_they_are_configured() {
    let deprecated = CONTRACT.replace("operationId: getA", "operationId: getA\n      deprecated: true");
    assert_eq!(totals(&deprecated, ""), HARMLESS);
    assert_eq!(totals(&deprecated, "[policies]\nsunset-days = 30"), ONE_ERROR);
}

#[test]
fn security_that_rejects_requests_is_an_error_and_other_changes_of_it_are_errors_with_the_policy() {
    let security = |text: &str| CONTRACT.replace("[{key: []}]", text);
    let scheme = |text: &str| CONTRACT.replace("key: {type: http, scheme: bearer}", text);
    let global = |text: &str| {
        CONTRACT
            .replace("      security: [{key: []}]\n", "")
            .replace("components:", &format!("{text}components:"))
    };
    for (old, new, without_policy) in [
        // No authentication to some.
        (security("[]"), security("[{key: []}]"), ONE_ERROR),
        (security("[{}, {key: []}]"), security("[{key: []}]"), ONE_ERROR),
        (global(""), global("security: [{key: []}]\n"), ONE_ERROR),
        // A further scheme, another scope, and a scheme that no longer grants access.
        (security("[{key: []}]"), security("[{key: [], other: []}]"), ONE_ERROR),
        (security("[{key: []}]"), security("[{key: [admin]}]"), ONE_ERROR),
        (security("[{key: []}, {other: []}]"), security("[{key: []}]"), ONE_ERROR),
        (
            scheme("key: {type: http, scheme: bearer}"),
            scheme("key: {type: http, scheme: basic}"),
            ONE_WARNING,
        ),
        // Some authentication to none: data may become public.
        (security("[{key: []}]"), security("[]"), ONE_WARNING),
        // Access is granted to more requests.
        (security("[{key: [], other: []}]"), security("[{key: []}]"), ONE_WARNING),
        (security("[{key: [admin]}]"), security("[{key: []}]"), HARMLESS),
    ] {
        assert_eq!(totals_of(&old, &new, ""), without_policy, "{old}\n{new}");
        assert_eq!(totals_of(&old, &new, "[policies]\nraised-security = true"), ONE_ERROR, "{old}\n{new}");
    }
    let alternative = security("[{key: []}, {other: []}]");
    for policy in ["", "[policies]\nraised-security = true"] {
        assert_eq!(totals(&alternative, policy), HARMLESS);
    }
    // A configured level replaces that of the policy.
    let configured = "[rules]\napi-security-scope-added = 'warning'\n";
    assert_eq!(totals(&security("[{key: [admin]}]"), configured), ONE_WARNING);
}

#[test]
fn the_expected_version_depends_on_the_configured_levels() {
    const POLICY: &str = "[policies]\nversion-bump = true\n";
    let with_version =
        |text: &str, version: &str| text.replace("version: 1.0.0", &format!("version: {version}"));
    let harmless = CONTRACT.replace("maxLength: 10", "maxLength: 5");
    let breaking = breaking_contract();
    let lowered =
        |level: &str| format!("{POLICY}[rules]\nresponse-property-max-length-increased = '{level}'\n");
    for (new, config, expected) in [
        (harmless.clone(), POLICY.to_owned(), "0 breaking changes, 1 warning, 1 harmless change"),
        (with_version(&harmless, "1.0.1"), POLICY.to_owned(), HARMLESS),
        (
            with_version(&harmless, "0.9.0"),
            POLICY.to_owned(),
            "0 breaking changes, 1 warning, 1 harmless change",
        ),
        (
            with_version(&breaking, "1.1.0"),
            POLICY.to_owned(),
            "1 breaking change, 1 warning, 0 harmless changes",
        ),
        (with_version(&breaking, "2.0.0"), POLICY.to_owned(), ONE_ERROR),
        // A finding that is not an error requires no major version, and a rule that is off no new version.
        (with_version(&breaking, "1.1.0"), lowered("warning"), ONE_WARNING),
        (breaking.clone(), lowered("warning"), "0 breaking changes, 2 warnings, 0 harmless changes"),
        (breaking.clone(), lowered("off"), "0 breaking changes, 0 warnings, 0 harmless changes"),
        // A raised one does.
        (
            with_version(&harmless, "1.1.0"),
            format!("{POLICY}[rules]\nresponse-property-max-length-decreased = 'error'\n"),
            "1 breaking change, 1 warning, 0 harmless changes",
        ),
        (breaking, String::new(), ONE_ERROR),
    ] {
        assert_eq!(totals(&new, &config), expected, "{config}\n{new}");
    }
    // Below 1.0.0, the minor version counts as the major one.
    let (old, new) = (with_version(CONTRACT, "0.1.0"), with_version(&breaking_contract(), "0.1.1"));
    assert_eq!(totals_of(&old, &new, POLICY), "1 breaking change, 1 warning, 0 harmless changes");
    let (old, new) = (with_version(CONTRACT, "0.1.0"), with_version(&breaking_contract(), "0.2.0"));
    assert_eq!(totals_of(&old, &new, POLICY), ONE_ERROR);
}

#[test]
fn a_version_that_did_not_increase_is_shown_by_check() {
    let folder = Folder::new();
    folder.write("old.yaml", CONTRACT);
    folder.write("new.yaml", CONTRACT.replace("maxLength: 10", "maxLength: 5"));
    folder.write(CONFIG, "[policies]\nversion-bump = true\n");
    let check = |args: &[&str]| folder.run(&[&["check", "--base", "old.yaml", "new.yaml"], args].concat());
    let outcome = check(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for line in [
        "warning[api-version-not-bumped]: version 1.0.0 was not increased",
        "impact: Clients cannot tell by the version that the API changed.",
        "remedy: Increase `info.version`.",
    ] {
        assert!(outcome.output.contains(line), "{line}: {outcome:?}");
    }
    assert_eq!(check(&["--fail-on", "warning"]).code, Some(1));
    folder.write("new.yaml", CONTRACT);
    assert_eq!(check(&["--fail-on", "warning"]).code, Some(0), "without changes, no new version is expected");
}

#[test]
fn a_configured_level_does_not_raise_the_harmless_cases_of_a_rule() {
    let other = "    key: {type: http, scheme: bearer}\n    other: {type: http, scheme: basic}\n";
    let with_other = CONTRACT.replace("    key: {type: http, scheme: bearer}\n", other);
    let required = with_other.replace("[{key: []}]", "[{key: []}, {other: []}]");
    let policy = "[policies]\nraised-security = true\n";
    assert_eq!(totals_of(&with_other, CONTRACT, policy), HARMLESS, "no operation requires the scheme");
    assert!(totals_of(&required, CONTRACT, policy).starts_with("2 breaking changes"));
    for level in ["warning", "error"] {
        let config = format!("[rules]\napi-security-component-removed = '{level}'\n");
        assert_eq!(totals_of(&with_other, CONTRACT, &config), HARMLESS, "{level}");
    }
    let config = "[rules]\napi-security-component-removed = 'error'\n";
    assert!(totals_of(&required, CONTRACT, "").starts_with("1 breaking change, 1 warning"));
    assert!(totals_of(&required, CONTRACT, config).starts_with("2 breaking changes, 0 warnings"));
}

#[test]
fn the_rules_are_listed_with_the_levels_of_the_configuration() {
    let folder = Folder::repository();
    let level_of = |args: &[&str], id: &str| {
        let json = folder.run(&[&["rules", id, "--format", "json"], args].concat());
        let rule: serde_json::Value =
            serde_json::from_str(&json.output).unwrap_or_else(|_| panic!("{json:?}"));
        let is_explained = rule["who"] != "";
        let level = rule["level"].as_str().expect("a level").to_owned();
        assert_eq!(is_explained, ["error", "warning"].contains(&level.as_str()), "{rule}");
        level
    };
    let ids = [
        "response-property-max-length-increased",
        "endpoint-added",
        "api-security-added",
        "api-security-loosened",
        "api-version-not-bumped",
    ];
    let levels = |args: &[&str]| ids.map(|id| level_of(args, id));
    assert_eq!(levels(&[]), ["error", "info", "error", "warning", "off"]);
    folder.write(
        CONFIG,
        "[policies]\nraised-security = true\nversion-bump = true\nsunset-days = 30\n[rules]\n\
         response-property-max-length-increased = 'off'\nendpoint-added = 'warning'\n",
    );
    assert_eq!(levels(&[]), ["off", "warning", "error", "error", "warning"]);
    folder.write("empty.toml", "");
    assert_eq!(levels(&["--config", "empty.toml"]), ["error", "info", "error", "warning", "off"]);
    folder.commit("one");
    assert_eq!(levels(&["--config", "main"])[0], "off");
    let listed = folder.run(&["rules"]).output;
    for line in [
        "off     response-property-max-length-increased",
        "  sunset-days = 30",
        "  beta-sunset-days = 0",
        "  raised-security = true",
        "  version-bump = true",
        "configuration: openapi-gate.toml",
    ] {
        assert!(listed.lines().any(|listed| listed == line), "{line}: {listed}");
    }
    let explained = folder.run(&["rules", "api-deprecated-sunset-missing"]).output;
    assert!(explained.contains("  level:  error\n  policy: sunset-days = 30\n"), "{explained}");
    let table = folder.run(&["rules", "endpoint-added", "--format", "markdown"]).output;
    let row = "| `endpoint-added` | warning | An operation was added | The configuration raised";
    assert!(table.lines().count() == 3 && table.contains(row), "{table}");
    folder.write(CONFIG, "[rules]\nno-such-rule = 'off'\n");
    assert_eq!(folder.run(&["rules"]).code, Some(2));
}
