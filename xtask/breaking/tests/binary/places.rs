//! Places in formats that services read: paths in the repository, also of documents that cannot be compared.

use serde_json::Value;

use crate::support::{CONTRACT, Folder, Outcome, breaking_contract};

/// Creates a repository whose contract is in a folder, split into two files. The change is in the second one.
fn repository() -> Folder {
    let folder = Folder::repository();
    let schema = "{type: string, maxLength: 10}";
    folder.write("apis/v 1/api.yaml", CONTRACT.replace(schema, "{$ref: parts/name.yaml}"));
    folder.write("apis/v 1/parts/name.yaml", format!("{schema}\n"));
    folder.commit("one");
    folder.write("apis/v 1/parts/name.yaml", "{type: string, maxLength: 20}\n");
    folder.git(&["add", "--all"]);
    folder.git(&["branch", "topic"]);
    folder
}

/// Runs the program in a folder of a repository.
fn check_in(folder: &Folder, subfolder: &str, base: &str, new: &str, format: &str) -> Outcome {
    let script = format!("cd '{subfolder}' && openapi-gate check --base '{base}' '{new}' --format {format}");
    folder.run_script(&script, &[])
}

/// Returns the only result of a log.
fn only_result(outcome: &Outcome) -> Value {
    let log: Value = serde_json::from_str(&outcome.output).unwrap_or_else(|_| panic!("{outcome:?}"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{outcome:?}");
    results[0].clone()
}

/// Returns the file of a result's location.
fn uri(result: &Value) -> &Value {
    &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
}

#[test]
fn paths_are_relative_to_the_repository() {
    let folder = repository();
    let absolute = folder.path().canonicalize().expect("the folder exists").join("apis/v 1/api.yaml");
    folder.git(&["commit", "--quiet", "--message", "two"]);
    for (subfolder, base, new) in [
        (".", "HEAD~1", "apis/v 1/api.yaml"),
        (".", "HEAD~1", "./apis/../apis/v 1/api.yaml"),
        (".", "HEAD~1", ":apis/v 1/api.yaml"),
        (".", "HEAD~1", ":0:apis/v 1/api.yaml"),
        (".", "HEAD~1", "HEAD:apis/v 1/api.yaml"),
        ("apis", "HEAD~1", "v 1/api.yaml"),
        ("apis", "HEAD~1", ":./v 1/api.yaml"),
        ("apis", "HEAD~1", "HEAD:./v 1/api.yaml"),
        ("apis", "HEAD~1", "HEAD:apis/v 1/api.yaml"),
        ("apis/v 1", "HEAD~1", "api.yaml"),
        ("apis/v 1/parts", "HEAD~1", "../api.yaml"),
        ("apis/v 1/parts", "HEAD~1", "HEAD:../api.yaml"),
        ("apis", "HEAD~1:./v 1/api.yaml", absolute.to_str().expect("the path is UTF-8")),
    ] {
        let github = check_in(&folder, subfolder, base, new, "github");
        let annotation =
            "::error file=apis/v 1/parts/name.yaml,line=1,col=16,title=response-property-max-length";
        assert!(github.output.starts_with(annotation), "{subfolder} {new}: {github:?}");
        let result = only_result(&check_in(&folder, subfolder, base, new, "sarif"));
        assert_eq!(uri(&result), "apis/v%201/parts/name.yaml", "{subfolder} {new}");
        // A position in another revision is no place in the working tree.
        let related = &result["relatedLocations"][0];
        assert_eq!(related["physicalLocation"], Value::Null, "{related}");
        let text = related["message"]["text"].as_str().expect("a text");
        assert!(text.starts_with("base: HEAD~1:") && text.ends_with("parts/name.yaml:1:16"), "{text}");
        let text = check_in(&folder, subfolder, base, new, "text");
        assert!(text.output.contains("name.yaml:1:16"), "{text:?}");
    }
    folder.write("apis/old.yaml", CONTRACT);
    let between_files = only_result(&check_in(&folder, "apis", "old.yaml", "v 1/api.yaml", "sarif"));
    let related = &between_files["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(related, "apis/old.yaml");
}

#[test]
fn standard_input_has_no_path() {
    let folder = Folder::repository();
    folder.write("api.yaml", CONTRACT);
    let run = |format: &str| {
        let args = ["check", "--base", "api.yaml", "-", "--format", format];
        folder.run_with_input(&args, &breaking_contract())
    };
    let github = run("github");
    let annotation =
        "::error title=response-property-max-length-increased::standard input:17:40: `maxLength`";
    assert!(github.output.starts_with(annotation), "{github:?}");
    let result = only_result(&run("sarif"));
    assert_eq!(result["locations"], Value::Null);
    let text = result["message"]["text"].as_str().expect("a text");
    assert!(text.starts_with("standard input:17:40: `maxLength` changed"), "{text}");
}

#[test]
fn an_invalid_document_has_annotations_and_results() {
    let folder = Folder::repository();
    folder.write("apis/api.yaml", CONTRACT);
    folder.commit("one");
    let invalid = CONTRACT.replace("security: [{key: []}]", "security: 1").replace("[name]", "name");
    folder.write("apis/api.yaml", &invalid);
    let check = |base: &str, new: &str, format: &str| {
        let outcome = check_in(&folder, "apis", base, new, format);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.errors.contains("error: cannot compare"), "{outcome:?}");
        assert!(outcome.errors.contains("error[wrong-type]: expected a list"), "{outcome:?}");
        outcome
    };
    for format in ["text", "json", "markdown"] {
        assert_eq!(check("HEAD", "api.yaml", format).output, "", "{format}");
    }
    let github = check("HEAD", "api.yaml", "github").output;
    let lines: Vec<&str> = github.lines().collect();
    assert_eq!(lines.len(), 2, "{github}");
    assert!(
        lines[0].starts_with("::error file=apis/api.yaml,line=7,col=17,title=wrong-type::expected"),
        "{github}"
    );
    let sarif = check("HEAD", "api.yaml", "sarif").output;
    let log: Value = serde_json::from_str(&sarif).expect("the log is JSON");
    super::formats::assert_valid_sarif(&log);
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(uri(&run["results"][0]), "apis/api.yaml");
    assert_eq!(run["results"][0]["ruleId"], "wrong-type");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    // An invalid base is not a problem of the change.
    folder.commit("two");
    folder.write("apis/api.yaml", CONTRACT);
    let github = check("HEAD", "api.yaml", "github").output;
    assert!(github.starts_with("::error title=wrong-type::HEAD:api.yaml:7:17: expected"), "{github}");
    let log: Value = serde_json::from_str(&check("HEAD", "api.yaml", "sarif").output).expect("JSON");
    super::formats::assert_valid_sarif(&log);
    assert_eq!(log["runs"][0]["results"][0]["locations"], Value::Null);
}
