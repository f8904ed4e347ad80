//! The event feed: the events of all workspaces, or of one, in the order of their ids.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait},
};

use crate::events::{self, Column};
use crate::statement;
use crate::webhook_deliveries::{self, StoredDeliveryState};

/// Which events a reader of the event feed receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// The event type; `None` for all.
    pub event_type: Option<String>,
    /// The workspace; `None` for all.
    pub workspace: Option<Uuid>,
    /// Only events with a delivery to this subscription, none of which is delivered; `None` for all.
    pub undelivered_to: Option<Uuid>,
    /// Only events of test workspaces, or only of others; `None` for all.
    pub is_test: Option<bool>,
}

impl EventFilter {
    /// Selects the events of the workspace with ids above `after` and below `before`.
    fn select(&self, (after, before): (Uuid, Uuid)) -> Select<events::Entity> {
        let select = match self.workspace {
            Some(workspace) => events::in_workspace(workspace).select(),
            None => events::Entity::find(),
        };
        select.filter(Column::Id.gt(after)).filter(Column::Id.lt(before))
    }
}

/// Returns the condition for events that were not delivered to this subscription, although they have a delivery to it.
fn is_undelivered_to(subscription: Uuid) -> Condition {
    use webhook_deliveries::Column as Delivery;
    let deliveries = || {
        let of_event =
            Expr::col((webhook_deliveries::Entity, Delivery::EventId)).equals((events::Entity, Column::Id));
        let rows = webhook_deliveries::Entity::find().select_only().expr(Expr::value(1));
        rows.filter(of_event).filter(Delivery::SubscriptionId.eq(subscription))
    };
    let delivered = deliveries().filter(Delivery::State.eq(StoredDeliveryState::Delivered));
    Condition::all()
        .add(Expr::exists(deliveries().into_query()))
        .add(Expr::exists(delivered.into_query()).not())
}

/// Returns the expression for the body of an event, which is NULL if the workspace has another mode or is a deleted sandbox.
fn body_of_mode(is_test: bool) -> String {
    let is_left_out = match is_test {
        true => "NOT IN (SELECT w.id FROM workspaces AS w WHERE w.mode <> 'live' AND w.deleted_at IS NULL)",
        false => "IN (SELECT w.id FROM workspaces AS w WHERE w.mode <> 'live')",
    };
    format!("CASE WHEN events.workspace_id {is_left_out} THEN NULL ELSE events.body END")
}

/// Returns up to `limit` events with ids above `after` and below `before`, ordered by id: pairs of id and body. Events that test
/// a webhook are left out. Those that [`EventFilter::is_test`] leaves out have no body, so that a statement reads at most `limit`
/// events, however many are left out.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn between<C: ConnectionTrait>(
    conn: &C,
    range: (Uuid, Uuid),
    filter: &EventFilter,
    limit: u64,
) -> Result<Vec<(Uuid, Option<Vec<u8>>)>, DbErr> {
    let select = filter.select(range).select_only().column(Column::Id);
    let select = match filter.is_test {
        None => select.column(Column::Body),
        Some(is_test) => select.expr(Expr::cust(body_of_mode(is_test))),
    };
    let mut select = select.filter(Column::IsTest.eq(false));
    if let Some(event_type) = &filter.event_type {
        select = select.filter(statement::unindexed(Column::EventType.eq(event_type.as_str())));
    }
    if let Some(subscription) = filter.undelivered_to {
        select = select.filter(is_undelivered_to(subscription));
    }
    select.order_by_asc(Column::Id).limit(limit).into_tuple().all(conn).await
}

/// Returns the id of the event at this offset (0 is the first one) among those of the filter's workspace with ids above `after` and
/// below `before`, in the order of ids. `None` if there are fewer events.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn id_at<C: ConnectionTrait>(
    conn: &C,
    range: (Uuid, Uuid),
    filter: &EventFilter,
    offset: u64,
) -> Result<Option<Uuid>, DbErr> {
    let select = filter.select(range).select_only().column(Column::Id);
    select.order_by_asc(Column::Id).offset(offset).limit(1).into_tuple().one(conn).await
}

/// Returns those of these workspaces that have events with ids above `after`, up to and including `last`.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn workspaces_with_events<C: ConnectionTrait>(
    conn: &C,
    workspaces: &[Uuid],
    (after, last): (Uuid, Uuid),
) -> Result<Vec<Uuid>, DbErr> {
    let select = events::Entity::find().select_only().column(Column::WorkspaceId).distinct();
    let select = select.filter(Column::WorkspaceId.is_in(statement::padded(workspaces)));
    select.filter(Column::Id.gt(after)).filter(Column::Id.lte(last)).into_tuple().all(conn).await
}
