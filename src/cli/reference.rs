//! `creator-api completions` and `creator-api man`: the files that packages install for shells and for `man`.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use super::outcome::{CommandError, CommandOutcome};

/// The flags of `completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Shell for which to print the script
    shell: Shell,
}

/// The flags of `man`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Existing folder in which to create the pages
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Prints the completion script of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<CommandOutcome, CommandError> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    super::output::print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(CommandOutcome::Done)
}

/// Writes a page for the program and for each of its commands.
pub(super) fn man(args: &ManArgs) -> Result<CommandOutcome, CommandError> {
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(|error| {
        CommandError::new(format!("cannot write the pages to {}: {error}", args.folder.display()))
    })?;
    Ok(CommandOutcome::Done)
}
