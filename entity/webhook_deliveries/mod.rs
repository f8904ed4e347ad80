//! Deliveries: one row for each event and each subscription to its type, and one for each replay, resend and test. The
//! rows are also the queue.
//!
//! This module contains the queries within a workspace, and `dead` those for dead deliveries. [`queue`] contains the
//! statements of workers across all workspaces, [`outcomes`] the counts for charts, and [`hold`] the changes that
//! follow when a subscription is paused, disabled or enabled.
//!
//! Times are milliseconds since the epoch.

use sea_orm::DbBackend;
use sea_orm::entity::prelude::*;
use sea_orm::{Condition, QueryOrder, QuerySelect, QueryTrait, Select, sea_query::Expr};

use crate::{InWorkspace, Keyset, SpanMs, scope, statement, table, webhook_subscriptions};

mod claim;
mod dead;
pub mod hold;
pub mod outcomes;
pub mod queue;

pub use dead::DeadRowFilter;

/// The state of a delivery. Delivered and dead deliveries are settled: their rows never change again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum StoredDeliveryState {
    /// It waits for its next attempt, or is in flight.
    #[sea_orm(num_value = 0)]
    Pending,
    /// It was delivered.
    #[sea_orm(num_value = 1)]
    Delivered,
    /// It failed and is not retried.
    #[sea_orm(num_value = 2)]
    Dead,
    /// It waits for its subscription to be enabled.
    #[sea_orm(num_value = 3)]
    Held,
}

/// Why a delivery was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum StoredDeliveryOrigin {
    /// To send its event.
    #[sea_orm(num_value = 0)]
    Event,
    /// To send a dead delivery again.
    #[sea_orm(num_value = 1)]
    Replay,
    /// To send a delivered delivery again.
    #[sea_orm(num_value = 2)]
    Resend,
    /// To test the subscription.
    #[sea_orm(num_value = 3)]
    Test,
}

table::declare!(
    /// One delivery of an event to a subscription.
    #[sea_orm(table_name = "webhook_deliveries")]
    pub struct Model {
        /// The delivery's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The subscription.
        pub subscription_id: Uuid,
        /// The event.
        pub event_id: Uuid,
        /// The event's type.
        #[sea_orm(column_type = "Text")]
        pub event_type: String,
        /// Why the delivery was created.
        pub origin: StoredDeliveryOrigin,
        /// The delivery that this one sends again, which may have been pruned since.
        pub replayed_from: Option<Uuid>,
        /// The replay job that created it, if any.
        pub job_id: Option<Uuid>,
        /// Its state.
        pub state: StoredDeliveryState,
        /// Attempts made so far.
        pub attempts: i32,
        /// When the next attempt is due, while pending.
        pub next_attempt_at: Option<i64>,
        /// While held: when the delay before the next attempt ends, if there is one.
        pub resumes_at: Option<i64>,
        /// Identifies the lease of the worker that is sending it, so that only this worker can settle it.
        pub lease_token: Option<Uuid>,
        /// When that lease expires. Another worker may then claim the delivery.
        pub lease_until: Option<i64>,
        /// When it was created.
        pub created_at: i64,
        /// When it became delivered or dead.
        pub settled_at: Option<i64>,
        /// The status of the response to the most recent attempt; `None` without a response or an attempt.
        pub last_status: Option<i32>,
        /// The code of the failure when the most recent attempt got no response.
        #[sea_orm(column_type = "Text", nullable)]
        pub last_error: Option<String>,
    }
);
scope::workspace_table!();

impl Model {
    /// Creates a delivery of an event: due at `now` if the subscription is `enabled`, otherwise held.
    pub fn new(id: Uuid, subscription: Uuid, event: &crate::events::Model, enabled: bool, now: i64) -> Self {
        let next_attempt_at = enabled.then_some(now);
        Self {
            id,
            workspace_id: event.workspace_id,
            subscription_id: subscription,
            event_id: event.id,
            event_type: event.event_type.clone(),
            origin: StoredDeliveryOrigin::Event,
            replayed_from: None,
            job_id: None,
            state: if enabled { StoredDeliveryState::Pending } else { StoredDeliveryState::Held },
            attempts: 0,
            next_attempt_at,
            resumes_at: None,
            lease_token: None,
            lease_until: None,
            created_at: now,
            settled_at: None,
            last_status: None,
            last_error: None,
        }
    }

