//! Responses stored by idempotency key, and claims of requests that are still running.

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
    /// A claim is held until it expires; no response is stored yet.
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
        /// When the claim expires and another request may take the key.
        pub claimed_until: i64,
        /// The status of the response, once done.
        pub status: Option<i32>,
        /// The headers of the response, once done, in a format chosen by the calling code.
        #[sea_orm(column_type = "Text", nullable)]
        pub headers: Option<String>,
        /// The exact body of the response, once done.
        pub body: Option<Vec<u8>>,
        /// When it was claimed.
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
    /// A unique token of this claim.
    pub token: Uuid,
    /// The current time.
    pub now: i64,
    /// When the claim expires.
    pub until: i64,
    /// When the record expires.
    pub expires_at: i64,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimResult {
    /// The claim succeeded: the key is new, or the earlier claim or record has expired.
    Acquired,
    /// Another request holds the key, or its response is stored. Contains the record.
    Taken(Box<Model>),
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
    /// Claims the key unless another claim is active or a response is stored.
    ///
    /// On PostgreSQL, waits for a running transaction that claims the same key.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn acquire<C: ConnectionTrait>(&self, conn: &C) -> Result<ClaimResult, DbErr> {
        loop {
            if statement::insert_unless::<_, _, ActiveModel>(conn, self.record(), self.on_conflict()).await? {
                return Ok(ClaimResult::Acquired);
            }
            let record = Entity::find_by_id((self.api_key_id, self.idempotency_key.clone()));
            if let Some(record) = statement::one(conn, record).await? {
                return Ok(ClaimResult::Taken(Box::new(record)));
            }
            // The key was released between the two statements: try again.
        }
    }

    /// Stores the response. Returns `false` when the claim expired and another request took the key: the caller must then roll
    /// back.
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

    /// Releases the key without a response, so that the request can be retried.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn release<C: ConnectionTrait>(&self, conn: &C) -> Result<(), DbErr> {
        Entity::delete_many().filter(self.claim_condition()).exec(conn).await.map(drop)
    }

    fn record(&self) -> Model {
        Model {
            api_key_id: self.api_key_id,
            idempotency_key: self.idempotency_key.clone(),
            fingerprint: self.fingerprint.to_vec(),
            state: IdempotencyState::Running,
            claim_token: self.token,
            claimed_until: self.until,
            status: None,
            headers: None,
            body: None,
            created_at: self.now,
            expires_at: self.expires_at,
        }
    }

    /// Replaces an existing record only if the claim or the record itself has expired.
    fn on_conflict(&self) -> OnConflict {
        let abandoned = Column::State.eq(IdempotencyState::Running).and(Column::ClaimedUntil.lte(self.now));
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
            .action_and_where(abandoned.or(Column::ExpiresAt.lte(self.now)))
            .to_owned()
    }

    fn claim_condition(&self) -> Condition {
        Condition::all()
            .add(Column::ApiKeyId.eq(self.api_key_id))
            .add(Column::IdempotencyKey.eq(self.idempotency_key.as_str()))
            .add(Column::State.eq(IdempotencyState::Running))
            .add(Column::ClaimToken.eq(self.token))
    }
}

/// Deletes up to `limit` expired records and returns the number of rows deleted.
///
/// The deletion repeats the condition on the expiry: PostgreSQL rechecks only the deletion's own conditions on a row that
/// another transaction has changed meanwhile, and would otherwise delete a new claim.
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
