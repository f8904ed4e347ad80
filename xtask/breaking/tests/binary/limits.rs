//! How many errors, warnings and findings are shown.

use crate::support::{CONTRACT, Folder, Outcome};

/// Compares the documents `base.yaml` and `new.yaml`.
fn run(folder: &Folder, command: &str, format: &str) -> Outcome {
    folder.run(&[command, "--base", "base.yaml", "new.yaml", "--format", format])
}

/// Returns a document with properties of a response, one on each line.
fn document(properties: impl Iterator<Item = String>) -> String {
    let properties: String = properties.map(|property| format!("\n                  {property}")).collect();
    CONTRACT
        .replace("\n                  name: {type: string, maxLength: 10}", &properties)
        .replace("[name]", "[]")
}

#[test]
fn many_warnings_are_counted() {
    let folder = Folder::new();
    let properties: String =
        (0..20_000).map(|number| format!("a{number}: {{required: true}},\n  ")).collect();
    let schemas = format!("components: {{schemas: {{A: {{properties: {{\n  {properties}}}}}}}}}\n");
    folder.write("base.yaml", format!("openapi: 3.1.0\npaths: {{}}\n{schemas}"));
    folder.write("new.yaml", CONTRACT);
    let outcome = run(&folder, "check", "text");
    assert_eq!(outcome.code, Some(0), "{:?}", outcome.code);
    assert_eq!(outcome.errors.matches("warning[wrong-type]").count(), 50);
    assert!(outcome.errors.contains(" --> base.yaml:53:"), "the first warnings are shown");
    assert!(outcome.errors.ends_with("warning: 19950 further warnings of base.yaml are not shown\n\n"));
    let annotations = run(&folder, "check", "github").output;
    assert!(
        annotations.contains("::warning title=warnings::19950 further warnings of base.yaml are not shown\n")
    );
}

#[test]
fn many_errors_of_a_document_are_counted() {
    let folder = Folder::new();
    folder.write("base.yaml", CONTRACT);
    folder.write("new.yaml", document((0..1_000).map(|number| format!("a{number}: {{maxLength: x}}"))));
    let text = run(&folder, "check", "text");
    assert_eq!((text.code, text.output.as_str()), (Some(2), ""));
    assert_eq!(text.errors.matches("error[wrong-type]").count(), 50);
    assert!(text.errors.contains("error: 950 further errors of new.yaml are not shown\n"), "{}", text.errors);
    assert!(text.errors.ends_with("new.yaml: 1000 errors\n"));
    let github = run(&folder, "check", "github").output;
    assert_eq!(github.matches("title=wrong-type").count(), 50);
    assert!(github.ends_with("::error title=errors::950 further errors of new.yaml are not shown\n"));
    let sarif: serde_json::Value =
        serde_json::from_str(&run(&folder, "check", "sarif").output).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(1_000), "services get all");
}

/// Creates documents with 200 breaking changes, 100 warnings and 300 harmless changes, in turn.
fn many_changes() -> Folder {
    let folder = Folder::new();
    let properties = |breaking: usize, harmless: usize| {
        (0..300).map(move |number| match number % 3 {
            // Optional properties that are removed.
            0 if breaking == 2 => format!("y{number}: {{maxLength: {harmless}}}"),
            _ => format!(
                "x{number}: {{maxLength: {breaking}}}\n                  y{number}: {{maxLength: {harmless}}}"
            ),
        })
    };
    folder.write("base.yaml", document(properties(1, 2)));
    folder.write("new.yaml", document(properties(2, 1)));
    folder
}

#[test]
fn many_findings_are_counted_in_formats_for_people() {
    let folder = many_changes();
    let totals = "200 breaking changes, 100 warnings, 300 harmless changes";
    let left_out =
        "150 further breaking changes and 50 further warnings are not shown; `--format json` lists all";
    let text = run(&folder, "check", "text").output;
    assert_eq!(text.matches("error[response-property-max-length-increased]").count(), 50, "{text}");
    assert_eq!(text.matches("warning[response-optional-property-removed]").count(), 50, "{text}");
    assert!(text.contains(&format!("note: {left_out}\n\n")) && text.trim_end().ends_with(totals), "{text}");
    let github = run(&folder, "check", "github").output;
    assert_eq!((github.matches("::error ").count(), github.matches("::warning ").count()), (50, 50));
    assert!(github.contains(&format!("::notice title=findings::{left_out}\n")), "{github}");
    let github = run(&folder, "changelog", "github").output;
    assert_eq!(github.matches("::notice file").count(), 50);
    let left_out =
        "150 further breaking changes, 50 further warnings and 250 further harmless changes are not shown";
    assert!(github.contains(left_out), "{github}");
}

#[test]
fn other_formats_and_the_changelog_list_all_findings() {
    let folder = many_changes();
    assert_eq!(run(&folder, "check", "json").output.lines().count(), 301);
    assert_eq!(run(&folder, "check", "markdown").output.matches("### ").count(), 300);
    let sarif: serde_json::Value =
        serde_json::from_str(&run(&folder, "check", "sarif").output).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(300));
    let changelog = run(&folder, "changelog", "text").output;
    assert_eq!(changelog.lines().filter(|line| line.starts_with("    ")).count(), 600);
    assert!(!changelog.contains("not shown"));
}
