//! Tests of the command: sources of the base, waivers, output formats and releases.

use std::fs;
use std::path::Path;
use std::process::Command;

use contract::source::Source;
use jiff::civil::Date;

use super::super::file_resolver::FileResolver;
use super::super::finding::Finding;
use super::super::report::{self, ComparisonResult};
use super::super::waivers::{self, Waivers};
use super::super::{Compatibility, ReportFormat, base, compare_documents, compatibility};
use super::TODAY;

const BASE: &str = "openapi: 3.1.0
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
fn revision() -> String {
    BASE.replace("maxLength: 10", "maxLength: 20")
}

fn compared(waivers: Option<&str>, today: Date) -> anyhow::Result<ComparisonResult> {
    let waivers = waivers.map(waivers_file);
    compare_documents(
        base::BaseInput { source: Source::new("base.yaml", BASE), waivers, note: None },
        Source::new("v1.yaml", revision()),
        today,
    )
}

fn waiver(fingerprint: &str, expires: &str) -> String {
    format!(
        "[[waiver]]\nfingerprint = \"{fingerprint}\"\nreason = \"agreed with all partners\"\nexpires = \"{expires}\"\n"
    )
}

fn waivers_file(text: &str) -> Waivers {
    Waivers { name: "waivers.toml".to_owned(), text: text.to_owned(), from_revision: false }
}

fn breaking(compared: &ComparisonResult) -> usize {
    compared.findings.iter().filter(|finding| finding.breaks()).count()
}

#[test]
fn a_waiver_accepts_one_finding_until_it_expires() {
    let bare = compared(None, TODAY).unwrap();
    assert_eq!(breaking(&bare), 1);
    let found = bare.findings.iter().find(|finding| finding.breaks()).unwrap();
    let by_fingerprint = waiver(&found.fingerprint, "2026-03-01");
    let passed = compared(Some(&by_fingerprint), TODAY).unwrap();
    assert_eq!((breaking(&passed), passed.waiver_errors.len()), (0, 0));
    let by_rule = format!(
        "[[waiver]]\nrule = \"{}\"\npath = \"{}\"\nreason = \"r\"\nexpires = \"2026-03-01\"\n",
        found.id, found.path
    );
    assert_eq!(breaking(&compared(Some(&by_rule), TODAY).unwrap()), 0);
    let unquoted = by_fingerprint.replace("\"2026-03-01\"", "2026-03-01");
    assert_eq!(breaking(&compared(Some(&unquoted), TODAY).unwrap()), 0);
    let late = compared(Some(&by_fingerprint), TODAY.tomorrow().unwrap()).unwrap();
    assert_eq!(breaking(&late), 1);
    assert!(late.waiver_errors[0].contains("expired on 2026-03-01"), "{:?}", late.waiver_errors);
}

#[test]
fn a_waiver_that_matches_nothing_is_an_error() {
    let stale = compared(Some(&waiver("000000000000", "2027-01-01")), TODAY).unwrap();
    assert_eq!(stale.waiver_errors, ["waivers.toml: waiver `000000000000` matches no finding; remove it"]);
    let undecided = compatibility(&stale).unwrap_err().to_string();
    assert!(undecided.starts_with("no verdict: waivers.toml"), "{undecided}");
    assert_eq!(compatibility(&compared(None, TODAY).unwrap()).unwrap(), Compatibility::Breaking);
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
    let first = "waiver #1: expected either a `fingerprint`";
    assert!(error("[[waiver]]\nreason = 'r'\nexpires = '2027-01-01'").contains(first));
    for one in ["rule = 'r'", "path = 'r'", "fingerprint = 'r'\nrule = 's'", "fingerprint = 'r'\npath = 's'"]
    {
        let text = format!("[[waiver]]\n{one}\nreason = 'r'\nexpires = '2027-01-01'");
        assert!(error(&text).contains("waiver `r`: expected either a `fingerprint`"), "{one}");
    }
    for day in ["20270101", "true", "2027-01-01T00:00:00Z", "[2027]"] {
        let text = format!("[[waiver]]\nfingerprint = 'a'\nreason = 'r'\nexpires = {day}");
        assert!(error(&text).contains(&format!("expected a date (YYYY-MM-DD), got `{day}`")), "{day}");
    }
    assert!(error("[[waiver]]\nfingerprint = 'a'\nbecause = 'r'").contains("cannot read waivers"));
}

