//! Which master key the data is encrypted with, and its rotation.
//!
//! The database stores the fingerprint of the key that encrypts ([`CURRENT`]). A rotation has these steps, which
//! `creator-api master-key rotate --help` explains to operators:
//!
//! 1. Every process gets the new key as its second one. Nothing changes in the database.
//! 2. The new key becomes the first one of every process. The first server or worker that starts so announces it ([`NEXT`]);
//!    from then on, values can be encrypted with either key, and a process needs both.
//! 3. [`rotate`] encrypts all values with the new key, which becomes the current one. The replaced one ([`PREVIOUS`]) can no
//!    longer encrypt.
//! 4. The previous key is removed from every process. Cursors that it authenticated are no longer valid.
//!
//! A write that encrypts a value holds a shared lock on the current fingerprint until it ends. The end of a rotation takes an
//! exclusive lock before it reads the values for the last time: it waits for these writes, and later ones fail unless they use the
//! new key. So no value stays encrypted with a key after the rotation that replaced it.

mod rotate;

use entity::server_state;
use foundation::database::Write;
use foundation::secret::{MasterKeys, Seal};
use sea_orm::{ConnectionTrait, DbErr};

use crate::app::App;
use crate::{Result, processes};

pub use rotate::{EncryptedValues, Reencrypted, Rotation, UnreadableValue, encrypted_values, rotate};

/// Name of the `server_state` row with the fingerprint of the master key that the data is encrypted with.
const CURRENT: &str = "master_key_fingerprint";
/// Name of the `server_state` row with the fingerprint of the master key that is about to replace it.
const NEXT: &str = "master_key_next";
/// Name of the `server_state` row with the fingerprint of the master key that the last rotation replaced.
const PREVIOUS: &str = "master_key_previous";

/// The fingerprints of the master keys that a database has been used with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyState {
    /// The key that the data is encrypted with. `None` if no server has used the database.
    pub current: Option<String>,
    /// The key that is about to replace it. Some data may be encrypted with it already.
    pub next: Option<String>,
    /// The key that the last rotation replaced.
    pub previous: Option<String>,
}

/// Why a process cannot use a database with its master keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyProblem {
    /// The data was encrypted with a key that the process does not have.
    Wrong,
    /// The process has only the key that is about to replace the current one.
    CurrentMissing,
    /// The process does not have the key that is about to replace the current one.
    NextMissing,
    /// The first key of the process is the one that the last rotation replaced, or the process has only that one.
    Replaced,
    /// The first key of the process is a new one, while another new one is about to replace the current one.
    RotationUnfinished,
    /// The first key of the process is a new one, which no server or worker has announced.
    NotAnnounced,
}

impl KeyState {
    /// Reads the state.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn read<C: ConnectionTrait>(conn: &C) -> std::result::Result<Self, DbErr> {
        Ok(Self {
            current: server_state::get(conn, CURRENT).await?,
            next: server_state::get(conn, NEXT).await?,
            previous: server_state::get(conn, PREVIOUS).await?,
        })
    }

    /// Returns why a process with these keys cannot use the data. `announces` is whether its first key may replace the current
    /// one: whether it is a server or a worker.
    pub fn problem(&self, keys: &MasterKeys, announces: bool) -> Option<KeyProblem> {
        let (known, first) = (keys.fingerprints(), keys.fingerprint());
        let current = self.current.as_ref()?;
        let next_is_known = self.next.as_ref().map(|next| known.contains(next));
        match (known.contains(current), next_is_known) {
            (false, Some(true)) => return Some(KeyProblem::CurrentMissing),
            (false, _) if self.previous.as_ref().is_some_and(|previous| known.contains(previous)) => {
                return Some(KeyProblem::Replaced);
            }
            (false, _) => return Some(KeyProblem::Wrong),
            (true, Some(false)) => return Some(KeyProblem::NextMissing),
            (true, _) => {}
        }
        if first == *current || self.next.as_ref() == Some(&first) {
            return None;
        }
        match (&self.next, &self.previous) {
            (Some(_), _) => Some(KeyProblem::RotationUnfinished),
            (None, Some(previous)) if *previous == first => Some(KeyProblem::Replaced),
            (None, _) => (!announces).then_some(KeyProblem::NotAnnounced),
        }
    }
}

/// Returns the state of a database. Stores the first key as the current one if no process has used the database.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a statement fails.
pub async fn initialize(app: &App, keys: &MasterKeys) -> Result<KeyState> {
    let state = KeyState::read(app.db.read()).await?;
    if state.current.is_some() {
        return Ok(state);
    }
    let write = app.begin_write().await?;
    // Another process may have stored its fingerprint first.
    server_state::put_if_absent(write.conn(), CURRENT, &keys.fingerprint()).await?;
    write.commit().await?;
    Ok(KeyState::read(app.db.read()).await?)
}

/// Announces the first key of this process as the one that is about to replace the current key. Does nothing if it is the
/// current key, or is announced already.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a statement fails.
pub async fn announce(app: &App, keys: &MasterKeys) -> Result<()> {
    let write = app.begin_write().await?;
    // The lock waits for the end of a rotation.
    let current = server_state::get_for_share(write.conn(), CURRENT).await?;
    if current.as_ref() != Some(&keys.fingerprint()) {
        server_state::put_if_absent(write.conn(), NEXT, &keys.fingerprint()).await?;
    }
    write.commit().await?;
    Ok(())
}

/// Returns the number of running processes that do not have this key, or if `first` is set, whose first key is another one.
/// Returns 0 on SQLite, where processes are not known.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when the query fails.
pub async fn processes_without(app: &App, fingerprint: &str, first: bool) -> Result<usize> {
    let has_key = |keys: &Vec<String>| match first {
        true => keys.first().is_some_and(|key| key == fingerprint),
        false => keys.iter().any(|key| key == fingerprint),
    };
    Ok(processes::master_keys(app).await?.iter().filter(|keys| !has_key(keys)).count())
}

/// Checks that values of this write may be encrypted with the first key of this process, and prevents the end of a rotation
/// until the write ends.
///
/// Call this before the write changes an encrypted value: the end of a rotation takes its locks in the same order.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails, or when the key has been replaced.
pub(crate) async fn check_seal(write: &Write, seal: &Seal) -> Result<()> {
    let Some(current) = server_state::get_for_share(write.conn(), CURRENT).await? else { return Ok(()) };
    let next = server_state::get(write.conn(), NEXT).await?;
    if current == seal.fingerprint() || next.as_deref() == Some(seal.fingerprint()) {
        return Ok(());
    }
    Err(anyhow::anyhow!(
        "the master key of this process has been replaced; restart it with the new key first"
    )
    .into())
}
