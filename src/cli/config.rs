//! `creator-api config`: checks and prints the effective configuration.

use super::outcome::{CommandError, CommandOutcome};
use super::output;
use foundation::config::{Config, SERVER_SETTINGS, flags};

#[derive(Debug, clap::Subcommand)]
pub(super) enum ConfigCommand {
    /// Print every setting with its value and source, with secrets masked; fail if one is invalid
    #[command(args = flags(SERVER_SETTINGS))]
    Check,
}

pub(super) fn run(
    ConfigCommand::Check: ConfigCommand,
    flags: Vec<(&'static str, String)>,
) -> Result<CommandOutcome, CommandError> {
    let (_, settings) = Config::load(flags)?;
    output::print(settings.report())?;
    Ok(CommandOutcome::Done)
}
