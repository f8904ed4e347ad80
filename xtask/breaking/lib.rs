//! `cargo xtask breaking`: whether a contract keeps what its base promised.
//!
//! A base and a revision are read (`document`), compared (`compare`, `schema`) by the rules of the `catalogue`, and
//! what differs is printed (`report`), less what a waiver lets pass that is no part of the change (`waivers`). It works on any two
//! OpenAPI documents, not on ours alone.

mod advice;
mod base;
mod catalogue;
mod compare;
mod document;
mod files;
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
use contract::Refused;
use contract::diagnostic;
use jiff::civil::Date;

use self::files::Files;
use self::finding::Finding;
use self::report::Compared;
use self::rule::Level;

pub use self::release::run as release;

/// Which two documents are compared, and how the differences are printed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What was promised: a file, or a git revision of the contract. A file is looked for in this folder, then at the root
    #[arg(long, value_name = "FILE|REVISION", default_value = base::RELEASED)]
    base: String,
    /// What is promised now
    #[arg(long, value_name = "FILE", default_value = base::CONTRACT)]
    contract: String,
    /// Where waivers come from, instead of the revision that is the base, or of origin/HEAD for a file
    #[arg(long, value_name = "FILE|REVISION")]
    waivers: Option<String>,
    /// How differences are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// How differences are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people: the lines are drawn.
    Text,
    /// For programs: one JSON object a line, at last the sums.
    Json,
    /// For a CI service that understands GitHub's workflow commands.
    Github,
    /// For a comment or a release note.
    Markdown,
}

/// Whether clients of the base keep working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No change breaks a client, or waivers accept those that do.
    Compatible,
    /// At least one change breaks a client.
    Breaking,
}

/// Prints what breaks, and what may break.
///
/// # Errors
/// When a document cannot be had, read or compared, or a waiver cannot be read, has expired or, but for one of a revision,
/// matches nothing.
pub fn run(workspace: &Path, args: &Args) -> Result<Verdict> {
    let compared = compared(workspace, args)?;
    print!("{}", report::gate(&compared, args.format));
    verdict(&compared)
}

/// The revision at which HEAD branched off the branch that changes are merged into; `None` when this clone does not have it.
pub fn branch_point(workspace: &Path) -> Option<String> {
    base::merge_base(workspace, base::TARGET)
}

/// What the gate decides.
///
/// # Errors
/// When a waiver is stale or has expired: who wrote the list and who reads it do not mean the same changes any more.
fn verdict(compared: &Compared) -> Result<Verdict> {
    ensure!(compared.faults.is_empty(), "nothing is decided: {}", compared.faults.join("; "));
    let red = compared.findings.iter().any(Finding::breaks);
    Ok(if red { Verdict::Breaking } else { Verdict::Compatible })
}

/// Prints every difference that a client can notice.
///
/// # Errors
/// When a document cannot be had, read or compared, or the waivers cannot be read. A waiver that matches nothing or has expired
/// is none: here nothing is decided.
pub fn changelog(workspace: &Path, args: &Args) -> Result<()> {
    print!("{}", report::changelog(&compared(workspace, args)?, args.format));
    Ok(())
}

/// The two documents, compared today.
fn compared(workspace: &Path, args: &Args) -> Result<Compared> {
    let here = std::env::current_dir().context("this folder is gone; go to another one")?;
    let files = Files::new(&here, workspace);
    ensure!(!args.contract.is_empty(), "--contract is empty; name a file");
    let contract = files.find(&args.contract).with_context(|| {
        format!(
            "there is no contract to compare: {} does not exist; name another file by --contract",
            args.contract
        )
    })?;
    let side = base::read(&files, &args.base, &contract, args.waivers.as_deref())?;
    if let Some(note) = &side.note {
        eprintln!("note: {note}");
    }
    let revision = contract::open(&files.workspace, &contract)?;
    judge(side, revision, today())
}

/// Compares what was read.
fn judge(side: base::Side, revision: contract::source::Source, today: Date) -> Result<Compared> {
    // Reading takes longer than comparing: the two are read at once.
    let (base, revision) = thread::scope(|scope| {
        let base = scope.spawn(|| document::read(side.source));
        let revision = document::read(revision);
        (base.join(), revision)
    });
    let base = base.map_err(|_| anyhow::anyhow!("the base cannot be read: its reader failed"))?;
    let base = base.map_err(|refused| refusal(&refused))?;
    let revision = revision.map_err(|refused| refusal(&refused))?;
    let mut findings = compare::compare(&base, &revision, today);
    let faults = match &side.waivers {
        Some(waivers) => waivers::apply(waivers, &mut findings, today)?,
        None => Vec::new(),
    };
    Ok(Compared { base, revision, findings, faults })
}

/// A document that cannot be compared, as an error.
fn refusal(refused: &Refused) -> anyhow::Error {
    let drawn = refused.render(diagnostic::Format::Text);
    anyhow::anyhow!("{} cannot be compared\n{}", refused.source.name, drawn.trim_end())
}

/// The day, from the machine: everything below is told it.
#[allow(clippy::disallowed_methods, reason = "the tools' one place that reads the machine's clock")]
fn today() -> Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}

impl Finding {
    /// Whether it closes the gate.
    pub(crate) fn breaks(&self) -> bool {
        self.level == Level::Error && self.waived.is_none()
    }
}
