//! The rows of a workspace in all tables: those that a sandbox keeps when it is reset, and the deletion of all of them.

use sea_orm::{ConnectionTrait, DbErr, QueryOrder};
use uuid::Uuid;

use crate::{scope, statement, webhook_subscriptions};

/// The tables whose rows a sandbox keeps when another workspace replaces it.
const KEPT: [&str; 11] = [
    "api_keys",
    "webhook_subscriptions",
    "webhook_topics",
    "webhook_secrets",
    "webhook_keys",
    "audit_entries",
    "mails",
    "candidate_requests",
    "candidate_findings",
    "deprecated_uses",
    "deprecation_notices",
];

/// A table with rows of workspaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsOfWorkspace {
    /// The table.
    pub table: &'static str,
    /// The columns of its primary key, as far as they identify a row.
    key: &'static [&'static str],
    /// If no index of the table begins with the workspace: the join of a table that has such an index, as `w`, with this table, as `t`.
    via: Option<&'static str>,
}

impl RowsOfWorkspace {
    const fn new(table: &'static str) -> Self {
        Self { table, key: &["id"], via: None }
    }

    const fn keyed(table: &'static str, key: &'static [&'static str]) -> Self {
        Self { table, key, via: None }
    }

    const fn via(self, join: &'static str) -> Self {
        Self { via: Some(join), ..self }
    }
}

/// All tables with rows of workspaces, in the order in which rows are deleted: a table comes before those that its rows refer to.
pub const TABLES: &[RowsOfWorkspace] = &[
    // First, since it lets others write deliveries.
    RowsOfWorkspace::keyed("webhook_fanouts", &["event_id"]),
    RowsOfWorkspace::new("webhook_attempts").via(
        "events AS w JOIN webhook_deliveries AS d ON d.event_id = w.id JOIN webhook_attempts AS t ON t.delivery_id = d.id",
    ),
    RowsOfWorkspace::new("webhook_deliveries")
        .via("events AS w JOIN webhook_deliveries AS t ON t.event_id = w.id"),
    RowsOfWorkspace::new("webhook_replays"),
    RowsOfWorkspace::new("events"),
    RowsOfWorkspace::keyed("webhook_topics", &["workspace_id", "event_type", "subscription_id"]),
    RowsOfWorkspace::new("webhook_secrets")
        .via("webhook_subscriptions AS w JOIN webhook_secrets AS t ON t.subscription_id = w.id"),
    RowsOfWorkspace::new("webhook_subscriptions"),
    RowsOfWorkspace::new("webhook_keys"),
    RowsOfWorkspace::new("certificates"),
    RowsOfWorkspace::keyed("lesson_completions", &["enrollment_id", "lesson_id"])
        .via("enrollments AS w JOIN lesson_completions AS t ON t.enrollment_id = w.id"),
    RowsOfWorkspace::new("entitlements").via("orders AS w JOIN entitlements AS t ON t.order_id = w.id"),
    RowsOfWorkspace::new("enrollments"),
    RowsOfWorkspace::new("refunds"),
    RowsOfWorkspace::new("order_items"),
    RowsOfWorkspace::new("orders"),
    RowsOfWorkspace::keyed("student_tags", &["student_id", "tag"]),
    RowsOfWorkspace::new("students"),
    RowsOfWorkspace::new("recordings"),
    RowsOfWorkspace::new("live_sessions"),
    RowsOfWorkspace::new("lessons"),
    RowsOfWorkspace::new("modules"),
    RowsOfWorkspace::new("courses"),
    RowsOfWorkspace::keyed(
        "revenue_rollups",
        &["workspace_id", "course_id", "grain", "starts_at", "currency", "shard"],
    ),
    RowsOfWorkspace::keyed(
        "activity_rollups",
        &["workspace_id", "course_id", "grain", "starts_at", "shard"],
    ),
    RowsOfWorkspace::keyed("idempotency_records", &["api_key_id", "idempotency_key"])
        .via("api_keys AS w JOIN idempotency_records AS t ON t.api_key_id = w.id"),
    RowsOfWorkspace::new("api_keys"),
    RowsOfWorkspace::new("api_requests"),
    RowsOfWorkspace::keyed("api_request_days", &["workspace_id", "day"]),
    RowsOfWorkspace::keyed(
        "candidate_requests",
        &["day", "key_id", "operation", "base", "candidate"],
    ),
    RowsOfWorkspace::keyed("candidate_findings", &["day", "key_id", "fingerprint"]),
    RowsOfWorkspace::keyed("deprecated_uses", &["day", "key_id", "contract", "operation", "pointer", "name"]),
    RowsOfWorkspace::keyed(
        "deprecation_notices",
        &["workspace_id", "contract", "operation", "name", "stage"],
    ),
    RowsOfWorkspace::new("mails"),
    RowsOfWorkspace::new("audit_entries"),
    RowsOfWorkspace::new("sign_in_links"),
    RowsOfWorkspace::new("password_links"),
    RowsOfWorkspace::new("sessions"),
    RowsOfWorkspace::new("users"),
];

/// Deletes up to `limit` rows of a workspace from a table. Returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_batch<C: ConnectionTrait>(
    conn: &C,
    rows: RowsOfWorkspace,
    workspace: Uuid,
    limit: u64,
) -> Result<u64, DbErr> {
    let RowsOfWorkspace { table, key, via } = rows;
    let columns = key.join(", ");
    let selected = key.iter().map(|column| format!("t.{column}")).collect::<Vec<_>>().join(", ");
    let (from, owner) = match via {
        Some(join) => (join.to_owned(), "w"),
        None => (format!("{table} AS t"), "t"),
    };
    let sql = format!(
        "DELETE FROM {table} WHERE ({columns}) IN
         (SELECT {selected} FROM {from} WHERE {owner}.workspace_id = $1 LIMIT $2)"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement::execute(conn, &sql, [workspace.into(), limit.into()]).await
}

/// Moves what a sandbox keeps to the workspace that replaces it: keys, webhooks, mails and the audit log. Deletes the jobs that replay
/// deliveries, and the responses that are stored for repeated requests, because both are about records that stay behind. Webhooks
/// count as changed at `now`, in milliseconds since the epoch: they receive no earlier events of the other workspace.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn move_kept<C: ConnectionTrait>(conn: &C, from: Uuid, to: Uuid, now: i64) -> Result<(), DbErr> {
    delete_replays(conn, from).await?;
    lock_subscriptions(conn, from).await?;
    let changed =
        "UPDATE webhook_subscriptions SET offered_from = NULL, updated_at = $2 WHERE workspace_id = $1";
    statement::execute(conn, changed, [from.into(), now.into()]).await?;
    for table in KEPT {
        let sql = format!("UPDATE {table} SET workspace_id = $2 WHERE workspace_id = $1");
        statement::execute(conn, &sql, [from.into(), to.into()]).await?;
    }
    let responses = "DELETE FROM idempotency_records WHERE api_key_id IN
         (SELECT id FROM api_keys WHERE workspace_id = $1)";
    statement::execute(conn, responses, [to.into()]).await.map(drop)
}

