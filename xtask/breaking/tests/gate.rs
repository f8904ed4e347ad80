//! The command as a whole: where the base comes from, what waivers do, how it is printed, what a release does.

use std::fs;
use std::path::Path;
use std::process::Command;

use contract::source::Source;
use jiff::civil::Date;

use super::super::files::Files;
use super::super::finding::Finding;
use super::super::report::{self, Compared};
use super::super::waivers::{self, Waivers};
use super::super::{Format, Verdict, base, judge, verdict};
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

/// The base with a greater bound, which breaks who reads.
fn revision() -> String {
    BASE.replace("maxLength: 10", "maxLength: 20")
}

fn compared(waivers: Option<&str>, today: Date) -> anyhow::Result<Compared> {
    let waivers = waivers.map(waivers_file);
    judge(
        base::Side { source: Source::new("base.yaml", BASE), waivers, note: None },
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
    Waivers { name: "waivers.toml".to_owned(), text: text.to_owned(), of_another: false }
}

fn breaking(compared: &Compared) -> usize {
    compared.findings.iter().filter(|finding| finding.breaks()).count()
}

#[test]
fn a_waiver_lets_one_finding_pass_until_its_day() {
    let bare = compared(None, TODAY).unwrap();
    assert_eq!(breaking(&bare), 1);
    let found = bare.findings.iter().find(|finding| finding.breaks()).unwrap();
    let by_fingerprint = waiver(&found.fingerprint, "2026-03-01");
    let passed = compared(Some(&by_fingerprint), TODAY).unwrap();
    assert_eq!((breaking(&passed), passed.faults.len()), (0, 0));
    let by_rule = format!(
        "[[waiver]]\nrule = \"{}\"\npath = \"{}\"\nreason = \"r\"\nexpires = \"2026-03-01\"\n",
        found.id, found.path
    );
    assert_eq!(breaking(&compared(Some(&by_rule), TODAY).unwrap()), 0);
    let unquoted = by_fingerprint.replace("\"2026-03-01\"", "2026-03-01");
    assert_eq!(breaking(&compared(Some(&unquoted), TODAY).unwrap()), 0);
    let late = compared(Some(&by_fingerprint), TODAY.tomorrow().unwrap()).unwrap();
    assert_eq!(breaking(&late), 1);
    assert!(late.faults[0].contains("expired on 2026-03-01"), "{:?}", late.faults);
}

#[test]
fn a_waiver_that_matches_nothing_is_a_fault() {
    let stale = compared(Some(&waiver("000000000000", "2027-01-01")), TODAY).unwrap();
    assert_eq!(stale.faults, ["waivers.toml: the waiver `000000000000` matches nothing; take it out"]);
    let undecided = verdict(&stale).unwrap_err().to_string();
    assert!(undecided.starts_with("nothing is decided: waivers.toml"), "{undecided}");
    assert_eq!(verdict(&compared(None, TODAY).unwrap()).unwrap(), Verdict::Breaking);
}

#[test]
fn a_waiver_without_reason_day_or_name_cannot_be_read() {
    let fault =
        |text: &str| format!("{:#}", waivers::apply(&waivers_file(text), &mut [], TODAY).unwrap_err());
    assert!(fault(&waiver("a", "soon")).contains("`soon`, which is not a day"));
    assert!(
        fault("[[waiver]]\nfingerprint = 'a'\nreason = ' '\nexpires = '2027-01-01'")
            .contains("has no reason")
    );
    let first = "the waiver number 1 must have a `fingerprint` alone";
    assert!(fault("[[waiver]]\nreason = 'r'\nexpires = '2027-01-01'").contains(first));
    for one in ["rule = 'r'", "path = 'r'", "fingerprint = 'r'\nrule = 's'", "fingerprint = 'r'\npath = 's'"]
    {
        let text = format!("[[waiver]]\n{one}\nreason = 'r'\nexpires = '2027-01-01'");
        assert!(fault(&text).contains("the waiver `r` must have a `fingerprint` alone"), "{one}");
    }
    for day in ["20270101", "true", "2027-01-01T00:00:00Z", "[2027]"] {
        let text = format!("[[waiver]]\nfingerprint = 'a'\nreason = 'r'\nexpires = {day}");
        assert!(fault(&text).contains(&format!("`{day}`, which is not a day")), "{day}");
    }
    assert!(fault("[[waiver]]\nfingerprint = 'a'\nbecause = 'r'").contains("cannot read the waivers"));
}

#[test]
fn what_is_printed_for_people_programs_and_ci() {
    let compared = compared(None, TODAY).unwrap();
    insta::assert_snapshot!("text", report::gate(&compared, Format::Text));
    insta::assert_snapshot!("json", report::gate(&compared, Format::Json));
    insta::assert_snapshot!("github", report::gate(&compared, Format::Github));
    insta::assert_snapshot!("markdown", report::gate(&compared, Format::Markdown));
    insta::assert_snapshot!("changelog_text", report::changelog(&compared, Format::Text));
    insta::assert_snapshot!("changelog_markdown", report::changelog(&compared, Format::Markdown));
}

#[test]
fn a_document_on_one_line_is_drawn_where_it_matters() {
    let line = |length: u32| {
        let more = "x".repeat(1000);
        let schema = format!("{{\"type\":\"string\",\"maxLength\":{length}}}");
        let body = format!("{{\"content\":{{\"application/json\":{{\"schema\":{schema}}}}}}}");
        format!(
            "{{\"openapi\":\"3.1.0\",\"x\":\"{more}\",\"paths\":{{\"/a\":{{\"post\":{{\"requestBody\":{body}}}}}}}}}"
        )
    };
    let side = base::Side { source: Source::new("a.json", line(9)), waivers: None, note: None };
    let compared = judge(side, Source::new("b.json", line(8)), TODAY).unwrap();
    let text = report::gate(&compared, Format::Text);
    assert!(text.contains("now, at column 11") && text.lines().all(|line| line.len() < 200), "{text}");
}

fn git(folder: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    let output =
        Command::new("git").args(identity).args(args).current_dir(folder).output().expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with the contract in two commits.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::create_dir_all(path.join("openapi/released")).expect("folders");
    git(path, &["init", "--quiet"]);
    for (text, name) in [(BASE.to_owned(), "one"), (revision(), "two")] {
        fs::write(path.join("openapi/v1.yaml"), text).expect("a contract");
        git(path, &["add", "."]);
        git(path, &["commit", "--quiet", "--message", name]);
    }
    folder
}

/// Whoever stands at the root.
fn at(folder: &Path) -> Files {
    Files::new(folder, folder)
}

fn refusal(folder: &Path, name: &str) -> String {
    format!("{:#}", base::read(&at(folder), name, "openapi/v1.yaml", None).unwrap_err())
}

#[test]
fn a_base_is_a_file_or_a_revision_with_the_waivers_of_its_side() {
    let folder = repository();
    let path = folder.path();
    let side = base::read(&at(path), "HEAD~1", "openapi/v1.yaml", None).unwrap();
    assert_eq!((side.source.name.as_str(), side.source.text.as_str()), ("HEAD~1:openapi/v1.yaml", BASE));
    // A change that brings its own waiver is not waived by it.
    fs::write(path.join("openapi/released/waivers.toml"), waiver("a", "2027-01-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    assert!(base::read(&at(path), "HEAD~1", "openapi/v1.yaml", None).unwrap().waivers.is_none());
    assert!(base::read(&at(path), "HEAD", "openapi/v1.yaml", None).unwrap().waivers.is_some());
    fs::write(path.join("openapi/released/v1.yaml"), BASE).unwrap();
    // Whoever stands in a folder names what they see there.
    let inside = Files::new(&path.join("openapi"), path);
    let side = base::read(&inside, "v1.yaml", "openapi/v1.yaml", Some("released/waivers.toml")).unwrap();
    assert_eq!(side.source.name, "openapi/v1.yaml");
    assert_eq!(side.waivers.unwrap().name, "openapi/released/waivers.toml");
    assert_eq!(inside.find("v1.yaml").as_deref(), Some("openapi/v1.yaml"));
}

/// What the gate says in a clone, against a base and by these waivers, and its note.
fn gated(clone: &Path, base: &str, waivers: Option<&str>) -> (Result<Verdict, String>, Option<String>) {
    let files = at(clone);
    let side = match base::read(&files, base, "openapi/v1.yaml", waivers) {
        Ok(side) => side,
        Err(error) => return (Err(format!("{error:#}")), None),
    };
    let note = side.note.clone();
    let contract = contract::open(&files.workspace, "openapi/v1.yaml").unwrap();
    let compared = judge(side, contract, TODAY).unwrap();
    (verdict(&compared).map_err(|fault| fault.to_string()), note)
}

const RELEASED: &str = "openapi/released/v1.yaml";
const WAIVERS: &str = "openapi/released/waivers.toml";

/// A repository whose contract is as it was released, and a clone of it.
fn merged_and_clone() -> (tempfile::TempDir, tempfile::TempDir) {
    let (merged, folder) = (repository(), tempfile::tempdir().expect("a folder"));
    for file in [RELEASED, "openapi/v1.yaml"] {
        fs::write(merged.path().join(file), BASE).expect("a contract");
    }
    git(merged.path(), &["add", "."]);
    git(merged.path(), &["commit", "--quiet", "--message", "three"]);
    let url = format!("file://{}", merged.path().display());
    git(folder.path(), &["clone", "--quiet", &url, "clone"]);
    (merged, folder)
}

#[test]
fn a_change_cannot_waive_itself() {
    let (merged, folder) = merged_and_clone();
    let clone = folder.path().join("clone");
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    let waiver = waiver(&found.fingerprint, "2099-01-01");
    // The change brings its waiver along, first beside the commit, then in it.
    fs::write(clone.join("openapi/v1.yaml"), revision()).unwrap();
    fs::write(clone.join(WAIVERS), &waiver).unwrap();
    let hint = "merge waivers before the change that needs them";
    for _ in 0..2 {
        for base in [RELEASED, "origin/HEAD"] {
            let (outcome, note) = gated(&clone, base, None);
            assert_eq!(outcome, Ok(Verdict::Breaking), "{base}");
            assert!(note.unwrap().ends_with(hint));
        }
        git(&clone, &["add", "."]);
        git(&clone, &["commit", "--quiet", "--allow-empty", "--message", "four"]);
    }
    // On one's own machine one may look at what it will be once the waiver is merged.
    assert_eq!(gated(&clone, RELEASED, Some(WAIVERS)), (Ok(Verdict::Compatible), None));
    // The waiver is merged, by itself: it lets nothing pass there yet, which is no fault.
    fs::write(merged.path().join(WAIVERS), &waiver).unwrap();
    git(merged.path(), &["add", "."]);
    git(merged.path(), &["commit", "--quiet", "--message", "five"]);
    for base in [RELEASED, "HEAD"] {
        assert_eq!(gated(merged.path(), base, None).0, Ok(Verdict::Compatible), "{base}");
    }
    git(&clone, &["fetch", "--quiet"]);
    for base in [RELEASED, "origin/HEAD"] {
        assert_eq!(gated(&clone, base, None), (Ok(Verdict::Compatible), None), "{base}");
    }
}

#[test]
fn waivers_of_the_working_tree_count_only_by_name() {
    let folder = repository();
    let path = folder.path();
    fs::write(path.join(RELEASED), BASE).unwrap();
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    fs::write(path.join(WAIVERS), waiver(&found.fingerprint, "2099-01-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    let (outcome, note) = gated(path, RELEASED, None);
    assert_eq!(outcome, Ok(Verdict::Breaking));
    let expected = format!(
        "{WAIVERS} does not count, since git does not know `origin/HEAD` here; name waivers by --waivers"
    );
    assert_eq!(note, Some(expected));
    assert_eq!(gated(path, RELEASED, Some(WAIVERS)), (Ok(Verdict::Compatible), None));
    assert_eq!(gated(path, RELEASED, Some("HEAD")), (Ok(Verdict::Compatible), None));
    let missing = |named| gated(path, RELEASED, Some(named)).0.unwrap_err();
    assert_eq!(missing(""), "--waivers is empty; name a file or a git revision");
    assert!(missing("nope.toml").starts_with("there are no waivers: `nope.toml` is neither a file nor a"));
    assert_eq!(missing("HEAD~1"), format!("there are no waivers: {WAIVERS} is not in the revision `HEAD~1`"));
    let out_of_git = tempfile::tempdir().unwrap();
    let copies = [(RELEASED, BASE.to_owned()), ("openapi/v1.yaml", revision())];
    fs::create_dir_all(out_of_git.path().join("openapi/released")).unwrap();
    copies.iter().for_each(|(name, text)| fs::write(out_of_git.path().join(name), text).unwrap());
    assert_eq!(gated(out_of_git.path(), RELEASED, None), (Ok(Verdict::Breaking), None));
    let outside = path.join(RELEASED).canonicalize().unwrap().display().to_string();
    let (outcome, note) = gated(out_of_git.path(), &outside, None);
    assert_eq!(outcome, Ok(Verdict::Breaking));
    assert!(note.unwrap().ends_with("since it is outside of the workspace; name it by --waivers"));
}

#[test]
fn a_waiver_of_a_revision_may_speak_of_what_is_in_it_already() {
    let folder = repository();
    let path = folder.path();
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    fs::write(path.join(RELEASED), BASE).unwrap();
    fs::write(path.join(WAIVERS), waiver(&found.fingerprint, "2026-03-01")).unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "--quiet", "--message", "three"]);
    let against = |base: &str, waivers: Option<&str>, contract: String, today| {
        let side = base::read(&at(path), base, "openapi/v1.yaml", waivers).unwrap();
        let compared = judge(side, Source::new("openapi/v1.yaml", contract), today).unwrap();
        verdict(&compared).map_err(|fault| fault.to_string())
    };
    let (on_time, late) = (TODAY, TODAY.tomorrow().unwrap());
    for today in [on_time, late] {
        assert_eq!(
            against("HEAD", None, revision(), today),
            Ok(Verdict::Compatible),
            "nothing is left to be waived"
        );
        assert_eq!(against("HEAD", None, revision().replace("20", "30"), today), Ok(Verdict::Breaking));
    }
    assert_eq!(against(RELEASED, Some(WAIVERS), revision(), on_time), Ok(Verdict::Compatible));
    for waivers in [WAIVERS, "HEAD"] {
        let fault = against(RELEASED, Some(waivers), revision(), late).unwrap_err();
        assert!(fault.contains("expired"), "{fault}");
    }
    let unchanged = |waivers| against(RELEASED, Some(waivers), BASE.to_owned(), on_time);
    assert!(unchanged(WAIVERS).unwrap_err().contains("matches nothing"));
    assert_eq!(unchanged("HEAD"), Ok(Verdict::Compatible));
}

#[test]
fn a_base_that_cannot_be_had_is_an_error_with_a_remedy() {
    let folder = repository();
    let path = folder.path();
    assert!(refusal(path, "openapi/released/v1.yaml").contains("cargo xtask release-contract"));
    assert!(refusal(path, "v9").contains("neither a file nor a git revision"));
    assert!(refusal(path, "--help").contains("neither a file nor a git revision"));
    assert_eq!(refusal(path, ""), "--base is empty; name a file or a git revision");
    assert!(refusal(path, "nope.yaml").starts_with("there is no base: nope.yaml does not exist, neither"));
    assert_eq!(refusal(path, "/no/v1.yaml"), "there is no base: /no/v1.yaml does not exist");
    let in_revision = refusal(path, "HEAD:openapi/v1.yaml");
    assert!(
        in_revision.contains("`--base HEAD`, and the file by `--contract openapi/v1.yaml`"),
        "{in_revision}"
    );
    let outside = format!("{:#}", base::read(&at(path), "HEAD", "/tmp/v1.yaml", None).unwrap_err());
    assert!(outside.contains("/tmp/v1.yaml is outside of it"), "{outside}");
    let utf_16 = contract::take("a.yaml", vec![0xff, 0xfe, b'o', 0]).unwrap_err().to_string();
    assert_eq!(utf_16, "a.yaml is text in UTF-16; save it in UTF-8");
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(refusal(elsewhere.path(), "main").contains("no git repository"));
    let url = format!("file://{}", path.display());
    git(elsewhere.path(), &["clone", "--quiet", "--depth", "1", &url, "shallow"]);
    assert!(refusal(&elsewhere.path().join("shallow"), "HEAD~1").contains("git fetch --unshallow"));
    let missing = format!("{:#}", base::read(&at(path), "HEAD", "openapi/v2.yaml", None).unwrap_err());
    assert!(missing.contains("openapi/v2.yaml is not in the revision `HEAD`"), "{missing}");
}

#[test]
fn a_release_moves_forward_only_while_nothing_breaks() {
    let folder = repository();
    let path = folder.path();
    let released = path.join("openapi/released/v1.yaml");
    fs::write(path.join("openapi/v1.yaml"), BASE).unwrap();
    assert_eq!(super::super::release(path).unwrap(), Verdict::Compatible);
    assert_eq!(fs::read_to_string(&released).unwrap(), BASE);
    fs::write(path.join("openapi/v1.yaml"), revision()).unwrap();
    assert_eq!(super::super::release(path).unwrap(), Verdict::Breaking);
    assert_eq!(fs::read_to_string(&released).unwrap(), BASE, "it stays as it was");
    let found = compared(None, TODAY).unwrap().findings.into_iter().find(Finding::breaks).unwrap();
    let waivers = path.join("openapi/released/waivers.toml");
    fs::write(&waivers, waiver(&found.fingerprint, "2099-01-01")).unwrap();
    assert_eq!(super::super::release(path).unwrap(), Verdict::Compatible);
    assert_eq!(fs::read_to_string(&released).unwrap(), revision());
    assert!(!waivers.exists(), "the waivers are spent");
    fs::write(&waivers, waiver(&found.fingerprint, "2099-01-01")).unwrap();
    let stale = format!("{:#}", super::super::release(path).unwrap_err());
    assert!(stale.starts_with("openapi/released/v1.yaml stays as it was: nothing is decided"), "{stale}");
    assert!(stale.contains("matches nothing; take it out"), "{stale}");
}
