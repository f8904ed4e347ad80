//! Loads the base (a file, or the contract at a git revision) and the waivers (accepted findings).
//!
//! A base that cannot be found is an error with a remedy, never an empty document. By default, waivers come from a git
//! git revision that does not contain the change under review, so that a change cannot waive itself. A waiver file in
//! the working tree applies only if `--waivers` names it, and in `cargo xtask release-contract`. In this module,
//! `revision` is a git revision, not the new document.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::file_resolver::FileResolver;
use super::inputs::{DocumentName, Input};
use super::waivers::Waivers;
use super::{git, names};

/// The path of the contract of v1, relative to the workspace root.
pub(crate) const CONTRACT: &str = "openapi/v1.yaml";
/// The directory with the released contracts, next to the current ones.
const RELEASED: &str = "released";
/// The git reference of the branch into which changes are merged.
pub(super) const TARGET: &str = "origin/HEAD";

/// The base and the waivers that apply.
#[derive(Debug)]
pub(crate) struct BaseInput {
    /// The base.
    pub document: Input,
    /// The waivers, if any.
    pub waivers: Option<Waivers>,
    /// A message that the waivers in the working tree are ignored, if they are.
    pub note: Option<String>,
}

/// Loads the base and the waivers. `base` is a file, a git revision that contains the contract at the path `contract`,
/// or `REVISION:PATH`. The waivers come from `waivers`, a file or a git revision; without it, from the base if that is
/// a git revision, otherwise from the target branch.
///
/// # Errors
/// Returns an error when one of the arguments is neither a file nor a git revision, or cannot be read.
pub(crate) fn read(
    resolver: &FileResolver,
    base: &str,
    contract: &str,
    waivers: Option<&str>,
) -> Result<BaseInput> {
    ensure!(!base.is_empty(), "--base is empty; specify a file or a git revision");
    let workspace = resolver.workspace.as_path();
    let (document, revision, waivers_file) = match find_base(resolver, base, contract)? {
        BaseName::File(name) => (Input::from_file(workspace, &name)?, TARGET.to_owned(), waivers_path(&name)),
        BaseName::AtRevision(revision, path) => {
            let document = Input::from_revision(workspace, &revision, &path)?;
            (document, revision, released_waivers_path(contract))
        }
    };
    let (waivers, note) = match waivers {
        Some(name) => {
            let path = waivers_file.display().to_string();
            let file = resolver.find(name);
            (Some(names::read_file_or_revision(workspace, name, file, &path, "waivers")?), None)
        }
        None => load_default_waivers(workspace, &revision, &waivers_file)?,
    };
    Ok(BaseInput { document, waivers, note })
}

/// Returns the path of the released copy of a contract: it is in the directory `released` next to the contract.
pub(crate) fn released(contract: &str) -> String {
    let path = Path::new(contract);
    let file = path.file_name().unwrap_or_default();
    path.parent().unwrap_or(Path::new("")).join(RELEASED).join(file).display().to_string()
}

/// Loads the released copy of a contract, with the waivers in the working tree: they were written for this release. Waivers of
/// another branch do not apply, because a release deletes its waivers.
///
/// # Errors
/// Returns an error when a file cannot be read.
pub(crate) fn read_released(workspace: &Path, contract: &str) -> Result<BaseInput> {
    let released = released(contract);
    let document = Input::from_file(workspace, &released)?;
    let waivers_file = waivers_path(&released);
    let exists = workspace.join(&waivers_file).exists();
    let waivers =
        if exists { Some(names::read_file(workspace, &waivers_file.display().to_string())?) } else { None };
    Ok(BaseInput { document, waivers, note: None })
}

/// The name of a base.
enum BaseName {
    /// A file, relative to the workspace root.
    File(String),
    /// A git revision, and the path of a file in it.
    AtRevision(String, String),
}

/// Finds out what the name of a base means.
///
/// # Errors
/// Returns an error with a remedy when the base is a URL, the name of a missing file or an ambiguous name, or when the
/// contract is outside of the repository.
fn find_base(resolver: &FileResolver, base: &str, contract: &str) -> Result<BaseName> {
    let workspace = resolver.workspace.as_path();
    let file = resolver.find(base);
    if file.is_none()
        && !base.contains(':')
        && !git::is_revision(workspace, base)
        && let Some(explanation) = explain_missing_base(base)
    {
        bail!("base not found: {explanation}");
    }
    match DocumentName::parse(workspace, base, file, "--base")? {
        DocumentName::File(name) => Ok(BaseName::File(name)),
        DocumentName::AtRevision(revision, path) => Ok(BaseName::AtRevision(revision, path)),
        DocumentName::Revision(revision) => {
            git::ensure_revision(workspace, &revision)?;
            ensure!(
                !Path::new(contract).is_absolute(),
                "`{revision}` is a git revision, but {contract} is outside of the repository; specify a file with --base"
            );
            Ok(BaseName::AtRevision(revision, format!("./{contract}")))
        }
        DocumentName::StandardInput => {
            bail!("--base cannot be standard input; specify a file or a git revision")
        }
    }
}

/// Explains why a base that is neither a file nor a git revision cannot be found. Returns `None` if it does not look
/// like the name of a file.
fn explain_missing_base(base: &str) -> Option<String> {
    if Path::new(base).parent().is_some_and(|parent| parent.ends_with(RELEASED)) {
        return Some(format!(
            "{base} does not exist; create it with `cargo xtask release-contract --contract FILE`, or specify another file or a git \
             revision with --base"
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

/// Loads the waivers of a git revision, if git can find the git revision and it contains a waiver file. If the waiver
/// file in the working tree differs, also returns a message that it is ignored.
fn load_default_waivers(
    workspace: &Path,
    revision: &str,
    waivers_file: &Path,
) -> Result<(Option<Waivers>, Option<String>)> {
    let is_available = waivers_file.is_relative() && git::is_revision(workspace, revision);
    let waivers = if is_available {
        names::read_at_revision(workspace, revision, &waivers_file.display().to_string())?
    } else {
        None
    };
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

/// Returns the path of the waiver file next to a base that is a file.
pub(crate) fn waivers_path(base: &str) -> PathBuf {
    Path::new(base).parent().unwrap_or(Path::new("")).join(waivers_name(base))
}

/// Returns the path of the waiver file for a contract: it is next to the released copy.
fn released_waivers_path(contract: &str) -> PathBuf {
    waivers_path(&released(contract))
}

/// Returns the name of the waiver file of a document: `waivers.toml`, and `platform-waivers.toml` for `platform-v1.yaml`.
fn waivers_name(document: &str) -> String {
    let stem = Path::new(document).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let api = stem.rsplit_once('-').filter(|(_, version)| {
        let number = version.strip_prefix('v').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    api.map_or_else(|| "waivers.toml".to_owned(), |(name, _)| format!("{name}-waivers.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_api_has_its_own_released_copy_and_waivers() {
        assert_eq!(released("openapi/v1.yaml"), "openapi/released/v1.yaml");
        assert_eq!(released("openapi/platform-v1.yaml"), "openapi/released/platform-v1.yaml");
        for (base, waivers) in [
            ("openapi/released/v1.yaml", "openapi/released/waivers.toml"),
            ("openapi/released/developer-v1.yaml", "openapi/released/developer-waivers.toml"),
            ("openapi/released/platform-v1.yaml", "openapi/released/platform-waivers.toml"),
            ("old-copy.yaml", "waivers.toml"),
        ] {
            assert_eq!(waivers_path(base), Path::new(waivers));
        }
    }
}
