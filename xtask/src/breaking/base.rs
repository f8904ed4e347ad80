//! Where the base comes from: a file, or the contract as a git revision has it.
//!
//! Owns that a base which cannot be had is an error with a remedy, never an empty one. The waivers come from the same place,
//! so that a change does not waive itself; those of a revision speak of the contract that was released then, not of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::files::Files;
use super::waivers::Waivers;
use crate::contract::{self, source::Source};

/// The contract as last released.
pub const RELEASED: &str = "openapi/released/v1.yaml";
/// The contract.
pub const CONTRACT: &str = "openapi/v1.yaml";
/// The file of waivers, in the folder of the released contract.
const WAIVERS: &str = "waivers.toml";

/// The base and the waivers that stand beside it.
#[derive(Debug)]
pub struct Side {
    /// The text of the base.
    pub source: Source,
    /// The waivers, when there are some.
    pub waivers: Option<Waivers>,
}

/// Takes the base from a file, or else from a git revision of the contract, which is called by its way from the root.
///
/// # Errors
/// When it is neither, or cannot be read.
pub fn read(files: &Files, base: &str, contract: &str) -> Result<Side> {
    ensure!(!base.is_empty(), "--base is empty; name a file or a git revision");
    let workspace = files.workspace.as_path();
    if let Some(name) = files.find(base) {
        return from_file(workspace, &name);
    }
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

fn from_file(workspace: &Path, base: &str) -> Result<Side> {
    let source = contract::open(workspace, base)?;
    let name = waivers_beside(base);
    let path = workspace.join(&name);
    let waivers = if path.exists() {
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", name.display()))?;
        Some(Waivers { name: name.display().to_string(), text, of_another: false })
    } else {
        None
    };
    Ok(Side { source, waivers })
}

/// The file of waivers beside a base.
pub fn waivers_beside(base: &str) -> PathBuf {
    Path::new(base).parent().unwrap_or(Path::new("")).join(WAIVERS)
}

fn from_revision(workspace: &Path, revision: &str, contract: &str) -> Result<Side> {
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
    let source = contract::take(&format!("{revision}:{contract}"), bytes)?;
    let folder = Path::new(contract).parent().unwrap_or(Path::new(""));
    let beside = folder.join("released").join(WAIVERS).display().to_string();
    let waivers = git(workspace, &["show", &format!("{revision}:./{beside}")])?;
    let waivers = match waivers {
        None => None,
        Some(bytes) => {
            let name = format!("{revision}:{beside}");
            let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
            Some(Waivers { name, text, of_another: true })
        }
    };
    Ok(Side { source, waivers })
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
