//! `creator-api config`: the configuration as it comes out.

use super::failure::{Failure, Outcome};
use super::output;
use foundation::config::{Config, SERVING, flags};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print every setting with its value and source, secrets masked; wrong ones are errors
    #[command(args = flags(SERVING))]
    Check,
}

pub(super) fn run(Command::Check: Command, flags: Vec<(&'static str, String)>) -> Result<Outcome, Failure> {
    let (_, given) = Config::load(flags)?;
    output::line(given.report())?;
    Ok(Outcome::Done)
}
