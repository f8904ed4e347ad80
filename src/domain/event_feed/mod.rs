//! The event feed: the events in one order. The platform reads those of all workspaces, an API key those of its workspace.
//!
//! The order is that of the event ids. The id of an event contains the time at which it was appended, which is never earlier
//! than the recording time of its transaction. A page ends before the [horizon](foundation::database::Database::horizon): no
//! running or later transaction commits an event with an earlier id, so a reader that follows the positions misses none, even
//! though transactions commit in another order. If one transaction ends before another begins, its events come first.

mod slots;
mod tail;

use std::collections::HashMap;
use std::time::Duration;

use entity::event_feed::{EventFilter, between, id_at, workspaces_with_events};
use entity::{events, webhook_fanouts};
use jiff::Timestamp;
use tokio::time::Instant;
use uuid::Uuid;

use super::outbox::RETENTION_DAYS;
use super::{Error, Result};
use crate::app::App;
use crate::webhooks;
use crate::workspaces::Mode;
use entity::rollups::DAY_MS;
use foundation::clock::from_ms;
use foundation::database::{REQUEST_TIMEOUT, with_wait_budget};
use foundation::id::{EventId, KeyId, SubscriptionId, WorkspaceId, min_uuid_at, uuid_ms};

pub use slots::{FeedReader, ReaderSlot};
pub(crate) use tail::EventTail;
use tail::NewestEvents;
pub use tail::{MAX_STREAMS_PER_KEY, MAX_WAITING_READERS};

/// Number of characters of a position.
const POSITION_LENGTH: usize = 26;
/// The prefix of an event id, which its position does not have.
const EVENT_PREFIX: &str = "evt_";
/// Maximum number of events that a page with a filter examines.
const MAX_EXAMINED: u64 = 10_000;
/// How often the database is asked for new events while readers wait.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How soon the database is asked after a commit of this process, and while an event is not readable yet. An event becomes readable
/// in the millisecond after its commit, unless a write runs.
const WAKE_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum time by which a position can be ahead of the horizon. The horizon stands still while a write runs.
const MAX_LEAD_MS: i64 = 5 * 60 * 1000;
/// How much longer than [`RETENTION_DAYS`] a position is valid, in milliseconds: the time that a reader without a position has to
/// send the cursor of its first page.
const MARGIN_MS: i64 = 60 * 60 * 1000;
/// Minimum age at which events are deleted, in milliseconds. It is one margin more than the age at which a position expires, because
/// the feed measures that age from the horizon if it is earlier than the current time, as while a write runs.
pub const MIN_STORED_MS: i64 = RETENTION_DAYS * DAY_MS + 2 * MARGIN_MS;
/// How long a reader waits for a permit to read its first page, unless it waits longer for an event.
const MAX_PERMIT_WAIT: Duration = Duration::from_secs(2);
/// Size of the bodies of a page after which it ends, in bytes.
const MAX_PAGE_BYTES: usize = 4 << 20;
/// Maximum number of events that are read from the database together. Those beyond [`MAX_PAGE_BYTES`] are discarded.
const BATCH_EVENTS: usize = 200;

/// A position in the feed: after all events whose ids are not greater. As a string, it has 26 characters, and strings compare
/// like positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPosition(Uuid);

impl EventPosition {
    /// Returns the position before all events that were appended at this time or later.
    pub fn before(time: Timestamp) -> Self {
        Self(Uuid::from_u128(min_uuid_at(time.as_millisecond()).as_u128().saturating_sub(1)))
    }

    /// Returns the position with this UUID.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// Returns the UUID of the position: that of the event before it, if there is one.
    pub const fn uuid(self) -> Uuid {
        self.0
    }

    /// Returns the time of the position, in milliseconds since the epoch.
    fn ms(self) -> i64 {
        uuid_ms(self.0)
    }
}

impl std::fmt::Display for EventPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(sequence(&EventId::from_uuid(self.0).to_string()))
    }
}

/// Returns the position after an event, as a string, from the id of the event.
pub fn sequence(event_id: &str) -> &str {
    event_id.trim_start_matches(EVENT_PREFIX)
}

