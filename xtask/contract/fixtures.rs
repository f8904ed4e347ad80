//! Fixtures: each YAML file in `fixtures/` is a small contract, and the `.txt` file of the same name contains the
//! expected diagnostics. All fixtures except `valid.yaml` are invalid.
//!
//! After you change a message, run `UPDATE_FIXTURES=1 cargo test -p contract --all-features fixtures` to rewrite the
//! expected diagnostics, and review the differences.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::source::Source;
use super::{Conventions, Profile};
use crate::diagnostic::{Code, DiagnosticFormat};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The conventions of the fixtures. Every path has the prefix `/`.
const CONVENTIONS: Conventions<'static> = Conventions {
    path_prefix: "/",
    spelling_exceptions: &["studentId", "courseId", "retryAfterSeconds"],
    profile: Profile::Server,
    has_rate_limits: true,
};

/// Returns the names of all fixtures, without file extensions.
fn names() -> BTreeSet<String> {
    let entries = fs::read_dir(folder()).expect("the fixtures folder is readable");
    let names = entries.filter_map(|entry| {
        let path = entry.expect("the entry is readable").path();
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml");
        is_yaml.then(|| path.file_stem().expect("a file has a name").to_string_lossy().into_owned())
    });
    names.collect()
}

/// Returns the diagnostic codes and the rendered diagnostics of a fixture.
fn diagnostics(name: &str) -> (BTreeSet<&'static str>, String) {
    let file = format!("{name}.yaml");
    let text = fs::read_to_string(folder().join(&file)).expect("the fixture is readable");
    match super::read(Source::new(file, text), &CONVENTIONS) {
        Ok(_) => (BTreeSet::new(), String::new()),
        Err(invalid) => {
            let codes = invalid.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
            (codes, invalid.render(DiagnosticFormat::Text))
        }
    }
}

#[test]
fn every_fixture_has_the_expected_diagnostics() {
    let mut mismatches = Vec::new();
    for name in names() {
        let (_, actual) = diagnostics(&name);
        let expected = folder().join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&expected, &actual).expect("the expected diagnostics are writable");
        } else if fs::read_to_string(&expected).ok().as_deref() != Some(&actual) {
            mismatches.push(format!("{name}:\n{actual}"));
        }
    }
    assert!(mismatches.is_empty(), "unexpected diagnostics:\n{}", mismatches.join("\n"));
}

#[test]
fn every_code_has_a_fixture_that_shows_it() {
    let names = names();
    for code in Code::ALL {
        let code = code.as_str();
        assert!(names.contains(code), "no fixture shows the code {code}");
        assert_eq!(diagnostics(code).0, BTreeSet::from([code]), "the fixture must show only {code}");
    }
}

#[test]
fn a_valid_contract_has_no_diagnostics() {
    assert_eq!(diagnostics("valid").1, "");
}

#[test]
fn help_does_not_mention_spelling_exceptions_if_there_are_none() {
    let text = fs::read_to_string(folder().join("spelling.yaml")).expect("the fixture is readable");
    let conventions = Conventions { spelling_exceptions: &[], ..CONVENTIONS };
    let invalid =
        super::read(Source::new("spelling.yaml", text), &conventions).expect_err("the fixture is invalid");
    let help_texts: Vec<_> = invalid.diagnostics.iter().map(|diagnostic| &*diagnostic.help).collect();
    assert_eq!(
        help_texts,
        [
            "write `page_size`",
            "give it a name in snake_case",
            "write `student_id`",
            "write `last_seen`",
            "give it a name in snake_case",
        ]
    );
}

#[test]
fn diagnostics_are_rendered_as_json_and_as_github_commands() {
    let text = fs::read_to_string(folder().join("spelling.yaml")).expect("the fixture is readable");
    let invalid =
        super::read(Source::new("spelling.yaml", text), &CONVENTIONS).expect_err("the fixture is invalid");
    let json = invalid.render(DiagnosticFormat::Json);
    let first: serde_json::Value =
        serde_json::from_str(json.lines().next().expect("there is a line")).expect("the line is valid JSON");
    assert_eq!(first["code"], "spelling");
    assert_eq!((first["line"].as_u64(), first["column"].as_u64()), (Some(13), Some(19)));
    let github = invalid.render(DiagnosticFormat::Github);
    assert!(github.starts_with("::error file=spelling.yaml,line=13,col=19,title=spelling::"), "{github}");
}

#[test]
fn a_github_command_escapes_properties_and_omits_empty_help() {
    let source = Source::new("a,b:c.yaml", "x: 1\n");
    let span = super::source::Span { start: 0, end: 1 };
    let render = |diagnostic| super::diagnostic::render(&source, &[diagnostic], DiagnosticFormat::Github);
    assert_eq!(
        render(super::diagnostic::Diagnostic::error(Code::WrongType, span, "100%\nwrong", "")),
        "::error file=a%2Cb%3Ac.yaml,line=1,col=1,title=wrong-type::100%25\\nwrong\n"
    );
    assert_eq!(
        render(super::diagnostic::Diagnostic::warning(Code::WrongType, span, "odd", "correct it")),
        "::warning file=a%2Cb%3Ac.yaml,line=1,col=1,title=wrong-type::odd%0Ahelp: correct it\n"
    );
    assert_eq!(
        render(super::diagnostic::Diagnostic::note(Code::WrongType, span, "ignored", "")),
        "::notice file=a%2Cb%3Ac.yaml,line=1,col=1,title=wrong-type::ignored\n"
    );
}
