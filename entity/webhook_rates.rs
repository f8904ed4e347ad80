//! The rates of webhook subscriptions: when each may be sent the next deliveries.
//!
//! The generic cell rate algorithm: a claim of n deliveries moves `next_at_us` n intervals ahead, and it may be at most
//! `burst` intervals ahead of the current time. Claims read and lock the rows; see
//! [`webhook_deliveries::queue`](crate::webhook_deliveries::queue).

use std::collections::BTreeMap;

use sea_orm::DbBackend;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::OnConflict;
use serde_json::json;

use crate::{statement, table};

table::declare!(
    /// The rate of one subscription.
    #[sea_orm(table_name = "webhook_rates")]
    pub struct Model {
        /// The subscription.
        #[sea_orm(primary_key, auto_increment = false)]
        pub subscription_id: Uuid,
        /// The time per delivery, in microseconds.
        pub interval_us: i64,
        /// The number of deliveries that may be sent at once.
        pub burst: i64,
        /// The time at which all claimed deliveries are paid for, in microseconds since the epoch.
        pub next_at_us: i64,
    }
);

impl Model {
    /// Returns the row of a subscription with this number of deliveries per second, which must be at least 1. The burst
    /// is a tenth of it.
    pub fn new(subscription_id: Uuid, per_second: i64) -> Self {
        Self {
            subscription_id,
            interval_us: 1_000_000 / per_second,
            burst: (per_second / 10).max(1),
            next_at_us: 0,
        }
    }

    /// Returns how long after a claim half of the burst can be claimed again, in milliseconds. Workers poll then.
    pub fn pause_ms(&self) -> i64 {
        (self.burst + 1) / 2 * self.interval_us / 1_000
    }
}

/// Stores the rate of a subscription. Deliveries that were claimed at a previous rate still count.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn put<C: ConnectionTrait>(conn: &C, rate: Model) -> Result<(), DbErr> {
    let mut on_conflict = OnConflict::column(Column::SubscriptionId);
    on_conflict.update_columns([Column::IntervalUs, Column::Burst]);
    statement::insert_on_conflict::<_, _, ActiveModel>(conn, rate, on_conflict).await.map(drop)
}

/// Deletes the rate of a subscription, if it has one.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete<C: ConnectionTrait>(conn: &C, subscription: Uuid) -> Result<(), DbErr> {
    Entity::delete_by_id(subscription).exec(conn).await.map(drop)
}

/// Counts claimed deliveries of these subscriptions, whose rows the transaction has locked. `now` is in milliseconds
/// since the epoch.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub(crate) async fn advance<C: ConnectionTrait>(
    conn: &C,
    now: i64,
    claimed: &BTreeMap<Uuid, i64>,
) -> Result<(), DbErr> {
    if claimed.is_empty() {
        return Ok(());
    }
    let (greatest, rows) = match conn.get_database_backend() {
        DbBackend::Postgres => (
            "greatest",
            "SELECT (value->>0)::uuid AS id, (value->>1)::bigint AS deliveries FROM json_array_elements($1::json)",
        ),
        _ => ("max", "SELECT unhex(value->>0) AS id, value->>1 AS deliveries FROM json_each($1)"),
    };
    let sql = format!(
        "UPDATE webhook_rates SET next_at_us = {greatest}(next_at_us, $2) + claimed.deliveries * interval_us
        FROM ({rows}) AS claimed WHERE webhook_rates.subscription_id = claimed.id"
    );
    let rows = claimed.iter().map(|(id, deliveries)| json!([statement::hex(*id), deliveries]));
    let rows = serde_json::Value::from_iter(rows).to_string();
    statement::execute(conn, &sql, [rows.into(), (now * 1_000).into()]).await.map(drop)
}
