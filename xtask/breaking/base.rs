//! Where the base comes from: a file, or the contract as a git revision has it.
//!
//! Owns that a base which cannot be had is an error with a remedy, never an empty one; and where waivers come from: a
//! revision that the change is not part of, so that no change waives itself. Only `--waivers` names a file of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use contract::source::Source;

use super::files::Files;
use super::waivers::Waivers;

/// The contract as last released.
pub(crate) const RELEASED: &str = "openapi/released/v1.yaml";
/// The contract.
pub(crate) const CONTRACT: &str = "openapi/v1.yaml";
/// The file of waivers, in the folder of the released contract.
const WAIVERS: &str = "waivers.toml";
/// The branch that changes are merged into, as git calls it in a clone.
pub(super) const TARGET: &str = "origin/HEAD";

/// The base and the waivers that count.
#[derive(Debug)]
pub(crate) struct Side {
    /// The text of the base.
    pub source: Source,
    /// The waivers, when there are some.
    pub waivers: Option<Waivers>,
    /// Why waivers of the working tree do not count, when there are such.
    pub note: Option<String>,
}

/// Takes the base from a file, or else from a git revision of the contract, which is called by its way from the root. The
/// waivers come from `waivers`, a file or a revision; without it, from the revision that is the base, or else from the branch
/// that changes are merged into.
///
/// # Errors
/// When one of them is neither a file nor a revision, or cannot be read.
pub(crate) fn read(files: &Files, base: &str, contract: &str, waivers: Option<&str>) -> Result<Side> {
    ensure!(!base.is_empty(), "--base is empty; name a file or a git revision");
    let workspace = files.workspace.as_path();
    let file = files.find(base);
    let source = match &file {
        Some(name) => contract::open(workspace, name)?,
        None => from_git(workspace, base, contract)?,
    };
    let beside = match &file {
        Some(name) => waivers_beside(name),
        None => released_beside(contract),
    };
    let (waivers, note) = match (waivers, &file) {
        (Some(named), _) => (Some(named_waivers(files, named, &beside)?), None),
        (None, None) => counted(workspace, base, &beside)?,
        (None, Some(_)) => counted(workspace, TARGET, &beside)?,
    };
    Ok(Side { source, waivers, note })
}

/// The contract as a revision has it.
fn from_git(workspace: &Path, base: &str, contract: &str) -> Result<Source> {
    if !git_knows(workspace, base)
        && let Some(sentence) = why_not(workspace, base)
    {
        bail!("there is no base: {sentence}");
    }
    from_revision(workspace, base, contract)
}

/// What is wrong with the name of a base, when it was surely meant as that of a file.
fn why_not(workspace: &Path, base: &str) -> Option<String> {
    if base == RELEASED {
        return Some(format!(
            "{base} does not exist. Put the released contract there with `cargo xtask release-contract`, or name another \
             file or a git revision by --base"
        ));
    }
    if let Some((revision, file)) = base.split_once(':')
        && git_knows(workspace, revision)
    {
        return Some(format!(
            "`{base}` is a file in a revision. Name the revision by `--base {revision}`, and the file by `--contract {file}`"
        ));
    }
    if Path::new(base).is_absolute() {
        return Some(format!("{base} does not exist"));
    }
    looks_like_a_file(base).then(|| {
        format!(
            "{base} does not exist, neither in this folder nor at the root of the workspace; name another file or a git \
             revision by --base"
        )
    })
}

fn looks_like_a_file(base: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| base.to_ascii_lowercase().ends_with(ending))
}

/// The waivers that `--waivers` names: all of them must match.
fn named_waivers(files: &Files, named: &str, beside: &Path) -> Result<Waivers> {
    ensure!(!named.is_empty(), "--waivers is empty; name a file or a git revision");
    let workspace = files.workspace.as_path();
    if let Some(name) = files.find(named) {
        let text =
            std::fs::read_to_string(workspace.join(&name)).with_context(|| format!("cannot read {name}"))?;
        return Ok(Waivers { name, text, of_another: false });
    }
    ensure!(
        git_knows(workspace, named),
        "there are no waivers: `{named}` is neither a file nor a git revision; `git fetch` it, or correct the name"
    );
    let waivers = of_revision(workspace, named, beside)?;
    waivers.with_context(|| {
        format!("there are no waivers: {} is not in the revision `{named}`", beside.display())
    })
}

