//! `openapi-gate` and `cargo xtask breaking`: report the changes between two OpenAPI documents that break clients.
//!
//! The base (the old document) and the revision (the new one) are read (`bundle`, `document`) and compared (`compare`,
//! `schema`) according to the rules in `catalog`. Each change is a finding. `config` sets the levels of findings,
//! `waivers` marks the findings that were accepted, and `report` formats the result. `cargo xtask breaking` compares
//! this project's contract with the released one, by this project's policies. `openapi-gate` compares any two
//! documents.

mod advice;
mod base;
mod bundle;
mod catalog;
mod changelog_file;
mod command_line;
mod compare;
mod config;
mod document;
mod file_resolver;
mod finding;
mod git;
mod inputs;
mod names;
mod output;
mod path_version;
mod policies;
mod problems;
mod references;
mod release;
mod report;
mod rule;
mod schema;
mod shape;
mod usage;
mod version;
mod waivers;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result, ensure};
use contract::InvalidContract;
use contract::diagnostic::Diagnostic;
use jiff::civil::Date;

use self::config::{FailOn, Settings};
use self::document::OpenApiDocument;
use self::file_resolver::FileResolver;
use self::finding::Finding;
use self::inputs::{DocumentName, Input};
use self::problems::{InvalidDocument, print_document_warnings, print_invalid_document};
use self::report::ComparisonResult;
use self::rule::Level;

pub use self::command_line::main as run_openapi_gate;
pub use self::release::{ReleaseArgs, run as release};

/// The command-line arguments: the two documents to compare and the output format.
#[derive(Debug, clap::Args)]
pub struct BreakingArgs {
    /// Base (old document): a file, a git revision of the contract, or `REVISION:PATH`. A file name is resolved in the
    /// current directory, then at the workspace root. Default: the released copy of the contract, in openapi/released
    #[arg(long, value_name = "FILE|REVISION")]
    base: Option<String>,
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
    /// SARIF 2.1.0 for code scanning services.
    Sarif,
}

impl ReportFormat {
    /// Whether a service reads the format, which expects paths in the repository.
    const fn has_paths(self) -> bool {
        matches!(self, Self::Github | Self::Sarif)
    }
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
    output::print(&report::breaking_changes(&result, args.format))?;
    compatibility(&result, FailOn::Error)
}

/// Returns the commit id of the merge base of HEAD and the target branch (`origin/HEAD`), or `None` when git cannot
/// find it.
pub fn branch_point(workspace: &Path) -> Option<String> {
    git::merge_base(workspace, base::TARGET)
}

/// Returns whether a git revision contains a file. `path` is relative to the workspace.
///
/// # Errors
/// Returns an error when git fails.
pub fn contains(workspace: &Path, revision: &str, path: &str) -> Result<bool> {
    Ok(git::contents(workspace, &format!("{revision}:./{path}"))?.is_some())
}

/// Returns the verdict of the breaking-change gate.
///
/// # Errors
/// Returns an error when there are waiver errors (unused or expired waivers). They must be corrected before there is a
/// verdict.
fn compatibility(result: &ComparisonResult, fail_on: FailOn) -> Result<Compatibility> {
    ensure!(result.waiver_errors.is_empty(), "no verdict: {}", result.waiver_errors.join("; "));
    let fails = |finding: &Finding| match fail_on {
        FailOn::Error => finding.breaks(),
        FailOn::Warning => finding.level >= Level::Warning && finding.waived.is_none(),
    };
    let is_breaking = result.findings.iter().any(fails);
    Ok(if is_breaking { Compatibility::Breaking } else { Compatibility::Compatible })
}

/// Prints all findings, including harmless changes and waived findings.
///
/// # Errors
/// Returns an error when a document cannot be found, read or compared, or when the waivers cannot be found or read.
/// Unused or expired waivers are not an error here, because a changelog has no verdict.
pub fn changelog(workspace: &Path, args: &BreakingArgs) -> Result<()> {
    output::print(&report::changelog(&load_and_compare(workspace, args)?, args.format))?;
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
    let base = args.base.clone().unwrap_or_else(|| base::released(&contract));
    let input = base::read(&resolver, &base, &contract, args.waivers.as_deref())?;
    if let Some(note) = &input.note {
        output::print_message(&format!("note: {note}\n"));
    }
    let mut revision = Input::from_file(&resolver.workspace, &contract)?;
    if args.format.has_paths() {
        revision.locate(&resolver.workspace, &DocumentName::File(contract));
    }
    let result = compare_documents(input, revision, &Settings::project(), today());
    let result = print_invalid_document(result, args.format)?;
    print_document_warnings(&result, args.format)?;
    Ok(result)
}

/// Parses both documents, compares them and applies the settings and the waivers.
fn compare_documents(
    input: base::BaseInput,
    revision: Input,
    settings: &Settings,
    today: Date,
) -> Result<ComparisonResult> {
    let read = |input: Input| {
        let mut document = document::read_with_files(input.source, &input.files)?;
        settings.remove_ignored_paths(&mut document.root);
        Ok(document)
    };
    let base::BaseInput { document: base, waivers, .. } = input;
    // Parsing takes longer than comparing, so both documents are parsed in parallel.
    let (base, revision) = thread::scope(|scope| {
        let base = scope.spawn(|| read(base));
        let revision = read(revision);
        (base.join(), revision)
    });
    let base = base.map_err(|_| anyhow::anyhow!("cannot read the base: the reader panicked"))?;
    let mut base = base.map_err(InvalidDocument)?;
    let revision = revision.map_err(InvalidDocument)?;
    let aligned = settings.aligns_versions.then(|| path_version::align(&mut base.root, &revision.root));
    let mut findings = match find_changes(&base, &revision, settings, today) {
        Ok(findings) => findings,
        Err(diagnostic) => {
            let invalid = InvalidContract { source: revision.source, diagnostics: vec![*diagnostic] };
            return Err(InvalidDocument(Box::new(invalid)).into());
        }
    };
    let waiver_errors = match &waivers {
        Some(waivers) => waivers::apply(waivers, &mut findings, today)?,
        None => Vec::new(),
    };
    Ok(ComparisonResult { base, revision, findings, waiver_errors, path_versions: aligned.flatten() })
}

/// Compares two documents. Returns the findings with the levels of the settings, sorted by position in the revision.
///
/// # Errors
/// Returns an error about the revision if its schemas have too many combinations.
fn find_changes(
    base: &OpenApiDocument,
    revision: &OpenApiDocument,
    settings: &Settings,
    today: Date,
) -> Result<Vec<Finding>, Box<Diagnostic>> {
    let mut findings = compare::compare(base, revision, today, settings.grace_periods())?;
    settings.apply(&mut findings);
    // Which version is expected depends on the levels.
    let mut version_findings = version::check(base, revision, &findings);
    settings.apply(&mut version_findings);
    findings.append(&mut version_findings);
    finding::sort(&mut findings);
    Ok(findings)
}

/// Returns today's date (UTC). The comparison receives the date as an argument.
fn today() -> Date {
    now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Returns the current time.
#[allow(clippy::disallowed_methods, reason = "the only function of the tools that reads the system clock")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

impl Finding {
    /// Whether the finding is a breaking change that is not waived.
    pub(crate) fn breaks(&self) -> bool {
        self.level == Level::Error && self.waived.is_none()
    }
}
