//! Deliveries: one row for each event and subscription to its type. The rows are also the queue.
//!
//! This module has the queries within a workspace. [`queue`] has those of workers across all workspaces, [`outcomes`] those of
//! charts, and [`hold`] those that follow when a subscription is paused or enabled. Dead deliveries have queries of their own.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, QueryOrder, QuerySelect, QueryTrait, Select, sea_query::Expr};

use crate::{InWorkspace, Keyset, SpanMs, scope, statement, table, webhook_subscriptions};

mod claim;
mod dead;
pub mod hold;
pub mod outcomes;
pub mod queue;

pub use dead::DeadRowFilter;

/// The state of a delivery. Delivered and dead ones never change again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum StoredDeliveryState {
    /// It is to be sent, or in flight.
    #[sea_orm(num_value = 0)]
    Pending,
    /// It was delivered.
    #[sea_orm(num_value = 1)]
    Delivered,
    /// It failed for good.
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
    /// For its event.
    #[sea_orm(num_value = 0)]
    Event,
    /// To send a dead delivery again.
    #[sea_orm(num_value = 1)]
    Replay,
    /// To send a delivered one again.
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
        /// The replay job that created it.
        pub job_id: Option<Uuid>,
        /// Its state.
        pub state: StoredDeliveryState,
        /// Attempts made so far.
        pub attempts: i32,
        /// When the next attempt is due, while pending.
        pub next_attempt_at: Option<i64>,
        /// While held: the earliest time of the next attempt, because the delay between two attempts continues.
        pub resumes_at: Option<i64>,
        /// Identifies the lease of the worker that is sending it, so that only this worker can settle it.
        pub lease_token: Option<Uuid>,
        /// When that lease expires, and another worker may claim the delivery.
        pub lease_until: Option<i64>,
        /// When it was created.
        pub created_at: i64,
        /// When it became delivered or dead.
        pub settled_at: Option<i64>,
        /// The status of the last attempt; `None` without a response.
        pub last_status: Option<i32>,
        /// The failure's code when the last attempt got no response.
        #[sea_orm(column_type = "Text", nullable)]
        pub last_error: Option<String>,
    }
);
scope::tenant!();

impl Model {
    /// Creates a delivery of an event: due at once, or held when the subscription is not enabled.
    pub fn new(id: Uuid, subscription: Uuid, event: &crate::events::Model, enabled: bool, now: i64) -> Self {
        let due = enabled.then_some(now);
        Self {
            id,
            workspace_id: event.workspace_id,
            subscription_id: subscription,
            event_id: event.id,
            event_type: event.kind.clone(),
            origin: StoredDeliveryOrigin::Event,
            replayed_from: None,
            job_id: None,
            state: if enabled { StoredDeliveryState::Pending } else { StoredDeliveryState::Held },
            attempts: 0,
            next_attempt_at: due,
            resumes_at: None,
            lease_token: None,
            lease_until: None,
            created_at: now,
            settled_at: None,
            last_status: None,
            last_error: None,
        }
    }