/// The waivers of a revision, and why those of the working tree do not count where they are others.
fn counted(workspace: &Path, revision: &str, beside: &Path) -> Result<(Option<Waivers>, Option<String>)> {
    let known = beside.is_relative() && git_knows(workspace, revision);
    let waivers = if known { of_revision(workspace, revision, beside)? } else { None };
    let here = std::fs::read_to_string(workspace.join(beside)).ok();
    let counts = waivers.as_ref().map(|waivers| &waivers.text);
    let note = here.filter(|here| Some(here) != counts).map(|_| {
        let name = beside.display();
        if known {
            format!(
                "{name} is another in `{revision}`, which counts: merge waivers before the change that needs them"
            )
        } else if beside.is_absolute() {
            format!("{name} does not count, since it is outside of the workspace; name it by --waivers")
        } else {
            format!(
                "{name} does not count, since git does not know `{revision}` here; name waivers by --waivers"
            )
        }
    });
    Ok((waivers, note))
}

/// The file of waivers as a revision has it. What they let pass may be in that revision already, or be yet to come.
fn of_revision(workspace: &Path, revision: &str, beside: &Path) -> Result<Option<Waivers>> {
    let beside = beside.display();
    let Some(bytes) = git(workspace, &["show", &format!("{revision}:./{beside}")])? else { return Ok(None) };
    let name = format!("{revision}:{beside}");
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
    Ok(Some(Waivers { name, text, of_another: true }))
}

/// The file of waivers beside a base.
pub(crate) fn waivers_beside(base: &str) -> PathBuf {
    Path::new(base).parent().unwrap_or(Path::new("")).join(WAIVERS)
}

/// The file of waivers of a contract whose released copy stands in a folder beside it.
fn released_beside(contract: &str) -> PathBuf {
    Path::new(contract).parent().unwrap_or(Path::new("")).join("released").join(WAIVERS)
}

fn from_revision(workspace: &Path, revision: &str, contract: &str) -> Result<Source> {
    if git(workspace, &["rev-parse", "--git-dir"])?.is_none() {
        bail!("`{revision}` is no file, and this folder is no git repository; name a file by --base");
    }
    if !git_knows(workspace, revision) {
        let shallow = git(workspace, &["rev-parse", "--is-shallow-repository"])?.unwrap_or_default();
        if shallow.starts_with(b"true") {
            bail!(
                "`{revision}` is not in this clone, which is shallow; fetch it first: `git fetch --unshallow origin`, or \
                 `fetch-depth: 0` where CI checks out"
            );
        }
        bail!("`{revision}` is neither a file nor a git revision; `git fetch` it, or correct the name");
    }
    if Path::new(contract).is_absolute() {
        bail!(
            "`{revision}` is a revision of this repository, and {contract} is outside of it; name the base as a file by --base"
        );
    }
    let name = format!("{revision}:./{contract}");
    let Some(bytes) = git(workspace, &["show", &name])? else {
        bail!("{contract} is not in the revision `{revision}`; name the base as a file by --base");
    };
    contract::take(&format!("{revision}:{contract}"), bytes)
}

/// The last common revision of HEAD and a branch.
pub(crate) fn merge_base(workspace: &Path, branch: &str) -> Option<String> {
    let revision = git(workspace, &["merge-base", "HEAD", branch]).ok()??;
    Some(String::from_utf8(revision).ok()?.trim().to_owned())
}

fn git_knows(workspace: &Path, revision: &str) -> bool {
    let name = format!("{revision}^{{commit}}");
    matches!(git(workspace, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]), Ok(Some(_)))
}

/// What git prints, or nothing when it fails.
fn git(workspace: &Path, args: &[&str]) -> Result<Option<Vec<u8>>> {
    let output = Command::new("git")
        .args(args)
        .current_dir(workspace)
        .output()
        .context("cannot start `git`, which a revision as --base needs; name a file instead")?;
    Ok(output.status.success().then_some(output.stdout))
}
