//! Deliveries: one row for each event and each subscription that wants it, which is also its place in the queue.
//!
//! What people ask for stands here, inside a workspace. [`queue`] holds what workers do across all of them,
//! [`outcomes`] what charts show, and [`hold`] what follows when a subscription is paused or enabled; dead ones have finders
//! of their own.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, QueryOrder, QuerySelect, QueryTrait, Select, sea_query::Expr};

use crate::{InWorkspace, Keyset, Span, scope, statement, table, webhook_subscriptions};

mod claim;
mod dead;
pub mod hold;
pub mod outcomes;
pub mod queue;

pub use dead::Dead;

/// Where a delivery stands. Delivered and dead ones never change again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum State {
    /// It is to be sent, or being sent.
    #[sea_orm(num_value = 0)]
    Pending,
    /// It arrived.
    #[sea_orm(num_value = 1)]
    Delivered,
    /// It was given up.
    #[sea_orm(num_value = 2)]
    Dead,
    /// It waits for its subscription to be enabled.
    #[sea_orm(num_value = 3)]
    Held,
}

/// Why there is a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum Origin {
    /// Its event happened.
    #[sea_orm(num_value = 0)]
    Event,
    /// A dead delivery is sent again.
    #[sea_orm(num_value = 1)]
    Replay,
    /// A delivered one is sent again.
    #[sea_orm(num_value = 2)]
    Resend,
    /// Its owner tries the subscription.
    #[sea_orm(num_value = 3)]
    Test,
}

table::declare!(
    /// One delivery.
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
        /// Why there is this delivery.
        pub origin: Origin,
        /// The delivery that this one sends again; it may be pruned by now.
        pub replayed_from: Option<Uuid>,
        /// The job that sends it again.
        pub job_id: Option<Uuid>,
        /// Where it stands.
        pub state: State,
        /// Attempts made so far.
        pub attempts: i32,
        /// When the next attempt is due, while pending.
        pub next_attempt_at: Option<i64>,
        /// When the next attempt is due at the earliest, while held: a wait between two attempts goes on.
        pub resumes_at: Option<i64>,
        /// Names the lease of the worker that has it in hand, so that only its holder settles the delivery.
        pub lease_token: Option<Uuid>,
        /// When that lease ends, and another worker may take the delivery.
        pub lease_until: Option<i64>,
        /// When it was made.
        pub created_at: i64,
        /// When it was delivered or given up.
        pub settled_at: Option<i64>,
        /// The status that the last attempt met, when it met one.
        pub last_status: Option<i32>,
        /// The class of what went wrong in the last attempt, when there was no answer.
        #[sea_orm(column_type = "Text", nullable)]
        pub last_error: Option<String>,
    }
);
scope::tenant!();

