//! Tests of the command: sources of the base, waivers, output formats and releases.

use std::fs;
use std::path::Path;
use std::process::Command;

use contract::source::Source;
use jiff::civil::Date;

use super::super::bundle::ReferencedFiles;
use super::super::config::{FailOn, Settings};
use super::super::file_resolver::FileResolver;
use super::super::finding::Finding;
use super::super::inputs::Input;
use super::super::report::{self, ComparisonResult};
use super::super::waivers::{self, Waivers};
use super::super::{Compatibility, ReportFormat, base, compare_documents, compatibility};
use super::TODAY;

pub(super) const BASE: &str = "openapi: 3.1.0
info: {title: T, version: 1.0.0}
paths:
  /a:
    get:
      operationId: getA
      responses:
        '200':
          description: Fine.
          content:
            application/json:
              schema:
                type: object
                required: [name]
                properties:
                  name: {type: string, maxLength: 10}
";

/// The base with a raised bound, which breaks clients.
pub(super) fn revision() -> String {
    BASE.replace("maxLength: 10", "maxLength: 20")
}

/// Returns the input of a document that refers to no files.
fn input(name: &str, text: &str) -> Input {
    Input { source: Source::new(name, text), files: ReferencedFiles::None }
}

/// Compares the base with the revision.
pub(super) fn compare_with_base(waivers: Option<&str>, today: Date) -> anyhow::Result<ComparisonResult> {
    let waivers = waivers.map(waivers_file);
    compare_documents(
        base::BaseInput { document: input("base.yaml", BASE), waivers, note: None },
        input("v1.yaml", &revision()),
        &Settings::project(),
        today,
    )
}

pub(super) fn waiver(fingerprint: &str, expires: &str) -> String {
    format!(
        "[[waiver]]\nfingerprint = \"{fingerprint}\"\nreason = \"agreed with all partners\"\nexpires = \"{expires}\"\n"
    )
}

fn waivers_file(text: &str) -> Waivers {
    Waivers { name: "waivers.toml".to_owned(), text: text.to_owned(), is_from_git: false }
}

/// Returns the number of breaking changes that are not waived.
fn breaking_count(result: &ComparisonResult) -> usize {
    result.findings.iter().filter(|finding| finding.breaks()).count()
}

#[test]
fn a_waiver_accepts_one_finding_until_it_expires() {
    let without_waiver = compare_with_base(None, TODAY).unwrap();
    assert_eq!(breaking_count(&without_waiver), 1);
    let finding = without_waiver.findings.iter().find(|finding| finding.breaks()).unwrap();
    let by_fingerprint = waiver(&finding.fingerprint, "2026-03-01");
    let waived = compare_with_base(Some(&by_fingerprint), TODAY).unwrap();
    assert_eq!((breaking_count(&waived), waived.waiver_errors.len()), (0, 0));
    let by_rule = format!(
        "[[waiver]]\nrule = \"{}\"\npath = \"{}\"\nreason = \"r\"\nexpires = \"2026-03-01\"\n",
        finding.id, finding.path
    );
    assert_eq!(breaking_count(&compare_with_base(Some(&by_rule), TODAY).unwrap()), 0);
    let unquoted = by_fingerprint.replace("\"2026-03-01\"", "2026-03-01");
    assert_eq!(breaking_count(&compare_with_base(Some(&unquoted), TODAY).unwrap()), 0);
    let expired = compare_with_base(Some(&by_fingerprint), TODAY.tomorrow().unwrap()).unwrap();
    assert_eq!(breaking_count(&expired), 1);
    assert!(expired.waiver_errors[0].contains("expired on 2026-03-01"), "{:?}", expired.waiver_errors);
}