impl std::str::FromStr for EventPosition {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        if text.len() != POSITION_LENGTH {
            return Err(());
        }
        let id: EventId = format!("{EVENT_PREFIX}{text}").parse().map_err(drop)?;
        Ok(Self(id.uuid()))
    }
}

/// An event of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// The position after the event.
    pub position: EventPosition,
    /// The body that webhooks receive, as JSON.
    pub body: Vec<u8>,
}

/// A part of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// The events, in their order.
    pub events: Vec<FeedEvent>,
    /// The position after which the next page starts. It is also set if there are no events.
    pub next: EventPosition,
    /// Whether there may be more events at present.
    pub has_more: bool,
}

impl FeedPage {
    /// Returns whether a reader has to wait for events.
    fn is_empty(&self) -> bool {
        self.events.is_empty() && !self.has_more
    }
}

/// Where a reader without a later position starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedStart {
    /// With the oldest stored event.
    Oldest,
    /// With the events that were appended at or after this time.
    At(Timestamp),
    /// With the events that were appended at most this long ago.
    Ago(Duration),
}

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRequest {
    /// Who reads.
    pub reader: FeedReader,
    /// The position after which to start; `None` starts with the oldest stored event.
    pub after: Option<EventPosition>,
    /// No events before this start.
    pub start: FeedStart,
    /// Only events of this type.
    pub event_type: Option<String>,
    /// Only events with deliveries to this subscription of the reader's workspace, none of which is delivered.
    pub undelivered_to: Option<SubscriptionId>,
    /// Maximum number of events.
    pub limit: u32,
    /// How long to wait for an event if there is none.
    pub wait: Duration,
}

/// The outcome of reading the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedOutcome {
    /// The events.
    Page(FeedPage),
    /// Events after the requested position are no longer stored. Contains the oldest position that is available.
    Expired(EventPosition),
    /// Too many readers wait or read. Retry later.
    Busy,
}

/// Reads the feed. Waits for an event if there is none and the request says so.
///
/// # Errors
/// Returns [`Error::Invalid`] when the position or the time is in the future, [`Error::NotFound`] for a missing subscription, and
/// [`Error::Internal`] when a query fails.
pub async fn read(app: &App, request: &FeedRequest) -> Result<FeedOutcome> {
    let deadline = Instant::now() + request.wait;
    let permit_wait = request.wait.max(MAX_PERMIT_WAIT);
    let permit = tokio::time::timeout(permit_wait, app.event_tail().read_permit(request.reader)).await;
    let Ok(permit) = permit else { return Ok(FeedOutcome::Busy) };
    if let (Some(workspace), Some(subscription)) = (request.reader.workspace(), request.undelivered_to) {
        webhooks::get(app, workspace, subscription).await?;
    }
    let horizon_ms = app.db.horizon(&app.clock).await?;
    let start_ms = horizon_ms.min(app.clock.now_ms()) - RETENTION_DAYS * DAY_MS;
    let start = EventPosition::before(from_ms(start_ms));
    let after = match request.after {
        Some(position) if position.ms() > horizon_ms.saturating_add(MAX_LEAD_MS) => {
            return Err(Error::invalid("cursor", "is in the future: this server did not issue it"));
        }
        Some(position) if position.ms() < start_ms - MARGIN_MS => return Ok(FeedOutcome::Expired(start)),
        Some(position) => position,
        None => start,
    };
    let start = match request.start {
        FeedStart::At(time) if time.as_millisecond() > horizon_ms.saturating_add(MAX_LEAD_MS) => {
            return Err(Error::invalid("after", "is in the future"));
        }
        FeedStart::At(time) => EventPosition::before(time),
        FeedStart::Ago(duration) => {
            let ago_ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
            EventPosition::before(from_ms(horizon_ms.saturating_sub(ago_ms)))
        }
        FeedStart::Oldest => after,
    };
    let page = read_page(app, request, after.max(start), horizon_ms).await?;
    drop(permit);
    if !page.is_empty() || Instant::now() >= deadline {
        return Ok(FeedOutcome::Page(page));
    }
    let Some(_slot) = app.event_tail().waiting_slot(request.reader) else { return Ok(FeedOutcome::Busy) };
    wait_for_page(app, request, page, deadline).await.map(FeedOutcome::Page)
}

