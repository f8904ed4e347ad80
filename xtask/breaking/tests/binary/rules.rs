//! The reference of the rules.

use std::path::Path;

use crate::support::Folder;

#[test]
fn the_reference_in_the_repository_is_up_to_date() {
    let generated = Folder::new().run(&["rules", "--format", "markdown"]).output;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("RULES.md");
    if std::env::var_os("UPDATE_RULES").is_some() {
        std::fs::write(&path, &generated).expect("RULES.md can be written");
    }
    let stored = std::fs::read_to_string(&path).expect("RULES.md can be read");
    assert!(stored == generated, "run `UPDATE_RULES=1 cargo test -p breaking --test openapi-gate rules`");
}

#[test]
fn each_rule_is_listed_and_explained() {
    let folder = Folder::new();
    let json = folder.run(&["rules", "--format", "json"]).output;
    let rules: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert!(rules.len() > 500, "{}", rules.len());
    for rule in &rules {
        let is_info = ["info", "off"].contains(&rule["level"].as_str().expect("a level"));
        for field in ["who", "instead"] {
            assert_eq!(rule[field] == "", is_info, "{rule}");
        }
        assert!(rule["finds"].as_str().is_some_and(|text| text.ends_with('.')), "{rule}");
    }
    let listed = folder.run(&["rules"]).output;
    assert_eq!(listed.lines().position(str::is_empty), Some(rules.len()), "{listed}");
    assert!(listed.ends_with("configuration: none\n"), "{listed}");
    let explained = folder.run(&["rules", "response-property-max-length-increased"]).output;
    insta::assert_snapshot!(explained, @r"
    response-property-max-length-increased
      level:  error
      finds:  `maxLength` increased, in a property or item of a response body.
      breaks: A client that relies on the old bounds receives values outside them.
      remedy: Keep the values that are sent within the old bounds.
    ");
    for format in ["text", "json", "markdown"] {
        let unknown = folder.run(&["rules", "no-such-rule", "--format", format]);
        assert!(
            unknown.code == Some(2) && unknown.errors.contains("`no-such-rule` is not a rule"),
            "{format}: {unknown:?}"
        );
    }
}
