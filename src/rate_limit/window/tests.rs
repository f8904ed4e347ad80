//! Tests of the windows: limits at the boundaries, counts being written, and clocks that are set back.

use proptest::prelude::*;

use super::*;

/// A noon (UTC), in milliseconds since the epoch.
const NOON: i64 = 1_767_268_800_000;

fn limits(per_minute: u32, per_day: u32) -> Limits {
    Limits { per_minute, per_day }
}

#[test]
fn the_sixty_first_request_of_a_minute_is_rejected() {
    let mut usage = Usage::default();
    for minute_left in (0..60).rev() {
        let Decision::Admitted(status) = usage.acquire(Limits::default(), NOON + 500) else {
            panic!("rejected")
        };
        assert_eq!(status.minute_left, minute_left);
    }
    let decision = usage.acquire(Limits::default(), NOON + 500);
    let Decision::Rejected { status, exhausted, retry_after } = decision else { panic!("admitted") };
    assert_eq!((exhausted, retry_after), (Window::Minute, 60));
    assert_eq!((status.minute_left, status.day_left), (0, 940));
    assert_eq!(status.minute_reset * 1000, NOON + MINUTE_MS);
    assert!(matches!(usage.acquire(Limits::default(), NOON + MINUTE_MS), Decision::Admitted(_)));
}

#[test]
fn if_both_windows_are_exhausted_the_day_is_reported() {
    let mut usage = Usage::default();
    usage.acquire(limits(1, 1), NOON);
    let Decision::Rejected { exhausted, retry_after, .. } = usage.acquire(limits(1, 1), NOON) else {
        panic!("admitted")
    };
    assert_eq!((exhausted, retry_after), (Window::Day, 43_200));
}

#[test]
fn the_wait_is_at_least_one_second() {
    let mut usage = Usage::default();
    usage.acquire(limits(1, 9), NOON);
    let Decision::Rejected { retry_after, .. } = usage.acquire(limits(1, 9), NOON + MINUTE_MS - 1) else {
        panic!("admitted")
    };
    assert_eq!(retry_after, 1);
}

#[test]
fn a_stored_count_is_added_once_and_flushing_does_not_change_the_total() {
    let mut usage = Usage::default();
    usage.acquire(limits(60, 20), NOON);
    assert!(!usage.has_stored_count(NOON));
    usage.set_stored(day_of(NOON), 10);
    usage.set_stored(day_of(NOON), 10);
    assert!(usage.has_stored_count(NOON) && !usage.has_stored_count(NOON + DAY_MS));
    let (day, count) = usage.take_pending()[0];
    usage.acquire(limits(60, 20), NOON);
    usage.confirm(day, count, Some(11));
    assert_eq!(usage.status(limits(60, 20), NOON).day_left, 8);
    assert_eq!(usage.status(limits(60, 20), NOON + DAY_MS).day_left, 20);
}

#[test]
fn a_failed_flush_is_written_by_the_next() {
    let mut usage = Usage::default();
    usage.set_stored(day_of(NOON), 0);
    usage.acquire(limits(60, 20), NOON);
    let (day, count) = usage.take_pending()[0];
    usage.restore_pending(day, count);
    assert_eq!(usage.take_pending(), [(day, 1)]);
}

#[test]
fn nothing_is_written_before_the_stored_count_is_read() {
    let mut usage = Usage::default();
    usage.acquire(limits(60, 20), NOON);
    assert_eq!(usage.take_pending(), []);
    assert_eq!(usage.unread_day(), Some(day_of(NOON)));
    usage.set_stored(day_of(NOON), 5);
    assert_eq!((usage.unread_day(), usage.take_pending()), (None, vec![(day_of(NOON), 1)]));
    usage.confirm(day_of(NOON), 1, None);
    assert_eq!(usage.status(limits(60, 20), NOON).day_left, 14);
}

