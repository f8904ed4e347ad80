//! The operation `listEvents`, and the cursors of events.

use std::time::Duration;

use super::DeveloperHandlers;
use super::event_stream;
use super::generated::event_feed::{
    EventFeed, ListEventsRequest, ListEventsResponse, StreamEventsRequest, StreamEventsResponse,
};
use crate::call::Call;
use crate::cursor::CursorBinding;
use crate::error::{ApiError, Reply};
use crate::feed_page;
use crate::v1::id_filter;
use contract_runtime::payload::Json;
use domain::event_feed::{self, EventPosition, FeedOutcome, FeedPage, FeedReader, FeedRequest, FeedStart};
use domain::page::{Position, Sort, SortKey};
use foundation::clock::from_ms;
use foundation::id::uuid_ms;

/// How long a request waits for a response without events, if too many requests wait.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

impl EventFeed for DeveloperHandlers {
    async fn list_events(&self, call: Call, request: ListEventsRequest) -> Reply<ListEventsResponse> {
        let read = FeedRequest {
            reader: reader(&call),
            after: position(&call, request.cursor.as_deref())?,
            start: request.after.map_or(FeedStart::Oldest, |time| FeedStart::At(time.0)),
            event_type: request.r#type.map(|event_type| event_type.as_str().to_owned()),
            undelivered_to: id_filter("undelivered_to", request.undelivered_to)?,
            limit: request.limit.unsigned_abs(),
            wait: Duration::from_secs(u64::from(request.wait.unsigned_abs())),
        };
        let page = match event_feed::read(&self.app, &read).await? {
            FeedOutcome::Page(page) => page,
            FeedOutcome::Expired(oldest) => return Err(ApiError::cursor_expired(&cursor(&call, oldest))),
            FeedOutcome::Busy => {
                // A reader that repeats its request at once would use up its limits.
                tokio::time::sleep(read.wait.min(BUSY_PAUSE)).await;
                let next = read.after.unwrap_or_else(|| event_feed::oldest_position(&self.app));
                FeedPage { events: Vec::new(), next, has_more: true }
            }
        };
        let body = feed_page::body(&page, &cursor(&call, page.next));
        Ok(ListEventsResponse::Ok(Json::Serialized(body.into())))
    }

    async fn stream_events(&self, call: Call, request: StreamEventsRequest) -> Reply<StreamEventsResponse> {
        event_stream::open(self.app.clone(), call, request).await.map(StreamEventsResponse::Ok)
    }
}

/// Returns the reader of the events of a key's workspace.
pub(super) fn reader(call: &Call) -> FeedReader {
    FeedReader::Key { workspace: call.workspace, key: call.key }
}

/// Returns what cursors depend on: the workspace, and that they are those of events. Filters can change between requests.
fn binding(call: &Call) -> CursorBinding<'static> {
    CursorBinding {
        workspace: call.workspace.uuid(),
        operation: "developer-v1 events",
        sort: Sort { key: SortKey::CreatedAt, descending: false },
        query: &[],
    }
}

/// Returns the cursor of a position.
pub(super) fn cursor(call: &Call, position: EventPosition) -> String {
    let id = position.uuid();
    call.state.cursors.issue(&binding(call), Position { at: from_ms(uuid_ms(id)), id })
}

/// Returns the position of a cursor.
///
/// # Errors
/// Returns 422 for `cursor` if it was not issued for the events of this workspace.
pub(super) fn position(call: &Call, cursor: Option<&str>) -> Reply<Option<EventPosition>> {
    let Some(cursor) = cursor else { return Ok(None) };
    let verified = call.state.cursors.verify(&binding(call), cursor);
    let position = verified.map_err(|_| {
        ApiError::invalid_query(
            "cursor",
            "is not a cursor of the events of this workspace in this API; if the sandbox was reset, begin without `cursor`",
        )
    })?;
    Ok(Some(EventPosition::from_uuid(position.id)))
}
