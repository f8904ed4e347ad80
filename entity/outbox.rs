//! Events and their deliveries on their way into the outbox: gathered while a transaction runs, written at its end.
//!
//! A change with many events, and an event with many listeners, then take a few statements instead of one for each.

use sea_orm::{ConnectionTrait, DbErr};

use crate::webhook_fanouts::{self, Rest};
use crate::{events, statement, webhook_deliveries};

/// What a transaction adds to the outbox.
#[derive(Debug, Default)]
pub struct Outbox {
    events: Vec<events::Model>,
    deliveries: Vec<webhook_deliveries::Model>,
    rests: Vec<Rest>,
}

impl Outbox {
    /// Adds an event with its deliveries.
    pub fn push(
        &mut self,
        event: events::Model,
        deliveries: impl IntoIterator<Item = webhook_deliveries::Model>,
    ) {
        self.events.push(event);
        self.deliveries.extend(deliveries);
    }

    /// Adds the subscriptions that get their deliveries of an event later.
    pub fn push_rest(&mut self, rest: Rest) {
        self.rests.push(rest);
    }

    /// Writes all of it. Each row names its workspace: whoever made it had that from the change.
    ///
    /// # Errors
    /// When the database does.
    pub async fn flush<C: ConnectionTrait>(&mut self, conn: &C) -> Result<(), DbErr> {
        statement::insert_many::<_, _, events::ActiveModel>(conn, std::mem::take(&mut self.events)).await?;
        let deliveries = std::mem::take(&mut self.deliveries);
        statement::insert_many::<_, _, webhook_deliveries::ActiveModel>(conn, deliveries).await?;
        for rest in std::mem::take(&mut self.rests) {
            webhook_fanouts::insert(conn, rest).await?;
        }
        Ok(())
    }
}