    /// Creates a delivery that sends the same event to the same subscription again: due at `now` if the subscription is
    /// `enabled`, otherwise held. It has no attempts yet.
    #[must_use]
    pub fn new_copy(&self, id: Uuid, origin: StoredDeliveryOrigin, enabled: bool, now: i64) -> Self {
        let next_attempt_at = enabled.then_some(now);
        Self {
            id,
            origin,
            replayed_from: Some(self.id),
            job_id: None,
            state: if enabled { StoredDeliveryState::Pending } else { StoredDeliveryState::Held },
            attempts: 0,
            next_attempt_at,
            resumes_at: None,
            lease_token: None,
            lease_until: None,
            created_at: now,
            settled_at: None,
            last_status: None,
            last_error: None,
            ..self.clone()
        }
    }
}

/// Filters the deliveries of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRowFilter {
    /// The subscription.
    pub subscription: Uuid,
    /// Only deliveries in this state.
    pub state: Option<StoredDeliveryState>,
    /// Only deliveries of events of this type.
    pub event_type: Option<String>,
    /// Only deliveries created in this span.
    pub created: SpanMs,
}

impl InWorkspace<Entity> {
    /// Returns a page of a subscription's deliveries, ordered by creation.
    ///
    /// The indexes of pending and held deliveries have another order, so they are used only if they contain few rows,
    /// which can be sorted quickly.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn of_subscription<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeliveryRowFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let mut state = filter.state.map(has_state);
        if matches!(filter.state, Some(StoredDeliveryState::Pending | StoredDeliveryState::Held))
            && !self.has_few_in_state(conn, filter).await?
        {
            state = state.map(statement::unindexed);
        }
        let filters = Condition::all()
            .add_option(state)
            .add_option(filter.event_type.as_deref().map(|event_type| Column::EventType.eq(event_type)));
        let deliveries = self
            .select_workspace_unindexed()
            .filter(Column::SubscriptionId.eq(filter.subscription))
            .filter(keyset.span_condition(Column::CreatedAt, filter.created))
            .filter(filters);
        statement::all(conn, keyset.page(deliveries, Column::CreatedAt)).await
    }

    /// Returns whether the filter's subscription has few deliveries in the filter's state (in any state if it has
    /// none). A list can then read and sort all of them quickly, while scanning all deliveries in their order would
    /// take long to find them.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn has_few_in_state<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeliveryRowFilter,
    ) -> Result<bool, DbErr> {
        let rows = self.select_workspace_unindexed().filter(Column::SubscriptionId.eq(filter.subscription));
        let in_state = rows.filter(Condition::all().add_option(filter.state.map(has_state)));
        let rows = in_state.select_only().column(Column::Id).into_query();
        statement::has_fewer_than(conn, rows, statement::FEW_ROWS).await
    }

    /// Returns the creation time and id of the delivery in row `row_number` of a subscription's list, counted from 1 at
    /// its start or after `keyset.after`. Returns `None` when no other delivery follows that one, or when the
    /// subscription does not belong to the workspace.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn position_at<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        created: SpanMs,
        keyset: Keyset<Column>,
        row_number: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = self.select_of_subscription(subscription);
        keyset
            .position_at(conn, rows.filter(keyset.span_condition(Column::CreatedAt, created)), row_number)
            .await
    }

    /// Selects the deliveries of a subscription. Checks once that the subscription belongs to the workspace: the index
    /// does not contain the workspace, so checking it in each delivery would read each row.
    fn select_of_subscription(self, subscription: Uuid) -> Select<Entity> {
        let subscription_in_workspace =
            webhook_subscriptions::in_workspace(self.workspace()).select_by_id(subscription).into_query();
        Entity::find()
            .filter(Column::SubscriptionId.eq(subscription))
            .filter(Expr::exists(subscription_in_workspace))
    }

    /// Counts a subscription's deliveries that are pending or held, up to the limit.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn count_unsettled<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        limit: u64,
    ) -> Result<u64, DbErr> {
        let in_state = |state: StoredDeliveryState| {
            let rows = self.select_workspace_unindexed().filter(Column::SubscriptionId.eq(subscription));
            rows.filter(has_state(state))
        };
        let pending = statement::count_up_to(conn, in_state(StoredDeliveryState::Pending), limit).await?;
        let held = statement::count_up_to(conn, in_state(StoredDeliveryState::Held), limit).await?;
        Ok(Ord::min(limit, pending + held))
    }

    /// Returns the deliveries that send these deliveries again (replays and resends), newest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn replays_of<C: ConnectionTrait>(
        self,
        conn: &C,
        deliveries: &[Uuid],
    ) -> Result<Vec<Model>, DbErr> {
        if deliveries.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self
            .select_workspace_unindexed()
            .filter(Column::ReplayedFrom.is_in(statement::padded(deliveries)));
        statement::all(conn, rows.order_by_desc(Column::Id)).await
    }
}

