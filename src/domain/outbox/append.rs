//! Appends events to the outbox.

use entity::events;
use jiff::Timestamp;

use super::{Event, EventEnvelope, MESSAGING_SYSTEM, deliveries};
use crate::Result;
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{EventId, WorkspaceId};
use foundation::telemetry::traces::{Span, SpanKind};

/// Appends an event to the outbox, with a delivery for each subscription to its type. The rows exist once the write commits.
/// `at` is when the event happened.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn append(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    event: Event,
) -> Result<EventId> {
    // The event feed has the order of the ids. A change that waited for another one has a later time.
    let id: EventId = app.event_ids().next(from_ms(write.current_ms(&app.clock)));
    let event_type = event.event_type();
    let body = (app.encode)(&EventEnvelope { id, created_at: at, workspace, event });
    let span = start_span(write, id, event_type, &body);
    let row = events::Model {
        id: id.uuid(),
        workspace_id: workspace.uuid(),
        event_type: event_type.to_owned(),
        created_at: at.as_millisecond(),
        body,
        traceparent: span.as_ref().map(Span::traceparent),
        is_test: false,
    };
    deliveries::append(app, write, row).await?;
    if app.event_tail().has_readers() {
        let app = app.clone();
        write.after_commit(move || app.event_tail().wake());
    }
    metrics::counter!("events_appended_total").increment(1);
    Ok(id)
}

/// Starts the span of appending an event if the transaction is recorded. Its context is stored with the event.
fn start_span(write: &Write, id: EventId, event_type: &'static str, body: &[u8]) -> Option<Span> {
    let mut span = write.span()?.start_child(format!("send {event_type}"), SpanKind::Producer)?;
    span.set("messaging.system", MESSAGING_SYSTEM);
    span.set("messaging.operation.name", "send");
    span.set("messaging.operation.type", "send");
    span.set("messaging.destination.name", event_type);
    span.set("messaging.message.id", id.to_string());
    span.set("messaging.message.body.size", i64::try_from(body.len()).unwrap_or(i64::MAX));
    Some(span)
}
