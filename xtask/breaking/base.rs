//! Loads the base (a file, or the contract at a git revision) and the waivers (accepted findings).
//!
//! A base that cannot be found is an error with a remedy, never an empty document. By default, waivers come from a git
//! revision that does not contain the change under review, so that a change cannot waive itself. A waiver file in the
//! working tree applies only if `--waivers` names it, and in `cargo xtask release-contract`. In this module, `revision`
//! is a git revision, not the new document.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use contract::source::Source;

use super::file_resolver::FileResolver;
use super::waivers::Waivers;

/// The path of the released contract, relative to the workspace root.
pub(crate) const RELEASED: &str = "openapi/released/v1.yaml";
/// The path of the current contract, relative to the workspace root.
pub(crate) const CONTRACT: &str = "openapi/v1.yaml";
/// The name of the waiver file, in the directory of the released contract.
const WAIVERS: &str = "waivers.toml";
/// The git reference of the branch into which changes are merged.
pub(super) const TARGET: &str = "origin/HEAD";

/// The base and the waivers that apply.
#[derive(Debug)]
pub(crate) struct BaseInput {
    /// The source text of the base.
    pub source: Source,
    /// The waivers, if any.
    pub waivers: Option<Waivers>,
    /// A message that the waivers in the working tree are ignored, if they are.
    pub note: Option<String>,
}

/// Loads the base and the waivers. `base` is a file, or a git revision that contains the contract at the path
/// `contract`. The waivers come from `waivers`, a file or a revision; without it, from the base if that is a revision,
/// otherwise from the target branch.
///
/// # Errors
/// Returns an error when one of the arguments is neither a file nor a revision, or cannot be read.
pub(crate) fn read(
    resolver: &FileResolver,
    base: &str,
    contract: &str,
    waivers: Option<&str>,
) -> Result<BaseInput> {
    ensure!(!base.is_empty(), "--base is empty; specify a file or a git revision");
    let workspace = resolver.workspace.as_path();
    let file = resolver.find(base);
    let source = match &file {
        Some(name) => contract::read_file(workspace, name)?,
        None => load_from_git(workspace, base, contract)?,
    };
    let waivers_file = match &file {
        Some(name) => waivers_path(name),
        None => released_waivers_path(contract),
    };
    let (waivers, note) = match (waivers, &file) {
        (Some(name_or_revision), _) => {
            (Some(load_named_waivers(resolver, name_or_revision, &waivers_file)?), None)
        }
        (None, None) => load_default_waivers(workspace, base, &waivers_file)?,
        (None, Some(_)) => load_default_waivers(workspace, TARGET, &waivers_file)?,
    };
    Ok(BaseInput { source, waivers, note })
}

/// Loads the contract at a git revision.
///
/// # Errors
/// Returns an error with a remedy when the revision does not exist or does not contain the contract.
fn load_from_git(workspace: &Path, base: &str, contract: &str) -> Result<Source> {
    if !is_revision(workspace, base)
        && let Some(explanation) = explain_missing_base(workspace, base)
    {
        bail!("base not found: {explanation}");
    }
    load_contract_at(workspace, base, contract)
}

/// Explains why a base that is neither a file nor a revision cannot be found. Returns `None` if it does not look like
/// the name of a file.
fn explain_missing_base(workspace: &Path, base: &str) -> Option<String> {
    if base == RELEASED {
        return Some(format!(
            "{base} does not exist; create it with `cargo xtask release-contract`, or specify another file or a git \
             revision with --base"
        ));
    }
    if let Some((revision, file)) = base.split_once(':')
        && is_revision(workspace, revision)
    {
        return Some(format!(
            "`{base}` is a file in a revision; specify the revision with `--base {revision}` and the file with `--contract {file}`"
        ));
    }
    if Path::new(base).is_absolute() {
        return Some(format!("{base} does not exist; specify another file or a git revision with --base"));
    }
    has_document_extension(base).then(|| {
        format!(
            "{base} exists neither in the current directory nor at the workspace root; specify another file or a git \
             revision with --base"
        )
    })
}

fn has_document_extension(base: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|extension| base.to_ascii_lowercase().ends_with(extension))
}

/// Loads the waivers that `--waivers` names. If it names a file, each waiver must match a finding.
fn load_named_waivers(
    resolver: &FileResolver,
    name_or_revision: &str,
    waivers_file: &Path,
) -> Result<Waivers> {
    ensure!(!name_or_revision.is_empty(), "--waivers is empty; specify a file or a git revision");
    let workspace = resolver.workspace.as_path();
    if let Some(name) = resolver.find(name_or_revision) {
        let text =
            std::fs::read_to_string(workspace.join(&name)).with_context(|| format!("cannot read {name}"))?;
        return Ok(Waivers { name, text, is_from_git: false });
    }
    ensure!(
        is_revision(workspace, name_or_revision),
        "waivers not found: `{name_or_revision}` is neither a file nor a git revision; run `git fetch`, or correct the name"
    );
    let waivers = load_waivers_at(workspace, name_or_revision, waivers_file)?;
    waivers.with_context(|| {
        format!(
            "waivers not found: revision `{name_or_revision}` does not contain {}",
            waivers_file.display()
        )
    })
}