/// Waits for events after the position of a page that was empty. Returns an empty page when the time is over, and when the server
/// stops.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn wait_after(
    app: &App,
    request: &FeedRequest,
    position: EventPosition,
    wait: Duration,
) -> Result<FeedPage> {
    let page = FeedPage { events: Vec::new(), next: position, has_more: false };
    wait_for_page(app, request, page, Instant::now() + wait).await
}

/// Returns the slot of a stream, in which the caller reads pages one after the other. Returns `None` if too many streams are open.
pub fn open_stream(app: &App, workspace: WorkspaceId, key: KeyId) -> Option<ReaderSlot> {
    app.event_tail().stream_slot(workspace.uuid(), key.uuid())
}

/// Returns the position before the oldest stored event.
pub fn oldest_position(app: &App) -> EventPosition {
    EventPosition::before(from_ms(app.clock.now_ms() - RETENTION_DAYS * DAY_MS))
}

/// Waits until the page is not empty, and returns it. Returns the empty page at the deadline, and when the server stops.
async fn wait_for_page(
    app: &App,
    request: &FeedRequest,
    mut page: FeedPage,
    deadline: Instant,
) -> Result<FeedPage> {
    let (_reader, must_start) = app.event_tail().register(request.reader);
    if must_start {
        let app = app.clone();
        tokio::spawn(async move { poll_newest(&app).await });
    }
    while page.is_empty() && Instant::now() < deadline {
        let permit = app.event_tail().wait_beyond(request.reader, page.next.0, deadline).await;
        let Some(permit) = permit else { break };
        // Each page has the time of a request, because a wait can include many of them.
        page = with_wait_budget(REQUEST_TIMEOUT, async {
            let horizon_ms = app.db.horizon(&app.clock).await?;
            read_page(app, request, page.next, horizon_ms).await
        })
        .await?;
        drop(permit);
        if page.events.is_empty() {
            // The filter leaves the new events out.
            tokio::time::sleep_until(deadline.min(Instant::now() + POLL_INTERVAL)).await;
        }
    }
    Ok(page)
}

/// Reads one page after a position. `horizon_ms` was determined before: all events before it are visible.
async fn read_page(
    app: &App,
    request: &FeedRequest,
    after: EventPosition,
    horizon_ms: i64,
) -> Result<FeedPage> {
    let (conn, limit) = (app.db.read(), request.limit as usize);
    let filter = EventFilter {
        event_type: request.event_type.clone(),
        workspace: request.reader.workspace().map(WorkspaceId::uuid),
        undelivered_to: request.undelivered_to.map(SubscriptionId::uuid),
        is_test: request.reader.mode().map(|mode| mode == Mode::Test),
    };
    let mut horizon = min_uuid_at(horizon_ms);
    if let (Some(workspace), Some(_)) = (filter.workspace, filter.undelivered_to) {
        // From this event on, deliveries can be missing. They are written with an event of many subscriptions, or soon after.
        let incomplete = webhook_fanouts::oldest_event(conn, workspace).await?;
        horizon = incomplete.map_or(horizon, |event| event.min(horizon));
    }
    let end = EventPosition(Uuid::from_u128(horizon.as_u128().saturating_sub(1))).max(after);
    // These filters can leave out most events, so the number of events that they examine is limited.
    let examined_to = match filter.event_type.is_some() || filter.undelivered_to.is_some() {
        true => id_at(conn, (after.0, horizon), &filter, MAX_EXAMINED).await?,
        false => None,
    };
    let (mut events, mut bytes, mut is_full) = (Vec::<FeedEvent>::new(), 0, true);
    let (mut last, mut left_out) = (after, 0);
    while is_full && events.len() < limit && bytes < MAX_PAGE_BYTES && left_out < MAX_EXAMINED {
        let batch = if left_out > 0 { BATCH_EVENTS } else { (limit - events.len()).min(BATCH_EVENTS) };
        let range = (last.0, examined_to.unwrap_or(horizon));
        let rows = between(conn, range, &filter, batch as u64).await?;
        is_full = rows.len() == batch;
        for (id, body) in rows {
            if bytes >= MAX_PAGE_BYTES || events.len() == limit {
                is_full = true;
                break;
            }
            last = EventPosition(id);
            let Some(body) = body else {
                left_out += 1;
                continue;
            };
            bytes += body.len();
            events.push(FeedEvent { position: last, body });
        }
    }
    let examined_end = examined_to.map(|id| EventPosition(Uuid::from_u128(id.as_u128().saturating_sub(1))));
    let next = if is_full { last } else { examined_end.unwrap_or(end) };
    Ok(FeedPage { events, next, has_more: is_full || examined_end.is_some() })
}

