//! Mail to be sent: a row is a message with all of its text until it is settled, and the rows that are due are the queue.
//!
//! A worker takes rows with a [lease](Lease) and settles each under it; a row whose lease ran out is due again.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait, LockBehavior, LockType},
};

use crate::{InWorkspace, scope, statement, table};

/// How far a mail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum State {
    /// Still to be sent.
    #[sea_orm(num_value = 0)]
    Pending,
    /// Taken by the transport.
    #[sea_orm(num_value = 1)]
    Sent,
    /// Given up.
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
        /// The workspace it is about.
        pub workspace_id: Uuid,
        /// Which of the messages it is.
        #[sea_orm(column_type = "Text")]
        pub kind: String,
        /// The address it goes to.
        #[sea_orm(column_type = "Text")]
        pub recipient: String,
        /// The subject line.
        #[sea_orm(column_type = "Text")]
        pub subject: String,
        /// The part in plain text; empty once settled.
        #[sea_orm(column_type = "Text")]
        pub text_body: String,
        /// The part in HTML; empty once settled.
        #[sea_orm(column_type = "Text")]
        pub html_body: String,
        /// How far it is.
        pub state: State,
        /// Attempts made so far.
        pub attempts: i32,
        /// When a worker may take it, or the end of the lease of the one that has it; nothing once settled.
        pub due_at: Option<i64>,
        /// Names the lease of the worker that has it.
        pub lease_token: Option<Uuid>,
        /// When it was written.
        pub created_at: i64,
        /// When the transport took it.
        pub sent_at: Option<i64>,
        /// Why the last attempt failed.
        #[sea_orm(column_type = "Text", nullable)]
        pub last_error: Option<String>,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The workspace's mails, oldest first.
    ///
    /// # Errors
    /// When the database does.
    pub async fn list<C: ConnectionTrait>(self, conn: &C, limit: u64) -> Result<Vec<Model>, DbErr> {
        let oldest = self.select().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id).limit(limit);
        statement::all(conn, oldest).await
    }

    /// The workspace's mails that are still to be sent, those under a lease included.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn pending<C: ConnectionTrait>(self, conn: &C) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.checked().filter(Column::DueAt.is_not_null())).await
    }

    /// How many of the workspace's mails of these kinds were written in this span, its ends included.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count_in<C: ConnectionTrait>(
        self,
        conn: &C,
        kinds: &[&str],
        (from, to): (i64, i64),
    ) -> Result<u64, DbErr> {
        let written = self.select().filter(Column::CreatedAt.between(from, to));
        statement::count(conn, written.filter(Column::Kind.is_in(kinds.iter().copied()))).await
    }

    /// Settles mails that must not be sent any more as dead, for this reason; their text goes. An attempt that is under way
    /// may still arrive, and is not repeated.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn withdraw<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
        reason: &str,
    ) -> Result<u64, DbErr> {
        if ids.is_empty() {
            return Ok(0);
        }
        let update = Entity::update_many()
            .col_expr(Column::State, Expr::value(State::Dead))
            .col_expr(Column::DueAt, Expr::value(None::<i64>))
            .col_expr(Column::LeaseToken, Expr::value(None::<Uuid>))
            .col_expr(Column::TextBody, Expr::value(""))
            .col_expr(Column::HtmlBody, Expr::value(""))
            .col_expr(Column::LastError, Expr::value(reason))
            .filter(self.inside())
            .filter(Column::DueAt.is_not_null())
            .filter(Column::Id.is_in(statement::padded(ids)));
        Ok(update.exec(conn).await?.rows_affected)
    }
}

/// The right to settle the rows that were taken with it, until it runs out and another takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// A name of this lease that no other has.
    pub token: Uuid,
    /// When it runs out.
    pub until: i64,
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The transport took it, then.
    Sent(i64),
    /// It failed, and is tried again.
    Again {
        /// When.
        due_at: i64,
        /// Why it failed.
        error: String,
    },
    /// It failed for good.
    Dead(String),
}

/// Whether a mail is due by then. Takes nothing.
///
/// # Errors
/// When the database does.
pub async fn any_due<C: ConnectionTrait>(conn: &C, by: i64) -> Result<bool, DbErr> {
    let due = Entity::find().select_only().column(Column::Id).filter(Column::DueAt.lte(by));
    // In order, so that an index answers it even where the statistics are from a time when most mail was due.
    let due = due.order_by_asc(Column::DueAt).limit(1);
    Ok(conn.query_one(&due.into_query()).await?.is_some())
}

/// Takes mails that are due by then, the longest waiting first. Belongs into a transaction.
///
/// On PostgreSQL it passes over rows that another worker is taking; on SQLite the transaction is alone.
///
/// # Errors
/// When the database does.
pub async fn claim<C: ConnectionTrait>(
    conn: &C,
    by: i64,
    lease: Lease,
    limit: u64,
) -> Result<Vec<Model>, DbErr> {
    let due = Entity::find()
        .filter(Column::DueAt.lte(by))
        .order_by_asc(Column::DueAt)
        .order_by_asc(Column::Id)
        .limit(limit)
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    let mut taken = statement::all(conn, due).await?;
    if taken.is_empty() {
        return Ok(taken);
    }
    let ids: Vec<Uuid> = taken.iter().map(|mail| mail.id).collect();
    let update = Entity::update_many()
        .col_expr(Column::LeaseToken, Expr::value(lease.token))
        .col_expr(Column::DueAt, Expr::value(lease.until))
        .filter(Column::Id.is_in(statement::padded(&ids)));
    update.exec(conn).await?;
    for mail in &mut taken {
        (mail.lease_token, mail.due_at) = (Some(lease.token), Some(lease.until));
    }
    Ok(taken)
}

/// Records an attempt; with the last one, the text of the mail goes. False when the lease ran out and another took the
/// mail: then nothing is changed.
///
/// # Errors
/// When the database does.
pub async fn settle<C: ConnectionTrait>(
    conn: &C,
    id: Uuid,
    token: Uuid,
    settled: Settled,
) -> Result<bool, DbErr> {
    let (state, due_at, sent_at, error) = match settled {
        Settled::Sent(at) => (State::Sent, None, Some(at), None),
        Settled::Again { due_at, error } => (State::Pending, Some(due_at), None, Some(error)),
        Settled::Dead(error) => (State::Dead, None, None, Some(error)),
    };
    let update = match state {
        State::Pending => Entity::update_many(),
        // The text may hold a link, and nobody needs it any more.
        State::Sent | State::Dead => Entity::update_many()
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
        .filter(Condition::all().add(Column::Id.eq(id)).add(Column::LeaseToken.eq(token)));
    Ok(update.exec(conn).await?.rows_affected > 0)
}

/// Deletes settled mails that were written before then, as many as the limit at most, and says how many.
///
/// # Errors
/// When the database does.
pub async fn delete_settled<C: ConnectionTrait>(conn: &C, before: i64, limit: u64) -> Result<u64, DbErr> {
    let batch = Entity::find()
        .filter(Column::DueAt.is_null())
        .filter(Column::CreatedAt.lt(before))
        .order_by_asc(Column::CreatedAt)
        .limit(limit);
    scope::delete_selected(conn, batch).await
}
