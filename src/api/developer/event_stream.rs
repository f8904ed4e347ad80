//! The operation `streamEvents`.
//!
//! A stream reads a page when the client has read the one before, so a slow client slows only its own stream down. The connection
//! closes when the client reads nothing for 30 seconds.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use jiff::{SignedDuration, Timestamp};

use super::event_feed::{cursor, position, reader};
use super::generated::event_feed::StreamEventsRequest;
use super::generated::schemas::EventLine;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::feed_page::push_event;
use contract_runtime::payload::LineStream;
use domain::app::App;
use domain::event_feed::{
    self, FeedOutcome, FeedPage, FeedRequest, FeedStart, MAX_STREAMS_PER_KEY, ReaderSlot,
};
use domain::keys;
use domain::scope::{DeveloperScope, Scope};
use foundation::database::{REQUEST_TIMEOUT, with_wait_budget};

/// The scope of the operation.
const SCOPE: Scope = Scope::Developer(DeveloperScope::ReadEvents);
/// Maximum number of events that are read and sent together.
const PAGE_EVENTS: u32 = 100;
/// After this time without a line, a heartbeat is due. It is sent within [`CHECK_INTERVAL`], and so every 15 seconds.
const HEARTBEAT: SignedDuration = SignedDuration::from_secs(14);
/// When a stream ends.
const MAX_DURATION: SignedDuration = SignedDuration::from_mins(10);
/// How often a stream without events checks whether a heartbeat is due or the stream ends.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// `Retry-After` of a request for a stream beyond the limits, in seconds.
const RETRY_AFTER: i64 = 5;

/// Opens a stream.
pub(super) async fn open(app: App, call: Call, request: StreamEventsRequest) -> Reply<LineStream<EventLine>> {
    let after = position(&call, request.cursor.as_deref())?;
    let since = Duration::from_secs(u64::from(request.since.unsigned_abs()));
    let slot = event_feed::open_stream(&app, call.workspace, call.key).ok_or_else(|| {
        let message = format!(
            "Too many streams are open. A key can have {MAX_STREAMS_PER_KEY} at the same time. Close one of them, or retry later."
        );
        ApiError::rate_limited(message, RETRY_AFTER)
    })?;
    let mut request = FeedRequest {
        reader: reader(&call),
        after,
        start: if after.is_none() { FeedStart::Ago(since) } else { FeedStart::Oldest },
        event_type: request.r#type.map(|event_type| event_type.as_str().to_owned()),
        undelivered_to: None,
        limit: PAGE_EVENTS,
        wait: Duration::ZERO,
    };
    let page = match event_feed::read(&app, &request).await? {
        FeedOutcome::Page(page) => page,
        FeedOutcome::Expired(oldest) => return Err(ApiError::cursor_expired(&cursor(&call, oldest))),
        FeedOutcome::Busy => {
            return Err(ApiError::rate_limited(
                "Too many requests for events are in progress. Retry later.".to_owned(),
                RETRY_AFTER,
            ));
        }
    };
    // The following pages start after this one.
    request.start = FeedStart::Oldest;
    let opened_at = app.clock.now();
    let stream = EventStream { app, call, request, page, opened_at, sent_at: None, _slot: slot };
    let lines = stream::try_unfold(stream, |mut stream| async move {
        Ok(stream.next_lines().await?.map(|lines| (lines, stream)))
    });
    Ok(LineStream::from_lines(lines))
}

/// An open stream.
struct EventStream {
    app: App,
    call: Call,
    request: FeedRequest,
    /// The page that was read last. Its events are removed when they are sent.
    page: FeedPage,
    opened_at: Timestamp,
    /// When the last line was sent. `None` before the first one.
    sent_at: Option<Timestamp>,
    _slot: ReaderSlot,
}

impl EventStream {
    /// Waits for events or until a heartbeat is due, and returns the lines. Returns `None` at the end of the stream.
    async fn next_lines(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let now = self.app.clock.now();
            // Setting the clock back also makes them due, so that no reader waits longer.
            let is_due = |since: Timestamp, after| now.duration_since(since).abs() >= after;
            if event_feed::is_stopping(&self.app) || is_due(self.opened_at, MAX_DURATION) {
                return Ok(None);
            }
            if !self.page.events.is_empty() || self.sent_at.is_none_or(|sent_at| is_due(sent_at, HEARTBEAT)) {
                let caller = self.call.caller();
                let (digest, workspace) = (&caller.secret_digest, self.call.workspace);
                let is_usable = keys::is_usable(&self.app, digest, workspace, SCOPE, caller.address).await;
                if !is_usable.map_err(io::Error::other)? {
                    return Ok(None);
                }
                self.sent_at = Some(now);
                return Ok(Some(self.take_lines()));
            }
            if !self.read_page().await? {
                return Ok(None);
            }
        }
    }

    /// Reads the next page. Waits for events if there are none. Returns false if the events after the position are no longer stored.
    async fn read_page(&mut self) -> io::Result<bool> {
        let (app, next) = (&self.app, self.page.next);
        let read = async {
            if self.page.has_more {
                let request = FeedRequest { after: Some(next), ..self.request.clone() };
                return event_feed::read(app, &request).await;
            }
            event_feed::wait_after(app, &self.request, next, CHECK_INTERVAL).await.map(FeedOutcome::Page)
        };
        match with_wait_budget(REQUEST_TIMEOUT, read).await.map_err(io::Error::other)? {
            FeedOutcome::Page(page) => self.page = page,
            FeedOutcome::Expired(_) => return Ok(false),
            // Other readers take turns.
            FeedOutcome::Busy => {}
        }
        Ok(true)
    }

    /// Returns the lines of the events of the page, or a heartbeat if it has none.
    fn take_lines(&mut self) -> Bytes {
        let events = std::mem::take(&mut self.page.events);
        if events.is_empty() {
            let cursor = cursor(&self.call, self.page.next);
            return format!("{{\"cursor\":\"{cursor}\",\"sequence\":null,\"event\":null}}\n").into();
        }
        let mut lines = Vec::with_capacity(events.iter().map(|event| event.body.len() + 200).sum());
        for event in &events {
            lines.extend_from_slice(
                format!("{{\"cursor\":\"{}\",", cursor(&self.call, event.position)).as_bytes(),
            );
            push_event(&mut lines, event);
            lines.push(b'\n');
        }
        lines.into()
    }
}
