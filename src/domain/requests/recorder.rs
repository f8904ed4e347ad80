//! Records requests in memory until they are written: in a bounded channel, and as counts per workspace and
//! quarter-hour.
//!
//! Recording never waits and holds no lock across an await. When the channel is full, or when one workspace fills half
//! of it, the log entry is dropped and counted as dropped. The counts still include the request.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dashmap::DashMap;
use entity::api_request_days;
use entity::rollups::Grain;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::CompletedRequest;
use foundation::id::WorkspaceId;

/// Maximum number of queued requests.
const QUEUE_CAPACITY: usize = 512;

/// The requests of a process that are not written yet. Part of the `App`.
#[derive(Debug)]
pub struct Recorder {
    sender: Sender<CompletedRequest>,
    queue: Mutex<RequestQueue>,
    /// By workspace and the start of the quarter-hour, in milliseconds since the epoch.
    counts: DashMap<(WorkspaceId, i64), RequestCounts>,
    /// The number of requests dropped since the previous call of [`Recorder::take_dropped`].
    dropped: AtomicU64,
    /// Maximum number of queued requests of one workspace, so that a busy workspace does not fill the queue.
    workspace_capacity: u32,
}

#[derive(Debug)]
struct RequestQueue {
    receiver: Receiver<CompletedRequest>,
    /// Requests that could not be written, to be written first by the next flush.
    retries: VecDeque<CompletedRequest>,
    capacity: usize,
}

/// The numbers of requests of a workspace in one quarter-hour since the previous flush, by response status.
#[derive(Debug, Default)]
struct RequestCounts {
    succeeded: AtomicU64,
    rejected: AtomicU64,
    rate_limited: AtomicU64,
    failed: AtomicU64,
    /// The number of these requests that were queued for the log.
    queued: AtomicU32,
}

impl RequestCounts {
    /// Returns the counter for responses with this status.
    fn counter(&self, status: u16) -> &AtomicU64 {
        match status {
            429 => &self.rate_limited,
            ..400 => &self.succeeded,
            400..500 => &self.rejected,
            _ => &self.failed,
        }
    }

    /// Resets the counts and returns them as a row to add, or `None` if all are 0.
    fn take(&self, workspace: WorkspaceId, starts_at: i64) -> Option<api_request_days::Model> {
        let take = |count: &AtomicU64| i64::try_from(count.swap(0, Ordering::Relaxed)).unwrap_or(i64::MAX);
        let row = api_request_days::Model {
            workspace_id: workspace.uuid(),
            starts_at,
            succeeded: take(&self.succeeded),
            rejected: take(&self.rejected),
            rate_limited: take(&self.rate_limited),
            failed: take(&self.failed),
        };
        (row.succeeded + row.rejected + row.rate_limited + row.failed > 0).then_some(row)
    }

    /// Adds the counts of a row.
    fn add(&self, row: &api_request_days::Model) {
        for (count, added) in [
            (&self.succeeded, row.succeeded),
            (&self.rejected, row.rejected),
            (&self.rate_limited, row.rate_limited),
            (&self.failed, row.failed),
        ] {
            count.fetch_add(added.unsigned_abs(), Ordering::Relaxed);
        }
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::with_capacity(QUEUE_CAPACITY)
    }
}

impl Recorder {
    fn with_capacity(capacity: usize) -> Self {
        let (sender, receiver) = channel(capacity);
        Self {
            sender,
            queue: Mutex::new(RequestQueue { receiver, retries: VecDeque::new(), capacity }),
            counts: DashMap::new(),
            dropped: AtomicU64::new(0),
            workspace_capacity: u32::try_from(capacity / 2).unwrap_or(u32::MAX),
        }
    }

    /// Returns whether another request of this workspace fits into the queue. `at_ms` is when it was received. Check
    /// this before building a log entry.
    pub fn has_capacity(&self, workspace: WorkspaceId, at_ms: i64) -> bool {
        let is_below_limit = || {
            let counts = self.counts.get(&(workspace, quarter_hour_of(at_ms)));
            counts.is_none_or(|counts| counts.queued.load(Ordering::Relaxed) < self.workspace_capacity)
        };
        self.sender.capacity() > 0 && is_below_limit()
    }

    /// Counts a request that was received at `at_ms`, with this response status.
    pub fn count(&self, workspace: WorkspaceId, at_ms: i64, status: u16) {
        let key = (workspace, quarter_hour_of(at_ms));
        if let Some(counts) = self.counts.get(&key) {
            counts.counter(status).fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.counts.entry(key).or_default().counter(status).fetch_add(1, Ordering::Relaxed);
    }

    /// Queues a request for the log, or drops it when the queue is full. Call [`count`](Self::count) for the request
    /// first.
    pub fn log(&self, request: CompletedRequest) {
        let key = (request.workspace, quarter_hour_of(request.received_at.as_millisecond()));
        if self.sender.try_send(request).is_err() {
            self.count_dropped();
        } else if let Some(counts) = self.counts.get(&key) {
            counts.queued.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a request that is missing from the log because it did not fit into the queue.
    pub fn count_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of requests dropped since the previous call.
    pub(super) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }

    /// Takes the queued requests, oldest first, but at most as many as the capacity of the queue.
    pub(super) fn take(&self) -> Vec<CompletedRequest> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken: Vec<CompletedRequest> = std::mem::take(&mut queue.retries).into();
        while taken.len() < queue.capacity
            && let Ok(request) = queue.receiver.try_recv()
        {
            taken.push(request);
        }
        taken
    }

    /// Takes the counts of all workspaces, and removes entries of past quarter-hours that have no counts.
    pub(super) fn take_counts(&self, now_ms: i64) -> Vec<api_request_days::Model> {
        let mut taken = Vec::new();
        self.counts.retain(|(workspace, starts_at), counts| {
            counts.queued.store(0, Ordering::Relaxed);
            let row = counts.take(*workspace, *starts_at);
            let is_needed = row.is_some() || *starts_at >= quarter_hour_of(now_ms);
            taken.extend(row);
            is_needed
        });
        taken
    }

    /// Queues requests again after they could not be written. Drops the oldest if they do not all fit.
    pub(super) fn requeue(&self, requests: Vec<CompletedRequest>) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let free = queue.capacity.saturating_sub(queue.retries.len());
        let dropped = requests.len().saturating_sub(free);
        queue.retries.extend(requests.into_iter().skip(dropped));
        self.dropped.fetch_add(dropped as u64, Ordering::Relaxed);
    }

