//! Finds the configuration and the waivers.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::config::{self, Settings};
use crate::names::{self, TextFile};
use crate::output;
use crate::waivers::Waivers;

/// Where the configuration comes from.
#[derive(Debug, Default, clap::Args)]
pub(super) struct ConfigArgs {
    /// The configuration: a file, `REVISION:PATH`, or a git revision with openapi-gate.toml. Default:
    /// openapi-gate.toml, from the base if that is in a git revision, otherwise from the current folder, if it exists.
    /// If the environment variable CI is set, `check` does not use that of the current folder by default
    #[arg(long, value_name = "FILE|REVISION")]
    config: Option<String>,
}

/// Where the configuration and the waivers come from.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SettingsArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The accepted findings: a file, `REVISION:PATH`, or a git revision with the file that the configuration names.
    /// Default: the base, if that is in a git revision
    #[arg(long, value_name = "FILE|REVISION")]
    waivers: Option<String>,
}

/// The name of the waiver file, unless the configuration names another one.
const WAIVERS: &str = "openapi-gate-waivers.toml";

impl ConfigArgs {
    /// Reads the configuration for a command without a base: by default, that of the current folder. Returns the
    /// settings and the name of the configuration, if there is one.
    ///
    /// # Errors
    /// Returns an error when the configuration cannot be read or is invalid.
    pub(super) fn read(&self, directory: &Path) -> Result<(Settings, Option<String>)> {
        let file = match &self.config {
            Some(name) => Some(read_named(directory, name)?),
            None if directory.join(config::FILE_NAME).exists() => {
                Some(names::read_file(directory, config::FILE_NAME)?)
            }
            None => None,
        };
        parse(file)
    }

    /// Reads the configuration of a comparison. By default, it comes from the git revision of the base. Otherwise a
    /// change could configure its own findings away, so that the configuration of the current folder is reported, and
    /// must be specified for a verdict in CI.
    fn read_for(
        &self,
        directory: &Path,
        base_revision: Option<&str>,
        has_verdict: bool,
    ) -> Result<(Settings, Option<String>)> {
        let is_specified = self.config.is_some();
        if let (None, Some(revision)) = (&self.config, base_revision) {
            return parse(read_from_base(directory, revision, config::FILE_NAME)?);
        }
        let is_in_ci = is_in_ci();
        if has_verdict && !is_specified && is_in_ci && directory.join(config::FILE_NAME).exists() {
            bail!(
                "{file} is in the working tree, so that a change could configure its own findings away; in CI, specify \
                 a git revision without the change, such as `--config origin/main`, or a file with `--config {file}`",
                file = config::FILE_NAME
            );
        }
        let (settings, name) = self.read(directory)?;
        if let Some(name) = name.as_deref().filter(|name| directory.join(name).exists())
            && (!is_specified || is_in_ci)
        {
            print_note_about_file("the configuration is", "config", name);
        }
        Ok((settings, name))
    }
}

impl SettingsArgs {
    /// Reads the configuration and the waivers. By default, they come from the git revision of the base, so that a
    /// change can neither waive nor configure its own findings away. Prints a note for each file in the current folder
    /// that is therefore ignored. `has_verdict` is false for a list of changes.
    ///
    /// # Errors
    /// Returns an error when a file cannot be read or does not exist although the configuration names it, when the
    /// configuration is invalid, or when it would be that of the current folder for a verdict in CI.
    pub(super) fn read(
        &self,
        directory: &Path,
        base_revision: Option<&str>,
        has_verdict: bool,
    ) -> Result<(Settings, Option<Waivers>)> {
        let (settings, config) = self.config.read_for(directory, base_revision, has_verdict)?;
        let waivers_file = settings.waivers.as_deref().unwrap_or(WAIVERS);
        // A configuration that names a file expects it to exist.
        let naming_config = config.filter(|_| settings.waivers.is_some());
        let waivers = match (&self.waivers, base_revision) {
            (Some(name), _) => {
                let file = names::existing_file(directory, name);
                let waivers = names::read_file_or_revision(directory, name, file, waivers_file, "waivers")?;
                if !waivers.is_from_git && is_in_ci() {
                    print_note_about_file("the waivers are", "waivers", &waivers.name);
                }
                Some(waivers)
            }
            (None, Some(revision)) => {
                let waivers = read_from_base(directory, revision, waivers_file)?;
                if let (None, Some(config)) = (&waivers, naming_config) {
                    bail!(
                        "{config} names the waivers {waivers_file}, which {} does not contain; add the file, which can \
                         be empty, or remove the key `waivers`",
                        names::shown_revision(revision)
                    );
                }
                waivers
            }
            (None, None) => {
                let exists = directory.join(waivers_file).exists();
                if let Some(config) = naming_config {
                    ensure!(
                        exists,
                        "{config} names the waivers {waivers_file}, which do not exist; add the file, which can be \
                         empty, or remove the key `waivers`"
                    );
                }
                if exists {
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

/// Prints a note about a file that the compared change may have edited. `start` is the start of the note, and `option`
/// is the argument that specifies the file.
fn print_note_about_file(start: &str, option: &str, name: &str) {
    output::print_message(&format!(
        "note: {start} the file {name}, which the compared change may have edited; specify a git revision without the \
         change with `--{option} REVISION`\n"
    ));
}

fn read_named(directory: &Path, name: &str) -> Result<TextFile> {
    let file = names::existing_file(directory, name);
    names::read_file_or_revision(directory, name, file, config::FILE_NAME, "config")
}

/// Parses a configuration, or returns the default settings. Also returns its name.
fn parse(file: Option<TextFile>) -> Result<(Settings, Option<String>)> {
    let Some(file) = file else { return Ok((Settings::default(), None)) };
    Ok((Settings::parse(&file.name, &file.text)?, Some(file.name)))
}

/// Whether the program runs in a CI service. All common services set the variable.
fn is_in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()))
}

/// Reads a file of the base's git revision, or returns `None` if the git revision does not contain it.
fn read_from_base(directory: &Path, revision: &str, name: &str) -> Result<Option<TextFile>> {
    let text = names::read_at_revision(directory, revision, name)?;
    let working_tree_text = fs::read_to_string(directory.join(name)).ok();
    let revision = names::shown_revision(revision);
    match (&text, working_tree_text) {
        (None, Some(_)) => output::print_message(&format!(
            "note: {name} is ignored because {revision} does not contain it; merge it before the change that needs it\n"
        )),
        (Some(applied), Some(other)) if applied.text != other => output::print_message(&format!(
            "note: {name} differs from the one in {revision}, which applies; merge it before the change that needs it\n"
        )),
        _ => {}
    }
    Ok(text)
}