#[test]
fn a_flush_returns_the_counts_of_other_processes() {
    let mut usage = Usage::default();
    usage.set_stored(day_of(NOON), 0);
    usage.acquire(limits(60, 20), NOON);
    let (day, count) = usage.take_pending()[0];
    usage.acquire(limits(60, 20), NOON);
    usage.confirm(day, count, Some(8));
    assert_eq!(usage.status(limits(60, 20), NOON).day_left, 11);
    usage.confirm(day - 1, count, Some(20));
    assert_eq!(usage.status(limits(60, 20), NOON).day_left, 11);
}

#[test]
fn the_counts_of_a_past_day_are_still_written() {
    let mut usage = Usage::default();
    let (day, next_noon) = (day_of(NOON), NOON + DAY_MS);
    usage.set_stored(day, 3);
    usage.acquire(limits(60, 20), NOON);
    usage.set_stored(day + 1, 0);
    usage.acquire(limits(60, 20), next_noon);
    usage.acquire(limits(60, 20), next_noon);
    assert!(!usage.is_idle(next_noon + DAY_MS, 0));
    let mut pending = usage.take_pending();
    pending.sort_unstable();
    assert_eq!(pending, [(day, 1), (day + 1, 2)]);

    // The count of the second day is confirmed. The clock returns to the first day while that day's count is still being written.
    usage.confirm(day + 1, 2, Some(2));
    usage.drop_saved_days();
    assert!(usage.has_stored_count(NOON));
    assert_eq!(usage.acquire(limits(60, 20), NOON).status().day_left, 15);
    usage.restore_pending(day, 1);
    assert_eq!(usage.take_pending(), [(day, 2)]);
    usage.confirm(day, 2, Some(5));
    assert_eq!(usage.status(limits(60, 20), NOON).day_left, 15);
    assert!(usage.is_idle(NOON + 11, 10) && usage.is_idle(NOON - 11, 10) && !usage.is_idle(NOON, 10));
}

#[test]
fn the_total_that_a_write_returns_includes_the_written_requests() {
    let mut usage = Usage::default();
    let day = day_of(NOON);
    usage.acquire(limits(60, 20), NOON);
    usage.acquire(limits(60, 20), NOON + DAY_MS);
    assert_eq!(usage.take_pending(), [(day, 1)], "the stored count of the current day was not read yet");
    usage.confirm(day, 1, Some(7));
    assert_eq!(usage.acquire(limits(60, 20), NOON).status().day_left, 12);
    usage.set_stored(day, 7);
    assert_eq!(usage.status(limits(60, 20), NOON).day_left, 12);
}

/// Sends requests of one process at the same time, as one batch of the shared store with these counts in the minute and on the
/// day. Returns how many are admitted.
fn acquire_at_once(
    usage: &mut Usage,
    (minute, day): (&mut i64, &mut i64),
    limits: Limits,
    requests: u32,
) -> u32 {
    let decisions: Vec<Option<Decision>> = (0..requests).map(|_| usage.decide(limits, NOON)).collect();
    let admitted =
        decisions.iter().filter(|decision| matches!(decision, Some(Decision::Admitted(_)))).count();
    let waiting = decisions.iter().filter(|decision| decision.is_none()).count();
    let (waiting, mut admitted) = (i64::try_from(waiting).unwrap(), u32::try_from(admitted).unwrap());
    if waiting == 0 {
        return admitted;
    }
    let left = (i64::from(limits.per_minute) - *minute).min(i64::from(limits.per_day) - *day);
    let reserve = usage.begin_reservation(limits);
    let counted = left.min(waiting + i64::from(reserve));
    (*minute, *day) = (*minute + counted, *day + counted);
    for number in 1..=waiting {
        let is_admitted = number <= counted;
        let later = if is_admitted { counted - number } else { 0 };
        let counted = Counted {
            is_admitted,
            is_from_share: false,
            short_start: NOON,
            short_used: *minute - later,
            short_left: i64::from(limits.per_minute) - (*minute - later),
            day_start: day_of(NOON) * DAY_MS,
            day_used: *day - later,
            day_left: i64::from(limits.per_day) - (*day - later),
            reserved: if number == waiting { (counted - waiting).max(0) } else { 0 },
            was_reserving: number == waiting && reserve > 0,
        };
        admitted += u32::from(matches!(usage.record(limits, &counted, NOON), Decision::Admitted(_)));
    }
    admitted
}

