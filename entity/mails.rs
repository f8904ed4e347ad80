//! The mail queue: one row per mail, with its content until the mail is settled (sent or dead).
//!
//! A worker claims due rows with a [lease](MailLease), and records the outcome of each attempt under it: the mail is
//! settled or retried. A row whose lease has expired is due again.
//!
//! Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait, LockBehavior, LockType},
};

use crate::{InWorkspace, scope, statement, table};

/// The state of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum MailState {
    /// Not sent yet.
    #[sea_orm(num_value = 0)]
    Pending,
    /// Accepted by the transport.
    #[sea_orm(num_value = 1)]
    Sent,
    /// Not sent: failed permanently or canceled.
    #[sea_orm(num_value = 2)]
    Dead,
}

table::declare!(
    /// One mail.
    #[sea_orm(table_name = "mails")]
    pub struct Model {
        /// The mail's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace that the mail is about.
        pub workspace_id: Uuid,
        /// The kind of message.
        #[sea_orm(column_type = "Text")]
        pub kind: String,
        /// The recipient's email address.
        #[sea_orm(column_type = "Text")]
        pub recipient: String,
        /// The subject line.
        #[sea_orm(column_type = "Text")]
        pub subject: String,
        /// The plain text part; empty once settled.
        #[sea_orm(column_type = "Text")]
        pub text_body: String,
        /// The HTML part; empty once settled.
        #[sea_orm(column_type = "Text")]
        pub html_body: String,
        /// The state.
        pub state: MailState,
        /// The number of attempts whose outcome was recorded. An attempt that was interrupted does not count.
        pub attempts: i32,
        /// When it is due, or when the current lease expires; `None` once settled.
        pub due_at: Option<i64>,
        /// The token of the most recent claim's lease; `None` before a claim and after its outcome.
        pub lease_token: Option<Uuid>,
        /// When it was created.
        pub created_at: i64,
        /// When the transport accepted it.
        pub sent_at: Option<i64>,
        /// Why the most recent attempt failed, or why the mail was canceled.
        #[sea_orm(column_type = "Text", nullable)]
        pub last_error: Option<String>,
    }
);
scope::workspace_table!();

impl InWorkspace<Entity> {
    /// Returns up to `limit` mails of the workspace, oldest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn list<C: ConnectionTrait>(self, conn: &C, limit: u64) -> Result<Vec<Model>, DbErr> {
        let oldest = self.select().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id).limit(limit);
        statement::all(conn, oldest).await
    }

    /// Returns the workspace's pending mails, including leased mails, in no particular order. Finds them by the index
    /// of pending mails, not by the workspace.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn pending<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.select_workspace_unindexed().filter(Column::DueAt.is_not_null())).await
    }

    /// Counts the workspace's mails of these kinds that were created in a time span, both ends included.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count_in<C: ConnectionTrait>(
        self,
        conn: &C,
        kinds: &[&str],
        (from, to): (i64, i64),
    ) -> Result<u64, DbErr> {
        let created = self.select().filter(Column::CreatedAt.between(from, to));
        statement::count(conn, created.filter(Column::Kind.is_in(kinds.iter().copied()))).await
    }

    /// Cancels pending mails: settles them as dead with this reason and deletes their content. A mail that is being
    /// sent may still be delivered, but is not retried. Returns the number of mails canceled.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn cancel<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
        reason: &str,
    ) -> Result<u64, DbErr> {
        if ids.is_empty() {
            return Ok(0);
        }
        let update = Entity::update_many()
            .col_expr(Column::State, Expr::value(MailState::Dead))
            .col_expr(Column::DueAt, Expr::value(None::<i64>))
            .col_expr(Column::LeaseToken, Expr::value(None::<Uuid>))
            .col_expr(Column::TextBody, Expr::value(""))
            .col_expr(Column::HtmlBody, Expr::value(""))
            .col_expr(Column::LastError, Expr::value(reason))
            .filter(self.is_in_workspace())
            .filter(Column::DueAt.is_not_null())
            .filter(Column::Id.is_in(statement::padded(ids)));
        Ok(update.exec(conn).await?.rows_affected)
    }
}

/// A lease: the right to record the outcomes for the claimed rows until it expires and another worker claims them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailLease {
    /// A unique token of this lease.
    pub token: Uuid,
    /// When the lease expires.
    pub expires_at: i64,
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailOutcome {
    /// The transport accepted it at this time.
    Sent(i64),
    /// It failed and is retried.
    Retry {
        /// When the next attempt is due.
        due_at: i64,
        /// Why it failed.
        error: String,
    },
    /// It failed permanently, for this reason.
    Dead(String),
}

