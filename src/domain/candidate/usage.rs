//! The counts and findings that are not in the database yet.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use dashmap::DashMap;
use entity::rollups::Grain;
use entity::{candidate_findings, candidate_requests};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Caller, Finding, MAX_CODES, OTHER, ObservedOperation, Sampled};
use foundation::id::{KeyId, WorkspaceId};

/// All requests of a key to an operation are validated up to this number a day and process; a tenth beyond it.
const ALL_UNTIL: u64 = 1_000;
/// Beyond this number, a hundredth is validated.
const TENTH_UNTIL: u64 = 10_000;

/// The usage of a process.
#[derive(Debug)]
pub struct Usage {
    /// The operations. Empty without a candidate.
    operations: OnceLock<Vec<ObservedOperation>>,
    /// By day, key and operation.
    tallies: DashMap<(i64, KeyId, usize), Tally>,
    /// By day and key.
    findings: Mutex<HashMap<(i64, KeyId), HashMap<String, candidate_findings::Model>>>,
    /// The number of requests that wait for validation.
    pending: AtomicUsize,
    /// The last day that was recorded as observed.
    observed_day: AtomicI64,
}

/// The requests of a key to an operation on a day.
#[derive(Debug)]
struct Tally {
    workspace: WorkspaceId,
    /// The number of accepted requests, including those that wait for validation. Determines the sampling probability.
    accepted: AtomicU64,
    /// The counts that were not written yet: seen, checked, dropped and weight.
    counts: [AtomicU64; 4],
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            operations: OnceLock::default(),
            tallies: DashMap::default(),
            findings: Mutex::default(),
            pending: AtomicUsize::default(),
            observed_day: AtomicI64::new(i64::MIN),
        }
    }
}

impl Usage {
    /// Sets the operations that are compared with the candidate. Has no effect the second time.
    pub fn observe(&self, operations: Vec<ObservedOperation>) {
        let _ = self.operations.set(operations);
    }

    /// Returns the operations that are compared with the candidate.
    pub(super) fn operations(&self) -> &[ObservedOperation] {
        self.operations.get().map_or(&[], Vec::as_slice)
    }

    /// Decides whether a request is validated if the server accepts it. Returns its weight.
    pub fn select(&self, caller: Caller, received_ms: i64) -> Option<u32> {
        let key = (Grain::Day.floor(received_ms), caller.key, caller.operation);
        let accepted = self.tallies.get(&key).map_or(0, |tally| tally.accepted.load(Ordering::Relaxed));
        let weight = match accepted {
            ..ALL_UNTIL => return Some(1),
            ALL_UNTIL..TENTH_UNTIL => 10,
            _ => 100,
        };
        // Clients call in patterns, so every tenth request is not a fair sample.
        let key_bits = u64::from_le_bytes(caller.key.uuid().into_bytes()[8..].try_into().unwrap_or_default());
        mixed(accepted ^ key_bits).is_multiple_of(u64::from(weight)).then_some(weight)
    }

    /// Counts an accepted request that was not selected.
    pub fn count_unselected(&self, caller: Caller, received_ms: i64) {
        self.tally(caller, received_ms, 1, [1, 0, 0, 0]);
    }

    /// Counts an accepted request that waits for validation. Call [`count_checked`](Self::count_checked) or
    /// [`count_dropped`](Self::count_dropped) afterwards.
    pub fn count_pending(&self, request: &Sampled) {
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.tally(request.caller, request.received_ms, 1, [1, 0, 0, 0]);
    }

    /// Counts a request that was selected, but not validated.
    pub fn count_dropped(&self, request: &Sampled) {
        self.tally(request.caller, request.received_ms, 0, [0, 0, 1, 0]);
        self.pending.fetch_sub(1, Ordering::AcqRel);
    }

    /// Counts a validated request with its findings.
    pub fn count_checked(&self, request: &Sampled, found: Vec<Finding>) {
        if !found.is_empty() {
            let day = Grain::Day.floor(request.received_ms);
            let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
            let of_key = findings.entry((day, request.caller.key)).or_default();
            for finding in found {
                add_limited(of_key, self.row(day, request, finding), |of_key| of_key.len() >= MAX_CODES);
            }
        }
        self.tally(request.caller, request.received_ms, 0, [0, 1, 0, u64::from(request.weight)]);
        self.pending.fetch_sub(1, Ordering::AcqRel);
    }