/// Ends what acts in a workspace that is deleted: its keys and webhooks, as of `now` in milliseconds since the epoch. Webhooks are
/// marked as deleted, so that the worker deletes their deliveries.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub async fn end<C: ConnectionTrait>(conn: &C, workspace: Uuid, now: i64) -> Result<(), DbErr> {
    delete_replays(conn, workspace).await?;
    lock_subscriptions(conn, workspace).await?;
    // The state 1 is paused: nothing is sent.
    let subscriptions = "UPDATE webhook_subscriptions SET state = 1, disabled_at = NULL, deleted_at = $2
         WHERE workspace_id = $1 AND deleted_at IS NULL";
    let keys = "UPDATE api_keys SET revoked_at = $2 WHERE workspace_id = $1 AND revoked_at IS NULL";
    for sql in [subscriptions, keys] {
        statement::execute(conn, sql, [workspace.into(), now.into()]).await?;
    }
    let topics = "DELETE FROM webhook_topics WHERE workspace_id = $1";
    statement::execute(conn, topics, [workspace.into()]).await.map(drop)
}

/// Locks the subscriptions of a workspace in the order of their ids, as every transaction that locks several does.
async fn lock_subscriptions<C: ConnectionTrait>(conn: &C, workspace: Uuid) -> Result<(), DbErr> {
    let rows = webhook_subscriptions::in_workspace(workspace).select();
    let rows = rows.order_by_asc(webhook_subscriptions::Column::Id);
    statement::all(conn, scope::locked(rows)).await.map(drop)
}

async fn delete_replays<C: ConnectionTrait>(conn: &C, workspace: Uuid) -> Result<(), DbErr> {
    let sql = "DELETE FROM webhook_replays WHERE workspace_id = $1";
    statement::execute(conn, sql, [workspace.into()]).await.map(drop)
}
