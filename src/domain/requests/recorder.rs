//! Where requests wait to be written: a bounded channel and the counts of each workspace.
//!
//! Noting a request takes no lock that is held across an await, and never waits: when the channel is full, the entry is
//! dropped and counted. The counts are exact all the same.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dashmap::DashMap;
use entity::api_request_days;
use entity::rollups::DAY_MS;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::Request;
use foundation::id::WorkspaceId;

/// Requests that wait at most.
const CAPACITY: usize = 512;

/// The requests of one process that have yet to be written; one stands in the `App`.
#[derive(Debug)]
pub struct Recorder {
    sender: Sender<Request>,
    waiting: Mutex<Waiting>,
    /// By workspace and the start of the UTC day.
    tallies: DashMap<(WorkspaceId, i64), Tally>,
    dropped: AtomicU64,
    /// Requests of one workspace that wait at most, so that a busy one leaves room to the others.
    share: u32,
}

#[derive(Debug)]
struct Waiting {
    receiver: Receiver<Request>,
    /// Those whose writing failed.
    again: VecDeque<Request>,
    capacity: usize,
}

/// The requests of a workspace on a day since the last flush.
#[derive(Debug, Default)]
struct Tally {
    succeeded: AtomicU64,
    refused: AtomicU64,
    limited: AtomicU64,
    failed: AtomicU64,
    /// Of these: waiting to be written.
    waiting: AtomicU32,
}

impl Tally {
    fn of(&self, status: u16) -> &AtomicU64 {
        match status {
            429 => &self.limited,
            ..400 => &self.succeeded,
            400..500 => &self.refused,
            _ => &self.failed,
        }
    }

    /// Takes the counts out, as a row to add; `None` when there are none.
    fn take(&self, workspace: WorkspaceId, day: i64) -> Option<api_request_days::Model> {
        let take = |count: &AtomicU64| i64::try_from(count.swap(0, Ordering::Relaxed)).unwrap_or(i64::MAX);
        let row = api_request_days::Model {
            workspace_id: workspace.uuid(),
            day,
            succeeded: take(&self.succeeded),
            refused: take(&self.refused),
            limited: take(&self.limited),
            failed: take(&self.failed),
        };
        (row.succeeded + row.refused + row.limited + row.failed > 0).then_some(row)
    }

