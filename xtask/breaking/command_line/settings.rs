//! Finds the configuration and the waivers.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::config::{self, Settings};
use crate::git;
use crate::inputs::ensure_revision;
use crate::waivers::Waivers;

/// Where the configuration and the waivers come from.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SettingsArgs {
    /// The configuration. Default: openapi-gate.toml, from the base if that is in a git revision, otherwise from the
    /// current folder, if it exists
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// The accepted findings: a file, or a git revision with the file that the configuration names. Default: the
    /// base, if that is in a git revision
    #[arg(long, value_name = "FILE|REVISION")]
    waivers: Option<String>,
}

/// The name of the waiver file, unless the configuration names another one.
const WAIVERS: &str = "openapi-gate-waivers.toml";

impl SettingsArgs {
    /// Reads the configuration and the waivers. By default, they come from the revision of the base, so that a change
    /// can neither waive nor configure its own findings away. Prints a note for each file in the current folder that is
    /// therefore ignored.
    ///
    /// # Errors
    /// Returns an error when a file cannot be read or the configuration is invalid.
    pub(super) fn read(
        &self,
        directory: &Path,
        base_revision: Option<&str>,
    ) -> Result<(Settings, Option<Waivers>)> {
        let settings = match (&self.config, base_revision) {
            (Some(name), _) => Settings::parse(name, &read_text(directory, name)?)?,
            (None, Some(revision)) => match read_from_base(directory, revision, config::FILE_NAME)? {
                Some(text) => Settings::parse(&format!("{revision}:{}", config::FILE_NAME), &text)?,
                None => Settings::default(),
            },
            (None, None) if directory.join(config::FILE_NAME).exists() => {
                Settings::parse(config::FILE_NAME, &read_text(directory, config::FILE_NAME)?)?
            }
            (None, None) => Settings::default(),
        };
        let waivers_file = settings.waivers.as_deref().unwrap_or(WAIVERS);
        let waivers = match (&self.waivers, base_revision) {
            (Some(name), _) => Some(named_waivers(directory, name, waivers_file)?),
            (None, Some(revision)) => read_from_base(directory, revision, waivers_file)?
                .map(|text| Waivers { name: format!("{revision}:{waivers_file}"), text, is_from_git: true }),
            (None, None) => {
                if directory.join(waivers_file).exists() {
                    eprintln!(
                        "note: {waivers_file} is ignored because the base is not in a git revision; specify it with --waivers"
                    );
                }
                None
            }
        };
        Ok((settings, waivers))
    }
}

fn read_text(directory: &Path, name: &str) -> Result<String> {
    ensure!(!name.is_empty(), "the name of a file is empty");
    fs::read_to_string(directory.join(name)).with_context(|| format!("cannot read {name}"))
}

/// Reads a file of the base's revision, or returns `None` if the revision does not contain it.
fn read_from_base(directory: &Path, revision: &str, name: &str) -> Result<Option<String>> {
    let text = text_at(directory, revision, name)?;
    let working_tree_text = fs::read_to_string(directory.join(name)).ok();
    let revision = if revision.is_empty() { "the index" } else { revision };
    match (&text, working_tree_text) {
        (None, Some(_)) => eprintln!(
            "note: {name} is ignored because `{revision}` does not contain it; merge it before the change that needs it"
        ),
        (Some(text), Some(other)) if *text != other => eprintln!(
            "note: {name} differs from the one in `{revision}`, which applies; merge it before the change that needs it"
        ),
        _ => {}
    }
    Ok(text)
}

fn text_at(directory: &Path, revision: &str, name: &str) -> Result<Option<String>> {
    let Some(bytes) = git::contents(directory, &format!("{revision}:./{name}"))? else { return Ok(None) };
    let text = String::from_utf8(bytes).with_context(|| format!("{revision}:{name} is not UTF-8"))?;
    Ok(Some(text))
}

/// Reads the waivers that `--waivers` names: a file, or a revision that contains `waivers_file`.
fn named_waivers(directory: &Path, name: &str, waivers_file: &str) -> Result<Waivers> {
    ensure!(!name.is_empty(), "--waivers is empty; specify a file or a git revision");
    if directory.join(name).exists() {
        let text = read_text(directory, name)?;
        return Ok(Waivers { name: name.to_owned(), text, is_from_git: false });
    }
    ensure_revision(directory, name).context("waivers not found")?;
    let text = text_at(directory, name, waivers_file)?
        .with_context(|| format!("waivers not found: revision `{name}` does not contain {waivers_file}"))?;
    Ok(Waivers { name: format!("{name}:{waivers_file}"), text, is_from_git: true })
}