#[test]
fn findings_are_rendered_in_all_formats() {
    let compared = compared(None, TODAY).unwrap();
    insta::assert_snapshot!("text", report::gate(&compared, ReportFormat::Text));
    insta::assert_snapshot!("json", report::gate(&compared, ReportFormat::Json));
    insta::assert_snapshot!("github", report::gate(&compared, ReportFormat::Github));
    insta::assert_snapshot!("markdown", report::gate(&compared, ReportFormat::Markdown));
    insta::assert_snapshot!("changelog_text", report::changelog(&compared, ReportFormat::Text));
    insta::assert_snapshot!("changelog_markdown", report::changelog(&compared, ReportFormat::Markdown));
}

#[test]
fn a_long_line_is_shortened_in_excerpts() {
    let line = |length: u32| {
        let more = "x".repeat(1000);
        let schema = format!("{{\"type\":\"string\",\"maxLength\":{length}}}");
        let body = format!("{{\"content\":{{\"application/json\":{{\"schema\":{schema}}}}}}}");
        format!(
            "{{\"openapi\":\"3.1.0\",\"x\":\"{more}\",\"paths\":{{\"/a\":{{\"post\":{{\"requestBody\":{body}}}}}}}}}"
        )
    };
    let input = base::BaseInput { source: Source::new("a.json", line(9)), waivers: None, note: None };
    let compared = compare_documents(input, Source::new("b.json", line(8)), TODAY).unwrap();
    let text = report::gate(&compared, ReportFormat::Text);
    assert!(text.contains("revision, at column 11") && text.lines().all(|line| line.len() < 200), "{text}");
}

fn git(directory: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    let output =
        Command::new("git").args(identity).args(args).current_dir(directory).output().expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Creates a repository with two versions of the contract.
fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path();
    fs::create_dir_all(path.join("openapi/released")).expect("folders");
    git(path, &["init", "--quiet"]);
    for (text, name) in [(BASE.to_owned(), "one"), (revision(), "two")] {
        fs::write(path.join("openapi/v1.yaml"), text).expect("a contract");
        git(path, &["add", "."]);
        git(path, &["commit", "--quiet", "--message", name]);
    }
    directory
}

/// Returns a resolver whose current directory is the workspace root.
fn at(directory: &Path) -> FileResolver {
    FileResolver::new(directory, directory)
}

fn refusal(directory: &Path, name: &str) -> String {
    format!("{:#}", base::read(&at(directory), name, "openapi/v1.yaml", None).unwrap_err())
}

