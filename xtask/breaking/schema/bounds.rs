//! Lengths, counts, ranges, patterns.

use contract::node::{Entry, Value};
use contract::source::Span;

use super::Two;
use super::value::number;
use super::view::View;
use crate::compare::{Comparison, Places};
use crate::rule::{Aspect, Effect, Level, Topic};

const B: Topic = Topic::Bounds;

const fn tighter(word: &'static str, mirror: &'static str) -> Aspect {
    Aspect::new(B, Effect::Narrows, word, mirror)
}

const fn looser(word: &'static str, mirror: &'static str) -> Aspect {
    Aspect::new(B, Effect::Widens, word, mirror)
}

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    tighter("max-set", "max-unset"),
    looser("max-unset", "max-set"),
    looser("max-increased", "max-decreased"),
    tighter("max-decreased", "max-increased"),
    tighter("min-set", "min-unset"),
    looser("min-unset", "min-set"),
    tighter("min-increased", "min-decreased"),
    looser("min-decreased", "min-increased"),
    tighter("exclusive-max-set", "exclusive-max-unset"),
    looser("exclusive-max-unset", "exclusive-max-set"),
    looser("exclusive-max-increased", "exclusive-max-decreased"),
    tighter("exclusive-max-decreased", "exclusive-max-increased"),
    tighter("exclusive-min-set", "exclusive-min-unset"),
    looser("exclusive-min-unset", "exclusive-min-set"),
    tighter("exclusive-min-increased", "exclusive-min-decreased"),
    looser("exclusive-min-decreased", "exclusive-min-increased"),
    tighter("max-length-set", "max-length-unset"),
    looser("max-length-unset", "max-length-set"),
    looser("max-length-increased", "max-length-decreased"),
    tighter("max-length-decreased", "max-length-increased"),
    tighter("min-length-increased", "min-length-decreased"),
    looser("min-length-decreased", "min-length-increased"),
    tighter("max-items-set", "max-items-unset"),
    looser("max-items-unset", "max-items-set"),
    looser("max-items-increased", "max-items-decreased"),
    tighter("max-items-decreased", "max-items-increased"),
    tighter("min-items-set", "min-items-unset"),
    looser("min-items-unset", "min-items-set"),
    tighter("min-items-increased", "min-items-decreased"),
    looser("min-items-decreased", "min-items-increased"),
    tighter("max-properties-set", "max-properties-unset"),
    looser("max-properties-unset", "max-properties-set"),
    looser("max-properties-increased", "max-properties-decreased"),
    tighter("max-properties-decreased", "max-properties-increased"),
    tighter("min-properties-set", "min-properties-unset"),
    looser("min-properties-unset", "min-properties-set"),
    tighter("min-properties-increased", "min-properties-decreased"),
    looser("min-properties-decreased", "min-properties-increased"),
    tighter("max-contains-set", "max-contains-unset"),
    looser("max-contains-unset", "max-contains-set"),
    looser("max-contains-increased", "max-contains-decreased"),
    tighter("max-contains-decreased", "max-contains-increased"),
    tighter("min-contains-increased", "min-contains-decreased"),
    looser("min-contains-decreased", "min-contains-increased"),
    tighter("multiple-of-added", "multiple-of-removed"),
    looser("multiple-of-removed", "multiple-of-added"),
    Aspect::new(B, Effect::Alters, "multiple-of-changed", "multiple-of-generalized"),
    looser("multiple-of-generalized", "multiple-of-changed"),
    tighter("unique-items-added", "unique-items-removed"),
    looser("unique-items-removed", "unique-items-added"),
    tighter("pattern-added", "pattern-removed"),
    looser("pattern-removed", "pattern-added").in_responses(Level::Info),
    // Clients do not check what they are sent against a pattern; they make room by lengths and ranges.
    Aspect::new(B, Effect::Alters, "pattern-changed", "pattern-changed").in_responses(Level::Info),
    looser("pattern-generalized", "pattern-changed").in_responses(Level::Info),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &[
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "multipleOf",
    "uniqueItems",
    "pattern",
];

/// A bound that counts something.
struct Count {
    keyword: &'static str,
    word: &'static str,
    upper: bool,
    /// What holds when it is left out, where that is a bound too.
    without: Option<f64>,
}

const COUNTS: [Count; 6] = [
    Count { keyword: "maxLength", word: "max-length", upper: true, without: None },
    Count { keyword: "minLength", word: "min-length", upper: false, without: Some(0.0) },
    Count { keyword: "maxItems", word: "max-items", upper: true, without: None },
    Count { keyword: "minItems", word: "min-items", upper: false, without: None },
    Count { keyword: "maxProperties", word: "max-properties", upper: true, without: None },
    Count { keyword: "minProperties", word: "min-properties", upper: false, without: None },
];

