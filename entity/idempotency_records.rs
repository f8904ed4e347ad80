//! Idempotency records: the stored response to a request with an idempotency key, or the claim of a request that is
//! still running. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait, OnConflict},
};

use crate::{statement, table};

/// The state of a request with an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum IdempotencyState {
    /// A request has claimed the key and no response is stored yet.
    Running,
    /// The response is stored.
    Done,
}

table::declare!(
    /// One idempotency key of one API key.
    #[sea_orm(table_name = "idempotency_records")]
    pub struct Model {
        /// The API key.
        #[sea_orm(primary_key, auto_increment = false)]
        pub api_key_id: Uuid,
        /// The idempotency key sent by the caller.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub idempotency_key: String,
        /// A digest of the request, 32 bytes. The same key must be sent with the same request.
        pub fingerprint: Vec<u8>,
        /// The state.
        pub state: IdempotencyState,
        /// Identifies the claim, so that only its holder completes or releases it.
        pub claim_token: Uuid,
        /// When the claim expires. Another request may then claim the key.
        pub claimed_until: i64,
        /// The status of the response, once done.
        pub status: Option<i32>,
        /// The headers of the response, once done, in a format chosen by the calling code.
        #[sea_orm(column_type = "Text", nullable)]
        pub headers: Option<String>,
        /// The exact body of the response, once done.
        pub body: Option<Vec<u8>>,
        /// When the key was claimed.
        pub created_at: i64,
        /// When the record expires.
        pub expires_at: i64,
    }
);

/// A request to claim an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The API key.
    pub api_key_id: Uuid,
    /// The idempotency key sent by the caller.
    pub idempotency_key: String,
    /// A digest of the request.
    pub fingerprint: [u8; 32],
    /// A unique token that identifies this claim.
    pub claim_token: Uuid,
    /// The current time.
    pub now: i64,
    /// When the claim expires.
    pub claimed_until: i64,
    /// When the record expires.
    pub expires_at: i64,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimResult {
    /// The claim succeeded: the key had no record, or its claim or its record had expired.
    Acquired,
    /// Another request has claimed the key, or a response is stored for it. Contains the record.
    Existing(Box<Model>),
}

/// A response to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedResponse {
    /// The status.
    pub status: i32,
    /// The headers, in a format chosen by the calling code.
    pub headers: String,
    /// The exact body.
    pub body: Vec<u8>,
}

impl ClaimRequest {
    /// Claims the key unless it has a claim or a stored response that has not expired.
    ///
    /// On PostgreSQL, waits for a running transaction that claims the same key.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn acquire<C: ConnectionTrait>(&self, conn: &C) -> Result<ClaimResult, DbErr> {
        loop {
            if statement::insert_on_conflict::<_, _, ActiveModel>(conn, self.record(), self.on_conflict())
                .await?
            {
                return Ok(ClaimResult::Acquired);
            }
            let record = Entity::find_by_id((self.api_key_id, self.idempotency_key.clone()));
            if let Some(record) = statement::one(conn, record).await? {
                return Ok(ClaimResult::Existing(Box::new(record)));
            }
            // The record was deleted between the two statements: try again.
        }
    }

    /// Stores the response. Returns `false` when this claim was lost: another request claimed the key after the claim
    /// expired, or the record was deleted. The caller must then roll back.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn finish<C: ConnectionTrait>(
        &self,
        conn: &C,
        response: RecordedResponse,
    ) -> Result<bool, DbErr> {
        let update = Entity::update_many()
            .col_expr(Column::State, Expr::value(IdempotencyState::Done))
            .col_expr(Column::Status, Expr::value(response.status))
            .col_expr(Column::Headers, Expr::value(response.headers))
            .col_expr(Column::Body, Expr::value(response.body))
            .filter(self.claim_condition());
        Ok(update.exec(conn).await?.rows_affected > 0)
    }

    /// Releases the key without a response, so that the request can be retried. Does nothing and returns `false` if
    /// this claim was lost.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn release<C: ConnectionTrait>(&self, conn: &C) -> Result<bool, DbErr> {
        let deleted = Entity::delete_many().filter(self.claim_condition()).exec(conn).await?;
        Ok(deleted.rows_affected > 0)
    }

    /// Returns the record of this claim, without a response.
    fn record(&self) -> Model {
        Model {
            api_key_id: self.api_key_id,
            idempotency_key: self.idempotency_key.clone(),
            fingerprint: self.fingerprint.to_vec(),
            state: IdempotencyState::Running,
            claim_token: self.claim_token,
            claimed_until: self.claimed_until,
            status: None,
            headers: None,
            body: None,
            created_at: self.now,
            expires_at: self.expires_at,
        }
    }

    /// Returns the conflict clause that replaces an existing record only if its claim or the record itself has expired.
    fn on_conflict(&self) -> OnConflict {
        let claim_expired =
            Column::State.eq(IdempotencyState::Running).and(Column::ClaimedUntil.lte(self.now));
        OnConflict::columns([Column::ApiKeyId, Column::IdempotencyKey])
            .update_columns([
                Column::Fingerprint,
                Column::State,
                Column::ClaimToken,
                Column::ClaimedUntil,
                Column::Status,
                Column::Headers,
                Column::Body,
                Column::CreatedAt,
                Column::ExpiresAt,
            ])
            .action_and_where(claim_expired.or(Column::ExpiresAt.lte(self.now)))
            .to_owned()
    }

    /// Returns the condition for the record while this claim still holds it.
    fn claim_condition(&self) -> Condition {
        Condition::all()
            .add(Column::ApiKeyId.eq(self.api_key_id))
            .add(Column::IdempotencyKey.eq(self.idempotency_key.as_str()))
            .add(Column::State.eq(IdempotencyState::Running))
            .add(Column::ClaimToken.eq(self.claim_token))
    }
}

/// Extends all claims and records by this time, because the clock is about to be advanced by it.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn extend<C: ConnectionTrait>(conn: &C, by_ms: i64) -> Result<u64, DbErr> {
    let later = |column: Column| Expr::col(column).add(by_ms);
    let update = Entity::update_many()
        .col_expr(Column::ClaimedUntil, later(Column::ClaimedUntil))
        .col_expr(Column::ExpiresAt, later(Column::ExpiresAt));
    Ok(update.exec(conn).await?.rows_affected)
}

/// Deletes up to `limit` expired records and returns the number of rows deleted.
///
/// The deletion repeats the condition on the expiry: PostgreSQL rechecks only the deletion's own conditions on a row
/// that another transaction has changed meanwhile, and would otherwise delete a new claim.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_expired<C: ConnectionTrait>(conn: &C, now: i64, limit: u64) -> Result<u64, DbErr> {
    let batch = Entity::find()
        .select_only()
        .columns([Column::ApiKeyId, Column::IdempotencyKey])
        .filter(Column::ExpiresAt.lte(now))
        .limit(limit);
    let key = Expr::tuple([Column::ApiKeyId.into_expr(), Column::IdempotencyKey.into_expr()]);
    let delete =
        Entity::delete_many().filter(key.in_subquery(batch.into_query())).filter(Column::ExpiresAt.lte(now));
    Ok(delete.exec(conn).await?.rows_affected)
}
