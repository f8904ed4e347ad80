//! The running processes of creator-api, each with its last heartbeat. Used on PostgreSQL only. The leases of
//! deliveries and the claims of idempotency keys of a process that died can be released before they expire.
//!
//! The last eight bytes of the tokens of these leases and claims are the id of the process that holds them.

use sea_orm::entity::prelude::*;
use uuid::Uuid;

use crate::{statement, table};

table::declare!(
    /// One process.
    #[sea_orm(table_name = "processes")]
    pub struct Model {
        /// The id, a random number.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        /// The time of the last heartbeat, by the clock of the database.
        pub heartbeat_at: i64,
        /// Whether the process serves requests.
        pub serves: bool,
        /// Whether the process sends webhooks and mail.
        pub runs_worker: bool,
        /// The maximum number of database connections of the process.
        pub connections: i64,
        /// The fingerprints of the master keys of the process, separated by commas.
        #[sea_orm(column_type = "Text")]
        pub master_keys: String,
    }
);

/// The clock of the PostgreSQL server, in milliseconds since the epoch.
const NOW_MS: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// What a process does. One process of each role leads: it runs the maintenance jobs of the role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// The process serves requests.
    pub serves: bool,
    /// The process sends webhooks and mail.
    pub runs_worker: bool,
}

/// The servers that share limits, as one of them knows them: the processes that serve and have not been removed as dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Servers {
    /// The number of servers, including this one.
    pub count: u32,
    /// How many of them have a smaller id than this one.
    pub rank: u32,
}

impl Default for Servers {
    /// Returns one server.
    fn default() -> Self {
        Self { count: 1, rank: 0 }
    }
}

/// The result of a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The time that was stored, by the clock of the database. `None` if this process is not registered: it has not registered
    /// yet, or another process has removed it as dead.
    pub stored_at: Option<i64>,
    /// Whether the previous heartbeat of this process is older than the maximum age.
    pub was_silent: bool,
    /// Other processes whose last heartbeat is older than the maximum age.
    pub silent: Vec<i64>,
    /// The roles in which this process leads: no live process of the role has a smaller id.
    pub leads: Roles,
    /// The servers. `None` if this process is not registered or does not serve.
    pub servers: Option<Servers>,
}

/// Adds a process with its roles, its maximum number of connections and the fingerprints of its master keys, with a heartbeat now.
/// If the process exists already, only records the heartbeat.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn register<C: ConnectionTrait>(
    conn: &C,
    id: i64,
    roles: Roles,
    connections: u32,
    master_keys: &str,
) -> Result<(), DbErr> {
    let sql = format!(
        "INSERT INTO processes (id, heartbeat_at, serves, runs_worker, connections, master_keys)
        VALUES ($1, {NOW_MS}, $2, $3, $4, $5)
        ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at"
    );
    let Roles { serves, runs_worker } = roles;
    let values =
        [id.into(), serves.into(), runs_worker.into(), i64::from(connections).into(), master_keys.into()];
    statement::execute(conn, &sql, values).await.map(drop)
}

/// Records a heartbeat of a process and returns the processes that have sent none for `max_age_ms`, in one statement.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn heartbeat<C: ConnectionTrait>(conn: &C, id: i64, max_age_ms: i64) -> Result<Heartbeat, DbErr> {
    let leads = |role| {
        format!(
            "NOT EXISTS (SELECT 1 FROM processes WHERE {role} AND id < $1 AND heartbeat_at >= {NOW_MS} - $2)"
        )
    };
    let (leads_servers, leads_workers) = (leads("serves"), leads("runs_worker"));
    // Servers count until they are removed, since after an outage of the database the heartbeats of all are old.
    let servers = "(SELECT count(*) FROM processes WHERE serves), (SELECT count(*) FROM processes WHERE serves AND id < $1)";
    // The second SELECT does not see the update, so it compares the previous heartbeat of this process.
    let sql = format!(
        "WITH updated AS (UPDATE processes SET heartbeat_at = {NOW_MS} WHERE id = $1 RETURNING id, serves, runs_worker, heartbeat_at)
        SELECT true AS is_updated, id, serves AND {leads_servers}, runs_worker AND {leads_workers}, heartbeat_at, serves, {servers}
            FROM updated
        UNION ALL SELECT false, id, false, false, heartbeat_at, false, 0, 0 FROM processes WHERE heartbeat_at < {NOW_MS} - $2"
    );
    let (silent, leads) = (Vec::new(), Roles::default());
    let mut heartbeat = Heartbeat { stored_at: None, was_silent: false, silent, leads, servers: None };
    for row in conn.query_all_raw(statement::raw(conn, &sql, [id.into(), max_age_ms.into()])).await? {
        match (row.try_get_by_index(0)?, row.try_get_by_index::<i64>(1)?) {
            (true, _) => {
                heartbeat.stored_at = Some(row.try_get_by_index(4)?);
                heartbeat.leads =
                    Roles { serves: row.try_get_by_index(2)?, runs_worker: row.try_get_by_index(3)? };
                let number =
                    |index| row.try_get_by_index::<i64>(index).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                let servers = Servers { count: number(6)?, rank: number(7)? };
                heartbeat.servers = row.try_get_by_index::<bool>(5)?.then_some(servers);
            }
            (false, silent) if silent == id => heartbeat.was_silent = true,
            (false, silent) => heartbeat.silent.push(silent),
        }
    }
    Ok(heartbeat)
}

