//! The rates of webhook subscriptions: when each may be sent the next deliveries.
//!
//! The generic cell rate algorithm: a claim of n deliveries moves `next_at_us` n intervals ahead, and it may be at most
//! `burst` intervals ahead of the current time. Claims read and lock the rows; see
//! [`webhook_deliveries::queue`](crate::webhook_deliveries::queue). A claim that is at most one interval late moves
//! `next_at_us` on from its previous value, so that polling late does not lower the rate.

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

/// The condition for a rate `r` whose `next_at_us` is further ahead of the time $1, in milliseconds, than claims move it: the
/// clock was set back, or the rate was raised. Claims of other workers may be up to a second ahead. Such a rate allows
/// one delivery, whose claim corrects the row.
pub(crate) const IS_TOO_FAR_AHEAD: &str = "r.next_at_us > $1 * 1000 + r.burst * r.interval_us + 1000000";

/// Returns the expression for the number of deliveries that a rate `r` allows at the time $1, in milliseconds. It is not
/// positive if the rate allows none. `least` is the function that returns the smaller of two numbers.
pub(crate) fn allowed_sql(least: &str) -> String {
    format!(
        "CASE WHEN {IS_TOO_FAR_AHEAD} THEN 1
        ELSE {least}(r.burst, ($1 * 1000 + r.burst * r.interval_us - r.next_at_us) / r.interval_us) END"
    )
}

/// Counts claimed deliveries of these subscriptions, whose rows the transaction has locked: the rate per second and the
/// number of deliveries of each. Creates missing rows. `now` is in milliseconds since the epoch.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails.
pub(crate) async fn advance<C: ConnectionTrait>(
    conn: &C,
    now: i64,
    claimed: &BTreeMap<Uuid, (i64, i64)>,
) -> Result<(), DbErr> {
    if claimed.is_empty() {
        return Ok(());
    }
    let rows = match conn.get_database_backend() {
        DbBackend::Postgres => {
            "SELECT (value->>0)::uuid AS id, (value->>1)::bigint AS deliveries FROM json_array_elements($2::json)"
        }
        _ => "SELECT unhex(value->>0) AS id, value->>1 AS deliveries FROM json_each($2)",
    };
    let sql = format!(
        "UPDATE webhook_rates AS r SET next_at_us = claimed.deliveries * r.interval_us + CASE
            WHEN {IS_TOO_FAR_AHEAD} THEN $1 * 1000 + (r.burst - 1) * r.interval_us
            WHEN r.next_at_us < $1 * 1000 - r.interval_us THEN $1 * 1000
            ELSE r.next_at_us END
        FROM ({rows}) AS claimed WHERE r.subscription_id = claimed.id"
    );
    let rows = claimed.iter().map(|(id, (_, deliveries))| json!([statement::hex(*id), deliveries]));
    let rows = serde_json::Value::from_iter(rows).to_string();
    let updated = statement::execute(conn, &sql, [now.into(), rows.into()]).await?;
    if u64::try_from(claimed.len()).is_ok_and(|count| updated < count) {
        for (id, (rate, deliveries)) in claimed {
            let mut row = Model::new(*id, *rate);
            row.next_at_us = now * 1_000 + deliveries * row.interval_us;
            let mut on_conflict = OnConflict::column(Column::SubscriptionId);
            on_conflict.do_nothing();
            statement::insert_on_conflict::<_, _, ActiveModel>(conn, row, on_conflict).await?;
        }
    }
    Ok(())
}