    /// Creates a delivery that sends this one again, beginning with its first attempt.
    #[must_use]
    pub fn send_again(&self, id: Uuid, origin: StoredDeliveryOrigin, enabled: bool, now: i64) -> Self {
        let due = enabled.then_some(now);
        Self {
            id,
            origin,
            replayed_from: Some(self.id),
            job_id: None,
            state: if enabled { StoredDeliveryState::Pending } else { StoredDeliveryState::Held },
            attempts: 0,
            next_attempt_at: due,
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
    /// The state is part of the statement's text, because partial indexes cover the deliveries of a single state. The indexes
    /// of pending and held deliveries have another order, so they are used only for few rows: see [`is_few`](Self::is_few).
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn of_subscription<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeliveryRowFilter,
        page: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let mut state = filter.state.map(is);
        if matches!(filter.state, Some(StoredDeliveryState::Pending | StoredDeliveryState::Held))
            && !self.is_few(conn, filter).await?
        {
            state = state.map(statement::unindexed);
        }
        let filters = Condition::all()
            .add_option(state)
            .add_option(filter.event_type.as_deref().map(|kind| Column::EventType.eq(kind)));
        let deliveries = self
            .select_unindexed()
            .filter(Column::SubscriptionId.eq(filter.subscription))
            .filter(page.within(Column::CreatedAt, filter.created))
            .filter(filters);
        statement::all(conn, page.page(deliveries, Column::CreatedAt)).await
    }

    /// Whether a subscription has few deliveries in a state, so that sorting them is fast. Scanning all deliveries in their
    /// order would take long to find them.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn is_few<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeliveryRowFilter,
    ) -> Result<bool, DbErr> {
        let rows = self.select_unindexed().filter(Column::SubscriptionId.eq(filter.subscription));
        let in_state = rows.filter(Condition::all().add_option(filter.state.map(is)));
        let rows = in_state.select_only().column(Column::Id).into_query();
        statement::has_fewer_than(conn, rows, statement::FEW_CHILDREN).await
    }

    /// Returns the creation time and id of the delivery at position `count` of a subscription's list. Returns `None` when no
    /// other delivery follows it.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn reach<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        created: SpanMs,
        page: Keyset<Column>,
        count: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = self.of(subscription);
        page.position_at(conn, rows.filter(page.within(Column::CreatedAt, created)), count).await
    }

    /// Selects the deliveries of a subscription. Checks the subscription's workspace once instead of each row's, which the
    /// index does not include.
    fn of(self, subscription: Uuid) -> Select<Entity> {
        let ours =
            webhook_subscriptions::in_workspace(self.workspace()).select_by_id(subscription).into_query();
        Entity::find().filter(Column::SubscriptionId.eq(subscription)).filter(Expr::exists(ours))
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
            let rows = self.select_unindexed().filter(Column::SubscriptionId.eq(subscription));
            rows.filter(is(state))
        };
        let pending = statement::count_up_to(conn, in_state(StoredDeliveryState::Pending), limit).await?;
        let held = statement::count_up_to(conn, in_state(StoredDeliveryState::Held), limit).await?;
        Ok(Ord::min(limit, pending + held))
    }

    /// Returns the deliveries that send these again, newest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn sent_again<C: ConnectionTrait>(self, conn: &C, of: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.select_unindexed().filter(Column::ReplayedFrom.is_in(statement::padded(of)));
        statement::all(conn, rows.order_by_desc(Column::Id)).await
    }
}

/// True for deliveries in this state, spelled as in the conditions of the partial indexes.
fn is(state: StoredDeliveryState) -> Expr {
    Expr::cust(format!("state = {}", state.to_value()))
}

/// Returns the delivery with this id in any workspace, for the operator's commands.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// Whether a subscription has deliveries in any state.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn exist_for<C: ConnectionTrait>(conn: &C, subscription: Uuid) -> Result<bool, DbErr> {
    let sql = "SELECT 1 FROM webhook_deliveries WHERE subscription_id = $1 LIMIT 1";
    Ok(conn.query_one_raw(statement::raw(conn, sql, [subscription.into()])).await?.is_some())
}

/// Deletes deliveries of a subscription in any state, with their attempts, up to the limit. Returns the number of deliveries
/// deleted.
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
    statement::execute(conn, batch, [subscription.into(), i64::from(limit).into()]).await
}

/// Deletes deliveries that were settled before this time, with their attempts, up to the limit. Returns the number of
/// deliveries deleted. Never deletes pending or held deliveries.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn prune<C: ConnectionTrait>(conn: &C, before: i64, limit: u64) -> Result<u64, DbErr> {
    let old = "DELETE FROM webhook_deliveries WHERE id IN
        (SELECT id FROM webhook_deliveries WHERE settled_at < $1 ORDER BY settled_at LIMIT $2)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement::execute(conn, old, [before.into(), limit.into()]).await
}
