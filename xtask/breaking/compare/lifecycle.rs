//! Deprecation, sunset and stability, as oasdiff has them.
//!
//! What is deprecated says by `x-sunset` when it ends, far enough ahead; until then it stays. `x-stability-level` (draft,
//! alpha, beta, stable) says how much is promised.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use jiff::civil::Date;

use super::{Comparison, Places, Use};
use crate::rule::{Aspect, Effect, Mirror, Rule, Site, Topic};
use crate::schema::Two;
use crate::schema::view::View;

/// Days that clients get between a deprecation and its sunset.
pub(super) const GRACE_DAYS: i32 = 180;
/// The same, of what is in beta.
pub(super) const BETA_GRACE_DAYS: i32 = 31;

const L: Topic = Topic::Lifecycle;
const ONE_WAY: &str = "the other way round nothing is announced";

const fn news(word: &'static str, mirror: &'static str) -> Aspect {
    Aspect::new(L, Effect::Notes, word, mirror)
}

const fn fault(word: &'static str) -> Aspect {
    Aspect::new(L, Effect::Alters, word, "").one_way(ONE_WAY)
}

/// The rules about schemas.
pub(crate) const ASPECTS: &[Aspect] = &[
    news("deprecated", "reactivated"),
    news("deprecated-with-sunset", "reactivated"),
    Aspect::new(L, Effect::Alters, "deprecated-sunset-missing", "reactivated"),
    fault("deprecated-sunset-invalid"),
    news("reactivated", "deprecated-sunset-missing"),
    fault("sunset-date-too-small"),
    fault("sunset-deleted"),
    fault("sunset-date-changed-too-small"),
    Aspect::new(L, Effect::Alters, "stability-decreased", "stability-increased"),
    news("stability-increased", "stability-decreased"),
];

const TOO_SOON: &str = "Clients have too little time to move on before it ends.";
const LATER: &str = "Set `x-sunset` to a day at least 180 days ahead (31 for what is in beta).";
const NO_DATE: &str = "Clients are told that it ends, but not when, and cannot plan for it.";
const SET_DATE: &str = "Write `x-sunset` with a day (YYYY-MM-DD) at least 180 days ahead.";
const STABLE: &str = "Clients relied on the promise that was made.";
const KEEP_STABLE: &str = "Keep the level; add what is unstable beside it.";
const NOTHING: Mirror = Mirror::None(ONE_WAY);

/// The rules about operations.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("endpoint-deprecated", Mirror::Of("endpoint-reactivated")),
    Rule::info("endpoint-deprecated-with-sunset", Mirror::Of("endpoint-reactivated")),
    Rule::info("endpoint-reactivated", Mirror::Of("api-deprecated-sunset-missing")),
    Rule::error("api-deprecated-sunset-missing", Mirror::Of("endpoint-reactivated"), NO_DATE, SET_DATE),
    Rule::error("api-deprecated-sunset-parse", NOTHING, NO_DATE, SET_DATE),
    Rule::error("api-sunset-date-too-small", NOTHING, TOO_SOON, LATER),
    Rule::error("sunset-deleted", NOTHING, NO_DATE, "Keep `x-sunset` as long as it is deprecated."),
    Rule::error("api-sunset-date-changed-too-small", NOTHING, TOO_SOON, LATER),
    Rule::error("api-stability-decreased", Mirror::Of("api-stability-increased"), STABLE, KEEP_STABLE),
    Rule::info("api-stability-increased", Mirror::Of("api-stability-decreased")),
    Rule::error(
        "api-invalid-stability-level",
        Mirror::None("a valid level is no news"),
        "Nobody can tell what is promised.",
        "Write `draft`, `alpha`, `beta` or `stable`.",
    ),
];

/// What a thing says of its life.
struct Life {
    deprecated: bool,
    sunset: Option<Result<Date, String>>,
    stability: Option<Result<u8, String>>,
    at: Span,
    sunset_at: Span,
}

const STABILITIES: [&str; 4] = ["draft", "alpha", "beta", "stable"];

