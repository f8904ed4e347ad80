//! Finds the configuration and the waivers.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::config::{self, Settings};
use crate::names::{self, TextFile};
use crate::output;
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
            (Some(name), _) => Settings::parse(name, &names::read_file(directory, name)?.text)?,
            (None, Some(revision)) => match read_from_base(directory, revision, config::FILE_NAME)? {
                Some(file) => Settings::parse(&file.name, &file.text)?,
                None => Settings::default(),
            },
            (None, None) if directory.join(config::FILE_NAME).exists() => {
                Settings::parse(config::FILE_NAME, &names::read_file(directory, config::FILE_NAME)?.text)?
            }
            (None, None) => Settings::default(),
        };
        let waivers_file = settings.waivers.as_deref().unwrap_or(WAIVERS);
        let waivers = match (&self.waivers, base_revision) {
            (Some(name), _) => {
                let file = names::existing_file(directory, name);
                Some(names::read_file_or_revision(directory, name, file, waivers_file, "waivers")?)
            }
            (None, Some(revision)) => read_from_base(directory, revision, waivers_file)?,
            (None, None) => {
                if directory.join(waivers_file).exists() {
                    output::print_message(&format!(
                        "note: {waivers_file} is ignored because the base is not in a git revision; specify it with --waivers\n"
                    ));
                }
                None
            }
        };
        Ok((settings, waivers))
    }
}

/// Reads a file of the base's revision, or returns `None` if the revision does not contain it.
fn read_from_base(directory: &Path, revision: &str, name: &str) -> Result<Option<TextFile>> {
    let text = names::read_at_revision(directory, revision, name)?;
    let working_tree_text = fs::read_to_string(directory.join(name)).ok();
    let revision = if revision.is_empty() { "the index" } else { revision };
    match (&text, working_tree_text) {
        (None, Some(_)) => output::print_message(&format!(
            "note: {name} is ignored because `{revision}` does not contain it; merge it before the change that needs it\n"
        )),
        (Some(applied), Some(other)) if applied.text != other => output::print_message(&format!(
            "note: {name} differs from the one in `{revision}`, which applies; merge it before the change that needs it\n"
        )),
        _ => {}
    }
    Ok(text)
}
