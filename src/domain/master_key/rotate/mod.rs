//! Encrypts all stored secrets with the first master key.

mod tables;

use std::fmt;

use entity::server_state;
use foundation::secret::{MasterKeys, Seal};
use uuid::Uuid;

use super::{CURRENT, KeyState, NEXT, PREVIOUS};
use crate::Result;
use crate::app::App;

use tables::{EncryptedTable, Resealed};

/// Maximum number of values that one transaction encrypts.
const BATCH: u64 = 100;

/// The number of values of a table that were encrypted with the new key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reencrypted {
    /// The table.
    pub table: &'static str,
    /// Values that were encrypted again.
    pub changed: u64,
    /// Values that were already encrypted with the new key.
    pub unchanged: u64,
}

/// A stored secret that cannot be decrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableValue {
    /// The table.
    pub table: &'static str,
    /// The id of the row.
    pub id: Uuid,
    /// What it belongs to, such as `subscription whs_...`.
    pub owner: String,
    /// The command that replaces it.
    pub command: String,
    /// Why it cannot be decrypted.
    pub problem: String,
}

impl fmt::Display for UnreadableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, id, owner, problem, .. } = self;
        write!(f, "{table} {id} ({owner}): {problem}")
    }
}

/// The result of a rotation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rotation {
    /// The values of each table.
    pub tables: Vec<Reencrypted>,
    /// The values that no key decrypts. If there are any, the current key of the database was not changed.
    pub unreadable: Vec<UnreadableValue>,
}

/// Encrypts every stored secret with the first key, in short transactions, and makes that key the current one of the database.
/// Servers and workers that have all keys can run meanwhile. If the call is interrupted, a repeated one continues.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a statement fails. Values that were encrypted until then stay so.
pub async fn rotate(app: &App, keys: &MasterKeys) -> Result<Rotation> {
    let mut rotation = Rotation::default();
    let state = KeyState::read(app.db.read()).await?;
    for table in EncryptedTable::ALL {
        let seal = Seal::new(keys, table.purpose());
        let mut counts = Reencrypted { table: table.name(), ..Reencrypted::default() };
        let mut after = Some(Uuid::nil());
        while let Some(last) = after {
            let write = app.begin_write().await?;
            after = reencrypt(&write, &seal, table, last, &mut counts, &mut rotation.unreadable).await?;
            write.commit().await?;
        }
        rotation.tables.push(counts);
    }
    if rotation.unreadable.is_empty() {
        finish(app, keys, &state, &mut rotation).await?;
    }
    Ok(rotation)
}

/// The keys that the stored secrets are encrypted with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EncryptedValues {
    /// The number of stored secrets.
    pub count: u64,
    /// The number of those that a key other than the first one decrypts.
    pub with_other_keys: u64,
    /// Those that no key decrypts. Expired ones are ignored, since they are not used.
    pub unreadable: Vec<UnreadableValue>,
}

/// Decrypts all stored secrets. Reads in batches.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn encrypted_values(app: &App, keys: &MasterKeys) -> Result<EncryptedValues> {
    let mut values = EncryptedValues::default();
    for table in EncryptedTable::ALL {
        let seal = Seal::new(keys, table.purpose());
        let mut after = Uuid::nil();
        loop {
            let rows = table.page(app.db.read(), after).await?;
            let Some(last) = rows.last() else { break };
            after = last.id;
            for row in &rows {
                values.count += 1;
                match row.reseal(&seal) {
                    Ok(Resealed::Unchanged) => {}
                    Ok(_) => values.with_other_keys += 1,
                    Err(problem) => values.unreadable.extend(row.unreadable(&problem, app.clock.now_ms())),
                }
            }
        }
    }
    Ok(values)
}

/// Makes the first key the current one, and encrypts what was encrypted with the previous one in the meantime. Changes nothing if a
/// value cannot be decrypted.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a statement fails, or when another rotation has changed the state in the meantime.
async fn finish(app: &App, keys: &MasterKeys, state: &KeyState, rotation: &mut Rotation) -> Result<()> {
    let write = app.begin_write().await?;
    // Waits for writes that encrypted a value, so that the last pages below contain it. Later ones wait until the commit.
    server_state::get_for_update(write.conn(), CURRENT).await?;
    if KeyState::read(write.conn()).await? != *state {
        return Err(anyhow::anyhow!("another rotation changed the current key; run the command again").into());
    }
    let mut later = Vec::new();
    for table in EncryptedTable::ALL {
        let seal = Seal::new(keys, table.purpose());
        let (mut after, mut counts) = (Some(Uuid::nil()), Reencrypted::default());
        while let Some(last) = after {
            after = reencrypt(&write, &seal, table, last, &mut counts, &mut rotation.unreadable).await?;
        }
        later.push(counts.changed);
    }
    if !rotation.unreadable.is_empty() {
        return Ok(write.rollback().await?);
    }
    let fingerprint = keys.fingerprint();
    server_state::put(write.conn(), CURRENT, &fingerprint).await?;
    server_state::delete(write.conn(), NEXT).await?;
    if let Some(previous) = state.current.as_ref().filter(|current| **current != fingerprint) {
        server_state::put(write.conn(), PREVIOUS, previous).await?;
    }
    write.commit().await?;
    rotation.tables.iter_mut().zip(later).for_each(|(counts, changed)| counts.changed += changed);
    Ok(())
}

/// Encrypts the next batch of secrets of a table with the first key. Returns the id of its last row, or `None` after the last
/// batch.
async fn reencrypt(
    write: &foundation::database::Write,
    seal: &Seal,
    table: EncryptedTable,
    after: Uuid,
    counts: &mut Reencrypted,
    unreadable: &mut Vec<UnreadableValue>,
) -> Result<Option<Uuid>> {
    let rows = table.page(write.conn(), after).await?;
    for row in &rows {
        match row.reseal(seal) {
            Ok(Resealed::Unchanged) => counts.unchanged += 1,
            // A row that another rotation has changed or that was deleted needs no change.
            Ok(resealed) => counts.changed += u64::from(row.replace(write.conn(), resealed).await?),
            Err(problem) => unreadable.extend(row.unreadable(&problem, write.now_ms())),
        }
    }
    Ok(rows.last().map(|row| row.id))
}
