//! `creator-api migrate`: applies pending database migrations.

use super::outcome::{CommandError, CommandOutcome};
use super::{output, start};
use foundation::config::Config;
use foundation::database::SchemaState;

pub(super) async fn run(config: Config) -> Result<CommandOutcome, CommandError> {
    let db = start::connect(&config).await?;
    let before = db.schema_state().await?;
    db.migrate().await?;
    match before {
        SchemaState::Behind(1) => output::print(format_args!("{}: applied 1 migration", db.location()))?,
        SchemaState::Behind(count) => {
            output::print(format_args!("{}: applied {count} migrations", db.location()))?;
        }
        SchemaState::Current | SchemaState::Ahead(_) => {
            output::print(format_args!("{}: no pending migrations", db.location()))?;
        }
    }
    db.close().await;
    Ok(CommandOutcome::Done)
}