/// Loads the waivers of a revision, if git can find the revision and it contains a waiver file. If the waiver file in
/// the working tree differs, also returns a message that it is ignored.
fn load_default_waivers(
    workspace: &Path,
    revision: &str,
    waivers_file: &Path,
) -> Result<(Option<Waivers>, Option<String>)> {
    let is_available = waivers_file.is_relative() && is_revision(workspace, revision);
    let waivers = if is_available { load_waivers_at(workspace, revision, waivers_file)? } else { None };
    let working_tree_text = std::fs::read_to_string(workspace.join(waivers_file)).ok();
    let applied_text = waivers.as_ref().map(|waivers| &waivers.text);
    let note = working_tree_text.filter(|working_tree_text| Some(working_tree_text) != applied_text).map(|_| {
        let name = waivers_file.display();
        if waivers.is_some() {
            format!(
                "{name} differs from the one in `{revision}`, which applies; merge waivers before the change that needs them"
            )
        } else if is_available {
            format!(
                "{name} is ignored because `{revision}` does not contain it; merge waivers before the change that needs them"
            )
        } else if waivers_file.is_absolute() {
            format!("{name} is ignored because it is outside of the workspace; specify it with --waivers")
        } else {
            format!(
                "{name} is ignored because git cannot find `{revision}`; specify waivers with --waivers"
            )
        }
    });
    Ok((waivers, note))
}

/// Loads the waiver file of a revision, or `None` if the revision does not contain it.
fn load_waivers_at(workspace: &Path, revision: &str, waivers_file: &Path) -> Result<Option<Waivers>> {
    let waivers_file = waivers_file.display();
    let Some(bytes) = git(workspace, &["show", &format!("{revision}:./{waivers_file}")])? else {
        return Ok(None);
    };
    let name = format!("{revision}:{waivers_file}");
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
    Ok(Some(Waivers { name, text, is_from_git: true }))
}

/// Returns the path of the waiver file next to a base that is a file.
pub(crate) fn waivers_path(base: &str) -> PathBuf {
    Path::new(base).parent().unwrap_or(Path::new("")).join(WAIVERS)
}

/// Returns the path of the waiver file for a contract: it is in the directory `released` next to the contract.
fn released_waivers_path(contract: &str) -> PathBuf {
    Path::new(contract).parent().unwrap_or(Path::new("")).join("released").join(WAIVERS)
}

fn load_contract_at(workspace: &Path, revision: &str, contract: &str) -> Result<Source> {
    if git(workspace, &["rev-parse", "--git-dir"])?.is_none() {
        bail!(
            "`{revision}` is not a file, and the workspace is not a git repository; specify a file with --base"
        );
    }
    if !is_revision(workspace, revision) {
        let shallow = git(workspace, &["rev-parse", "--is-shallow-repository"])?.unwrap_or_default();
        if shallow.starts_with(b"true") {
            bail!(
                "revision `{revision}` is missing from this shallow clone; run `git fetch --unshallow origin`, or set \
                 `fetch-depth: 0` in the checkout step of CI"
            );
        }
        bail!("`{revision}` is neither a file nor a git revision; run `git fetch`, or correct the name");
    }
    if Path::new(contract).is_absolute() {
        bail!(
            "`{revision}` is a git revision, but {contract} is outside of the repository; specify a file with --base"
        );
    }
    let name = format!("{revision}:./{contract}");
    let Some(bytes) = git(workspace, &["show", &name])? else {
        bail!("revision `{revision}` does not contain {contract}; specify a file with --base");
    };
    contract::source_from_bytes(&format!("{revision}:{contract}"), bytes)
}

/// Returns the commit id of the merge base of HEAD and a branch, or `None` when git cannot find it.
pub(crate) fn merge_base(workspace: &Path, branch: &str) -> Option<String> {
    let commit = git(workspace, &["merge-base", "HEAD", branch]).ok()??;
    Some(String::from_utf8(commit).ok()?.trim().to_owned())
}

fn is_revision(workspace: &Path, revision: &str) -> bool {
    let name = format!("{revision}^{{commit}}");
    matches!(git(workspace, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]), Ok(Some(_)))
}

/// Runs git. Returns its standard output, or `None` when it exits with a failure. Returns an error when git cannot be
/// started.
fn git(workspace: &Path, args: &[&str]) -> Result<Option<Vec<u8>>> {
    let output = Command::new("git")
        .args(args)
        .current_dir(workspace)
        .output()
        .context("cannot start `git`, which is needed to read a revision; specify a file instead")?;
    Ok(output.status.success().then_some(output.stdout))
}
