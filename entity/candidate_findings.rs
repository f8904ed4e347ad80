//! What a candidate contract rejects, per UTC day, API key and reason. Times are milliseconds since the epoch.

use std::collections::{BTreeSet, HashMap};

use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder, QuerySelect as _};

use crate::daily_uses::DailyUses;
use crate::{statement, table};

table::declare!(
    /// The requests of one key on one day that are rejected for one reason.
    #[sea_orm(table_name = "candidate_findings")]
    pub struct Model {
        /// The start of the day.
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        /// The API key.
        #[sea_orm(primary_key, auto_increment = false)]
        pub key_id: Uuid,
        /// A digest of operation, contracts, code, pointer and name.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub fingerprint: String,
        /// The workspace of the key.
        pub workspace_id: Uuid,
        /// The operation id in the base.
        #[sea_orm(column_type = "Text")]
        pub operation: String,
        /// The digest of the operation in the contract that the server serves.
        #[sea_orm(column_type = "Text")]
        pub base: String,
        /// The digest of the operation in the candidate.
        #[sea_orm(column_type = "Text")]
        pub candidate: String,
        /// The part of the message and the keyword.
        #[sea_orm(column_type = "Text")]
        pub code: String,
        /// The JSON pointer of the failing keyword in the candidate.
        #[sea_orm(column_type = "Text")]
        pub pointer: String,
        /// The property or parameter, or `*` if clients choose the name.
        #[sea_orm(column_type = "Text")]
        pub name: String,
        /// Why the value is rejected, without the value.
        #[sea_orm(column_type = "Text")]
        pub reason: String,
        /// The number of requests in the sample.
        pub sampled: i64,
        /// The number of requests, estimated from the sample.
        pub requests: i64,
        /// The first request in the sample.
        pub first_at: i64,
        /// The last request in the sample.
        pub last_at: i64,
        /// The request id of the last request in the sample.
        #[sea_orm(column_type = "Text")]
        pub request_id: String,
    }
);

const USES: DailyUses<Column> = DailyUses {
    key: &[Column::Day, Column::KeyId, Column::Fingerprint],
    counts: &[Column::Sampled, Column::Requests],
    first_at: Column::FirstAt,
    last_at: Column::LastAt,
    request_id: Column::RequestId,
};

/// Adds these findings to the stored ones. Each day, key and fingerprint may occur only once.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn add<C: ConnectionTrait>(conn: &C, mut rows: Vec<Model>) -> Result<(), DbErr> {
    rows.sort_unstable_by(|left, right| {
        (left.day, left.key_id, &left.fingerprint).cmp(&(right.day, right.key_id, &right.fingerprint))
    });
    USES.add::<_, _, ActiveModel>(conn, rows).await
}

/// Returns the fingerprints of each of these keys on one day.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn fingerprints<C: ConnectionTrait>(
    conn: &C,
    day: i64,
    keys: impl IntoIterator<Item = Uuid>,
) -> Result<HashMap<Uuid, BTreeSet<String>>, DbErr> {
    let keys = statement::padded(&Vec::from_iter(keys));
    let rows = Entity::find().select_only().columns([Column::KeyId, Column::Fingerprint]);
    let rows = rows.filter(Column::Day.eq(day)).filter(Column::KeyId.is_in(keys));
    let mut found: HashMap<Uuid, BTreeSet<String>> = HashMap::new();
    for (key, fingerprint) in rows.into_tuple::<(Uuid, String)>().all(conn).await? {
        found.entry(key).or_default().insert(fingerprint);
    }
    Ok(found)
}

/// Returns the findings from this day on, in all workspaces, oldest first.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn since<C: ConnectionTrait>(conn: &C, day: i64) -> Result<Vec<Model>, DbErr> {
    let rows = Entity::find().filter(Column::Day.gte(day));
    statement::all(conn, rows.order_by_asc(Column::Day).order_by_asc(Column::LastAt)).await
}

/// Removes the request ids of findings whose last request was before this time, in all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn forget_requests<C: ConnectionTrait>(conn: &C, last_at: i64) -> Result<u64, DbErr> {
    USES.forget_requests::<Entity>(conn, last_at).await
}

/// Deletes the days before this one, in all workspaces.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, day: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::Day.lt(day)).exec(conn).await?.rows_affected)
}
