//! A delivery with all stored attempts: their requests and responses.

use entity::{events, webhook_attempts, webhook_deliveries};

use super::super::Result;
use super::super::records::id;
use super::deliveries::{attempt, delivery};
use super::row::find_delivery;
use super::{AttemptMessages, AttemptResponse, DeliveryDetail};
use crate::app::App;
use foundation::id::{DeliveryId, WorkspaceId};

/// Returns a delivery with its body and all stored attempts. Attempts are deleted after 30 days.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such delivery.
pub async fn delivery_detail(
    app: &App,
    workspace: WorkspaceId,
    delivery_id: DeliveryId,
) -> Result<DeliveryDetail> {
    let conn = app.db.read();
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let row = find_delivery(conn, workspace, delivery_id).await?;
    let original = match row.replayed_from {
        Some(original_id) => rows.by_id(conn, original_id).await?.map(|original| id(original.id)),
        None => None,
    };
    let replays = rows.replays_of(conn, &[row.id]).await?;
    let event = events::in_workspace(workspace.uuid()).by_id(conn, row.event_id).await?;
    let attempt_rows = webhook_attempts::in_workspace(workspace.uuid()).of_delivery(conn, row.id).await?;
    let (attempts, messages) = attempt_rows.into_iter().map(attempt_and_messages).unzip();
    Ok(DeliveryDetail {
        delivery: delivery(row, attempts),
        original,
        replays: replays.into_iter().map(|row| id(row.id)).collect(),
        body: event.map(|event| event.body).unwrap_or_default(),
        messages,
    })
}

fn attempt_and_messages(row: webhook_attempts::Model) -> (super::Attempt, AttemptMessages) {
    let response = row
        .response_headers
        .map(|headers| AttemptResponse { headers: headers.0, body: row.response_body.unwrap_or_default() });
    let messages = AttemptMessages { request_headers: row.request_headers.0, response };
    let summary = webhook_attempts::AttemptSummaryRow {
        delivery_id: row.delivery_id,
        number: row.number,
        started_at: row.started_at,
        ended_at: row.ended_at,
        status: row.status,
        error: row.error,
    };
    (attempt(summary), messages)
}