impl Model {
    /// A delivery just made for an event, due at once, or held when the subscription takes none.
    pub fn new(id: Uuid, subscription: Uuid, event: &crate::events::Model, enabled: bool, now: i64) -> Self {
        let due = enabled.then_some(now);
        Self {
            id,
            workspace_id: event.workspace_id,
            subscription_id: subscription,
            event_id: event.id,
            event_type: event.kind.clone(),
            origin: Origin::Event,
            replayed_from: None,
            job_id: None,
            state: if enabled { State::Pending } else { State::Held },
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

    /// A delivery that sends this one again, from its first attempt on.
    #[must_use]
    pub fn again(&self, id: Uuid, origin: Origin, enabled: bool, now: i64) -> Self {
        let due = enabled.then_some(now);
        Self {
            id,
            origin,
            replayed_from: Some(self.id),
            job_id: None,
            state: if enabled { State::Pending } else { State::Held },
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

/// Which deliveries of a subscription are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of this subscription.
    pub subscription: Uuid,
    /// That stand there.
    pub state: Option<State>,
    /// Of events of this type.
    pub event_type: Option<String>,
    /// Made in this span.
    pub created: Span,
}

impl InWorkspace<Entity> {
    /// A page of a subscription's deliveries, ordered by their making.
    ///
    /// The state is spelled out for the sake of the indexes that hold those of one state only. That of pending and of held ones
    /// has another order, so that it serves few of them: see [`is_few`](Self::is_few).
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_subscription<C: ConnectionTrait>(
        self,
        conn: &C,
        which: &Wanted,
        page: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let mut state = which.state.map(is);
        if matches!(which.state, Some(State::Pending | State::Held)) && !self.is_few(conn, which).await? {
            state = state.map(statement::unindexed);
        }
        let filters = Condition::all()
            .add_option(state)
            .add_option(which.event_type.as_deref().map(|kind| Column::EventType.eq(kind)));
        let deliveries = self
            .checked()
            .filter(Column::SubscriptionId.eq(which.subscription))
            .filter(page.within(Column::CreatedAt, which.created))
            .filter(filters);
        statement::all(conn, page.page(deliveries, Column::CreatedAt)).await
    }

    /// Whether a subscription has few deliveries of a state, so that they are soon sorted; walking all in their order would
    /// come by them late.
    ///
    /// # Errors
    /// When the database does.
    pub async fn is_few<C: ConnectionTrait>(self, conn: &C, which: &Wanted) -> Result<bool, DbErr> {
        let of = self.checked().filter(Column::SubscriptionId.eq(which.subscription));
        let standing = of.filter(Condition::all().add_option(which.state.map(is)));
        let rows = standing.select_only().column(Column::Id).into_query();
        statement::is_short(conn, rows, statement::FEW).await
    }

    /// When the delivery was made that stands so many places down a subscription's list, and its id; none where no other
    /// follows it.
    ///
    /// # Errors
    /// When the database does.
    pub async fn reach<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        created: Span,
        page: Keyset<Column>,
        many: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = self.of(subscription);
        page.reach(conn, rows.filter(page.within(Column::CreatedAt, created)), many).await
    }

    /// The deliveries of a subscription. One check of the subscription in place of one a row, which the index could not make.
    fn of(self, subscription: Uuid) -> Select<Entity> {
        let ours =
            webhook_subscriptions::in_workspace(self.workspace()).identified(subscription).into_query();
        Entity::find().filter(Column::SubscriptionId.eq(subscription)).filter(Expr::exists(ours))
    }

    /// How many of a subscription's deliveries are not settled: to be sent, and held; counts no further than the limit.
    ///
    /// # Errors
    /// When the database does.
    pub async fn count_waiting<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        limit: u64,
    ) -> Result<u64, DbErr> {
        let standing = |state: State| {
            let of = self.checked().filter(Column::SubscriptionId.eq(subscription));
            of.filter(is(state))
        };
        let pending = statement::count_to(conn, standing(State::Pending), limit).await?;
        let held = statement::count_to(conn, standing(State::Held), limit).await?;
        Ok(Ord::min(limit, pending + held))
    }

    /// The deliveries that send these again, newest first.
    ///
    /// # Errors
    /// When the database does.
    pub async fn again<C: ConnectionTrait>(self, conn: &C, of: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        if of.is_empty() {
            return Ok(Vec::new());
        }
        let again = self.checked().filter(Column::ReplayedFrom.is_in(statement::padded(of)));
        statement::all(conn, again.order_by_desc(Column::Id)).await
    }
}

/// True for those that stand there, as the conditions of indexes spell it.
fn is(state: State) -> Expr {
    Expr::cust(format!("state = {}", state.to_value()))
}

/// The delivery with this id, in whichever workspace, for the operator's commands.
///
/// # Errors
/// When the database does.
pub async fn by_id<C: ConnectionTrait>(conn: &C, id: Uuid) -> Result<Option<Model>, DbErr> {
    statement::one(conn, Entity::find_by_id(id)).await
}

/// Whether a subscription has deliveries, wherever they stand.
///
/// # Errors
/// When the database does.
pub async fn any_of<C: ConnectionTrait>(conn: &C, subscription: Uuid) -> Result<bool, DbErr> {
    let sql = "SELECT 1 FROM webhook_deliveries WHERE subscription_id = $1 LIMIT 1";
    Ok(conn.query_one_raw(statement::raw(conn, sql, [subscription.into()])).await?.is_some())
}

/// Deletes deliveries of a subscription, wherever they stand, with their attempts: as many as the limit at most. Says how
/// many.
///
/// # Errors
/// When the database does.
pub async fn erase<C: ConnectionTrait>(conn: &C, subscription: Uuid, limit: u32) -> Result<u64, DbErr> {
    let some = "DELETE FROM webhook_deliveries WHERE id IN
        (SELECT id FROM webhook_deliveries WHERE subscription_id = $1 ORDER BY created_at, id LIMIT $2)";
    statement::execute(conn, some, [subscription.into(), i64::from(limit).into()]).await
}

/// Deletes deliveries that were settled before this moment, with their attempts: as many as the limit at most. Says
/// how many. What is pending or held stays, however old.
///
/// # Errors
/// When the database does.
pub async fn prune<C: ConnectionTrait>(conn: &C, before: i64, limit: u64) -> Result<u64, DbErr> {
    let old = "DELETE FROM webhook_deliveries WHERE id IN
        (SELECT id FROM webhook_deliveries WHERE settled_at < $1 ORDER BY settled_at LIMIT $2)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement::execute(conn, old, [before.into(), limit.into()]).await
}
