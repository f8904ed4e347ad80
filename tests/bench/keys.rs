//! Large numbers of API keys, and guessed keys.
//!
//! A key consists of `svc_live_`, 32 base62 characters, and the CRC-32 of all these characters as 6 base62 characters.
//! The format generated here is compared with a key that the server created.

use anyhow::{Context as _, Result, bail};
use foundation::clock::Clock;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, TransactionTrait, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// All scopes.
pub const SCOPES: [&str; 6] =
    ["read:courses", "read:students", "write:students", "read:orders", "write:enrollments", "read:analytics"];

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The prefix of every key.
const PREFIX: &str = "svc_live_";

/// The number of random characters after the prefix.
const RANDOM_LENGTH: usize = 32;

/// The number of characters of the checksum.
const CHECKSUM_LENGTH: usize = 6;

/// Writes an unknown key with the format of the server's keys and a correct checksum.
pub fn write_random(random: &mut SmallRng, key: &mut Vec<u8>) {
    let start = key.len();
    key.extend_from_slice(PREFIX.as_bytes());
    key.extend((0..RANDOM_LENGTH).map(|_| ALPHABET[random.random_range(0..ALPHABET.len())]));
    let checksum = checksum(&key[start..]);
    key.extend_from_slice(&checksum);
}

/// Returns the CRC-32 of the characters before the checksum, in base62.
fn checksum(head: &[u8]) -> [u8; CHECKSUM_LENGTH] {
    let mut remaining = crc32fast::hash(head) as usize;
    let mut digits = [0; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[remaining % ALPHABET.len()];
        remaining /= ALPHABET.len();
    }
    digits
}

/// Inserts `count` keys into a workspace, each with the scopes of `template`, a key that the server created.
///
/// # Errors
/// Returns an error when the template has another format, or when the database fails.
pub async fn insert_copies(
    connection: &DatabaseConnection,
    template: &str,
    workspace: Uuid,
    count: usize,
) -> Result<Vec<String>> {
    check_format(template)?;
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
            transaction.execute_raw(Statement::from_sql_and_values(backend, insert_sql(), values)).await?;
        if inserted.rows_affected() != 1 {
            bail!("the template key is not in the database under its SHA-256");
        }
        keys.push(key);
    }
    transaction.commit().await?;
    Ok(keys)
}

/// Returns the statement, which copies the name and the scopes of the template, whose SHA-256 is `$7`. Both databases
/// support numbered parameters.
fn insert_sql() -> &'static str {
    "INSERT INTO api_keys (id, workspace_id, name, scopes, secret_hash, prefix, last4, created_at)
     SELECT $1, $2, name, scopes, $3, $4, $5, $6 FROM api_keys WHERE secret_hash = $7"
}

/// Returns an error when a key that the server created has another format or checksum than those generated here.
fn check_format(key: &str) -> Result<()> {
    let (head, tail) =
        key.split_at_checked(PREFIX.len() + RANDOM_LENGTH).context("the server's key is too short")?;
    if !head.starts_with(PREFIX) || tail.as_bytes() != checksum(head.as_bytes()) {
        bail!("the format or the checksum of the server's keys differs from that of the benchmark's keys");
    }
    Ok(())
}

/// Returns an id as the server generates them: version 7, with this time.
pub fn id(random: &mut SmallRng, now_ms: i64) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(now_ms.unsigned_abs(), &random.random()).into_uuid()
}
