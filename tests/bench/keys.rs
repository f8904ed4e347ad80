//! API keys in great numbers, and keys that somebody guesses.
//!
//! A key is `svc_live_`, 32 characters of base62, and 6 more that are the CRC-32 of what stands before them. What is made here
//! is checked against a key that the server made.

use anyhow::{Context as _, Result, bail};
use foundation::clock::Clock;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, TransactionTrait, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Every scope there is.
pub const SCOPES: [&str; 6] =
    ["read:courses", "read:students", "write:students", "read:orders", "write:enrollments", "read:analytics"];

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// What every key begins with.
const PREFIX: &str = "svc_live_";

/// Random characters behind the prefix.
const RANDOM: usize = 32;

/// Characters of the checksum.
const CHECKSUM: usize = 6;

/// Writes a key nobody has, of the right form and with the right checksum.
pub fn write_random(random: &mut SmallRng, key: &mut Vec<u8>) {
    let start = key.len();
    key.extend_from_slice(PREFIX.as_bytes());
    key.extend((0..RANDOM).map(|_| ALPHABET[random.random_range(0..ALPHABET.len())]));
    let checksum = checksum(&key[start..]);
    key.extend_from_slice(&checksum);
}

/// The CRC-32 of what stands before, in base62.
fn checksum(head: &[u8]) -> [u8; CHECKSUM] {
    let mut rest = crc32fast::hash(head) as usize;
    let mut digits = [0; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[rest % ALPHABET.len()];
        rest /= ALPHABET.len();
    }
    digits
}

/// Writes as many keys as asked for into a workspace, each with the scopes of one that the server made.
///
/// # Errors
/// The template is not of the form that is made here, or the database refuses.
pub async fn multiply(
    connection: &DatabaseConnection,
    template: &str,
    workspace: Uuid,
    count: usize,
) -> Result<Vec<String>> {
    check(template)?;
    let mut random = SmallRng::from_rng(&mut rand::rng());
    let backend = connection.get_database_backend();
    let now = Clock::system().now_ms();
    let mut keys = Vec::with_capacity(count);
    let transaction = connection.begin().await?;
    for _ in 0..count {
        let mut key = Vec::new();
        write_random(&mut random, &mut key);
        let key = String::from_utf8(key)?;
        let values: [Value; 7] = [
            id(&mut random, now).into(),
            workspace.into(),
            Sha256::digest(&key).to_vec().into(),
            key[..12].into(),
            key[key.len() - 4..].into(),
            now.into(),
            Sha256::digest(template).to_vec().into(),
        ];
        let inserted =
            transaction.execute_raw(Statement::from_sql_and_values(backend, insertion(), values)).await?;
        if inserted.rows_affected() != 1 {
            bail!("the key that others are made after is not in the database under its SHA-256");
        }
        keys.push(key);
    }
    transaction.commit().await?;
    Ok(keys)
}

/// Both databases know numbered parameters.
fn insertion() -> &'static str {
    "INSERT INTO api_keys (id, workspace_id, name, scopes, secret_hash, prefix, last4, created_at)
     SELECT $1, $2, name, scopes, $3, $4, $5, $6 FROM api_keys WHERE secret_hash = $7"
}

/// Fails when a key that the server made has another form or checksum than those made here.
fn check(key: &str) -> Result<()> {
    let (head, tail) =
        key.split_at_checked(PREFIX.len() + RANDOM).context("the server's key is too short")?;
    if !head.starts_with(PREFIX) || tail.as_bytes() != checksum(head.as_bytes()) {
        bail!("the server's keys have another form or checksum than those of these programs");
    }
    Ok(())
}

/// An id as the server makes them: version 7, of this moment.
pub fn id(random: &mut SmallRng, now_ms: i64) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(now_ms.unsigned_abs(), &random.random()).into_uuid()
}
