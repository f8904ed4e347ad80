//! `cargo xtask breaking`: reports the changes between two OpenAPI documents that break clients.
//!
//! The base (the old document) and the revision (the new one) are read (`document`) and compared (`compare`, `schema`)
//! according to the rules in `catalog`. Each change is a finding. `waivers` marks the findings that were accepted, and
//! `report` formats the result. The command works with any two OpenAPI documents, not only with this project's
//! contract.

mod advice;
mod base;
mod catalog;
mod compare;
mod document;
mod file_resolver;
mod finding;
mod references;
mod release;
mod report;
mod rule;
mod schema;
mod shape;
mod waivers;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result, ensure};
use contract::InvalidContract;
use contract::diagnostic;
use jiff::civil::Date;

use self::file_resolver::FileResolver;
use self::finding::Finding;
use self::report::ComparisonResult;
use self::rule::Level;

pub use self::release::run as release;

/// The command-line arguments: the two documents to compare and the output format.
#[derive(Debug, clap::Args)]
pub struct BreakingArgs {
    /// Base (old document): a file, or a git revision of the contract. A file name is resolved in the current
    /// directory, then at the workspace root
    #[arg(long, value_name = "FILE|REVISION", default_value = base::RELEASED)]
    base: String,
    /// Revision (new document): the contract to compare with the base
    #[arg(long, value_name = "FILE", default_value = base::CONTRACT)]
    contract: String,
    /// Source of the waivers. Default: the base if it is a git revision, otherwise origin/HEAD
    #[arg(long, value_name = "FILE|REVISION")]
    waivers: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
}

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// Diagnostics with source excerpts.
    Text,
    /// One JSON object per line; the last line contains the totals.
    Json,
    /// GitHub workflow commands (annotations).
    Github,
    /// Markdown for a comment or a release note.
    Markdown,
}

/// The verdict of the breaking-change gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compatibility {
    /// There is no breaking change, or each one is waived.
    Compatible,
    /// At least one breaking change is not waived.
    Breaking,
}

/// Prints breaking changes and warnings. Returns the verdict.
///
/// # Errors
/// Returns an error when a document cannot be found, read or compared, when the waivers cannot be found or read, when
/// an expired waiver matches a finding, or when a waiver that does not come from a git revision matches no finding.
pub fn run(workspace: &Path, args: &BreakingArgs) -> Result<Compatibility> {
    let result = load_and_compare(workspace, args)?;
    print!("{}", report::gate(&result, args.format));
    compatibility(&result)
}

/// Returns the commit id of the merge base of HEAD and the target branch (`origin/HEAD`), or `None` when git cannot
/// find it.
pub fn branch_point(workspace: &Path) -> Option<String> {
    base::merge_base(workspace, base::TARGET)
}

/// Returns the verdict of the breaking-change gate.
///
/// # Errors
/// Returns an error when there are waiver errors (unused or expired waivers). They must be corrected before there is a
/// verdict.
fn compatibility(result: &ComparisonResult) -> Result<Compatibility> {
    ensure!(result.waiver_errors.is_empty(), "no verdict: {}", result.waiver_errors.join("; "));
    let is_breaking = result.findings.iter().any(Finding::breaks);
    Ok(if is_breaking { Compatibility::Breaking } else { Compatibility::Compatible })
}

/// Prints all findings, including harmless changes and waived findings.
///
/// # Errors
/// Returns an error when a document cannot be found, read or compared, or when the waivers cannot be found or read.
/// Unused or expired waivers are not an error here, because a changelog has no verdict.
pub fn changelog(workspace: &Path, args: &BreakingArgs) -> Result<()> {
    print!("{}", report::changelog(&load_and_compare(workspace, args)?, args.format));
    Ok(())
}

/// Loads and compares the two documents as of today.
fn load_and_compare(workspace: &Path, args: &BreakingArgs) -> Result<ComparisonResult> {
    let current_directory = std::env::current_dir()
        .context("the current directory does not exist; change to another directory")?;
    let resolver = FileResolver::new(&current_directory, workspace);
    ensure!(!args.contract.is_empty(), "--contract is empty; specify a file");
    let contract = resolver.find(&args.contract).with_context(|| {
        format!("contract {} does not exist; specify another file with --contract", args.contract)
    })?;
    let input = base::read(&resolver, &args.base, &contract, args.waivers.as_deref())?;
    if let Some(note) = &input.note {
        eprintln!("note: {note}");
    }
    let revision = contract::read_file(&resolver.workspace, &contract)?;
    compare_documents(input, revision, today())
}

/// Parses both documents, compares them and applies the waivers.
fn compare_documents(
    input: base::BaseInput,
    revision: contract::source::Source,
    today: Date,
) -> Result<ComparisonResult> {
    // Parsing takes longer than comparing, so both documents are parsed in parallel.
    let (base, revision) = thread::scope(|scope| {
        let base = scope.spawn(|| document::read(input.source));
        let revision = document::read(revision);
        (base.join(), revision)
    });
    let base = base.map_err(|_| anyhow::anyhow!("cannot read the base: the reader panicked"))?;
    let base = base.map_err(|invalid| invalid_document_error(&invalid))?;
    let revision = revision.map_err(|invalid| invalid_document_error(&invalid))?;
    let mut findings = compare::compare(&base, &revision, today);
    let waiver_errors = match &input.waivers {
        Some(waivers) => waivers::apply(waivers, &mut findings, today)?,
        None => Vec::new(),
    };
    Ok(ComparisonResult { base, revision, findings, waiver_errors })
}

/// Converts the diagnostics of an invalid document into an error.
fn invalid_document_error(invalid: &InvalidContract) -> anyhow::Error {
    let rendered = invalid.render(diagnostic::DiagnosticFormat::Text);
    anyhow::anyhow!("cannot compare {}\n{}", invalid.source.name, rendered.trim_end())
}

/// Returns today's date (UTC). The comparison receives the date as an argument.
#[allow(clippy::disallowed_methods, reason = "the only function of the tools that reads the system clock")]
fn today() -> Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

impl Finding {
    /// Whether the finding is a breaking change that is not waived.
    pub(crate) fn breaks(&self) -> bool {
        self.level == Level::Error && self.waived.is_none()
    }
}