/// Returns the condition for deliveries in this state. The state is a literal and not a parameter, as in the conditions
/// of the partial indexes, which are not used otherwise.
fn has_state(state: StoredDeliveryState) -> Expr {
    Expr::cust(format!("state = {}", state.to_value()))
}

/// Returns the delivery with this id in any workspace, for the operator's commands.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// Returns whether an event created a delivery to a subscription at or after `since`.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn has_event_since<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    since: i64,
) -> Result<bool, DbErr> {
    let sql =
        "SELECT 1 FROM webhook_deliveries WHERE subscription_id = $1 AND created_at >= $2 AND origin = 0
        ORDER BY created_at DESC LIMIT 1";
    let values = [subscription.into(), since.into()];
    Ok(conn.query_one_raw(statement::raw(conn, sql, values)).await?.is_some())
}

/// Returns whether a subscription has deliveries, in any state.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn exist_for<C: ConnectionTrait>(conn: &C, subscription: Uuid) -> Result<bool, DbErr> {
    let sql = "SELECT 1 FROM webhook_deliveries WHERE subscription_id = $1 LIMIT 1";
    Ok(conn.query_one_raw(statement::raw(conn, sql, [subscription.into()])).await?.is_some())
}

/// Deletes up to `limit` deliveries of a subscription, in any state, with their attempts. Returns the number of
/// deliveries deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_batch<C: ConnectionTrait>(
    conn: &C,
    subscription: Uuid,
    limit: u32,
) -> Result<u64, DbErr> {
    let batch = "DELETE FROM webhook_deliveries WHERE id IN
        (SELECT id FROM webhook_deliveries WHERE subscription_id = $1 ORDER BY created_at, id LIMIT $2)";
    let values = [subscription.into(), i64::from(limit).into()];
    if conn.get_database_backend() != DbBackend::Postgres {
        return statement::execute(conn, batch, values).await;
    }
    // Attempts have no foreign key on PostgreSQL.
    let with_attempts = format!(
        "WITH deleted AS ({batch} RETURNING id),
        attempts AS (DELETE FROM webhook_attempts WHERE delivery_id IN (SELECT id FROM deleted))
        SELECT count(*) FROM deleted"
    );
    let row = conn.query_one_raw(statement::raw(conn, &with_attempts, values)).await?;
    row.map_or(Ok(0), |row| row.try_get_by_index::<i64>(0)).map(i64::unsigned_abs)
}

/// Deletes up to `limit` deliveries that were settled (delivered or dead) before `before`. Returns the number of deliveries
/// deleted. Never deletes pending or held deliveries. Their attempts are deleted with them; on PostgreSQL, with the day of the
/// attempt.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn prune<C: ConnectionTrait>(conn: &C, before: i64, limit: u64) -> Result<u64, DbErr> {
    let old = "DELETE FROM webhook_deliveries WHERE id IN
        (SELECT id FROM webhook_deliveries WHERE settled_at < $1 ORDER BY settled_at LIMIT $2)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement::execute(conn, old, [before.into(), limit.into()]).await
}
