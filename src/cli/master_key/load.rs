//! Loads the master keys of a process, and checks that they are those of its data.

use std::time::{Duration, Instant};

use domain::app::App;
use domain::master_key::{self, KeyProblem, KeyState};
use domain::processes::MAX_SILENCE;
use foundation::config::Config;
use foundation::secret::{KEY_FILE, MasterKeys};

use super::super::outcome::CommandError;
use super::super::start::DataFolder;

/// How long a starting process waits until other processes have the new key: longer than killed ones count as running.
const PROCESSES_TIMEOUT: Duration = MAX_SILENCE.saturating_add(Duration::from_secs(2));

/// What a process uses the master keys for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum KeyUse {
    /// It is a server or a worker. Its first key may be a new one, which is about to replace the current key of the data.
    Server,
    /// It is a command.
    Command,
}

/// Reads the master keys of the configuration or of the data folder. Returns `None` if there is none in the data folder.
///
/// # Errors
/// Returns an error when they are invalid or cannot be read.
pub(in crate::cli) fn read(config: &Config) -> Result<Option<MasterKeys>, CommandError> {
    Ok(match &config.storage.master_key {
        Some(secret) => Some(MasterKeys::parse(secret.expose(), "the configured master key")?),
        None => MasterKeys::open(&config.storage.data_dir)?,
    })
}

/// Returns where [`read`] reads the keys, for messages.
pub(in crate::cli) fn location(config: &Config) -> String {
    match &config.storage.master_key {
        Some(_) => "the configured master key".to_owned(),
        None => config.storage.data_dir.join(KEY_FILE).display().to_string(),
    }
}

/// Returns the master keys of the configuration or of the data folder. If there are none yet and `folder` allows it, creates a
/// key in the data folder.
///
/// # Errors
/// Returns an error when the keys are invalid or missing, when the data was encrypted with another key, or when the first key is
/// a new one that another running process does not have.
pub(in crate::cli) async fn load(
    app: &App,
    key_use: KeyUse,
    folder: DataFolder,
) -> Result<MasterKeys, CommandError> {
    let state = KeyState::read(app.db.read()).await?;
    let keys = match (read(&app.config)?, &state.current) {
        (Some(keys), _) => keys,
        (None, None) if folder == DataFolder::MustExist => {
            return Err(CommandError::new(format!(
                "there is no master key at {}; correct --data-dir, start `creator-api serve` first, or specify the key with \
                 --master-key-file",
                location(&app.config)
            )));
        }
        (None, None) => MasterKeys::create(&app.config.storage.data_dir)?,
        (None, Some(_)) => {
            return Err(CommandError::new(format!(
                "the master key of this data is missing; restore {}, or specify the key with --master-key-file",
                location(&app.config)
            )));
        }
    };
    let state = master_key::initialize(app, &keys).await?;
    if let Some(problem) = state.problem(&keys, key_use == KeyUse::Server) {
        return Err(CommandError::new(describe(problem, &app.config, &app.db.location())));
    }
    if key_use == KeyUse::Server && state.current != Some(keys.fingerprint()) {
        wait_for_other_processes(app, &keys).await?;
        master_key::announce(app, &keys).await?;
    }
    app.process().set_master_keys(&keys);
    Ok(keys)
}

/// Waits until all other running processes have the first key.
async fn wait_for_other_processes(app: &App, keys: &MasterKeys) -> Result<(), CommandError> {
    let started = Instant::now();
    loop {
        let without = master_key::processes_without(app, &keys.fingerprint(), false).await?;
        if without == 0 {
            return Ok(());
        }
        if started.elapsed() > PROCESSES_TIMEOUT {
            return Err(CommandError::new(format!(
                "the first key of {} is a new one, which {} not have yet; add it as the second key of every server and worker and \
                 restart them, then put it first",
                location(&app.config),
                super::running(without, "does", "do")
            )));
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Describes a problem with its remedy. `data` is the location of the data.
pub(in crate::cli) fn describe(problem: KeyProblem, config: &Config, data: &str) -> String {
    let keys = location(config);
    match problem {
        KeyProblem::Wrong => format!(
            "{keys} is not the key that the data at {data} was encrypted with; specify that key with --master-key-file, or use an \
             empty database"
        ),
        KeyProblem::CurrentMissing => format!(
            "the data at {data} is not completely encrypted with the key in {keys} yet; add the previous key as the second one, \
             run `creator-api master-key rotate`, then remove it"
        ),
        KeyProblem::NextMissing => format!(
            "the data at {data} is being encrypted with a new master key, which is missing in {keys}; add it"
        ),
        KeyProblem::Replaced => format!(
            "the first key of {keys} was replaced by a new one, with which the data at {data} is encrypted; put the new key first"
        ),
        KeyProblem::RotationUnfinished => format!(
            "the first key of {keys} is new, but the data at {data} is being encrypted with another new one; put that one first, \
             and run `creator-api master-key rotate`"
        ),
        KeyProblem::NotAnnounced => format!(
            "the first key of {keys} is a new one, with which no server or worker has started yet; restart them with this key \
             first"
        ),
    }
}