const CONTAINED: [Count; 2] = [
    Count { keyword: "minContains", word: "min-contains", upper: false, without: Some(1.0) },
    Count { keyword: "maxContains", word: "max-contains", upper: true, without: None },
];

impl Count {
    /// The tightest of its bounds.
    fn bound<'n>(&self, entries: impl Iterator<Item = &'n Entry>, at: Span) -> Option<Bound> {
        let found = tightest(entries, self.upper, false);
        // At least none is no bound.
        let found = found.filter(|bound| self.upper || self.without.is_some() || bound.value > 0.0);
        found.or_else(|| self.without.map(|value| Bound { value, exclusive: false, at }))
    }
}

/// A bound and its place.
#[derive(Clone, Copy)]
struct Bound {
    value: f64,
    /// Whether the value itself is out.
    exclusive: bool,
    at: Span,
}

impl Bound {
    /// The last whole number that it lets through, where such numbers can be told apart; else the bound itself.
    fn whole(self, upper: bool) -> (f64, bool) {
        const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
        if self.value.abs() >= EXACT {
            return (self.value, self.exclusive);
        }
        let last = match (upper, self.exclusive) {
            (true, false) => self.value.floor(),
            (true, true) => self.value.ceil() - 1.0,
            (false, false) => self.value.ceil(),
            (false, true) => self.value.floor() + 1.0,
        };
        (last, false)
    }
}

/// Compares every bound.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    for count in &COUNTS {
        let bound = |view: &View<'n>| count.bound(view.entries(count.keyword), view.at);
        let names = (count.word, count.keyword);
        bounds(on, two, names, count.upper, bound(&two.base), bound(&two.revision));
    }
    for (upper, plain, exclusive) in [
        (true, ("max", "maximum"), ("exclusive-max", "exclusiveMaximum")),
        (false, ("min", "minimum"), ("exclusive-min", "exclusiveMinimum")),
    ] {
        let (base, revision) = (range(&two.base, upper), range(&two.revision, upper));
        if is_whole(two) && base.zip(revision).is_some_and(|(was, now)| was.whole(upper) == now.whole(upper))
        {
            continue;
        }
        let named = revision.or(base);
        let names = if named.is_some_and(|bound| bound.exclusive) { exclusive } else { plain };
        bounds(on, two, names, upper, base, revision);
    }
    multiples(on, two);
    unique(on, two);
    pattern(on, two);
}

/// Compares how many items `contains` asks for: at least, and at most.
pub(super) fn contained<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    base: [Option<&'n Entry>; 2],
    revision: [Option<&'n Entry>; 2],
) {
    for (count, (was, now)) in CONTAINED.iter().zip(base.into_iter().zip(revision)) {
        let was = count.bound(was.into_iter(), two.base.at);
        let now = count.bound(now.into_iter(), two.revision.at);
        bounds(on, two, (count.word, count.keyword), count.upper, was, now);
    }
}

fn tightest<'n>(entries: impl Iterator<Item = &'n Entry>, upper: bool, exclusive: bool) -> Option<Bound> {
    let bounds = entries
        .filter_map(|entry| Some(Bound { value: number(&entry.value)?, exclusive, at: entry.key.span }));
    bounds.reduce(|left, right| if tighter_than(right, left, upper) { right } else { left })
}

/// Whether the first lets less through than the second.
fn tighter_than(left: Bound, right: Bound, upper: bool) -> bool {
    if left.value.to_bits() == right.value.to_bits() || (left.value - right.value).abs() < f64::EPSILON {
        return left.exclusive && !right.exclusive;
    }
    (left.value < right.value) == upper
}

/// The bound of a range, whichever keyword says it.
fn range(view: &View<'_>, upper: bool) -> Option<Bound> {
    let (plain, exclusive) =
        if upper { ("maximum", "exclusiveMaximum") } else { ("minimum", "exclusiveMinimum") };
    let flagged = view.entries(plain).filter(|entry| view.is_flagged(entry, exclusive));
    let unflagged = view.entries(plain).filter(|entry| !view.is_flagged(entry, exclusive));
    let own = view.entries(exclusive);
    let all = [tightest(unflagged, upper, false), tightest(flagged, upper, true), tightest(own, upper, true)];
    all.into_iter()
        .flatten()
        .reduce(|left, right| if tighter_than(right, left, upper) { right } else { left })
}

fn bounds<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    (word, keyword): (&str, &str),
    upper: bool,
    base: Option<Bound>,
    revision: Option<Bound>,
) {
    let (ending, facts, message) = match (base, revision) {
        (None, Some(now)) => {
            ("set", now.value.to_string(), format!("the bound `{keyword}` {} was set", now.value))
        }
        (Some(was), None) => {
            ("unset", was.value.to_string(), format!("the bound `{keyword}` {} is gone", was.value))
        }
        (Some(was), Some(now)) if tighter_than(now, was, upper) || tighter_than(was, now, upper) => {
            let ending = if tighter_than(now, was, upper) == upper { "decreased" } else { "increased" };
            let side = |bound: Bound| if bound.exclusive { " (itself excluded)" } else { "" };
            let change = format!("{}{} to {}{}", was.value, side(was), now.value, side(now));
            (ending, change.clone(), format!("`{keyword}` went from {change}"))
        }
        _ => return,
    };
    let places =
        Places::new(base.map_or(two.base.at, |was| was.at), revision.map_or(two.revision.at, |now| now.at));
    two.note(on, &format!("{word}-{ending}"), places, &facts, message);
}

