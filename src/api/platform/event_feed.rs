//! The operation `listEvents`.

use std::time::Duration;

use super::generated::event_feed::{EventFeed, ListEventsRequest, ListEventsResponse};
use super::generated::schemas::ListEventsMode;
use super::{Call, PlatformHandlers};
use crate::error::{ApiError, Reply};
use crate::feed_page;
use contract_runtime::payload::Json;
use domain::event_feed::{self, FeedOutcome, FeedReader, FeedRequest, FeedStart};
use domain::workspaces::Mode;

impl EventFeed for PlatformHandlers {
    async fn list_events(&self, _: Call, request: ListEventsRequest) -> Reply<ListEventsResponse> {
        let invalid = |name, message| ApiError::invalid_query(name, message);
        let after = request.cursor.as_deref().map(str::parse).transpose();
        let workspace = request.workspace_id.as_deref().map(str::parse).transpose();
        let request = FeedRequest {
            reader: FeedReader::Platform {
                workspace: workspace.map_err(|_| invalid("workspace_id", "is not the id of a workspace"))?,
                mode: match request.mode {
                    ListEventsMode::Live => Mode::Live,
                    ListEventsMode::Test => Mode::Test,
                },
            },
            after: after.map_err(|()| invalid("cursor", "is not a cursor of this list"))?,
            start: request.after.map_or(FeedStart::Oldest, |time| FeedStart::At(time.0)),
            event_type: request.r#type.map(|event_type| event_type.as_str().to_owned()),
            undelivered_to: None,
            limit: request.limit.unsigned_abs(),
            wait: Duration::from_secs(u64::from(request.wait.unsigned_abs())),
        };
        match event_feed::read(&self.app, &request).await? {
            FeedOutcome::Page(page) => {
                let body = feed_page::body(&page, &page.next.to_string());
                Ok(ListEventsResponse::Ok(Json::Serialized(body.into())))
            }
            FeedOutcome::Expired(oldest) => Err(ApiError::cursor_expired(&oldest.to_string())),
            FeedOutcome::Busy => Err(ApiError::unavailable(
                "Too many requests for events are in progress. Retry in a few seconds.",
                super::RETRY_AFTER,
            )),
        }
    }
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