#[test]
fn a_base_is_a_file_or_a_revision_with_its_waivers() {
    let directory = repository();
    let path = directory.path();
    let input = base::read(&at(path), "HEAD~1", "openapi/v1.yaml", None).unwrap();
    assert_eq!((input.source.name.as_str(), input.source.text.as_str()), ("HEAD~1:openapi/v1.yaml", BASE));
    // A change is not waived by the waiver that it contains.
    fs::write(path.join("openapi/released/waivers.toml"), waiver("a", "2027-01-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    assert!(base::read(&at(path), "HEAD~1", "openapi/v1.yaml", None).unwrap().waivers.is_none());
    assert!(base::read(&at(path), "HEAD", "openapi/v1.yaml", None).unwrap().waivers.is_some());
    fs::write(path.join("openapi/released/v1.yaml"), BASE).unwrap();
    // Names are resolved in the current directory.
    let inside = FileResolver::new(&path.join("openapi"), path);
    let input = base::read(&inside, "v1.yaml", "openapi/v1.yaml", Some("released/waivers.toml")).unwrap();
    assert_eq!(input.source.name, "openapi/v1.yaml");
    assert_eq!(input.waivers.unwrap().name, "openapi/released/waivers.toml");
    assert_eq!(inside.find("v1.yaml").as_deref(), Some("openapi/v1.yaml"));
}

/// Runs the gate in a clone. Returns the verdict and the note.
fn run_gate(
    clone: &Path,
    base: &str,
    waivers: Option<&str>,
) -> (Result<Compatibility, String>, Option<String>) {
    let resolver = at(clone);
    let input = match base::read(&resolver, base, "openapi/v1.yaml", waivers) {
        Ok(input) => input,
        Err(error) => return (Err(format!("{error:#}")), None),
    };
    let note = input.note.clone();
    let contract = contract::read_file(&resolver.workspace, "openapi/v1.yaml").unwrap();
    let compared = compare_documents(input, contract, TODAY).unwrap();
    (compatibility(&compared).map_err(|error| error.to_string()), note)
}

const RELEASED: &str = "openapi/released/v1.yaml";
const WAIVERS: &str = "openapi/released/waivers.toml";

/// Creates a repository whose contract equals the released one, and a clone of it.
fn merged_and_clone() -> (tempfile::TempDir, tempfile::TempDir) {
    let (merged, directory) = (repository(), tempfile::tempdir().expect("a folder"));
    for file in [RELEASED, "openapi/v1.yaml"] {
        fs::write(merged.path().join(file), BASE).expect("a contract");
    }
    git(merged.path(), &["add", "."]);
    git(merged.path(), &["commit", "--quiet", "--message", "three"]);
    let url = format!("file://{}", merged.path().display());
    git(directory.path(), &["clone", "--quiet", &url, "clone"]);
    (merged, directory)
}

#[test]
fn a_change_cannot_waive_itself() {
    let (merged, directory) = merged_and_clone();
    let clone = directory.path().join("clone");
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    let waiver = waiver(&found.fingerprint, "2099-01-01");
    // The change contains its waiver, first in the working tree, then in the commit.
    fs::write(clone.join("openapi/v1.yaml"), revision()).unwrap();
    fs::write(clone.join(WAIVERS), &waiver).unwrap();
    let hint = "merge waivers before the change that needs them";
    for _ in 0..2 {
        for base in [RELEASED, "origin/HEAD"] {
            let (outcome, note) = run_gate(&clone, base, None);
            assert_eq!(outcome, Ok(Compatibility::Breaking), "{base}");
            assert!(note.unwrap().ends_with(hint));
        }
        git(&clone, &["add", "."]);
        git(&clone, &["commit", "--quiet", "--allow-empty", "--message", "four"]);
    }
    // Locally, `--waivers` shows the result before the waiver is merged.
    assert_eq!(run_gate(&clone, RELEASED, Some(WAIVERS)), (Ok(Compatibility::Compatible), None));
    // The waiver is merged on its own; that it matches no finding yet is not an error.
    fs::write(merged.path().join(WAIVERS), &waiver).unwrap();
    git(merged.path(), &["add", "."]);
    git(merged.path(), &["commit", "--quiet", "--message", "five"]);
    for base in [RELEASED, "HEAD"] {
        assert_eq!(run_gate(merged.path(), base, None).0, Ok(Compatibility::Compatible), "{base}");
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
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    fs::write(path.join(WAIVERS), waiver(&found.fingerprint, "2099-01-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    let (outcome, note) = run_gate(path, RELEASED, None);
    assert_eq!(outcome, Ok(Compatibility::Breaking));
    let expected =
        format!("{WAIVERS} is ignored because git cannot find `origin/HEAD`; specify waivers with --waivers");
    assert_eq!(note, Some(expected));
    assert_eq!(run_gate(path, RELEASED, Some(WAIVERS)), (Ok(Compatibility::Compatible), None));
    assert_eq!(run_gate(path, RELEASED, Some("HEAD")), (Ok(Compatibility::Compatible), None));
    let missing = |named| run_gate(path, RELEASED, Some(named)).0.unwrap_err();
    assert_eq!(missing(""), "--waivers is empty; specify a file or a git revision");
    assert!(missing("nope.toml").starts_with("waivers not found: `nope.toml` is neither a file nor a"));
    assert_eq!(missing("HEAD~1"), format!("waivers not found: revision `HEAD~1` does not contain {WAIVERS}"));
    let out_of_git = tempfile::tempdir().unwrap();
    let copies = [(RELEASED, BASE.to_owned()), ("openapi/v1.yaml", revision())];
    fs::create_dir_all(out_of_git.path().join("openapi/released")).unwrap();
    copies.iter().for_each(|(name, text)| fs::write(out_of_git.path().join(name), text).unwrap());
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
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    fs::write(path.join(RELEASED), BASE).unwrap();
    fs::write(path.join(WAIVERS), waiver(&found.fingerprint, "2026-03-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    let against = |base: &str, waivers: Option<&str>, contract: String, today| {
        let input = base::read(&at(path), base, "openapi/v1.yaml", waivers).unwrap();
        let compared = compare_documents(input, Source::new("openapi/v1.yaml", contract), today).unwrap();
        compatibility(&compared).map_err(|error| error.to_string())
    };
    let (on_time, late) = (TODAY, TODAY.tomorrow().unwrap());
    for today in [on_time, late] {
        assert_eq!(
            against("HEAD", None, revision(), today),
            Ok(Compatibility::Compatible),
            "the change is already merged"
        );
        assert_eq!(against("HEAD", None, revision().replace("20", "30"), today), Ok(Compatibility::Breaking));
    }
    assert_eq!(against(RELEASED, Some(WAIVERS), revision(), on_time), Ok(Compatibility::Compatible));
    for waivers in [WAIVERS, "HEAD"] {
        let error = against(RELEASED, Some(waivers), revision(), late).unwrap_err();
        assert!(error.contains("expired"), "{error}");
    }
    let unchanged = |waivers| against(RELEASED, Some(waivers), BASE.to_owned(), on_time);
    assert!(unchanged(WAIVERS).unwrap_err().contains("matches no finding"));
    assert_eq!(unchanged("HEAD"), Ok(Compatibility::Compatible));
}

#[test]
fn a_base_that_cannot_be_found_is_an_error_with_a_remedy() {
    let directory = repository();
    let path = directory.path();
    assert!(refusal(path, "openapi/released/v1.yaml").contains("cargo xtask release-contract"));
    assert!(refusal(path, "v9").contains("neither a file nor a git revision"));
    assert!(refusal(path, "--help").contains("neither a file nor a git revision"));
    assert_eq!(refusal(path, ""), "--base is empty; specify a file or a git revision");
    assert!(refusal(path, "nope.yaml").starts_with("base not found: nope.yaml exists neither"));
    assert_eq!(refusal(path, "/no/v1.yaml"), "base not found: /no/v1.yaml does not exist");
    let in_revision = refusal(path, "HEAD:openapi/v1.yaml");
    assert!(
        in_revision.contains("`--base HEAD` and the file with `--contract openapi/v1.yaml`"),
        "{in_revision}"
    );
    let outside = format!("{:#}", base::read(&at(path), "HEAD", "/tmp/v1.yaml", None).unwrap_err());
    assert!(outside.contains("/tmp/v1.yaml is outside of the repository"), "{outside}");
    let utf_16 = contract::source_from_bytes("a.yaml", vec![0xff, 0xfe, b'o', 0]).unwrap_err().to_string();
    assert_eq!(utf_16, "a.yaml is encoded in UTF-16; save it as UTF-8");
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(refusal(elsewhere.path(), "main").contains("not a git repository"));
    let url = format!("file://{}", path.display());
    git(elsewhere.path(), &["clone", "--quiet", "--depth", "1", &url, "shallow"]);
    assert!(refusal(&elsewhere.path().join("shallow"), "HEAD~1").contains("git fetch --unshallow"));
    let missing = format!("{:#}", base::read(&at(path), "HEAD", "openapi/v2.yaml", None).unwrap_err());
    assert!(missing.contains("revision `HEAD` does not contain openapi/v2.yaml"), "{missing}");
}

#[test]
fn a_release_requires_a_compatible_contract() {
    let directory = repository();
    let path = directory.path();
    let released = path.join("openapi/released/v1.yaml");
    fs::write(path.join("openapi/v1.yaml"), BASE).unwrap();
    assert_eq!(super::super::release(path).unwrap(), Compatibility::Compatible);
    assert_eq!(fs::read_to_string(&released).unwrap(), BASE);
    fs::write(path.join("openapi/v1.yaml"), revision()).unwrap();
    assert_eq!(super::super::release(path).unwrap(), Compatibility::Breaking);
    assert_eq!(fs::read_to_string(&released).unwrap(), BASE, "it was not changed");
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    let waivers = path.join("openapi/released/waivers.toml");
    fs::write(&waivers, waiver(&found.fingerprint, "2099-01-01")).unwrap();
    assert_eq!(super::super::release(path).unwrap(), Compatibility::Compatible);
    assert_eq!(fs::read_to_string(&released).unwrap(), revision());
    assert!(!waivers.exists(), "the waivers are deleted");
    fs::write(&waivers, waiver(&found.fingerprint, "2099-01-01")).unwrap();
    let stale = format!("{:#}", super::super::release(path).unwrap_err());
    assert!(stale.starts_with("openapi/released/v1.yaml was not changed: no verdict"), "{stale}");
    assert!(stale.contains("matches no finding; remove it"), "{stale}");
}