#[test]
fn a_waiver_that_matches_nothing_is_an_error() {
    let unused = compare_with_base(Some(&waiver("000000000000", "2027-01-01")), TODAY).unwrap();
    assert_eq!(unused.waiver_errors, ["waivers.toml: waiver `000000000000` matches no finding; remove it"]);
    let error = compatibility(&unused, FailOn::Error).unwrap_err().to_string();
    assert!(error.starts_with("no verdict: waivers.toml"), "{error}");
    assert_eq!(
        compatibility(&compare_with_base(None, TODAY).unwrap(), FailOn::Error).unwrap(),
        Compatibility::Breaking
    );
}

#[test]
fn a_waiver_without_reason_date_or_identifier_is_rejected() {
    let error =
        |text: &str| format!("{:#}", waivers::apply(&waivers_file(text), &mut [], TODAY).unwrap_err());
    assert!(error(&waiver("a", "soon")).contains("expected a date (YYYY-MM-DD), got `soon`"));
    assert!(
        error("[[waiver]]\nfingerprint = 'a'\nreason = ' '\nexpires = '2027-01-01'")
            .contains("`reason` is empty")
    );
    let missing_identifier = "waiver #1: expected either a `fingerprint`";
    assert!(error("[[waiver]]\nreason = 'r'\nexpires = '2027-01-01'").contains(missing_identifier));
    for identifiers in
        ["rule = 'r'", "path = 'r'", "fingerprint = 'r'\nrule = 's'", "fingerprint = 'r'\npath = 's'"]
    {
        let text = format!("[[waiver]]\n{identifiers}\nreason = 'r'\nexpires = '2027-01-01'");
        assert!(error(&text).contains("waiver `r`: expected either a `fingerprint`"), "{identifiers}");
    }
    for value in ["20270101", "true", "2027-01-01T00:00:00Z", "[2027]"] {
        let text = format!("[[waiver]]\nfingerprint = 'a'\nreason = 'r'\nexpires = {value}");
        assert!(error(&text).contains(&format!("expected a date (YYYY-MM-DD), got `{value}`")), "{value}");
    }
    assert!(error("[[waiver]]\nfingerprint = 'a'\nbecause = 'r'").contains("cannot read waivers"));
}

#[test]
fn findings_are_rendered_in_all_formats() {
    let result = compare_with_base(None, TODAY).unwrap();
    insta::assert_snapshot!("text", report::breaking_changes(&result, ReportFormat::Text));
    insta::assert_snapshot!("json", report::breaking_changes(&result, ReportFormat::Json));
    insta::assert_snapshot!("github", report::breaking_changes(&result, ReportFormat::Github));
    insta::assert_snapshot!("markdown", report::breaking_changes(&result, ReportFormat::Markdown));
    insta::assert_snapshot!("changelog_text", report::changelog(&result, ReportFormat::Text));
    insta::assert_snapshot!("changelog_markdown", report::changelog(&result, ReportFormat::Markdown));
}

#[test]
fn a_long_line_is_shortened_in_excerpts() {
    let line = |max_length: u32| {
        let padding = "x".repeat(1000);
        let schema = format!("{{\"type\":\"string\",\"maxLength\":{max_length}}}");
        let body = format!("{{\"content\":{{\"application/json\":{{\"schema\":{schema}}}}}}}");
        format!(
            "{{\"openapi\":\"3.1.0\",\"x\":\"{padding}\",\"paths\":{{\"/a\":{{\"post\":{{\"requestBody\":{body}}}}}}}}}"
        )
    };
    let base = base::BaseInput { document: input("a.json", &line(9)), waivers: None, note: None };
    let result = compare_documents(base, input("b.json", &line(8)), &Settings::project(), TODAY).unwrap();
    let text = report::breaking_changes(&result, ReportFormat::Text);
    assert!(text.contains("revision, at column 11") && text.lines().all(|line| line.len() < 200), "{text}");
}