/// Ends all waits for events, now and later, because the server stops. Readers then receive no events.
pub fn stop_waiting(app: &App) {
    app.event_tail().stop();
}

/// Returns whether [`stop_waiting`] was called.
pub fn is_stopping(app: &App) -> bool {
    app.event_tail().is_stopping()
}

/// Asks for the newest event after each commit of this process, and at intervals, until no reader waits.
async fn poll_newest(app: &App) {
    let (mut readable, mut pause) = (Uuid::nil(), POLL_INTERVAL);
    loop {
        match with_wait_budget(REQUEST_TIMEOUT, newest_readable(app, readable)).await {
            Ok((newest, is_last)) => {
                if let Some(newest) = newest {
                    readable = newest.all;
                    app.event_tail().set_newest(newest);
                }
                pause = if is_last { POLL_INTERVAL } else { (pause * 2).min(POLL_INTERVAL) };
            }
            Err(error) => {
                tracing::debug!(%error, "could not read the newest event");
                pause = POLL_INTERVAL;
            }
        }
        if app.event_tail().ends_task() {
            return;
        }
        if app.event_tail().wait_for_commit(pause).await {
            // Many commits share a query, and their events are readable by then.
            tokio::time::sleep(WAKE_INTERVAL).await;
            pause = WAKE_INTERVAL / 2;
        }
    }
}

/// Returns the newest events before the horizon if there are newer ones than `known`, and whether no other event is stored. `known`
/// is the highest id of the previous result. Determines a horizon, which is stored, only if there are newer events.
async fn newest_readable(app: &App, known: Uuid) -> Result<(Option<NewestEvents>, bool)> {
    let last = events::last_id(app.db.read(), Uuid::max()).await?.unwrap_or_default();
    if last <= known {
        return Ok((None, true));
    }
    let horizon = min_uuid_at(app.db.horizon(&app.clock).await?);
    let readable = events::last_id(app.db.read(), horizon).await?.unwrap_or_default();
    let is_last = last <= readable;
    if readable <= known {
        return Ok((None, is_last));
    }
    let newest =
        NewestEvents { all: readable, by_workspace: newest_by_workspace(app, known, readable).await? };
    Ok((Some(newest), is_last))
}

/// Returns an id for each workspace that has waiting readers: it has no readable event with a higher id. `known` is the highest id of
/// the previous result, and nil at first, when nothing is known about any workspace.
async fn newest_by_workspace(app: &App, known: Uuid, readable: Uuid) -> Result<HashMap<Uuid, Uuid>> {
    let waiting = if known.is_nil() { Vec::new() } else { app.event_tail().waiting_workspaces() };
    if waiting.is_empty() {
        return Ok(HashMap::new());
    }
    let changed = workspaces_with_events(app.db.read(), &waiting, (known, readable)).await?;
    let newest_of = |workspace: Uuid| match changed.contains(&workspace) {
        true => readable,
        // Without readers at the previous result, it may have any event up to that one.
        false => app.event_tail().newest_of(workspace).unwrap_or(known),
    };
    Ok(waiting.into_iter().map(|workspace| (workspace, newest_of(workspace))).collect())
}
