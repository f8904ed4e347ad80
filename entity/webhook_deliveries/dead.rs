//! Deliveries that were given up, over all subscriptions of a workspace or of one.

use sea_orm::entity::prelude::*;
use sea_orm::{
    Condition, Select,
    sea_query::{Expr, ExprTrait},
};

use super::{Column, Entity, Model, State, is};
use crate::{InWorkspace, Keyset, Span, statement};

/// Which dead deliveries are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dead {
    /// Of this subscription.
    pub subscription: Option<Uuid>,
    /// Of events of this type.
    pub event_type: Option<String>,
    /// Made in this span.
    pub created: Span,
    /// Only those that no other delivery sends again.
    pub unreplayed: bool,
    /// None that this job has made.
    pub not_of_job: Option<Uuid>,
}

impl InWorkspace<Entity> {
    /// A page of the workspace's dead deliveries, ordered by their making.
    ///
    /// # Errors
    /// When the database does.
    pub async fn dead<C: ConnectionTrait>(
        self,
        conn: &C,
        which: &Dead,
        page: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let dead = self.select_dead(which, page.within(Column::CreatedAt, which.created));
        statement::all(conn, page.page(dead, Column::CreatedAt)).await
    }

    /// How many dead deliveries there are of those wanted, or on a page of them.
    ///
    /// # Errors
    /// When the database does.
    pub async fn count_dead<C: ConnectionTrait>(
        self,
        conn: &C,
        which: &Dead,
        page: Option<Keyset<Column>>,
    ) -> Result<u64, DbErr> {
        let Some(page) = page else {
            let dead = self.select_dead(which, which.created.holds(Column::CreatedAt));
            return statement::count(conn, dead).await;
        };
        let dead = self.select_dead(which, page.within(Column::CreatedAt, which.created));
        statement::count_to(conn, page.page(dead, Column::CreatedAt), page.limit).await
    }

    /// When the dead delivery was made that stands so many places down the list of a subscription, or of all of them, and its id;
    /// none where no other follows it. Counts those that others send again, and those of any event.
    ///
    /// # Errors
    /// When the database does.
    pub async fn reach_dead<C: ConnectionTrait>(
        self,
        conn: &C,
        subscription: Option<Uuid>,
        created: Span,
        page: Keyset<Column>,
        many: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = subscription.map_or_else(|| self.select(), |subscription| self.of(subscription));
        let dead = rows.filter(is(State::Dead));
        page.reach(conn, dead.filter(page.within(Column::CreatedAt, created)), many).await
    }

    /// The condition on the state is spelled out for the sake of the indexes that hold dead ones only: one has them by
    /// subscription, the other all of the workspace.
    fn select_dead(self, which: &Dead, created: Condition) -> Select<Entity> {
        let rows = match which.subscription {
            Some(subscription) => self.checked().filter(Column::SubscriptionId.eq(subscription)),
            None => self.select(),
        };
        let unreplayed = "NOT EXISTS (SELECT 1 FROM webhook_deliveries AS again
            WHERE again.replayed_from = webhook_deliveries.id)";
        // One that is deleted takes its letters with it, batch by batch.
        let deleted = "subscription_id NOT IN
            (SELECT gone.id FROM webhook_subscriptions AS gone WHERE gone.deleted_at IS NOT NULL)";
        let filters = Condition::all()
            .add(Expr::cust(deleted))
            .add_option(which.event_type.as_deref().map(|kind| Column::EventType.eq(kind)))
            .add_option(which.not_of_job.map(|job| Column::JobId.is_null().or(Column::JobId.ne(job))))
            .add_option(which.unreplayed.then(|| Expr::cust(unreplayed)));
        rows.filter(is(State::Dead)).filter(created).filter(filters)
    }
}