/// Returns the time of the last heartbeat of a process, by the clock of the database. `None` if it is not registered.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn heartbeat_at<C: ConnectionTrait>(conn: &C, id: i64) -> Result<Option<i64>, DbErr> {
    let sql = "SELECT heartbeat_at FROM processes WHERE id = $1";
    let row = conn.query_one_raw(statement::raw(conn, sql, [id.into()])).await?;
    row.map(|row| row.try_get_by_index(0)).transpose()
}

/// Removes a process that has sent no heartbeat for `max_age_ms`. Returns `false` when it has sent one, or when another
/// process has removed it.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn remove_silent<C: ConnectionTrait>(conn: &C, id: i64, max_age_ms: i64) -> Result<bool, DbErr> {
    let sql = format!("DELETE FROM processes WHERE id = $1 AND heartbeat_at < {NOW_MS} - $2");
    Ok(statement::execute(conn, &sql, [id.into(), max_age_ms.into()]).await? > 0)
}

/// Returns the number of processes that have sent a heartbeat in the last `max_age_ms`, and the sum of their maximum numbers of
/// connections.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn connections<C: ConnectionTrait>(conn: &C, max_age_ms: i64) -> Result<(u64, u64), DbErr> {
    let sql = format!(
        "SELECT count(*), coalesce(sum(connections), 0)::bigint FROM processes WHERE heartbeat_at >= {NOW_MS} - $1"
    );
    let Some(row) = conn.query_one_raw(statement::raw(conn, &sql, [max_age_ms.into()])).await? else {
        return Ok((0, 0));
    };
    Ok((row.try_get_by_index::<i64>(0)?.unsigned_abs(), row.try_get_by_index::<i64>(1)?.unsigned_abs()))
}

/// Returns the fingerprints of the master keys of each process that has sent a heartbeat in the last `max_age_ms`, separated by
/// commas.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn master_keys<C: ConnectionTrait>(conn: &C, max_age_ms: i64) -> Result<Vec<String>, DbErr> {
    let sql = format!("SELECT master_keys FROM processes WHERE heartbeat_at >= {NOW_MS} - $1");
    let rows = conn.query_all_raw(statement::raw(conn, &sql, [max_age_ms.into()])).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Changes the roles of a process.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn set_roles<C: ConnectionTrait>(conn: &C, id: i64, roles: Roles) -> Result<(), DbErr> {
    let sql = "UPDATE processes SET serves = $2, runs_worker = $3 WHERE id = $1";
    let Roles { serves, runs_worker } = roles;
    statement::execute(conn, sql, [id.into(), serves.into(), runs_worker.into()]).await.map(drop)
}

/// Removes a process that ends.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn remove<C: ConnectionTrait>(conn: &C, id: i64) -> Result<(), DbErr> {
    statement::execute(conn, "DELETE FROM processes WHERE id = $1", [id.into()]).await.map(drop)
}

/// Returns a token of a delivery's lease or an idempotency key's claim that this process holds. `number` must be unique
/// within the process.
pub fn token(id: i64, number: u64) -> Uuid {
    Uuid::from_u64_pair(number, id.cast_unsigned())
}

/// Returns the last 17 characters (16 digits and a hyphen) that all tokens of a process have in common, for a
/// comparison with `right(token::text, 17)`.
fn token_suffix(id: i64) -> String {
    let text = token(id, 0).to_string();
    text[text.len() - 17..].to_owned()
}

/// Releases all deliveries that a process has leased, as if it had never claimed them. Returns their number. Reads all
/// pending deliveries.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn release_deliveries<C: ConnectionTrait>(conn: &C, id: i64) -> Result<u64, DbErr> {
    let sql = "UPDATE webhook_deliveries SET lease_token = NULL, lease_until = NULL
        WHERE state = 0 AND lease_token IS NOT NULL AND right(lease_token::text, 17) = $1";
    statement::execute(conn, sql, [token_suffix(id).into()]).await
}

/// Releases all idempotency keys that a process has claimed, among the records that expire after `expires_after`.
/// Returns their number.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn release_idempotency_keys<C: ConnectionTrait>(
    conn: &C,
    id: i64,
    expires_after: i64,
) -> Result<u64, DbErr> {
    let sql = "DELETE FROM idempotency_records
        WHERE expires_at > $2 AND state = 'running' AND right(claim_token::text, 17) = $1";
    statement::execute(conn, sql, [token_suffix(id).into(), expires_after.into()]).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tokens_of_a_process_and_no_others_have_its_suffix() {
        for (id, other) in
            [(0, 1), (-1, i64::MAX), (i64::MIN, 0), (0x0123_4567_89ab_cdef, 0x7123_4567_89ab_cdef)]
        {
            for number in [0, 1, u64::MAX] {
                assert!(token(id, number).to_string().ends_with(&token_suffix(id)));
                assert!(!token(other, number).to_string().ends_with(&token_suffix(id)));
            }
        }
    }
}