impl Life {
    fn of<'n>(entry: impl Fn(&str) -> Option<&'n Entry>, at: Span) -> Self {
        let deprecated = entry("deprecated");
        let sunset = entry("x-sunset");
        let stability = entry("x-stability-level").map(|entry| {
            let level = entry.value.as_str().unwrap_or_default();
            let known = STABILITIES.iter().position(|known| *known == level);
            known.map(|level| u8::try_from(level).unwrap_or(u8::MAX)).ok_or_else(|| level.to_owned())
        });
        let place = |entry: Option<&Entry>| entry.map(|entry| entry.key.span);
        Self {
            deprecated: deprecated.is_some_and(|entry| matches!(entry.value.value, Value::Bool(true))),
            sunset: sunset.map(|entry| date(entry.value.as_str().unwrap_or_default())),
            stability,
            at: place(deprecated).unwrap_or(at),
            sunset_at: place(sunset).or_else(|| place(deprecated)).unwrap_or(at),
        }
    }

    fn of_node(node: &Node, at: Span) -> Self {
        Self::of(|key| node.entry(key), at)
    }

    /// Days that must lie between today and the sunset.
    fn grace(&self) -> i32 {
        match self.stability {
            Some(Ok(0 | 1)) => 0,
            Some(Ok(2)) => BETA_GRACE_DAYS,
            _ => GRACE_DAYS,
        }
    }

    fn level(&self) -> u8 {
        self.stability.as_ref().and_then(|level| level.as_ref().ok().copied()).unwrap_or(3)
    }
}

/// The day of a date or a time in RFC 3339.
fn date(text: &str) -> Result<Date, String> {
    let day = text.get(..10).unwrap_or(text);
    let rest = text.get(10..).unwrap_or_default();
    let valid = rest.is_empty() || rest.starts_with(['T', 't', ' ']);
    if valid { day.parse().map_err(|_| text.to_owned()) } else { Err(text.to_owned()) }
}

/// What became of a life: the rule by its ending, with the places and a sentence.
struct Event {
    word: &'static str,
    places: Places,
    facts: String,
    message: String,
}

fn events(base: &Life, revision: &Life, today: Date) -> Vec<Event> {
    let mut events = Vec::new();
    let mut tell =
        |word, places, facts: String, message: String| events.push(Event { word, places, facts, message });
    let places = Places::new(base.at, revision.at);
    let sunsets = Places::new(base.sunset_at, revision.sunset_at);
    let days = |date: Date| date.since(today).map_or(0, |span| span.get_days());
    let grace = revision.grace();
    match (base.deprecated, revision.deprecated) {
        (true, false) => tell("reactivated", places, String::new(), "it is no longer deprecated".to_owned()),
        (false, true) => match &revision.sunset {
            None if grace > 0 => {
                tell("sunset-missing", places, String::new(), "it is deprecated without a sunset".to_owned());
            }
            None => tell("deprecated", places, String::new(), "it is deprecated".to_owned()),
            Some(Err(text)) => {
                tell("sunset-invalid", sunsets, text.clone(), format!("the sunset `{text}` is not a day"));
            }
            Some(Ok(date)) if days(*date) < grace => {
                tell("sunset-too-small", sunsets, date.to_string(), too_small(*date, days(*date), grace));
            }
            Some(Ok(date)) => {
                tell("with-sunset", places, date.to_string(), format!("it is deprecated and ends on {date}"));
            }
        },
        (true, true) => match (&base.sunset, &revision.sunset) {
            (Some(_), None) => {
                tell("sunset-deleted", sunsets, String::new(), "its sunset was taken away".to_owned())
            }
            (_, Some(Err(text))) if base.sunset != revision.sunset => {
                tell("sunset-invalid", sunsets, text.clone(), format!("the sunset `{text}` is not a day"));
            }
            (Some(Ok(was)), Some(Ok(now))) if now < was && days(*now) < grace => {
                let message = format!(
                    "the sunset went from {was} to {now}, {} days away, fewer than {grace}",
                    days(*now)
                );
                tell("sunset-changed-too-small", sunsets, format!("{was} to {now}"), message);
            }
            (Some(Ok(was)), Some(Ok(now))) if now != was => {
                let message = format!("the sunset went from {was} to {now}");
                tell("with-sunset", sunsets, format!("{was} to {now}"), message);
            }
            // Until now nobody was told when it ends.
            (None | Some(Err(_)), Some(Ok(now))) if days(*now) < grace => {
                tell("sunset-too-small", sunsets, now.to_string(), too_small(*now, days(*now), grace));
            }
            (None | Some(Err(_)), Some(Ok(now))) => {
                tell("with-sunset", sunsets, now.to_string(), format!("it ends on {now}"));
            }
            _ => {}
        },
        (false, false) => {}
    }
    stability(base, revision, &mut tell);
    events
}

fn too_small(date: Date, days: i32, grace: i32) -> String {
    format!("the sunset on {date} is {days} days away, fewer than {grace}")
}

