//! The command line of `openapi-gate`.
//!
//! Exit codes: 0 success, 1 breaking changes, 2 the command could not run.

mod descriptions;
mod git_diff;
mod reference;
mod settings;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, Subcommand};
use contract::usage::UsageReport;

use self::settings::SettingsArgs;
use super::base::BaseInput;
use super::config::{FailOn, Settings};
use super::inputs::DocumentName;
use super::problems::{print_document_warnings, print_invalid_document};
use super::report::{self, ComparisonResult};
use super::{Compatibility, ReportFormat, compare_documents, compatibility, now, today};
use super::{names, output, usage};

/// Finds the changes between two OpenAPI documents that break clients.
///
/// Reads OpenAPI 3.0, 3.1 and 3.2 as YAML or JSON, with the files beside them to which they refer. A document is a
/// file, `-` for standard input, or `REVISION:PATH` in the git repository of the current folder (`:PATH` is the
/// version in the index).
///
/// Exit codes: 0 no breaking change, 1 breaking changes, 2 the command could not run.
#[derive(Debug, Parser)]
#[command(name = "openapi-gate", version)]
struct CommandLine {
    #[command(subcommand)]
    command: GateCommand,
}

#[derive(Debug, Subcommand)]
enum GateCommand {
    /// Report breaking changes and warnings, and exit with code 1 if there are breaking changes.
    ///
    /// In CI, let --base be the target branch, such as `--base origin/main`. Then the waivers and the configuration
    /// are read from that branch too, so that a change cannot waive itself.
    Check {
        #[command(flatten)]
        comparison: ComparisonArgs,
        /// The level from which the command fails. Default: `fail-on` of the configuration, or else error
        #[arg(long, value_enum, value_name = "LEVEL")]
        fail_on: Option<FailOn>,
        /// A usage report of `creator-api candidate report --json`. Findings about requests name the API keys that send
        /// them; the policy `usage` of the configuration lowers those that nobody sends to warnings
        #[arg(long, value_name = "FILE")]
        usage: Option<String>,
    },
    /// Print all changes that clients can notice, in groups.
    Changelog(ComparisonArgs),
    /// Print a migration guide for the users of the API, in Markdown.
    ///
    /// For each breaking change and each new deprecation, the guide contains an example from before and after the
    /// change, and what the code of a client must do. It includes changes that a waiver accepts. If all paths of each
    /// document have one version, such as `/api/v1/` and `/api/v2/`, operations are compared regardless of it. Breaking
    /// changes do not change the exit code, which is 0.
    Guide(DocumentArgs),
    /// List the rules: id, level according to the configuration, what a rule finds, who breaks, and how to avoid it.
    Rules(reference::RulesArgs),
    /// Print the changes of one file for `git diff`: see `diff.<driver>.command` in gitattributes(5).
    GitDiff(git_diff::GitDiffArgs),
}

/// The documents to compare, and the output format.
#[derive(Debug, clap::Args)]
struct ComparisonArgs {
    #[command(flatten)]
    documents: DocumentArgs,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
}

/// The documents to compare, and the settings.
#[derive(Debug, clap::Args)]
struct DocumentArgs {
    /// The old document: a file, `-`, `REVISION:PATH`, or a git revision that contains the new document's path
    #[arg(long, value_name = "DOCUMENT")]
    base: String,
    /// The new document: a file, `-` or `REVISION:PATH`
    #[arg(value_name = "DOCUMENT")]
    revision: String,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `openapi-gate` with the arguments of the process.
pub fn main() -> ExitCode {
    let arguments = match CommandLine::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match run(&arguments.command) {
        Ok(Compatibility::Compatible) => ExitCode::SUCCESS,
        Ok(Compatibility::Breaking) => ExitCode::from(1),
        Err(error) => {
            output::print_message(&format!("error: {error:#}\n"));
            ExitCode::from(2)
        }
    }
}

fn run(command: &GateCommand) -> Result<Compatibility> {
    let directory = std::env::current_dir()
        .context("the current directory does not exist; change to another directory")?;
    match command {
        GateCommand::Check { comparison, fail_on, usage } => {
            let (mut result, settings) =
                compare(&directory, &comparison.documents, comparison.format, Purpose::Verdict)?;
            if let Some(name) = usage {
                let report = names::read_file(&directory, name)?;
                let report = UsageReport::parse(name, &report.text, now())?;
                let documents = (&result.base, &result.revision);
                usage::apply(&report, documents, &settings, &mut result.findings, today())?;
            }
            output::print(&report::breaking_changes(&result, comparison.format))?;
            compatibility(&result, fail_on.unwrap_or(settings.fail_on))
        }
        GateCommand::Changelog(comparison) => {
            let (result, _) =
                compare(&directory, &comparison.documents, comparison.format, Purpose::Changes)?;
            output::print(&report::changelog(&result, comparison.format))?;
            Ok(Compatibility::Compatible)
        }
        GateCommand::Guide(documents) => {
            let (result, _) = compare(&directory, documents, ReportFormat::Markdown, Purpose::Guide)?;
            output::print(&report::guide(&result))?;
            Ok(Compatibility::Compatible)
        }
        GateCommand::Rules(args) => {
            output::print(&reference::render(&directory, args)?)?;
            Ok(Compatibility::Compatible)
        }
        GateCommand::GitDiff(args) => {
            output::print(&git_diff::render(&directory, args))?;
            Ok(Compatibility::Compatible)
        }
    }
}

/// What a comparison is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Verdict,
    Changes,
    Guide,
}

/// Compares the documents of the arguments. Also returns the configuration.
fn compare(
    directory: &Path,
    args: &DocumentArgs,
    format: ReportFormat,
    purpose: Purpose,
) -> Result<(ComparisonResult, Settings)> {
    let parse = |name: &str, argument: &str| {
        DocumentName::parse(directory, name, names::existing_file(directory, name), argument)
    };
    let base = parse(&args.base, "--base")?;
    let revision = parse(&args.revision, "the new document")?;
    let both_are_standard_input = base == DocumentName::StandardInput && revision == base;
    ensure!(!both_are_standard_input, "only one of the documents can be standard input");
    let path = revision.path_in_revisions(directory);
    ensure!(
        path.is_some() || !matches!(base, DocumentName::Revision(_)),
        "specify the path of the base as `--base {}:PATH`, because the new document has no path in the repository",
        args.base
    );
    let mut document = base.read(directory, path.as_deref())?;
    let has_verdict = purpose == Purpose::Verdict;
    let (mut settings, waivers) = args.settings.read(directory, base.revision(), has_verdict)?;
    settings.aligns_versions = purpose == Purpose::Guide;
    let mut new_document = revision.read(directory, None)?;
    if format.has_paths() {
        new_document.locate(directory, &revision);
        // The positions in another revision are not those in the working tree.
        if matches!(base, DocumentName::File(_)) {
            document.locate(directory, &base);
        }
    }
    let base = BaseInput { document, waivers, note: None };
    let result = compare_documents(base, new_document, &settings, today());
    let result = print_invalid_document(result, format)?;
    print_document_warnings(&result, format)?;
    Ok((result, settings))
}
