//! Skipped tests. The test harness knows no test that decides at run time not to run, and counts it as passed.

use std::fs::OpenOptions;
use std::io::Write;

/// Reports that the current test, or a part of it, does not run. It prints a line that the harness does not capture, and adds it to
/// the file `TEST_SKIPPED`, from which `cargo xtask test` finds the tests that ran in no step.
pub(crate) fn skip(reason: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("?"));
    std::io::stderr().write_all(line.as_bytes()).expect("standard error accepts text");
    if let Some(path) = std::env::var_os("TEST_SKIPPED") {
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file can be written");
    }
}
