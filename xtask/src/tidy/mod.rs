//! `cargo xtask tidy`: the house rules that a compiler does not know.
//!
//! Checks the sizes of files and functions, what may lie in the root, and that no dependency is unused. Which crate may name which is
//! Cargo's business. Reads source as tokens, so that comments and strings never count. Changes nothing.

mod dependencies;
mod root;
mod sizes;
mod source;

use std::fmt;
use std::path::Path;

use anyhow::Result;

use source::Source;

use crate::Outcome;

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    file: String,
    line: usize,
    /// What is wrong.
    message: String,
    /// What to do about it.
    remedy: String,
    /// True when it is worth a look, but no reason to fail.
    warning: bool,
}

impl Finding {
    fn new(file: &str, line: usize, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into(), remedy: remedy.into(), warning: false }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, message, remedy, warning } = self;
        let mark = if *warning { "warning: " } else { "" };
        write!(f, "{file}:{line}: {mark}{message}; {remedy}")
    }
}

/// Checks the house rules on the repository that lies there.
///
/// # Errors
/// Source that cannot be read.
pub(crate) fn run(repository: &Path) -> Result<Outcome> {
    Ok(match check(repository)? {
        0 => Outcome::Fine,
        _ => Outcome::Findings,
    })
}

/// Prints every finding in this repository; gives how many are reasons to fail.
pub(crate) fn check(repository: &Path) -> Result<usize> {
    let files = root::tracked(repository)?;
    let mut findings = root::check(&files);
    let sources = files.iter().filter(|file| file.ends_with(".rs"));
    let sources: Vec<Source> = sources.map(|file| Source::read(repository, file)).collect::<Result<_>>()?;
    for source in &sources {
        findings.extend(sizes::check(source));
    }
    findings.extend(dependencies::check(repository, &sources)?);
    let count = sources.len();
    let (warnings, faults): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.warning);
    for finding in faults.iter().chain(&warnings) {
        println!("{finding}");
    }
    println!("tidy: {count} files, {} findings, {} warnings", faults.len(), warnings.len());
    Ok(faults.len())
}