    /// Returns whether requests wait for validation.
    pub fn has_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire) > 0
    }

    fn tally(&self, caller: Caller, received_ms: i64, accepted: u64, counts: [u64; 4]) {
        let key = (Grain::Day.floor(received_ms), caller.key, caller.operation);
        let add = |tally: &Tally| {
            tally.accepted.fetch_add(accepted, Ordering::Relaxed);
            for (total, added) in tally.counts.iter().zip(counts).filter(|(_, added)| *added > 0) {
                total.fetch_add(added, Ordering::Relaxed);
            }
        };
        if let Some(tally) = self.tallies.get(&key) {
            return add(&tally);
        }
        let new =
            || Tally { workspace: caller.workspace, accepted: AtomicU64::new(0), counts: Default::default() };
        add(&self.tallies.entry(key).or_insert_with(new));
    }

    fn row(&self, day: i64, request: &Sampled, finding: Finding) -> candidate_findings::Model {
        let operation = &self.operations()[request.caller.operation];
        let mut row = candidate_findings::Model {
            day,
            key_id: request.caller.key.uuid(),
            fingerprint: String::new(),
            workspace_id: request.caller.workspace.uuid(),
            operation: operation.id.to_owned(),
            base: operation.base.clone(),
            candidate: operation.candidate.clone(),
            code: finding.code,
            pointer: finding.pointer,
            name: finding.name,
            reason: finding.reason,
            sampled: 1,
            requests: i64::from(request.weight),
            first_at: request.received_ms,
            last_at: request.received_ms,
            request_id: request.request_id.clone(),
        };
        row.fingerprint = fingerprint(&row);
        row
    }

    /// Returns one row of zeros for each operation if the day was not recorded as observed yet.
    pub(super) fn take_observed(&self, now_ms: i64) -> Vec<candidate_requests::Model> {
        let day = Grain::Day.floor(now_ms);
        if self.operations().is_empty() || self.observed_day.swap(day, Ordering::Relaxed) == day {
            return Vec::new();
        }
        (0..self.operations().len())
            .map(|operation| self.request_row((day, None, operation), None, [0; 4]))
            .collect()
    }

    fn request_row(
        &self,
        (day, key, operation): (i64, Option<KeyId>, usize),
        workspace: Option<WorkspaceId>,
        [seen, checked, dropped, weight]: [i64; 4],
    ) -> candidate_requests::Model {
        let operation = &self.operations()[operation];
        candidate_requests::Model {
            day,
            key_id: key.map_or(Uuid::nil(), |key| key.uuid()),
            operation: operation.id.to_owned(),
            base: operation.base.clone(),
            candidate: operation.candidate.clone(),
            workspace_id: workspace.map_or(Uuid::nil(), |workspace| workspace.uuid()),
            seen,
            checked,
            dropped,
            weight,
        }
    }

    /// Takes the counts, and removes tallies of past days that have none.
    pub(super) fn take_counts(&self, now_ms: i64) -> Vec<candidate_requests::Model> {
        let today = Grain::Day.floor(now_ms);
        let mut rows = Vec::new();
        self.tallies.retain(|&(day, key, operation), tally| {
            let take =
                |count: &AtomicU64| i64::try_from(count.swap(0, Ordering::Relaxed)).unwrap_or(i64::MAX);
            let counts = [0, 1, 2, 3].map(|index: usize| take(&tally.counts[index]));
            let has_counts = counts != [0; 4];
            if has_counts {
                rows.push(self.request_row((day, Some(key), operation), Some(tally.workspace), counts));
            }
            has_counts || day >= today || self.has_pending()
        });
        rows
    }

    /// Restores counts that could not be written.
    pub(super) fn restore_counts(&self, rows: &[candidate_requests::Model]) {
        for row in rows {
            let operation = self.operations().iter().position(|operation| operation.id == row.operation);
            if row.key_id.is_nil() {
                self.observed_day.store(i64::MIN, Ordering::Relaxed);
            } else if let Some(operation) = operation {
                let (key, workspace) =
                    (KeyId::from_uuid(row.key_id), WorkspaceId::from_uuid(row.workspace_id));
                let counts = [row.seen, row.checked, row.dropped, row.weight].map(i64::unsigned_abs);
                self.tally(Caller { key, workspace, operation }, row.day, 0, counts);
            }
        }
    }

    /// Takes the findings.
    pub(super) fn take_findings(&self) -> Vec<candidate_findings::Model> {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *findings).into_values().flat_map(HashMap::into_values).collect()
    }

    /// Restores findings that could not be written.
    pub(super) fn restore_findings(&self, rows: Vec<candidate_findings::Model>) {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            let of_key = findings.entry((row.day, KeyId::from_uuid(row.key_id))).or_default();
            add_limited(of_key, row, |of_key| of_key.len() >= MAX_CODES);
        }
    }
}

