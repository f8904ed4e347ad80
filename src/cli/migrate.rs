//! `creator-api migrate`: applies pending database migrations.

use super::outcome::{CommandError, CommandOutcome};
use super::output;
use super::start::{self, DataFolder};
use foundation::config::Config;
use foundation::database::Phase;

/// The flags of `migrate`.
#[derive(Debug, clap::Args)]
pub(super) struct MigrateArgs {
    /// Apply only the migrations of this phase. By default, both phases are applied
    #[arg(long, value_enum)]
    phase: Option<PhaseArg>,
}

/// The values of `--phase`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum PhaseArg {
    /// Before you start servers of the new version: servers of the previous release continue to run
    Expand,
    /// After all servers and workers run the new version: removes what only the previous release needed
    Contract,
}

impl From<PhaseArg> for Phase {
    fn from(phase: PhaseArg) -> Self {
        match phase {
            PhaseArg::Expand => Self::Expand,
            PhaseArg::Contract => Self::Contract,
        }
    }
}

pub(super) async fn run(config: Config, args: MigrateArgs) -> Result<CommandOutcome, CommandError> {
    let db = start::connect(&config, DataFolder::MayBeCreated).await?;
    let report = db.migrate_phase(args.phase.map(Phase::from)).await?;
    output::print(format_args!("{}: {report}", db.location()))?;
    db.close().await;
    Ok(CommandOutcome::Done)
}