#[test]
fn a_process_with_many_requests_reserves_the_next_ones() {
    let (mut usage, limits) = (Usage::default(), limits(10_000, 20_000));
    let (mut minute, mut day, mut round_trips) = (0, 0, 0);
    for number in 1..=10_000 {
        let before = minute;
        assert_eq!(acquire_at_once(&mut usage, (&mut minute, &mut day), limits, 1), 1, "request {number}");
        round_trips += u32::from(minute > before);
        let status = usage.status(limits, NOON);
        assert_eq!((status.minute_left, status.day_left), (10_000 - number, 20_000 - number));
    }
    assert!(round_trips < 300, "{round_trips}");
    assert!(matches!(usage.decide(limits, NOON), Some(Decision::Rejected { .. })));
    assert_eq!(usage.take_pending(), [], "the stored count was not read yet");
    usage.set_stored(day_of(NOON), 0);
    assert_eq!(usage.take_pending(), [(day_of(NOON), 10_000)]);
}

#[test]
fn reserved_requests_end_with_the_minute_and_with_a_change_of_the_limits() {
    for (limits_after, now_ms) in [(limits(900, 20_000), NOON), (limits(1_000, 20_000), NOON + MINUTE_MS)] {
        let (mut usage, limits) = (Usage::default(), limits(1_000, 20_000));
        let (mut minute, mut day) = (0, 0);
        for _ in 0..10 {
            acquire_at_once(&mut usage, (&mut minute, &mut day), limits, 10);
        }
        assert!(usage.reserved.count > 0 && usage.clone().decide(limits, NOON).is_some());
        assert_eq!(usage.decide(limits_after, now_ms), None, "the store decides");
    }
}

#[test]
fn one_request_reserves_at_a_time_and_lost_reservations_are_not_repeated() {
    let (mut usage, limits) = (Usage::default(), limits(10_000, 20_000));
    let (mut minute, mut day) = (0, 0);
    acquire_at_once(&mut usage, (&mut minute, &mut day), limits, 1_000);
    let lost = usage.begin_reservation(limits);
    assert_eq!((lost, usage.begin_reservation(limits)), (50, 0));
    usage.lose_reservation(lost);
    assert_eq!(usage.begin_reservation(limits), 0, "5 % of the admitted requests are unused");
    acquire_at_once(&mut usage, (&mut minute, &mut day), limits, 1_000);
    assert_eq!(usage.begin_reservation(limits), 50);
}

#[test]
fn a_request_that_the_store_rejects_is_admitted_if_one_is_reserved() {
    let (mut usage, limits) = (Usage::default(), limits(1_000, 20_000));
    let (mut minute, mut day) = (0, 0);
    acquire_at_once(&mut usage, (&mut minute, &mut day), limits, 100);
    acquire_at_once(&mut usage, (&mut minute, &mut day), limits, 1);
    assert_eq!(usage.reserved.count, 5);
    let rejected = Counted {
        is_admitted: false,
        is_from_share: false,
        short_start: NOON,
        short_used: 1_000,
        short_left: 0,
        day_start: day_of(NOON) * DAY_MS,
        day_used: 1_000,
        day_left: 19_000,
        reserved: 0,
        was_reserving: false,
    };
    for minute_left in (0..5).rev() {
        let Decision::Admitted(status) = usage.record(limits, &rejected, NOON) else { panic!("rejected") };
        assert_eq!(status.minute_left, minute_left);
    }
    assert!(matches!(usage.record(limits, &rejected, NOON), Decision::Rejected { .. }));
}

#[test]
fn low_limits_are_not_reserved() {
    for limits in [limits(599, 100_000), limits(10_000, 599)] {
        let (mut usage, mut minute, mut day) = (Usage::default(), 0, 0);
        acquire_at_once(&mut usage, (&mut minute, &mut day), limits, 500);
        assert_eq!(usage.begin_reservation(limits), 0);
    }
}