/// Whether only whole numbers count: where fractions come or go, that is a change of the type.
const fn is_whole(two: &Two<'_>) -> bool {
    !(two.base.types.has_fractions() && two.revision.types.has_fractions())
}

fn multiples<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (mut was, mut now) = (steps(&two.base), steps(&two.revision));
    if is_whole(two) {
        // They are multiples of one anyway.
        [&mut was, &mut now].into_iter().for_each(|steps| steps.retain(|step| !divides(*step, 1.0)));
    }
    if follow(&was, &now) && follow(&now, &was) {
        return;
    }
    let shown = |steps: &[f64]| steps.iter().map(f64::to_string).collect::<Vec<_>>().join(" and ");
    let (base, revision) = (shown(&was), shown(&now));
    let (word, facts, message) = match (was.is_empty(), now.is_empty()) {
        (true, _) => {
            ("multiple-of-added", revision.clone(), format!("only multiples of {revision} are valid now"))
        }
        (_, true) => {
            ("multiple-of-removed", base.clone(), format!("not only multiples of {base} are valid now"))
        }
        _ => {
            let word = if follow(&was, &now) { "multiple-of-generalized" } else { "multiple-of-changed" };
            let message = format!("values are multiples of {revision}, no longer of {base}");
            (word, format!("{base} to {revision}"), message)
        }
    };
    two.note(on, word, two.places("multipleOf"), &facts, message);
}

/// The steps of all texts: one where they are whole numbers, or else those that do not follow from another.
fn steps(view: &View<'_>) -> Vec<f64> {
    let steps: Vec<f64> = view
        .entries("multipleOf")
        .filter_map(|entry| number(&entry.value))
        .filter(|step| *step > 0.0)
        .collect();
    let together = steps.iter().copied().reduce(|left, right| left / divisor(left, right) * right);
    match together {
        Some(step) if steps.iter().all(|step| step.fract() == 0.0) => vec![step],
        _ => {
            let follows = |at: usize, other: usize| {
                other != at
                    && divides(steps[at], steps[other])
                    && (other < at || !divides(steps[other], steps[at]))
            };
            let own = (0..steps.len()).filter(|at| !(0..steps.len()).any(|other| follows(*at, other)));
            own.map(|at| steps[at]).collect()
        }
    }
}

/// Whether whoever takes all of the first steps takes the second ones too.
fn follow(first: &[f64], second: &[f64]) -> bool {
    second.iter().all(|step| first.iter().any(|other| divides(*step, *other)))
}

fn divides(part: f64, whole: f64) -> bool {
    let times = whole / part;
    // What is next to nothing is no whole number of times.
    times.round() >= 1.0 && (times - times.round()).abs() < 1e-9
}

/// The greatest whole number that divides both.
fn divisor(left: f64, right: f64) -> f64 {
    if right < 1.0 { left } else { divisor(right, left % right) }
}

fn unique<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let places = two.places("uniqueItems");
    match (two.base.flag("uniqueItems"), two.revision.flag("uniqueItems")) {
        (false, true) => two.note(on, "unique-items-added", places, "", "items must differ now".to_owned()),
        (true, false) => two.note(on, "unique-items-removed", places, "", "items may repeat now".to_owned()),
        _ => {}
    }
}

/// Patterns that every text matches.
const ALL: [&str; 5] = ["", ".*", "^.*$", "^.*", "^[\\s\\S]*$"];

fn pattern<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let patterns = |view: &View<'n>| {
        let mut texts: Vec<&str> = view.entries("pattern").filter_map(|entry| entry.value.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        texts.join(" and ")
    };
    let has =
        |view: &View<'_>| view.entries("pattern").any(|entry| matches!(entry.value.value, Value::String(_)));
    let (base, revision) = (patterns(&two.base), patterns(&two.revision));
    let (word, message) = match (has(&two.base), has(&two.revision)) {
        (false, true) => ("pattern-added", format!("the pattern `{revision}` was added")),
        (true, false) => ("pattern-removed", format!("the pattern `{base}` was removed")),
        (true, true) if base != revision => {
            let word =
                if ALL.contains(&revision.as_str()) { "pattern-generalized" } else { "pattern-changed" };
            (word, format!("the pattern went from `{base}` to `{revision}`"))
        }
        _ => return,
    };
    two.note(on, word, two.places("pattern"), &format!("{base} to {revision}"), message);
}
