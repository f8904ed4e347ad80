//! `creator-api config`: the configuration as it comes out.

use super::failure::{Failure, Outcome};
use super::output;
use foundation::config::{CommonFlags, Config, ServingFlags, report};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Print every setting with its value and source, secrets masked; wrong ones are errors
    Check {
        #[command(flatten)]
        serving: ServingFlags,
    },
}

pub(super) fn run(command: Command, common: CommonFlags) -> Result<Outcome, Failure> {
    let Command::Check { serving } = command;
    let flags = common.0.into_iter().chain(serving.0).collect();
    let (_, given) = Config::load(flags)?;
    output::line(report(&given))?;
    Ok(Outcome::Done)
}