/// Generates a step of a clock, each kind equally often: less than 20 s forward, up to 90 s in either direction, or up to 3 days
/// in either direction.
fn step() -> impl Strategy<Value = i64> {
    prop_oneof![0..20_000_i64, -90_000..90_000_i64, -3 * DAY_MS..3 * DAY_MS]
}

proptest! {
    #[test]
    fn processes_that_reserve_requests_admit_no_more_than_the_limit_and_at_least_95_percent_of_it(
        per_minute in 600u32..3_000, per_day in 600u32..3_000,
        batches in prop::collection::vec((0usize..4, 1u32..60), 200..400),
    ) {
        let limits = limits(per_minute, per_day);
        let mut processes: [Usage; 4] = Default::default();
        let (mut minute, mut day, mut admitted) = (0, 0, 0);
        for (process, requests) in batches {
            let now_admitted =
                acquire_at_once(&mut processes[process], (&mut minute, &mut day), limits, requests);
            admitted += now_admitted;
            let limit = per_minute.min(per_day);
            prop_assert!(admitted <= limit, "{admitted} of {limit}");
            prop_assert!(now_admitted == requests || admitted * 100 >= limit * 95, "{admitted} of {limit}");
        }
    }

    #[test]
    fn no_clock_change_makes_the_wait_longer_than_a_window(
        per_minute in 1u32..8, per_day in 1u32..40, steps in prop::collection::vec(step(), 1..300),
    ) {
        let mut usage = Usage::default();
        let mut now = NOON;
        for step in steps {
            now += step;
            let limits = limits(per_minute, per_day);
            let Decision::Rejected { exhausted, retry_after, status } = usage.acquire(limits, now) else { continue };
            let length_ms = if exhausted == Window::Day { DAY_MS } else { MINUTE_MS };
            prop_assert!((1..=length_ms / 1000).contains(&retry_after), "{exhausted:?}: {retry_after}");
            prop_assert!(status.minute_reset * 1000 - now <= MINUTE_MS);
            prop_assert!(status.day_reset * 1000 - now <= DAY_MS);
            // The wait is long enough, unless the next window is exhausted because the clock was in it before.
            let mut later = usage.clone();
            later.other_days.clear();
            prop_assert!(matches!(later.acquire(limits, now + retry_after * 1000), Decision::Admitted(_))
                || exhausted == Window::Minute && later.today.used() >= u64::from(per_day));
        }
    }

    #[test]
    fn no_window_admits_more_requests_than_its_limit(
        per_minute in 0u32..8, per_day in 0u32..40,
        steps in prop::collection::vec(0i64..20_000, 1..300),
    ) {
        let mut usage = Usage::default();
        let mut now = NOON + DAY_MS / 2 - 1_000_000;
        let mut admitted: Vec<i64> = Vec::new();
        for step in steps {
            now += step;
            let decision = usage.acquire(limits(per_minute, per_day), now);
            if let Decision::Admitted(_) = decision {
                admitted.push(now);
            }
            let in_minute =
                admitted.iter().filter(|at| at.div_euclid(MINUTE_MS) == now.div_euclid(MINUTE_MS)).count();
            let in_day = admitted.iter().filter(|at| day_of(**at) == day_of(now)).count();
            let status = decision.status();
            prop_assert_eq!(status.minute_left as usize, (per_minute as usize).saturating_sub(in_minute));
            prop_assert_eq!(status.day_left as usize, (per_day as usize).saturating_sub(in_day));
            if let Decision::Rejected { exhausted, retry_after, .. } = decision {
                let next = usage.acquire(limits(u32::MAX, u32::MAX), now + retry_after * 1000);
                prop_assert!(matches!(next, Decision::Admitted(_)));
                let reset = match exhausted {
                    Window::Minute => status.minute_reset,
                    Window::Day => status.day_reset,
                };
                prop_assert!(retry_after >= 1 && now + retry_after * 1000 >= reset * 1000);
                prop_assert!(now + (retry_after - 1) * 1000 <= reset * 1000);
                break;
            }
        }
    }
}
