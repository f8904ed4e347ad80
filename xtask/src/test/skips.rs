//! The tests that ran in no step, or only in part. A test reports itself (`tests/it/support/skip.rs`) when it needs another database
//! or a program that is missing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::{fs, io};

use anyhow::{Context as _, Result};

use super::steps::ON_ONE_DATABASE;

/// The environment variable with the file to which tests add a line when they are skipped.
const VARIABLE: &str = "TEST_SKIPPED";

/// Returns the file of a step.
fn file(step: &str) -> io::Result<PathBuf> {
    std::path::absolute(format!("target/skipped-{step}.txt"))
}

/// Returns the environment variable that lets the tests of a step record that they are skipped.
pub(super) fn record(step: &str) -> Result<(&'static str, OsString)> {
    let file = file(step)?;
    fs::create_dir_all("target").context("cannot create the folder target")?;
    fs::write(&file, "").with_context(|| format!("cannot write {}", file.display()))?;
    Ok((VARIABLE, file.into()))
}

/// Returns the skipped tests of the steps `sqlite`, `postgres` and `unit` among these. The first two run the same tests: if both are
/// among the steps, a test is skipped only if it is in both.
pub(super) fn skipped_tests(steps: &[&str]) -> Vec<String> {
    let read = |step| file(step).and_then(fs::read_to_string).unwrap_or_default();
    let texts = steps.iter().map(|step| (*step, read(step))).collect();
    skipped(&texts)
}

/// Returns the skipped tests for the texts of the files by step.
fn skipped(texts: &BTreeMap<&str, String>) -> Vec<String> {
    let tests = |step| {
        let text = texts.get(step).map_or("", String::as_str);
        let lines = text.lines().filter_map(|line| line.strip_prefix("skipped: "));
        lines.filter_map(|line| line.split_once(": ")).collect::<BTreeMap<&str, &str>>()
    };
    let (sqlite, postgres) = (tests("sqlite"), tests("postgres"));
    let has_both = texts.contains_key("sqlite") && texts.contains_key("postgres");
    let mut skipped = tests("unit");
    for (test, reason) in sqlite.iter().chain(&postgres) {
        let runs_once = ON_ONE_DATABASE.iter().any(|module| test.starts_with(module));
        if runs_once || !has_both || (sqlite.contains_key(test) && postgres.contains_key(test)) {
            skipped.insert(test, reason);
        }
    }
    skipped.into_iter().map(|(test, reason)| format!("{test}: {reason}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_ran_on_one_database_is_not_skipped() {
        let sqlite = "skipped: a: PostgreSQL only\nskipped: b: no python\nskipped: systemd::a: no systemd\n";
        let postgres = "skipped: b: no python\nskipped: c: SQLite only\n";
        let mut texts = BTreeMap::from([("sqlite", sqlite.to_owned()), ("postgres", postgres.to_owned())]);
        assert_eq!(skipped(&texts), ["b: no python", "systemd::a: no systemd"]);
        texts.remove("sqlite");
        texts.insert("unit", "skipped: d::e: TEST_REDIS_SERVER is not set\n".to_owned());
        assert_eq!(skipped(&texts), ["b: no python", "c: SQLite only", "d::e: TEST_REDIS_SERVER is not set"]);
    }
}
