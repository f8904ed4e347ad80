//! `cargo xtask tidy`: checks project rules that the compiler does not check.
//!
//! Checks the sizes of files and functions, module comments, ignored tests, the files in the root, the places of modules, unused
//! dependencies, migrations, and links between documents. Cargo enforces the dependencies between crates.

mod dependencies;
mod links;
mod migrations;
mod root;
mod sizes;
mod source;

use std::fmt;
use std::path::Path;

use anyhow::Result;

use source::SourceFile;

use crate::TaskOutcome;

/// A violation of a project rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TidyFinding {
    file: String,
    line: usize,
    /// What is wrong.
    message: String,
    /// How to fix it.
    remedy: String,
    /// Whether the finding is only a warning. Warnings do not fail the check.
    warning: bool,
}

impl TidyFinding {
    fn new(file: &str, line: usize, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into(), remedy: remedy.into(), warning: false }
    }
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, message, remedy, warning } = self;
        let label = if *warning { "warning: " } else { "" };
        write!(f, "{file}:{line}: {label}{message}; {remedy}")
    }
}

/// Checks the project rules in a repository and prints the findings.
///
/// # Errors
/// Returns an error when a source file cannot be read or parsed, or when `git` or `cargo metadata` fails.
pub(crate) fn run(repository: &Path) -> Result<TaskOutcome> {
    Ok(match check(repository)? {
        0 => TaskOutcome::Success,
        _ => TaskOutcome::Findings,
    })
}

/// Prints all findings. Returns the number of findings that are not warnings.
pub(crate) fn check(repository: &Path) -> Result<usize> {
    let files = root::repository_files(repository)?;
    let mut findings = root::check(&files);
    findings.extend(root::check_modules(&files));
    let sources = files.iter().filter(|file| file.ends_with(".rs"));
    let sources: Vec<SourceFile> =
        sources.map(|file| SourceFile::read(repository, file)).collect::<Result<_>>()?;
    for source in &sources {
        findings.extend(sizes::check(source));
        findings.extend(migrations::check(source));
    }
    findings.extend(dependencies::check(repository, &sources)?);
    for file in files.iter().filter(|file| file.ends_with(".md")) {
        let text = std::fs::read_to_string(repository.join(file))?;
        findings.extend(links::check(repository, file, &text));
    }
    let count = sources.len();
    let (warnings, errors): (Vec<TidyFinding>, Vec<TidyFinding>) =
        findings.into_iter().partition(|finding| finding.warning);
    for finding in errors.iter().chain(&warnings) {
        println!("{finding}");
    }
    println!("tidy: {count} files, {} findings, {} warnings", errors.len(), warnings.len());
    Ok(errors.len())
}
