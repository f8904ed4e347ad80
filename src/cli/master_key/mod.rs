//! `creator-api master-key rotate`: encrypts the stored secrets with a new master key.

mod load;

use clap::Subcommand;
use domain::app::App;
use domain::master_key::{self, KeyState};
use foundation::config::Config;
use foundation::secret::MasterKeys;

use super::outcome::{CommandError, CommandOutcome};
use super::output;
use super::start::{self, DataFolder};

pub(super) use load::{KeyUse, describe, load, location, read};

/// Maximum number of values that cannot be decrypted in an error message.
const MAX_LISTED: usize = 20;

/// The subcommands of `master-key`.
#[derive(Debug, Subcommand)]
pub(super) enum MasterKeyCommand {
    /// Encrypt all stored secrets with the first master key, while servers run
    ///
    /// To replace the master key: 1. Create a key with `openssl rand -hex 32`. Add it as the second line of the key file of every
    /// server and worker, and restart them. 2. Move it to the first line of every key file, and restart them. 3. Run this
    /// command with the same key file. 4. Remove the previous key from every key file, and restart them. A cursor from before
    /// step 2 is valid until step 4. You can interrupt and repeat this command at any time. Keep the previous key for as long as
    /// you keep backups from before the end of step 3.
    Rotate,
}

pub(super) async fn run(config: Config, command: MasterKeyCommand) -> Result<CommandOutcome, CommandError> {
    match command {
        MasterKeyCommand::Rotate => rotate(&start::open_app(config, DataFolder::MustExist).await?).await,
    }
}

async fn rotate(app: &App) -> Result<CommandOutcome, CommandError> {
    let keys = load(app, KeyUse::Command, DataFolder::MustExist).await?;
    check(app, &keys).await?;
    let rotation = master_key::rotate(app, &keys).await?;
    for table in &rotation.tables {
        output::print(format_args!(
            "{}: {} encrypted with the new key, {} were already",
            table.table, table.changed, table.unchanged
        ))?;
    }
    if !rotation.unreadable.is_empty() {
        return Err(unreadable(&rotation.unreadable));
    }
    output::eprint(
        "all data is encrypted with the first master key; remove the other keys from every server and worker, and restart them. \
         Keep the other keys for as long as you keep backups from before now",
    );
    Ok(CommandOutcome::Done)
}

/// Returns an error unless the first key can replace the others now.
async fn check(app: &App, keys: &MasterKeys) -> Result<(), CommandError> {
    let location = location(&app.config);
    let fingerprints = keys.fingerprints();
    if fingerprints.len() == 1 {
        return Err(CommandError::new(format!(
            "{location} contains only one key; add a new key as the second one and restart all servers and workers, then put it \
             first and restart them, then run this command"
        )));
    }
    let state = KeyState::read(app.db.read()).await?;
    let is_repeated = state.previous.as_ref().is_some_and(|previous| fingerprints.contains(previous));
    if state.next.is_none() && !is_repeated {
        return Err(CommandError::new(format!(
            "the first key of {location} is the one that the data is encrypted with; put the new key first, restart all servers \
             and workers, then run this command"
        )));
    }
    let others = master_key::processes_without(app, &keys.fingerprint(), true).await?;
    if others > 0 {
        return Err(CommandError::new(format!(
            "{} not use the first key of {location} as the first one; restart all servers and workers with it, then run this \
             command",
            running(others, "does", "do")
        )));
    }
    Ok(())
}

/// Returns a number of processes as the subject of a sentence, with its verb.
fn running(processes: usize, singular: &str, plural: &str) -> String {
    match processes {
        1 => format!("1 running server or worker {singular}"),
        processes => format!("{processes} running servers and workers {plural}"),
    }
}

/// Returns the error for values that cannot be decrypted.
fn unreadable(values: &[master_key::UnreadableValue]) -> CommandError {
    let mut message = format!(
        "{} secrets cannot be decrypted with any of the keys, so the previous key is still needed; add the key that they were \
         encrypted with, or replace each with the command below, then repeat this command",
        values.len()
    );
    for value in values.iter().take(MAX_LISTED) {
        message += &format!("\n{value}; `{}`", value.command);
    }
    CommandError::new(message)
}
