//! The operation `listEvents`.

use std::time::Duration;

use super::generated::event_feed::{EventFeed, ListEventsRequest, ListEventsResponse};
use super::{Call, PlatformHandlers};
use crate::error::{ApiError, Reply};
use contract_runtime::payload::Json;
use domain::event_feed::{self, FeedOutcome, FeedPage, FeedRequest};

impl EventFeed for PlatformHandlers {
    async fn list_events(&self, _: Call, request: ListEventsRequest) -> Reply<ListEventsResponse> {
        let invalid = |name, message| ApiError::invalid_query(name, message);
        let after = request.cursor.as_deref().map(str::parse).transpose();
        let workspace = request.workspace_id.as_deref().map(str::parse).transpose();
        let request = FeedRequest {
            after: after.map_err(|()| invalid("cursor", "is not a cursor of this list"))?,
            since: request.after.map(|time| time.0),
            event_type: request.r#type.map(|event_type| event_type.as_str().to_owned()),
            workspace: workspace.map_err(|_| invalid("workspace_id", "is not the id of a workspace"))?,
            limit: request.limit.unsigned_abs(),
            wait: Duration::from_secs(u64::from(request.wait.unsigned_abs())),
        };
        match event_feed::read(&self.app, &request).await? {
            FeedOutcome::Page(page) => Ok(ListEventsResponse::Ok(Json::Serialized(body(&page).into()))),
            FeedOutcome::Expired(oldest) => Err(ApiError::cursor_expired(&oldest.to_string())),
            FeedOutcome::Busy => Err(ApiError::unavailable(
                "Too many requests for events are in progress. Retry in a few seconds.",
                super::RETRY_AFTER,
            )),
        }
    }
}

/// Serializes a page. The bodies of the events are stored as JSON, and become part of the page byte for byte.
fn body(page: &FeedPage) -> Vec<u8> {
    let event_bytes: usize = page.events.iter().map(|event| event.body.len() + 64).sum();
    let mut body = Vec::with_capacity(event_bytes + 128);
    body.extend_from_slice(b"{\"data\":[");
    for (index, event) in page.events.iter().enumerate() {
        let separator = if index == 0 { "" } else { "," };
        body.extend_from_slice(
            format!("{separator}{{\"sequence\":\"{}\",\"event\":", event.position).as_bytes(),
        );
        body.extend_from_slice(&event.body);
        body.push(b'}');
    }
    let end = format!("],\"pagination\":{{\"cursor\":\"{}\",\"has_more\":{}}}}}", page.next, page.has_more);
    body.extend_from_slice(end.as_bytes());
    body
}

#[cfg(test)]
mod tests {
    use crate::platform::generated::schemas::ListEventsType;

    #[test]
    fn events_of_every_type_can_be_selected() {
        let types: Vec<&str> = ListEventsType::ALL.iter().map(|event_type| event_type.as_str()).collect();
        assert_eq!(types, domain::outbox::EVENT_TYPES);
    }
}
