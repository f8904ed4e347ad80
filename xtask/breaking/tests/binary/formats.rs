//! The output formats.

use serde_json::Value;

use crate::support::{CONTRACT, Folder, Outcome, breaking_contract};

/// Compares a contract with one that has a breaking and a harmless change, in a folder whose name must be escaped.
fn check(format: &str, args: &[&str]) -> Outcome {
    let folder = Folder::new();
    folder.write("old, api.yaml", CONTRACT);
    let new = breaking_contract() + "    other: {type: apiKey, in: header, name: X-Key}\n";
    folder.write("new api#1.yaml", new);
    let fixed = ["check", "--base", "old, api.yaml", "new api#1.yaml", "--format", format];
    folder.run(&[&fixed, args].concat())
}

fn assert_valid(schema: &str, instance: &Value) {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is valid");
    let errors: Vec<String> = validator.iter_errors(instance).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{instance}");
}

#[test]
fn each_line_of_json_matches_the_published_schema() {
    let outcome = check("json", &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let lines: Vec<Value> =
        outcome.output.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert_valid(include_str!("../../report/findings.schema.json"), line);
        assert_eq!(line["version"], 1);
    }
    assert_eq!(lines[0]["id"], "response-property-max-length-increased");
    assert_eq!(lines[1]["breaking"], 1);
    let mut incomplete = lines[0].clone();
    incomplete.as_object_mut().expect("a finding is an object").remove("fingerprint");
    let schema: Value = serde_json::from_str(include_str!("../../report/findings.schema.json")).unwrap();
    assert!(!jsonschema::is_valid(&schema, &incomplete), "the schema requires all fields");
}

/// Returns the schema of SARIF. One pattern, for `language`, contains a closing bracket without escape, which ECMA-262
/// allows and `regex` does not.
fn sarif_schema() -> String {
    include_str!("sarif-schema-2.1.0.json").replace("{2}]?$", r"{2}\\]?$")
}

/// Asserts that a log is SARIF.
pub(crate) fn assert_valid_sarif(log: &Value) {
    assert_valid(&sarif_schema(), log);
}

#[test]
fn sarif_is_valid_and_marks_waived_findings() {
    let schema = sarif_schema();
    let schema = schema.as_str();
    let outcome = check("sarif", &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let log: Value = serde_json::from_str(&outcome.output).expect("the log is JSON");
    assert_valid(schema, &log);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "response-property-max-length-increased");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "new%20api%231.yaml");
    assert_eq!(place["region"]["startLine"], 17);
    let mut invalid = log.clone();
    invalid["runs"][0]["results"][0]["level"] = "fatal".into();
    let schema_value: Value = serde_json::from_str(schema).unwrap();
    assert!(!jsonschema::is_valid(&schema_value, &invalid), "the schema is the one of SARIF");

    let folder = Folder::new();
    folder.write("old.yaml", CONTRACT);
    folder.write("new.yaml", breaking_contract());
    let fingerprint = result["partialFingerprints"]["openapiGate/v1"].as_str().expect("a fingerprint");
    let waiver = |fingerprint: &str, expires: &str| {
        format!("[[waiver]]\nfingerprint = '{fingerprint}'\nreason = 'agreed'\nexpires = '{expires}'\n")
    };
    let waivers = waiver(fingerprint, "2999-01-01") + &waiver("000000000000", "2999-01-01");
    folder.write("waivers.toml", waivers);
    let args = ["check", "--base", "old.yaml", "new.yaml", "--waivers", "waivers.toml", "--format", "sarif"];
    let log: Value = serde_json::from_str(&folder.run(&args).output).expect("the log is JSON");
    assert_valid(schema, &log);
    assert_eq!(log["runs"][0]["results"][0]["suppressions"][0]["justification"], "agreed");
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false, "a waiver is unused");
}

#[test]
fn annotations_escape_file_names_and_markdown_names_the_rule() {
    let github = check("github", &[]);
    assert!(
        github.output.starts_with("::error file=new api#1.yaml,line=17,col=40,title=response-property-max-"),
        "{github:?}"
    );
    let markdown = check("markdown", &[]);
    assert!(markdown.output.contains("### error: `maxLength` changed from 10 to 20"), "{markdown:?}");
}

#[test]
fn minor_errors_of_documents_are_warnings_in_each_format() {
    let folder = Folder::new();
    folder
        .write("api.yaml", CONTRACT.replace("name: {type: string,", "name: {type: string, required: true,"));
    let args = |format| ["check", "--base", "api.yaml", "api.yaml", "--format", format];
    for format in ["text", "json", "markdown", "sarif"] {
        let outcome = folder.run(&args(format));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.errors.contains("warning[wrong-type]"), "{outcome:?}");
        assert!(outcome.errors.contains("--> api.yaml:17:40"), "{outcome:?}");
        assert_eq!(outcome.errors.matches("warning[").count(), 1, "the error is printed once: {outcome:?}");
    }
    let github = folder.run(&args("github"));
    assert!(
        github.output.starts_with("::warning file=api.yaml,line=17,col=40,title=wrong-type::"),
        "{github:?}"
    );
}

#[test]
fn a_minor_error_of_both_documents_is_printed_once() {
    let folder = Folder::repository();
    let document = CONTRACT.replace("name: {type: string,", "name: {type: string, required: true,");
    folder.write("api.yaml", &document);
    folder.commit("one");
    folder.write("api.yaml", format!("# A comment.\n{document}"));
    let check = |format: &str| {
        let outcome = folder.run(&["check", "--base", "HEAD", "api.yaml", "--format", format]);
        assert!(outcome.code < Some(2), "{outcome:?}");
        outcome.output + &outcome.errors
    };
    assert_eq!(check("text").matches("warning[wrong-type]").count(), 1);
    assert_eq!(check("github").matches("::warning ").count(), 1);
    assert!(check("github").contains("file=api.yaml,line=18,"));
    // An error that was corrected is one of the base.
    folder.write("api.yaml", CONTRACT);
    assert!(check("text").contains("--> HEAD:api.yaml:17:40"));
    assert!(check("github").contains("::warning title=wrong-type::HEAD:api.yaml:17:40: "));
}
