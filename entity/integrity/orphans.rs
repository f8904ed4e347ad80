//! Rows that refer to a row which does not exist. Foreign keys prevent them, unless another program changes the database
//! without checking these.

use sea_orm::entity::prelude::*;
use sea_orm::{ConnectionTrait, DbErr};

use super::{Batch, MAX_FOUND};
use crate::statement;

/// A column that contains the id of a row of another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The table.
    pub table: &'static str,
    /// The first column of its primary key.
    pub key: &'static str,
    /// The column; null if the row refers to none.
    pub column: &'static str,
    /// The table that it refers to.
    pub parent: &'static str,
}

/// All references: the foreign keys of SQLite. PostgreSQL has the same, except that attempts outlive their delivery until their day is
/// deleted.
pub const REFERENCES: &[Reference] = &[
    Reference { table: "users", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "api_keys", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "sign_in_links", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "sign_in_links", key: "id", column: "user_id", parent: "users" },
    Reference { table: "courses", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "modules", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "modules", key: "id", column: "course_id", parent: "courses" },
    Reference { table: "lessons", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "lessons", key: "id", column: "course_id", parent: "courses" },
    Reference { table: "lessons", key: "id", column: "module_id", parent: "modules" },
    Reference { table: "students", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "student_tags", key: "student_id", column: "student_id", parent: "students" },
    Reference { table: "student_tags", key: "student_id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "orders", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "orders", key: "id", column: "student_id", parent: "students" },
    Reference { table: "order_items", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "order_items", key: "id", column: "order_id", parent: "orders" },
    Reference { table: "order_items", key: "id", column: "course_id", parent: "courses" },
    Reference { table: "refunds", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "refunds", key: "id", column: "order_id", parent: "orders" },
    Reference { table: "enrollments", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "enrollments", key: "id", column: "student_id", parent: "students" },
    Reference { table: "enrollments", key: "id", column: "course_id", parent: "courses" },
    Reference { table: "enrollments", key: "id", column: "order_id", parent: "orders" },
    Reference {
        table: "lesson_completions",
        key: "enrollment_id",
        column: "enrollment_id",
        parent: "enrollments",
    },
    Reference { table: "lesson_completions", key: "enrollment_id", column: "lesson_id", parent: "lessons" },
    Reference {
        table: "lesson_completions",
        key: "enrollment_id",
        column: "workspace_id",
        parent: "workspaces",
    },
    Reference { table: "entitlements", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "entitlements", key: "id", column: "order_id", parent: "orders" },
    Reference { table: "entitlements", key: "id", column: "course_id", parent: "courses" },
    Reference { table: "entitlements", key: "id", column: "enrollment_id", parent: "enrollments" },
    Reference { table: "certificates", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "certificates", key: "id", column: "student_id", parent: "students" },
    Reference { table: "certificates", key: "id", column: "course_id", parent: "courses" },
    Reference { table: "certificates", key: "id", column: "enrollment_id", parent: "enrollments" },
    Reference { table: "live_sessions", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "live_sessions", key: "id", column: "course_id", parent: "courses" },
    Reference { table: "recordings", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "recordings", key: "id", column: "live_session_id", parent: "live_sessions" },
    Reference { table: "key_notices", key: "key_id", column: "key_id", parent: "api_keys" },
    Reference { table: "old_key_secrets", key: "key_id", column: "key_id", parent: "api_keys" },
    Reference { table: "idempotency_records", key: "api_key_id", column: "api_key_id", parent: "api_keys" },
    Reference { table: "events", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "revenue_rollups", key: "workspace_id", column: "workspace_id", parent: "workspaces" },
    Reference {
        table: "activity_rollups",
        key: "workspace_id",
        column: "workspace_id",
        parent: "workspaces",
    },
    Reference { table: "webhook_subscriptions", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "webhook_topics", key: "workspace_id", column: "workspace_id", parent: "workspaces" },
    Reference {
        table: "webhook_topics",
        key: "workspace_id",
        column: "subscription_id",
        parent: "webhook_subscriptions",
    },
    Reference { table: "webhook_secrets", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference {
        table: "webhook_secrets",
        key: "id",
        column: "subscription_id",
        parent: "webhook_subscriptions",
    },
    Reference {
        table: "webhook_rates",
        key: "subscription_id",
        column: "subscription_id",
        parent: "webhook_subscriptions",
    },
    Reference { table: "webhook_keys", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference {
        table: "webhook_deliveries",
        key: "id",
        column: "subscription_id",
        parent: "webhook_subscriptions",
    },
    Reference { table: "webhook_deliveries", key: "id", column: "event_id", parent: "events" },
    Reference { table: "webhook_attempts", key: "id", column: "delivery_id", parent: "webhook_deliveries" },
    Reference { table: "webhook_replays", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "webhook_fanouts", key: "event_id", column: "event_id", parent: "events" },
    Reference { table: "mails", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "sessions", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "sessions", key: "id", column: "user_id", parent: "users" },
    Reference { table: "password_links", key: "id", column: "workspace_id", parent: "workspaces" },
    Reference { table: "password_links", key: "id", column: "user_id", parent: "users" },
    Reference { table: "recovery_codes", key: "person_id", column: "person_id", parent: "people" },
    Reference { table: "audit_entries", key: "id", column: "workspace_id", parent: "workspaces" },
];

impl Reference {
    /// Returns whether rows without a parent are normal on this kind of database.
    pub fn may_dangle(&self, backend: sea_orm::DbBackend) -> bool {
        self.table == "webhook_attempts" && backend == sea_orm::DbBackend::Postgres
    }
}

/// Returns the rows of a batch whose parent does not exist: the first column of their primary key, and the id of the parent.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn find<C: ConnectionTrait>(
    conn: &C,
    reference: Reference,
    batch: Batch,
) -> Result<Vec<(Uuid, Uuid)>, DbErr> {
    let Reference { table, key, column, parent } = reference;
    let sql = format!(
        "SELECT {key}, {column} FROM {table} AS child WHERE {key} > $1 AND {key} <= $2 AND {column} IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM {parent} WHERE {parent}.id = child.{column}) ORDER BY {key} LIMIT {MAX_FOUND}"
    );
    let rows =
        conn.query_all_raw(statement::raw(conn, &sql, [batch.after.into(), batch.up_to.into()])).await?;
    rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
}
