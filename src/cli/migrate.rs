//! `creator-api migrate`: brings the database's schema up to date.

use super::failure::{Failure, Outcome};
use super::{output, start};
use foundation::config::Config;
use foundation::database::SchemaState;

pub(super) async fn run(config: Config) -> Result<Outcome, Failure> {
    let db = start::connect(&config).await?;
    let before = db.schema_state().await?;
    db.migrate().await?;
    match before {
        SchemaState::Behind(1) => output::line(format_args!("{}: applied 1 step", db.place()))?,
        SchemaState::Behind(steps) => output::line(format_args!("{}: applied {steps} steps", db.place()))?,
        SchemaState::Current | SchemaState::Ahead(_) => {
            output::line(format_args!("{}: nothing to do, the schema is up to date", db.place()))?;
        }
    }
    db.close().await;
    Ok(Outcome::Done)
}