/// Returns whether a mail is due at `due_by`. Claims nothing.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn any_due<C: ConnectionTrait>(conn: &C, due_by: i64) -> Result<bool, DbErr> {
    let due = Entity::find().select_only().column(Column::Id).filter(Column::DueAt.lte(due_by));
    // The order makes the database use the index even when its statistics are stale.
    let due = due.order_by_asc(Column::DueAt).limit(1);
    Ok(conn.query_one(&due.into_query()).await?.is_some())
}

/// Returns the number of mails that are to be sent, and when the earliest is due, in milliseconds since the epoch.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn queue_status<C: ConnectionTrait>(conn: &C) -> Result<(i64, Option<i64>), DbErr> {
    let pending = Entity::find().select_only().column_as(Column::Id.count(), "count");
    let pending = pending.column_as(Column::DueAt.min(), "due").filter(Column::DueAt.is_not_null());
    match conn.query_one(&pending.into_query()).await? {
        Some(row) => Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?)),
        None => Ok((0, None)),
    }
}

/// Claims up to `limit` mails that are due at `due_by`, earliest due time first. Call it in a transaction.
///
/// On PostgreSQL, skips rows that another worker is claiming. On SQLite, the write transaction is exclusive.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn claim<C: ConnectionTrait>(
    conn: &C,
    due_by: i64,
    lease: MailLease,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    let due = Entity::find()
        .filter(Column::DueAt.lte(due_by))
        .order_by_asc(Column::DueAt)
        .order_by_asc(Column::Id)
        .limit(limit)
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    let mut claimed = statement::all(conn, due).await?;
    if claimed.is_empty() {
        return Ok(claimed);
    }
    let ids: Vec<Uuid> = claimed.iter().map(|mail| mail.id).collect();
    let update = Entity::update_many()
        .col_expr(Column::LeaseToken, Expr::value(lease.token))
        .col_expr(Column::DueAt, Expr::value(lease.expires_at))
        .filter(Column::Id.is_in(statement::padded(&ids)));
    update.exec(conn).await?;
    for mail in &mut claimed {
        (mail.lease_token, mail.due_at) = (Some(lease.token), Some(lease.expires_at));
    }
    Ok(claimed)
}

/// Records the outcome of an attempt: settles the mail and deletes its content, or schedules the next attempt. Returns
/// `false` and changes nothing when the mail no longer has this lease: it was canceled, or another worker claimed it
/// after the lease expired.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn record_outcome<C: ConnectionTrait>(
    conn: &C,
    id: Uuid,
    lease_token: Uuid,
    outcome: MailOutcome,
) -> Result<bool, DbErr> {
    let (state, due_at, sent_at, error) = match outcome {
        MailOutcome::Sent(at) => (MailState::Sent, None, Some(at), None),
        MailOutcome::Retry { due_at, error } => (MailState::Pending, Some(due_at), None, Some(error)),
        MailOutcome::Dead(error) => (MailState::Dead, None, None, Some(error)),
    };
    let update = match state {
        MailState::Pending => Entity::update_many(),
        // The content is no longer needed, and may contain a link that grants access.
        MailState::Sent | MailState::Dead => Entity::update_many()
            .col_expr(Column::TextBody, Expr::value(""))
            .col_expr(Column::HtmlBody, Expr::value("")),
    };
    let update = update
        .col_expr(Column::State, Expr::value(state))
        .col_expr(Column::Attempts, Expr::col(Column::Attempts).add(1))
        .col_expr(Column::DueAt, Expr::value(due_at))
        .col_expr(Column::LeaseToken, Expr::value(None::<Uuid>))
        .col_expr(Column::SentAt, Expr::value(sent_at))
        .col_expr(Column::LastError, Expr::value(error))
        .filter(Condition::all().add(Column::Id.eq(id)).add(Column::LeaseToken.eq(lease_token)));
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Deletes up to `limit` settled mails that were created before `before`, and returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_settled<C: ConnectionTrait>(conn: &C, before: i64, limit: u64) -> Result<u64, DbErr> {
    let batch = Entity::find()
        .filter(Column::DueAt.is_null())
        .filter(Column::CreatedAt.lt(before))
        .order_by_asc(Column::CreatedAt)
        .limit(limit);
    scope::delete_selected(conn, batch).await
}