/// Adds a finding to others of the same key and day. If it is not among them and `is_full`, it is added with the code [`OTHER`].
pub(super) fn add_limited(
    of_key: &mut HashMap<String, candidate_findings::Model>,
    mut row: candidate_findings::Model,
    is_full: impl Fn(&HashMap<String, candidate_findings::Model>) -> bool,
) {
    if !of_key.contains_key(&row.fingerprint) && is_full(of_key) {
        row.code = OTHER.to_owned();
        [&mut row.pointer, &mut row.name, &mut row.reason].into_iter().for_each(String::clear);
        row.fingerprint = fingerprint(&row);
    }
    match of_key.get_mut(&row.fingerprint) {
        None => drop(of_key.insert(row.fingerprint.clone(), row)),
        Some(known) => {
            known.sampled += row.sampled;
            known.requests += row.requests;
            known.first_at = known.first_at.min(row.first_at);
            if row.last_at >= known.last_at {
                (known.last_at, known.request_id) = (row.last_at, row.request_id);
            }
        }
    }
}

fn fingerprint(row: &candidate_findings::Model) -> String {
    let parts = [&row.operation, &row.base, &row.candidate, &row.code, &row.pointer, &row.name];
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex::encode(&digest.finalize()[..12])
}

/// Mixes the bits of a number (the finalizer of SplitMix64).
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: Caller = Caller {
        key: KeyId::from_uuid(Uuid::from_u128(7)),
        workspace: WorkspaceId::from_uuid(Uuid::from_u128(9)),
        operation: 0,
    };

    fn usage() -> Usage {
        let usage = Usage::default();
        usage.observe(vec![ObservedOperation { id: "listA", base: "b".into(), candidate: "c".into() }]);
        usage
    }

    fn sampled(weight: u32) -> Sampled {
        Sampled { caller: CALLER, weight, received_ms: 5, request_id: "req_1".into() }
    }

    fn finding(number: usize) -> Finding {
        Finding {
            code: "code".into(),
            pointer: format!("/{number}"),
            name: String::new(),
            reason: "r".into(),
        }
    }

    #[test]
    fn the_first_thousand_requests_of_a_day_are_selected_and_then_a_share() {
        let usage = usage();
        for _ in 0..20_000 {
            match usage.select(CALLER, 5) {
                Some(weight) => {
                    usage.count_pending(&sampled(weight));
                    usage.count_checked(&sampled(weight), Vec::new());
                }
                None => usage.count_unselected(CALLER, 5),
            }
        }
        let rows = usage.take_counts(5);
        let [row] = &*rows else { panic!("one row: {rows:?}") };
        assert_eq!(row.seen, 20_000);
        assert!((1_900..2_100).contains(&row.checked), "{row:?}");
        assert!((19_000..21_000).contains(&row.weight), "{row:?}");
        assert!(usage.select(CALLER, 86_400_005) == Some(1), "the next day begins with all requests");
        assert!(usage.take_counts(5).is_empty());
        usage.restore_counts(&rows);
        assert_eq!(usage.take_counts(86_400_005), rows);
        assert!(usage.take_counts(86_400_005).is_empty());
        assert!(usage.tallies.is_empty(), "past days without new counts are removed");
    }

    #[test]
    fn findings_beyond_the_limit_become_one_with_the_code_other() {
        let usage = usage();
        for number in 0..10_000 {
            usage.count_pending(&sampled(1));
            usage.count_checked(&sampled(1), vec![finding(number)]);
        }
        let rows = usage.take_findings();
        assert_eq!(rows.len(), MAX_CODES + 1);
        assert_eq!(rows.iter().map(|row| row.requests).sum::<i64>(), 10_000);
        let others: Vec<_> = rows.iter().filter(|row| row.code == OTHER).collect();
        assert!(matches!(*others, [row] if row.pointer.is_empty() && row.requests == 9_800), "{others:?}");
    }

    #[test]
    fn each_day_is_recorded_as_observed_once() {
        let usage = usage();
        let rows = usage.take_observed(5);
        assert!(matches!(&*rows, [row] if row.key_id.is_nil() && row.operation == "listA"), "{rows:?}");
        assert!(usage.take_observed(6).is_empty());
        usage.restore_counts(&rows);
        assert_eq!(usage.take_observed(6), rows);
        assert_eq!(usage.take_observed(86_400_006).len(), 1);
        assert!(Usage::default().take_observed(5).is_empty(), "without a candidate");
    }
}
