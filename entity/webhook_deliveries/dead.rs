//! Dead deliveries of a workspace or of one subscription.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, Select,
    sea_query::{Expr, ExprTrait},
};

use super::{Column, Entity, Model, StoredDeliveryState, is};
use crate::{InWorkspace, Keyset, SpanMs, statement};

/// Filters the dead deliveries of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadRowFilter {
    /// Only deliveries of this subscription.
    pub subscription: Option<Uuid>,
    /// Only deliveries of events of this type.
    pub event_type: Option<String>,
    /// Only deliveries created in this span.
    pub created: SpanMs,
    /// Only deliveries that no other delivery sends again.
    pub unreplayed: bool,
    /// Without the deliveries that this job created.
    pub not_of_job: Option<Uuid>,
}

impl InWorkspace<Entity> {
    /// Returns a page of the workspace's dead deliveries, ordered by creation.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn dead<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeadRowFilter,
        page: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let dead = self.select_dead(filter, page.within(Column::CreatedAt, filter.created));
        statement::all(conn, page.page(dead, Column::CreatedAt)).await
    }

    /// Counts the dead deliveries that match the filter, or those on a page of them.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count_dead<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &DeadRowFilter,
        page: Option<Keyset<Column>>,
    ) -> Result<u64, DbErr> {
        let Some(page) = page else {
            let dead = self.select_dead(filter, filter.created.contains(Column::CreatedAt));
            return statement::count(conn, dead).await;
        };
        let dead = self.select_dead(filter, page.within(Column::CreatedAt, filter.created));
        statement::count_up_to(conn, page.page(dead, Column::CreatedAt), page.limit).await
    }

    /// Returns the creation time and id of the dead delivery at position `count` of the list of a subscription or the
    /// workspace. Returns `None` when no other delivery follows it. Includes deliveries that others send again, and those of
    /// any event.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn reach_dead<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Option<Uuid>,
        created: SpanMs,
        page: Keyset<Column>,
        count: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = subscription.map_or_else(|| self.select(), |subscription| self.of(subscription));
        let dead = rows.filter(is(StoredDeliveryState::Dead));
        page.position_at(conn, dead.filter(page.within(Column::CreatedAt, created)), count).await
    }

    /// Selects dead deliveries. The condition on the state is spelled as in the two partial indexes of dead deliveries: one is
    /// by subscription, the other covers the whole workspace.
    fn select_dead(self, filter: &DeadRowFilter, created: Condition) -> Select<Entity> {
        let rows = match filter.subscription {
            Some(subscription) => self.select_unindexed().filter(Column::SubscriptionId.eq(subscription)),
            None => self.select(),
        };
        let unreplayed = "NOT EXISTS (SELECT 1 FROM webhook_deliveries AS again
            WHERE again.replayed_from = webhook_deliveries.id)";
        // The deliveries of a deleted subscription are deleted in batches and no longer shown.
        let deleted = "subscription_id NOT IN
            (SELECT gone.id FROM webhook_subscriptions AS gone WHERE gone.deleted_at IS NOT NULL)";
        let filters = Condition::all()
            .add(Expr::cust(deleted))
            .add_option(filter.event_type.as_deref().map(|kind| Column::EventType.eq(kind)))
            .add_option(filter.not_of_job.map(|job| Column::JobId.is_null().or(Column::JobId.ne(job))))
            .add_option(filter.unreplayed.then(|| Expr::cust(unreplayed)));
        rows.filter(is(StoredDeliveryState::Dead)).filter(created).filter(filters)
    }
}
