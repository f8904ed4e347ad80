//! Answers kept under the caller's idempotency key, and the claims of those still being made.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait, OnConflict},
};

use crate::{statement, table};

/// How far a request under an idempotency key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum State {
    /// Somebody works on it, until the claim runs out.
    Running,
    /// Its answer is kept.
    Done,
}

table::declare!(
    /// One idempotency key of one API key.
    #[sea_orm(table_name = "idempotency_records")]
    pub struct Model {
        /// The API key.
        #[sea_orm(primary_key, auto_increment = false)]
        pub api_key_id: Uuid,
        /// The caller's idempotency key.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub idempotency_key: String,
        /// A digest of the request, 32 bytes: the same key must come with the same request.
        pub fingerprint: Vec<u8>,
        /// How far it is.
        pub state: State,
        /// Names the claim, so that only its holder finishes or releases it.
        pub claim_token: Uuid,
        /// When the claim runs out and another may take it.
        pub claimed_until: i64,
        /// The answer's status, once done.
        pub status: Option<i32>,
        /// The answer's headers, once done, in the caller's own notation.
        #[sea_orm(column_type = "Text", nullable)]
        pub headers: Option<String>,
        /// The answer's body, once done, to the byte.
        pub body: Option<Vec<u8>>,
        /// When it was claimed.
        pub created_at: i64,
        /// When it is forgotten.
        pub expires_at: i64,
    }
);

/// A wish to be the one who answers a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The API key.
    pub api_key_id: Uuid,
    /// The caller's idempotency key.
    pub idempotency_key: String,
    /// A digest of the request.
    pub fingerprint: [u8; 32],
    /// A name of this claim that no other has.
    pub token: Uuid,
    /// The moment of the claim.
    pub now: i64,
    /// When the claim runs out.
    pub until: i64,
    /// When the record is forgotten.
    pub expires_at: i64,
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The claim holds: the request is new, or whoever worked on it let its claim run out.
    Mine,
    /// Another request has the key: the record as it stands.
    Taken(Box<Model>),
}

/// An answer to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: i32,
    /// The headers, in the caller's own notation.
    pub headers: String,
    /// The body, to the byte.
    pub body: Vec<u8>,
}

impl Claim {
    /// Takes the key unless somebody else holds it or its answer is kept.
    ///
    /// On PostgreSQL it waits for a running transaction that claims the same key.
    ///
    /// # Errors
    /// When the database does.
    pub async fn take<C: ConnectionTrait>(&self, conn: &C) -> Result<Claimed, DbErr> {
        loop {
            if statement::insert_unless::<_, _, ActiveModel>(conn, self.record(), self.unless_held()).await? {
                return Ok(Claimed::Mine);
            }
            let record = Entity::find_by_id((self.api_key_id, self.idempotency_key.clone()));
            if let Some(record) = statement::one(conn, record).await? {
                return Ok(Claimed::Taken(Box::new(record)));
            }
            // It was released between the two statements: try again.
        }
    }

    /// Keeps the answer. False when the claim ran out and another took it: the caller must then roll back.
    ///
    /// # Errors
    /// When the database does.
    pub async fn finish<C: ConnectionTrait>(&self, conn: &C, answer: Answer) -> Result<bool, DbErr> {
        let update = Entity::update_many()
            .col_expr(Column::State, Expr::value(State::Done))
            .col_expr(Column::Status, Expr::value(answer.status))
            .col_expr(Column::Headers, Expr::value(answer.headers))
            .col_expr(Column::Body, Expr::value(answer.body))
            .filter(self.held());
        Ok(update.exec(conn).await?.rows_affected > 0)
    }

    /// Gives the key back without an answer, so that the request can be tried again.
    ///
    /// # Errors
    /// When the database does.
    pub async fn release<C: ConnectionTrait>(&self, conn: &C) -> Result<(), DbErr> {
        Entity::delete_many().filter(self.held()).exec(conn).await.map(drop)
    }

    fn record(&self) -> Model {
        Model {
            api_key_id: self.api_key_id,
            idempotency_key: self.idempotency_key.clone(),
            fingerprint: self.fingerprint.to_vec(),
            state: State::Running,
            claim_token: self.token,
            claimed_until: self.until,
            status: None,
            headers: None,
            body: None,
            created_at: self.now,
            expires_at: self.expires_at,
        }
    }

    /// Writes over a record whose claim ran out or whose time is over, and over no other.
    fn unless_held(&self) -> OnConflict {
        let abandoned = Column::State.eq(State::Running).and(Column::ClaimedUntil.lte(self.now));
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

    fn held(&self) -> Condition {
        Condition::all()
            .add(Column::ApiKeyId.eq(self.api_key_id))
            .add(Column::IdempotencyKey.eq(self.idempotency_key.as_str()))
            .add(Column::State.eq(State::Running))
            .add(Column::ClaimToken.eq(self.token))
    }
}

/// Forgets records whose time is over, as many as the limit at most, and says how many.
///
/// PostgreSQL looks again at a record that another transaction changed meanwhile, but only at what the deletion itself says of
/// it: what was chosen by its time must still be over then, or a claim made at that moment would go.
///
/// # Errors
/// When the database does.
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