    fn add(&self, row: &api_request_days::Model) {
        for (count, more) in [
            (&self.succeeded, row.succeeded),
            (&self.refused, row.refused),
            (&self.limited, row.limited),
            (&self.failed, row.failed),
        ] {
            count.fetch_add(more.unsigned_abs(), Ordering::Relaxed);
        }
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl Recorder {
    fn with_capacity(capacity: usize) -> Self {
        let (sender, receiver) = channel(capacity);
        Self {
            sender,
            waiting: Mutex::new(Waiting { receiver, again: VecDeque::new(), capacity }),
            tallies: DashMap::new(),
            dropped: AtomicU64::new(0),
            share: u32::try_from(capacity / 2).unwrap_or(u32::MAX),
        }
    }

    /// Whether one more request of this workspace may wait; to be asked before its entry is put together.
    pub fn has_room(&self, workspace: WorkspaceId, at_ms: i64) -> bool {
        let share = || {
            let tally = self.tallies.get(&(workspace, day_of(at_ms)));
            tally.is_none_or(|tally| tally.waiting.load(Ordering::Relaxed) < self.share)
        };
        self.sender.capacity() > 0 && share()
    }

    /// Counts a request that was answered with this status.
    pub fn count(&self, workspace: WorkspaceId, at_ms: i64, status: u16) {
        let day = (workspace, day_of(at_ms));
        if let Some(tally) = self.tallies.get(&day) {
            tally.of(status).fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.tallies.entry(day).or_default().of(status).fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a request into the log, or drops it when there is no room.
    pub fn log(&self, request: Request) {
        let day = (request.workspace, day_of(request.received_at.as_millisecond()));
        if self.sender.try_send(request).is_err() {
            self.drop_one();
        } else if let Some(tally) = self.tallies.get(&day) {
            tally.waiting.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a request that is left out of the log since there is no room.
    pub fn drop_one(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// How many were dropped since this was last asked.
    pub(super) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }

    /// Takes all that waits, the oldest first.
    pub(super) fn take(&self) -> Vec<Request> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken: Vec<Request> = std::mem::take(&mut waiting.again).into();
        while taken.len() < waiting.capacity
            && let Ok(request) = waiting.receiver.try_recv()
        {
            taken.push(request);
        }
        taken
    }

    /// Takes the counts out, and forgets days before this one.
    pub(super) fn take_sums(&self, now_ms: i64) -> Vec<api_request_days::Model> {
        let mut sums = Vec::new();
        self.tallies.retain(|(workspace, day), tally| {
            tally.waiting.store(0, Ordering::Relaxed);
            let row = tally.take(*workspace, *day);
            let kept = row.is_some() || *day >= day_of(now_ms);
            sums.extend(row);
            kept
        });
        sums
    }

    /// Gives back what could not be written, as far as there is room.
    pub(super) fn give_back(&self, requests: Vec<Request>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let room = waiting.capacity.saturating_sub(waiting.again.len());
        let lost = requests.len().saturating_sub(room);
        waiting.again.extend(requests.into_iter().skip(lost));
        self.dropped.fetch_add(lost as u64, Ordering::Relaxed);
    }

    /// Gives back counts that could not be written.
    pub(super) fn give_back_sums(&self, sums: &[api_request_days::Model]) {
        for row in sums {
            let workspace = WorkspaceId::from_uuid(row.workspace_id);
            self.tallies.entry((workspace, row.day)).or_default().add(row);
        }
    }
}

/// When the UTC day begins that holds this moment.
pub(super) const fn day_of(at_ms: i64) -> i64 {
    at_ms - at_ms.rem_euclid(DAY_MS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::{IpAddr, Ipv4Addr};

    use uuid::Uuid;

    use super::*;
    use foundation::clock::from_ms;
    use foundation::id::KeyId;

    fn request(workspace: u128, number: usize) -> Request {
        Request {
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

    /// As the API does it.
    fn note(recorder: &Recorder, request: Request) {
        let (workspace, at_ms) = (request.workspace, request.received_at.as_millisecond());
        let room = recorder.has_room(workspace, at_ms);
        recorder.count(workspace, at_ms, request.status);
        if room { recorder.log(request) } else { recorder.drop_one() }
    }

    #[test]
    fn what_finds_no_room_is_dropped_but_counted() {
        let recorder = Recorder::with_capacity(4);
        (0..10).for_each(|number| note(&recorder, request(u128::from(number % 2 == 0), number)));
        assert_eq!(recorder.take_dropped(), 6);
        assert_eq!(recorder.take_dropped(), 0);
        let kept: Vec<String> = recorder.take().into_iter().map(|request| request.request_id).collect();
        assert_eq!(kept, ["0", "1", "2", "3"]);
        let sums = recorder.take_sums(5);
        assert_eq!(sums.iter().map(|row| row.succeeded).sum::<i64>(), 10);
        assert!(recorder.take_sums(5).is_empty() && recorder.take().is_empty());
    }

    #[test]
    fn a_busy_workspace_leaves_room_to_the_others() {
        let recorder = Recorder::with_capacity(4);
        (0..9).for_each(|number| note(&recorder, request(1, number)));
        note(&recorder, request(2, 100));
        let kept: Vec<String> = recorder.take().into_iter().map(|request| request.request_id).collect();
        assert_eq!(kept, ["0", "1", "100"]);
    }

    #[test]
    fn what_could_not_be_written_comes_first_again() {
        let recorder = Recorder::with_capacity(4);
        note(&recorder, request(1, 0));
        note(&recorder, request(1, 1));
        let (taken, sums) = (recorder.take(), recorder.take_sums(5));
        recorder.give_back(taken);
        recorder.give_back_sums(&sums);
        note(&recorder, request(2, 2));
        let kept: Vec<String> = recorder.take().into_iter().map(|request| request.request_id).collect();
        assert_eq!(kept, ["0", "1", "2"]);
        assert_eq!(recorder.take_sums(DAY_MS).iter().map(|row| row.succeeded).sum::<i64>(), 3);
        assert!(recorder.tallies.len() == 2 && recorder.take_sums(DAY_MS).is_empty());
        assert!(recorder.tallies.is_empty(), "days that are over are forgotten");
    }

    #[test]
    fn each_answer_belongs_to_one_class() {
        let tally = Tally::default();
        for status in [200, 304, 401, 422, 429, 500, 503] {
            tally.of(status).fetch_add(1, Ordering::Relaxed);
        }
        let row = tally.take(WorkspaceId::from_uuid(Uuid::nil()), 0).unwrap();
        assert_eq!((row.succeeded, row.refused, row.limited, row.failed), (2, 2, 1, 2));
    }
}