pub(super) fn git(directory: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git")
        .args(identity)
        .args(args)
        .current_dir(directory)
        .output()
        .expect("git can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Creates a repository with two versions of the contract.
pub(super) fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory can be created");
    let path = directory.path();
    fs::create_dir_all(path.join("openapi/released")).expect("the directories can be created");
    git(path, &["init", "--quiet"]);
    for (text, name) in [(BASE.to_owned(), "one"), (revision(), "two")] {
        fs::write(path.join("openapi/v1.yaml"), text).expect("the contract can be written");
        git(path, &["add", "."]);
        git(path, &["commit", "--quiet", "--message", name]);
    }
    directory
}

/// Returns a resolver whose current directory is the workspace root.
fn resolver_at(directory: &Path) -> FileResolver {
    FileResolver::new(directory, directory)
}

/// Returns the error message for a base that cannot be read.
fn base_error(directory: &Path, base: &str) -> String {
    format!("{:#}", base::read(&resolver_at(directory), base, "openapi/v1.yaml", None).unwrap_err())
}

#[test]
fn a_base_is_a_file_or_a_revision_with_its_waivers() {
    let directory = repository();
    let path = directory.path();
    let input = base::read(&resolver_at(path), "HEAD~1", "openapi/v1.yaml", None).unwrap();
    assert_eq!(
        (input.document.source.name.as_str(), input.document.source.text.as_str()),
        ("HEAD~1:openapi/v1.yaml", BASE)
    );
    // A change is not waived by the waiver that it contains.
    fs::write(path.join("openapi/released/waivers.toml"), waiver("a", "2027-01-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    assert!(base::read(&resolver_at(path), "HEAD~1", "openapi/v1.yaml", None).unwrap().waivers.is_none());
    assert!(base::read(&resolver_at(path), "HEAD", "openapi/v1.yaml", None).unwrap().waivers.is_some());
    fs::write(path.join("openapi/released/v1.yaml"), BASE).unwrap();
    // Names are resolved in the current directory.
    let inside = FileResolver::new(&path.join("openapi"), path);
    let input = base::read(&inside, "v1.yaml", "openapi/v1.yaml", Some("released/waivers.toml")).unwrap();
    assert_eq!(input.document.source.name, "openapi/v1.yaml");
    assert_eq!(input.waivers.unwrap().name, "openapi/released/waivers.toml");
    assert_eq!(inside.find("v1.yaml").as_deref(), Some("openapi/v1.yaml"));
}

/// Runs the gate in a repository or clone. Returns the verdict or the error, and the note.
fn run_gate(
    directory: &Path,
    base: &str,
    waivers: Option<&str>,
) -> (Result<Compatibility, String>, Option<String>) {
    let resolver = resolver_at(directory);
    let input = match base::read(&resolver, base, "openapi/v1.yaml", waivers) {
        Ok(input) => input,
        Err(error) => return (Err(format!("{error:#}")), None),
    };
    let note = input.note.clone();
    let contract = Input::from_file(&resolver.workspace, "openapi/v1.yaml").unwrap();
    let result = compare_documents(input, contract, &Settings::project(), TODAY).unwrap();
    (compatibility(&result, FailOn::Error).map_err(|error| error.to_string()), note)
}

pub(super) const RELEASED: &str = "openapi/released/v1.yaml";
pub(super) const WAIVERS: &str = "openapi/released/waivers.toml";

/// Creates a repository whose contract equals the released one, and a directory with its clone in `clone`.
pub(super) fn repository_and_clone() -> (tempfile::TempDir, tempfile::TempDir) {
    let (repository, directory) =
        (repository(), tempfile::tempdir().expect("a temporary directory can be created"));
    for file in [RELEASED, "openapi/v1.yaml"] {
        fs::write(repository.path().join(file), BASE).expect("the contract can be written");
    }
    git(repository.path(), &["add", "."]);
    git(repository.path(), &["commit", "--quiet", "--message", "three"]);
    let url = format!("file://{}", repository.path().display());
    git(directory.path(), &["clone", "--quiet", &url, "clone"]);
    (repository, directory)
}

#[test]
fn a_change_cannot_waive_itself() {
    let (repository, directory) = repository_and_clone();
    let clone = directory.path().join("clone");
    let finding = compare_with_base(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    let waiver = waiver(&finding.fingerprint, "2099-01-01");
    // The change contains its waiver, first in the working tree, then in the commit.
    fs::write(clone.join("openapi/v1.yaml"), revision()).unwrap();
    fs::write(clone.join(WAIVERS), &waiver).unwrap();
    let note_ending = "merge waivers before the change that needs them";
    for _ in 0..2 {
        for base in [RELEASED, "origin/HEAD"] {
            let (outcome, note) = run_gate(&clone, base, None);
            assert_eq!(outcome, Ok(Compatibility::Breaking), "{base}");
            assert!(note.unwrap().ends_with(note_ending));
        }
        git(&clone, &["add", "."]);
        git(&clone, &["commit", "--quiet", "--allow-empty", "--message", "four"]);
    }
    // Locally, `--waivers` shows the result before the waiver is merged.
    assert_eq!(run_gate(&clone, RELEASED, Some(WAIVERS)), (Ok(Compatibility::Compatible), None));
    // The waiver is merged before the change. It is not an error that it matches no finding yet.
    fs::write(repository.path().join(WAIVERS), &waiver).unwrap();
    git(repository.path(), &["add", "."]);
    git(repository.path(), &["commit", "--quiet", "--message", "five"]);
    for base in [RELEASED, "HEAD"] {
        assert_eq!(run_gate(repository.path(), base, None).0, Ok(Compatibility::Compatible), "{base}");
    }
    git(&clone, &["fetch", "--quiet"]);
    for base in [RELEASED, "origin/HEAD"] {
        assert_eq!(run_gate(&clone, base, None), (Ok(Compatibility::Compatible), None), "{base}");
    }
}

#[test]
fn waivers_in_the_working_tree_apply_only_if_specified() {
    let directory = repository();
    let path = directory.path();
    fs::write(path.join(RELEASED), BASE).unwrap();
    let finding = compare_with_base(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    fs::write(path.join(WAIVERS), waiver(&finding.fingerprint, "2099-01-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    let (outcome, note) = run_gate(path, RELEASED, None);
    assert_eq!(outcome, Ok(Compatibility::Breaking));
    let expected =
        format!("{WAIVERS} is ignored because git cannot find `origin/HEAD`; specify waivers with --waivers");
    assert_eq!(note, Some(expected));
    assert_eq!(run_gate(path, RELEASED, Some(WAIVERS)), (Ok(Compatibility::Compatible), None));
    assert_eq!(run_gate(path, RELEASED, Some("HEAD")), (Ok(Compatibility::Compatible), None));
    let error = |waivers| run_gate(path, RELEASED, Some(waivers)).0.unwrap_err();
    assert_eq!(error(""), "--waivers is empty; specify a file or a git revision");
    assert!(error("nope.toml").starts_with("waivers not found: `nope.toml` is neither a file nor a"));
    assert_eq!(
        error("HEAD~1"),
        format!("waivers not found: git revision `HEAD~1` does not contain {WAIVERS}")
    );
    let out_of_git = tempfile::tempdir().unwrap();
    let files = [(RELEASED, BASE.to_owned()), ("openapi/v1.yaml", revision())];
    fs::create_dir_all(out_of_git.path().join("openapi/released")).unwrap();
    files.iter().for_each(|(name, text)| fs::write(out_of_git.path().join(name), text).unwrap());
    assert_eq!(run_gate(out_of_git.path(), RELEASED, None), (Ok(Compatibility::Breaking), None));
    let outside = path.join(RELEASED).canonicalize().unwrap().display().to_string();
    let (outcome, note) = run_gate(out_of_git.path(), &outside, None);
    assert_eq!(outcome, Ok(Compatibility::Breaking));
    assert!(note.unwrap().ends_with("because it is outside of the workspace; specify it with --waivers"));
}

#[test]
fn a_waiver_of_a_revision_can_match_a_merged_change() {
    let directory = repository();
    let path = directory.path();
    let finding = compare_with_base(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    fs::write(path.join(RELEASED), BASE).unwrap();
    fs::write(path.join(WAIVERS), waiver(&finding.fingerprint, "2026-03-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    let verdict = |base: &str, waivers: Option<&str>, contract: String, today| {
        let base = base::read(&resolver_at(path), base, "openapi/v1.yaml", waivers).unwrap();
        let contract = input("openapi/v1.yaml", &contract);
        let result = compare_documents(base, contract, &Settings::project(), today).unwrap();
        compatibility(&result, FailOn::Error).map_err(|error| error.to_string())
    };
    let (before_expiry, after_expiry) = (TODAY, TODAY.tomorrow().unwrap());
    for today in [before_expiry, after_expiry] {
        assert_eq!(
            verdict("HEAD", None, revision(), today),
            Ok(Compatibility::Compatible),
            "the change is already merged"
        );
        assert_eq!(verdict("HEAD", None, revision().replace("20", "30"), today), Ok(Compatibility::Breaking));
    }
    assert_eq!(verdict(RELEASED, Some(WAIVERS), revision(), before_expiry), Ok(Compatibility::Compatible));
    for waivers in [WAIVERS, "HEAD"] {
        let error = verdict(RELEASED, Some(waivers), revision(), after_expiry).unwrap_err();
        assert!(error.contains("expired"), "{error}");
    }
    let unchanged = |waivers| verdict(RELEASED, Some(waivers), BASE.to_owned(), before_expiry);
    assert!(unchanged(WAIVERS).unwrap_err().contains("matches no finding"));
    assert_eq!(unchanged("HEAD"), Ok(Compatibility::Compatible));
}

#[test]
fn a_base_that_cannot_be_found_is_an_error_with_a_remedy() {
    let directory = repository();
    let path = directory.path();
    assert!(base_error(path, "openapi/released/v1.yaml").contains("cargo xtask release-contract"));
    assert!(base_error(path, "v9").contains("neither a file nor a git revision"));
    assert!(base_error(path, "--help").contains("neither a file nor a git revision"));
    assert_eq!(base_error(path, ""), "--base is empty; specify a file or a git revision");
    assert!(base_error(path, "nope.yaml").starts_with("base not found: nope.yaml exists neither"));
    assert_eq!(
        base_error(path, "/no/v1.yaml"),
        "base not found: /no/v1.yaml does not exist; specify another file or a git revision with --base"
    );
    let in_revision = base::read(&resolver_at(path), "HEAD~1:openapi/v1.yaml", "other.yaml", None).unwrap();
    assert_eq!(in_revision.document.source.text, BASE);
    assert!(base_error(path, "HEAD:openapi").contains("HEAD:openapi is a folder; specify a file"));
    assert!(base_error(path, "https://example.com/v1.yaml").contains("curl --fail"));
    assert!(base_error(path, "-").contains("--base cannot be standard input"));
    let outside = format!("{:#}", base::read(&resolver_at(path), "HEAD", "/tmp/v1.yaml", None).unwrap_err());
    assert!(outside.contains("/tmp/v1.yaml is outside of the repository"), "{outside}");
    let utf_16 = contract::source_from_bytes("a.yaml", vec![0xff, 0xfe, b'o', 0]).unwrap_err().to_string();
    assert_eq!(utf_16, "a.yaml is encoded in UTF-16; save it as UTF-8");
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(base_error(elsewhere.path(), "main").contains("not a git repository"));
    let url = format!("file://{}", path.display());
    git(elsewhere.path(), &["clone", "--quiet", "--depth", "1", &url, "shallow"]);
    assert!(base_error(&elsewhere.path().join("shallow"), "HEAD~1").contains("git fetch --unshallow"));
    let missing =
        format!("{:#}", base::read(&resolver_at(path), "HEAD", "openapi/v2.yaml", None).unwrap_err());
    assert!(missing.contains("git revision `HEAD` does not contain openapi/v2.yaml"), "{missing}");
}
