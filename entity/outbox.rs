//! Collects events and their deliveries while a transaction runs, and writes them at its end.
//!
//! A change with many events, or an event with many subscriptions, then takes a few statements instead of one per row.

use sea_orm::{ConnectionTrait, DbErr};

use crate::webhook_fanouts::{self, PendingFanout};
use crate::{events, statement, webhook_deliveries};

/// The rows that a transaction adds to the outbox.
#[derive(Debug, Default)]
pub struct Outbox {
    events: Vec<events::Model>,
    deliveries: Vec<webhook_deliveries::Model>,
    fanouts: Vec<PendingFanout>,
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

    /// Returns the events, in the order in which they were added.
    pub fn events(&self) -> &[events::Model] {
        &self.events
    }

    /// Adds the fan-out of an event that has too many subscriptions to write all deliveries now. A background job
    /// writes the others.
    pub fn push_fanout(&mut self, fanout: PendingFanout) {
        self.fanouts.push(fanout);
    }

    /// Writes all rows and clears the outbox. Each row already contains its workspace.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn flush<C: ConnectionTrait>(&mut self, conn: &C) -> Result<(), DbErr> {
        statement::insert_many::<_, _, events::ActiveModel>(conn, std::mem::take(&mut self.events)).await?;
        let deliveries = std::mem::take(&mut self.deliveries);
        statement::insert_many::<_, _, webhook_deliveries::ActiveModel>(conn, deliveries).await?;
        for fanout in std::mem::take(&mut self.fanouts) {
            webhook_fanouts::insert(conn, fanout).await?;
        }
        Ok(())
    }
}
