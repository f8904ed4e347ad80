//! One delivery with all that was exchanged for it, as its owner looks into it.

use entity::{events, webhook_attempts, webhook_deliveries};

use super::super::Result;
use super::super::find::{absent, id};
use super::deliveries::{attempt, delivery};
use super::{Answer, Exchange, Messages};
use crate::app::App;
use foundation::id::{Delivery as DeliveryKind, DeliveryId, WorkspaceId};

/// A delivery with its body and the attempts of the last 30 days.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn exchange(app: &App, workspace: WorkspaceId, of: DeliveryId) -> Result<Exchange> {
    let conn = app.db.read();
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let row = rows.by_id(conn, of.uuid()).await?.ok_or_else(|| absent::<DeliveryKind>(of))?;
    let earlier = match row.replayed_from {
        Some(from) => rows.by_id(conn, from).await?.map(|earlier| id(earlier.id)),
        None => None,
    };
    let again = rows.again(conn, &[row.id]).await?;
    let event = events::in_workspace(workspace.uuid()).by_id(conn, row.event_id).await?;
    let log = webhook_attempts::in_workspace(workspace.uuid()).of_delivery(conn, row.id).await?;
    let (attempts, messages) = log.into_iter().map(opened).unzip();
    Ok(Exchange {
        delivery: delivery(row, attempts),
        earlier,
        again: again.into_iter().map(|row| id(row.id)).collect(),
        body: event.map(|event| event.body).unwrap_or_default(),
        messages,
    })
}

fn opened(row: webhook_attempts::Model) -> (super::Attempt, Messages) {
    let answer = row
        .response_headers
        .map(|headers| Answer { headers: headers.0, body: row.response_body.unwrap_or_default() });
    let messages = Messages { request_headers: row.request_headers.0, answer };
    let summary = webhook_attempts::Summary {
        delivery_id: row.delivery_id,
        number: row.number,
        started_at: row.started_at,
        ended_at: row.ended_at,
        status: row.status,
        error: row.error,
    };
    (attempt(summary), messages)
}
