//! Dead deliveries of a workspace or of one subscription. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, QuerySelect, Select,
    sea_query::{Expr, ExprTrait},
};

use super::{Column, Entity, Model, StoredDeliveryState, has_state};
use crate::{InWorkspace, Keyset, SpanMs, statement};

/// Filters the dead deliveries of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadRowFilter {
    /// Only deliveries to this subscription.
    pub subscription: Option<Uuid>,
    /// Only deliveries of events of this type.
    pub event_type: Option<String>,
    /// Only deliveries created in this span.
    pub created: SpanMs,
    /// Only deliveries that were not replayed: no other delivery sends them again.
    pub unreplayed: bool,
    /// Only deliveries that were not created by this replay (`webhook_replays`).
    pub not_created_by_replay: Option<Uuid>,
}

impl InWorkspace<Entity> {
    /// Returns a page of the workspace's dead deliveries, ordered by creation. Omits those of deleted subscriptions.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn dead<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeadRowFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let dead = self.select_dead(filter, keyset.span_condition(Column::CreatedAt, filter.created));
        statement::all(conn, keyset.page(dead, Column::CreatedAt)).await
    }

    /// Counts the dead deliveries that match the filter, except those of deleted subscriptions. If `keyset` is set,
    /// counts only those on this page of the list.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count_dead<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeadRowFilter,
        keyset: Option<Keyset<Column>>,
    ) -> Result<u64, DbErr> {
        let Some(keyset) = keyset else {
            let dead = self.select_dead(filter, filter.created.contains(Column::CreatedAt));
            return statement::count(conn, dead).await;
        };
        let dead = self.select_dead(filter, keyset.span_condition(Column::CreatedAt, filter.created));
        statement::count_up_to(conn, keyset.page(dead, Column::CreatedAt), keyset.limit).await
    }

    /// Returns the creation time and id of the delivery in row `row_number` of the list of dead deliveries of the
    /// workspace, or of one subscription. Rows are counted from 1 at the start of the list or after `keyset.after`.
    /// Returns `None` when no other dead delivery follows that one. Counts deliveries of all event types, including
    /// replayed ones and those of deleted subscriptions.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn dead_position_at<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Option<Uuid>,
        created: SpanMs,
        keyset: Keyset<Column>,
        row_number: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = subscription
            .map_or_else(|| self.select(), |subscription| self.select_of_subscription(subscription));
        let dead = rows.filter(has_state(StoredDeliveryState::Dead));
        keyset
            .position_at(conn, dead.filter(keyset.span_condition(Column::CreatedAt, created)), row_number)
            .await
    }

    /// Returns when the oldest was created and when the last died of the deliveries to a subscription that were created at
    /// or after `created`, became dead at or after `settled`, and were not replayed. `None` if there are none.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn died_since<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Uuid,
        (created, settled): (i64, i64),
    ) -> Result<Option<(i64, i64)>, DbErr> {
        let filter =
            DeadRowFilter { subscription: Some(subscription), unreplayed: true, ..DeadRowFilter::default() };
        let dead = self
            .select_dead(&filter, Condition::all().add(Column::CreatedAt.gte(created)))
            .filter(statement::unindexed(Column::SettledAt.gte(settled)))
            .select_only()
            .column_as(Column::CreatedAt.min(), "oldest")
            .column_as(Column::SettledAt.max(), "last");
        let row = dead.into_tuple::<(Option<i64>, Option<i64>)>().one(conn).await?;
        Ok(row.and_then(|(oldest, last)| oldest.zip(last)))
    }

    /// Selects dead deliveries. Two partial indexes contain the dead deliveries, one ordered by subscription and one by
    /// workspace. A statement can use them only with the literal condition of [`has_state`].
    fn select_dead(self, filter: &DeadRowFilter, created: Condition) -> Select<Entity> {
        let rows = match filter.subscription {
            Some(subscription) => {
                self.select_workspace_unindexed().filter(Column::SubscriptionId.eq(subscription))
            }
            None => self.select(),
        };
        let unreplayed = "NOT EXISTS (SELECT 1 FROM webhook_deliveries AS replay
            WHERE replay.replayed_from = webhook_deliveries.id)";
        // The deliveries of a deleted subscription are no longer shown, although they are deleted later, in batches.
        let is_not_deleted = "subscription_id NOT IN
            (SELECT deleted.id FROM webhook_subscriptions AS deleted WHERE deleted.deleted_at IS NOT NULL)";
        let filters = Condition::all()
            .add(Expr::cust(is_not_deleted))
            .add_option(filter.event_type.as_deref().map(|event_type| Column::EventType.eq(event_type)))
            .add_option(
                filter.not_created_by_replay.map(|job| Column::JobId.is_null().or(Column::JobId.ne(job))),
            )
            .add_option(filter.unreplayed.then(|| Expr::cust(unreplayed)));
        rows.filter(has_state(StoredDeliveryState::Dead)).filter(created).filter(filters)
    }
}
