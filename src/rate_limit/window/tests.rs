//! Tests of the windows: the limits at their edges, counts on their way to the database, and clocks that step back.

use proptest::prelude::*;

use super::*;

const NOON: i64 = 1_767_268_800_000;

fn caps(per_minute: u32, per_day: u32) -> Caps {
    Caps { per_minute, per_day }
}

#[test]
fn the_sixty_first_request_of_a_minute_waits_for_the_next_minute() {
    let mut usage = Usage::default();
    for left in (0..60).rev() {
        let Draw::Admitted(standing) = usage.draw(Caps::default(), NOON + 500) else { panic!("refused") };
        assert_eq!(standing.minute_left, left);
    }
    let draw = usage.draw(Caps::default(), NOON + 500);
    let Draw::Refused { standing, exhausted, retry_after } = draw else { panic!("admitted") };
    assert_eq!((exhausted, retry_after), (Window::Minute, 60));
    assert_eq!((standing.minute_left, standing.day_left), (0, 940));
    assert_eq!(standing.minute_reset * 1000, NOON + MINUTE_MS);
    assert!(matches!(usage.draw(Caps::default(), NOON + MINUTE_MS), Draw::Admitted(_)));
}

#[test]
fn when_both_windows_are_exhausted_the_day_decides() {
    let mut usage = Usage::default();
    usage.draw(caps(1, 1), NOON);
    let Draw::Refused { exhausted, retry_after, .. } = usage.draw(caps(1, 1), NOON) else {
        panic!("admitted")
    };
    assert_eq!((exhausted, retry_after), (Window::Day, 43_200));
}

#[test]
fn the_wait_is_never_below_a_second() {
    let mut usage = Usage::default();
    usage.draw(caps(1, 9), NOON);
    let Draw::Refused { retry_after, .. } = usage.draw(caps(1, 9), NOON + MINUTE_MS - 1) else {
        panic!("admitted")
    };
    assert_eq!(retry_after, 1);
}

#[test]
fn a_stored_count_is_taken_over_once_and_flushing_changes_nothing() {
    let mut usage = Usage::default();
    usage.draw(caps(60, 20), NOON);
    assert!(!usage.knows_day(NOON));
    usage.adopt(day_of(NOON), 10);
    usage.adopt(day_of(NOON), 10);
    assert!(usage.knows_day(NOON) && !usage.knows_day(NOON + DAY_MS));
    let (day, count) = usage.depart()[0];
    usage.draw(caps(60, 20), NOON);
    usage.arrive(day, count, Some(11));
    assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 8);
    assert_eq!(usage.standing(caps(60, 20), NOON + DAY_MS).day_left, 20);
}

#[test]
fn a_lost_flush_is_sent_again() {
    let mut usage = Usage::default();
    usage.adopt(day_of(NOON), 0);
    usage.draw(caps(60, 20), NOON);
    let (day, count) = usage.depart()[0];
    usage.return_home(day, count);
    assert_eq!(usage.depart(), [(day, 1)]);
}

#[test]
fn nothing_departs_before_the_stored_count_is_read() {
    let mut usage = Usage::default();
    usage.draw(caps(60, 20), NOON);
    assert_eq!(usage.depart(), []);
    assert_eq!(usage.unread_day(), Some(day_of(NOON)));
    usage.adopt(day_of(NOON), 5);
    assert_eq!((usage.unread_day(), usage.depart()), (None, vec![(day_of(NOON), 1)]));
    usage.arrive(day_of(NOON), 1, None);
    assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 14);
}

#[test]
fn what_others_counted_comes_back_with_what_was_sent() {
    let mut usage = Usage::default();
    usage.adopt(day_of(NOON), 0);
    usage.draw(caps(60, 20), NOON);
    let (day, count) = usage.depart()[0];
    usage.draw(caps(60, 20), NOON);
    usage.arrive(day, count, Some(8));
    assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 11);
    usage.arrive(day - 1, count, Some(20));
    assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 11);
}