fn stability(base: &Life, revision: &Life, tell: &mut impl FnMut(&'static str, Places, String, String)) {
    let places = Places::new(base.at, revision.at);
    if let Some(Err(level)) = &revision.stability {
        if base.stability != revision.stability {
            let message = format!("`{level}` is not a level of stability");
            tell("stability-invalid", places, level.clone(), message);
        }
        return;
    }
    let (was, now) = (base.level(), revision.level());
    let name = |level: u8| STABILITIES[usize::from(level).min(3)];
    let facts = format!("{} to {}", name(was), name(now));
    let message = format!("its stability went from {facts}");
    match was.cmp(&now) {
        std::cmp::Ordering::Greater => tell("stability-decreased", places, facts, message),
        std::cmp::Ordering::Less => tell("stability-increased", places, facts, message),
        std::cmp::Ordering::Equal => {}
    }
}

/// Judges what became of an operation.
pub(super) fn judge_operation(
    on: &mut Comparison<'_>,
    at: &Rc<Use>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let (base, revision) = (Life::of_node(base.0, base.1), Life::of_node(revision.0, revision.1));
    for event in events(&base, &revision, on.today) {
        let id = match event.word {
            "reactivated" => "endpoint-reactivated",
            "deprecated" => "endpoint-deprecated",
            "with-sunset" => "endpoint-deprecated-with-sunset",
            "sunset-missing" => "api-deprecated-sunset-missing",
            "sunset-invalid" => "api-deprecated-sunset-parse",
            "sunset-too-small" => "api-sunset-date-too-small",
            "sunset-changed-too-small" => "api-sunset-date-changed-too-small",
            "stability-decreased" => "api-stability-decreased",
            "stability-increased" => "api-stability-increased",
            "stability-invalid" => "api-invalid-stability-level",
            other => other,
        };
        on.raise(id, at, event.places, &event.facts, event.message);
    }
}

/// The ending of an event of a parameter or a property.
fn word(event: &Event, parameter: bool) -> &'static str {
    match event.word {
        "with-sunset" => "deprecated-with-sunset",
        "sunset-missing" => "deprecated-sunset-missing",
        "sunset-invalid" if parameter => "sunset-parse",
        "sunset-invalid" => "deprecated-sunset-invalid",
        "sunset-too-small" => "sunset-date-too-small",
        "sunset-changed-too-small" => "sunset-date-changed-too-small",
        "stability-invalid" => "stability-decreased",
        _ => event.word,
    }
}

/// Judges what became of a parameter.
pub(super) fn judge_parameter(
    on: &mut Comparison<'_>,
    at: &Rc<Use>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let (base, revision) = (Life::of_node(base.0, base.1), Life::of_node(revision.0, revision.1));
    for event in events(&base, &revision, on.today) {
        let word = word(&event, true);
        if word == "sunset-parse" {
            on.raise("request-parameter-sunset-parse", at, event.places, &event.facts, event.message);
        } else {
            on.note_use(Site::Parameter, word, at, event.places, &event.facts, event.message);
        }
    }
}

/// Judges what became of a header that the server sends.
pub(super) fn judge_header(
    on: &mut Comparison<'_>,
    at: &Rc<Use>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let (base, revision) = (Life::of_node(base.0, base.1), Life::of_node(revision.0, revision.1));
    for event in events(&base, &revision, on.today) {
        let word = word(&event, false);
        on.note_use(Site::ResponseHeader, word, at, event.places, &event.facts, event.message);
    }
}

/// Judges what became of a schema.
pub(crate) fn judge_schema<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let life = |view: &View<'n>| Life::of(|key| view.entry(key), view.at);
    let (base, revision) = (life(&two.base), life(&two.revision));
    for event in events(&base, &revision, on.today) {
        two.note(on, word(&event, false), event.places, &event.facts, event.message);
    }
}

/// How a thing may be taken away.
pub(super) enum Removal {
    /// It was never deprecated.
    Unannounced,
    /// Its sunset is not a day.
    NoDay(String),
    /// Its sunset is still to come.
    BeforeSunset(Date),
    /// It was announced, or never promised.
    Announced,
}

/// Whether a thing may be taken away today.
pub(super) fn removal(node: &Node, today: Date) -> Removal {
    let life = Life::of_node(node, node.span);
    if matches!(life.stability, Some(Ok(0 | 1))) {
        return Removal::Announced;
    }
    match (life.deprecated, life.sunset) {
        (false, _) => Removal::Unannounced,
        (true, Some(Err(text))) => Removal::NoDay(text),
        (true, Some(Ok(date))) if today < date => Removal::BeforeSunset(date),
        (true, _) => Removal::Announced,
    }
}
