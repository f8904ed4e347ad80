//! Every kind of finding, drawn: each fixture beside this file is a small contract with its faults, and the text that must
//! be printed about them.
//!
//! After a change of wording, `UPDATE_FIXTURES=1 cargo test -p contract fixtures` writes the texts anew, for review.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Customs;
use super::source::Source;
use crate::diagnostic::{Code, Format};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Whoever serves the fixtures serves any path.
const CUSTOMS: Customs<'static> =
    Customs { beginning: "/", spelled: &["studentId", "courseId", "retryAfterSeconds"] };

/// The names of all fixtures, without their endings.
fn names() -> BTreeSet<String> {
    let entries = fs::read_dir(folder()).expect("the folder of fixtures can be read");
    let names = entries.filter_map(|entry| {
        let path = entry.expect("its entries can be read").path();
        let yaml = path.extension().is_some_and(|ending| ending == "yaml");
        yaml.then(|| path.file_stem().expect("a file has a name").to_string_lossy().into_owned())
    });
    names.collect()
}

/// What is found in a fixture: the codes, and the text.
fn findings(name: &str) -> (BTreeSet<&'static str>, String) {
    let file = format!("{name}.yaml");
    let text = fs::read_to_string(folder().join(&file)).expect("a fixture can be read");
    match super::read(Source::new(file, text), &CUSTOMS) {
        Ok(_) => (BTreeSet::new(), String::new()),
        Err(refused) => {
            let codes = refused.findings.iter().map(|finding| finding.code.as_str()).collect();
            (codes, refused.render(Format::Text))
        }
    }
}

#[test]
fn every_fixture_is_told_as_expected() {
    let mut wrong = Vec::new();
    for name in names() {
        let (_, told) = findings(&name);
        let expected = folder().join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&expected, &told).expect("an expected text can be written");
        } else if fs::read_to_string(&expected).ok().as_deref() != Some(&told) {
            wrong.push(format!("{name}:\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "told otherwise than expected:\n{}", wrong.join("\n"));
}

#[test]
fn every_code_has_a_fixture_that_shows_it() {
    let names = names();
    for code in Code::ALL {
        let code = code.as_str();
        assert!(names.contains(code), "no fixture is called {code}");
        assert_eq!(findings(code).0, BTreeSet::from([code]), "the fixture shows that code and no other");
    }
}

#[test]
fn a_sound_contract_has_no_findings() {
    assert_eq!(findings("sound").1, "");
}

#[test]
fn a_contract_of_ones_own_is_told_of_nobody_elses_words() {
    let text = fs::read_to_string(folder().join("spelling.yaml")).expect("a fixture can be read");
    let customs = Customs { beginning: "/", spelled: &[] };
    let refused =
        super::read(Source::new("spelling.yaml", text), &customs).expect_err("the fixture has faults");
    let helps: Vec<_> = refused.findings.iter().map(|finding| &*finding.help).collect();
    assert_eq!(
        helps,
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
fn findings_have_a_form_for_programs_and_one_for_continuous_integration() {
    let text = fs::read_to_string(folder().join("spelling.yaml")).expect("a fixture can be read");
    let refused =
        super::read(Source::new("spelling.yaml", text), &CUSTOMS).expect_err("the fixture has faults");
    let json = refused.render(Format::Json);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["code"], "spelling");
    assert_eq!((first["line"].as_u64(), first["column"].as_u64()), (Some(13), Some(19)));
    let github = refused.render(Format::Github);
    assert!(github.starts_with("::error file=spelling.yaml,line=13,col=19,title=spelling::"), "{github}");
}