#[test]
fn the_counts_of_a_day_that_is_over_still_reach_the_database() {
    let mut usage = Usage::default();
    let (day, next) = (day_of(NOON), NOON + DAY_MS);
    usage.adopt(day, 3);
    usage.draw(caps(60, 20), NOON);
    usage.adopt(day + 1, 0);
    usage.draw(caps(60, 20), next);
    usage.draw(caps(60, 20), next);
    assert!(!usage.is_idle(next + DAY_MS, 0));
    let mut left = usage.depart();
    left.sort_unstable();
    assert_eq!(left, [(day, 1), (day + 1, 2)]);

    // One arrives, and the clock returns to the day before while the other is under way.
    usage.arrive(day + 1, 2, Some(2));
    usage.forget_saved();
    assert!(usage.knows_day(NOON));
    assert_eq!(usage.draw(caps(60, 20), NOON).standing().day_left, 15);
    usage.return_home(day, 1);
    assert_eq!(usage.depart(), [(day, 2)]);
    usage.arrive(day, 2, Some(5));
    assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 15);
    assert!(usage.is_idle(NOON + 11, 10) && usage.is_idle(NOON - 11, 10) && !usage.is_idle(NOON, 10));
}

#[test]
fn what_the_database_holds_of_a_day_replaces_what_was_guessed_without_it() {
    let mut usage = Usage::default();
    let day = day_of(NOON);
    usage.draw(caps(60, 20), NOON);
    usage.draw(caps(60, 20), NOON + DAY_MS);
    assert_eq!(usage.depart(), [(day, 1)], "today waits for its stored count");
    usage.arrive(day, 1, Some(7));
    assert_eq!(usage.draw(caps(60, 20), NOON).standing().day_left, 12);
    usage.adopt(day, 7);
    assert_eq!(usage.standing(caps(60, 20), NOON).day_left, 12);
}

/// A step of a clock: on, mostly by little, or set to another time.
fn step() -> impl Strategy<Value = i64> {
    prop_oneof![0..20_000_i64, -90_000..90_000_i64, -3 * DAY_MS..3 * DAY_MS]
}

proptest! {
    #[test]
    fn whatever_the_clock_does_nobody_waits_longer_than_a_window(
        per_minute in 1u32..8, per_day in 1u32..40, steps in prop::collection::vec(step(), 1..300),
    ) {
        let mut usage = Usage::default();
        let mut now = NOON;
        for step in steps {
            now += step;
            let caps = caps(per_minute, per_day);
            let Draw::Refused { exhausted, retry_after, standing } = usage.draw(caps, now) else { continue };
            let length_ms = if exhausted == Window::Day { DAY_MS } else { MINUTE_MS };
            prop_assert!((1..=length_ms / 1000).contains(&retry_after), "{exhausted:?}: {retry_after}");
            prop_assert!(standing.minute_reset * 1000 - now <= MINUTE_MS);
            prop_assert!(standing.day_reset * 1000 - now <= DAY_MS);
            // Whoever waits gets in, unless the next window is full already: the clock has been there.
            let mut later = usage.clone();
            later.others.clear();
            prop_assert!(matches!(later.draw(caps, now + retry_after * 1000), Draw::Admitted(_))
                || exhausted == Window::Minute && later.today.used() >= u64::from(per_day));
        }
    }

    #[test]
    fn no_window_ever_admits_more_than_its_cap(
        per_minute in 0u32..8, per_day in 0u32..40,
        steps in prop::collection::vec(0i64..20_000, 1..300),
    ) {
        let mut usage = Usage::default();
        let mut now = NOON + DAY_MS / 2 - 1_000_000;
        let mut admitted: Vec<i64> = Vec::new();
        for step in steps {
            now += step;
            let draw = usage.draw(caps(per_minute, per_day), now);
            if let Draw::Admitted(_) = draw {
                admitted.push(now);
            }
            let in_minute =
                admitted.iter().filter(|at| at.div_euclid(MINUTE_MS) == now.div_euclid(MINUTE_MS)).count();
            let in_day = admitted.iter().filter(|at| day_of(**at) == day_of(now)).count();
            let standing = draw.standing();
            prop_assert_eq!(standing.minute_left as usize, (per_minute as usize).saturating_sub(in_minute));
            prop_assert_eq!(standing.day_left as usize, (per_day as usize).saturating_sub(in_day));
            if let Draw::Refused { exhausted, retry_after, .. } = draw {
                let room = usage.draw(caps(u32::MAX, u32::MAX), now + retry_after * 1000);
                prop_assert!(matches!(room, Draw::Admitted(_)));
                let ends = match exhausted {
                    Window::Minute => standing.minute_reset,
                    Window::Day => standing.day_reset,
                };
                prop_assert!(retry_after >= 1 && now + retry_after * 1000 >= ends * 1000);
                prop_assert!(now + (retry_after - 1) * 1000 <= ends * 1000);
                break;
            }
        }
    }
}