    /// Restores counts that could not be written.
    pub(super) fn restore_counts(&self, rows: &[api_request_days::Model]) {
        for row in rows {
            let workspace = WorkspaceId::from_uuid(row.workspace_id);
            self.counts.entry((workspace, row.starts_at)).or_default().add(row);
        }
    }
}

/// Returns the start of the quarter-hour that contains a time, both in milliseconds since the epoch.
const fn quarter_hour_of(at_ms: i64) -> i64 {
    Grain::QuarterHour.floor(at_ms)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::{IpAddr, Ipv4Addr};

    use entity::rollups::QUARTER_HOUR_MS;
    use uuid::Uuid;

    use super::*;
    use foundation::clock::from_ms;
    use foundation::id::KeyId;

    fn request(workspace: u128, number: usize) -> CompletedRequest {
        CompletedRequest {
            workspace: WorkspaceId::from_uuid(Uuid::from_u128(workspace)),
            key: KeyId::from_uuid(Uuid::from_u128(9)),
            request_id: number.to_string(),
            operation: Some("listCourses"),
            method: "GET".to_owned(),
            target: "/api/v1/courses".to_owned(),
            status: 200,
            duration_us: 7,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            headers: BTreeMap::new(),
            error: None,
            received_at: from_ms(5),
        }
    }

    /// Records a request in the same way as the API.
    fn record(recorder: &Recorder, request: CompletedRequest) {
        let (workspace, at_ms) = (request.workspace, request.received_at.as_millisecond());
        let has_capacity = recorder.has_capacity(workspace, at_ms);
        recorder.count(workspace, at_ms, request.status);
        if has_capacity { recorder.log(request) } else { recorder.count_dropped() }
    }

    #[test]
    fn a_request_that_does_not_fit_is_dropped_but_counted() {
        let recorder = Recorder::with_capacity(4);
        (0..10).for_each(|number| record(&recorder, request(u128::from(number % 2 == 0), number)));
        assert_eq!(recorder.take_dropped(), 6);
        assert_eq!(recorder.take_dropped(), 0);
        let logged: Vec<String> = recorder.take().into_iter().map(|request| request.request_id).collect();
        assert_eq!(logged, ["0", "1", "2", "3"]);
        let counts = recorder.take_counts(5);
        assert_eq!(counts.iter().map(|row| row.succeeded).sum::<i64>(), 10);
        assert!(recorder.take_counts(5).is_empty() && recorder.take().is_empty());
    }

    #[test]
    fn a_busy_workspace_does_not_fill_the_queue() {
        let recorder = Recorder::with_capacity(4);
        (0..9).for_each(|number| record(&recorder, request(1, number)));
        record(&recorder, request(2, 100));
        let logged: Vec<String> = recorder.take().into_iter().map(|request| request.request_id).collect();
        assert_eq!(logged, ["0", "1", "100"]);
    }

    #[test]
    fn requests_that_could_not_be_written_come_first_in_the_next_flush() {
        let recorder = Recorder::with_capacity(4);
        record(&recorder, request(1, 0));
        record(&recorder, request(1, 1));
        let (taken, counts) = (recorder.take(), recorder.take_counts(5));
        recorder.requeue(taken);
        recorder.restore_counts(&counts);
        record(&recorder, request(2, 2));
        let logged: Vec<String> = recorder.take().into_iter().map(|request| request.request_id).collect();
        assert_eq!(logged, ["0", "1", "2"]);
        assert_eq!(recorder.take_counts(QUARTER_HOUR_MS).iter().map(|row| row.succeeded).sum::<i64>(), 3);
        assert!(recorder.counts.len() == 2 && recorder.take_counts(QUARTER_HOUR_MS).is_empty());
        assert!(recorder.counts.is_empty(), "past quarter-hours are removed");
    }

    #[test]
    fn each_status_is_counted_in_one_class() {
        let counts = RequestCounts::default();
        for status in [200, 304, 401, 422, 429, 500, 503] {
            counts.counter(status).fetch_add(1, Ordering::Relaxed);
        }
        let row = counts.take(WorkspaceId::from_uuid(Uuid::nil()), 0).unwrap();
        assert_eq!((row.succeeded, row.rejected, row.rate_limited, row.failed), (2, 2, 1, 2));
    }
}
