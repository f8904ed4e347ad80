//! Properties that are not named: those whose names match a pattern, and all others.
//!
//! Owns what it does to the others when a pattern comes or goes: what no pattern matches is one of them.

use contract::node::Value;

use super::Two;
use super::patterns::{is_readable, may_meet};
use super::structure::{come, entries, gone, schema};
use super::view::{Parts, View};
use crate::compare::{Comparison, Places};
use crate::rule::{Aspect, Effect, Topic};

const P: Topic = Topic::Properties;

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    Aspect::new(P, Effect::Narrows, "additional-properties-closed", "additional-properties-opened"),
    Aspect::new(P, Effect::Widens, "additional-properties-opened", "additional-properties-closed"),
    Aspect::new(
        P,
        Effect::Narrows,
        "additional-properties-schema-added",
        "additional-properties-schema-removed",
    ),
    Aspect::new(
        P,
        Effect::Widens,
        "additional-properties-schema-removed",
        "additional-properties-schema-added",
    ),
    come("pattern-property-added", "pattern-property-removed"),
    gone("pattern-property-removed", "pattern-property-added"),
    come("unevaluated-properties-added", "unevaluated-properties-removed"),
    gone("unevaluated-properties-removed", "unevaluated-properties-added"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &["patternProperties", "additionalProperties", "unevaluatedProperties"];

/// What may stand beside the named properties.
enum Others<'n> {
    Anything,
    Nothing,
    These(Parts<'n>),
}

impl<'n> Others<'n> {
    /// What `additionalProperties` says, or else `unevaluatedProperties`.
    fn of(view: &View<'n>) -> Self {
        let keywords = ["additionalProperties", "unevaluatedProperties"];
        let keyword = keywords.into_iter().find(|keyword| view.entry(keyword).is_some());
        Self::under(view, keyword.unwrap_or_default())
    }

    fn under(view: &View<'n>, keyword: &str) -> Self {
        match view.parts(keyword) {
            None => Self::Anything,
            Some(parts) if parts.nodes.iter().any(|node| matches!(node.value, Value::Bool(false))) => {
                Self::Nothing
            }
            Some(parts) => Self::These(parts),
        }
    }
}

/// Compares what may stand beside the named properties of two schemas.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    beside(on, two);
    // `additionalProperties` leaves nothing that is not evaluated.
    let rest = |view: &View<'n>| {
        view.parts("unevaluatedProperties").filter(|_| view.entry("additionalProperties").is_none())
    };
    let names = ("unevaluatedProperties", "unevaluated-properties");
    schema(on, two, names, rest(&two.base), rest(&two.revision));
    patterns(on, two);
}

/// What may stand beside the named properties.
fn beside<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let places = two.places("additionalProperties");
    let of = |view: &View<'n>| Others::under(view, "additionalProperties");
    let (word, message) = match (of(&two.base), of(&two.revision)) {
        (Others::Anything | Others::These(_), Others::Nothing) => {
            ("closed", "properties that are not named are refused now")
        }
        (Others::Nothing, Others::Anything | Others::These(_)) => {
            ("opened", "properties that are not named can be there now")
        }
        (Others::Anything, Others::These(_)) => {
            ("schema-added", "properties that are not named must meet a schema now")
        }
        (Others::These(_), Others::Anything) => {
            ("schema-removed", "properties that are not named need not meet a schema any more")
        }
        (Others::These(was), Others::These(now)) => {
            two.enter(on, was, now, two.site.inner(), "*");
            return;
        }
        (Others::Anything, Others::Anything) | (Others::Nothing, Others::Nothing) => return,
    };
    two.note(on, &format!("additional-properties-{word}"), places, "", message.to_owned());
}

fn patterns<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let keyword = "patternProperties";
    let (was, now) = (entries(&two.base, keyword), entries(&two.revision, keyword));
    let places = two.places(keyword);
    for (pattern, parts) in &was {
        match now.get(pattern) {
            Some(other) => enter(on, two, pattern, parts.clone(), other.clone()),
            None => gone_pattern(on, two, pattern, parts, Places::new(parts.at, places.revision)),
        }
    }
    for (pattern, parts) in now.into_iter().filter(|(pattern, _)| !was.contains_key(pattern)) {
        let places = Places::new(places.base, parts.at);
        come_pattern(on, two, pattern, parts, places);
    }
}

/// Names that match the pattern alone were some of the others; names that match another one too must now meet both.
fn come_pattern<'n>(on: &mut Comparison<'n>, two: &Two<'n>, pattern: &str, now: Parts<'n>, places: Places) {
    let others = Others::of(&two.base);
    if matches!(others, Others::Anything) || is_shared(&two.base, pattern) {
        let message = format!("`{pattern}` was added to `patternProperties`");
        two.note(on, "pattern-property-added", places, pattern, message);
    }
    match others {
        Others::Anything => {}
        Others::Nothing => {
            let message = format!("properties whose names match `{pattern}` can be there now");
            two.note(on, "additional-properties-opened", places, pattern, message);
        }
        Others::These(others) => enter(on, two, pattern, others, now),
    }
}

fn gone_pattern<'n>(on: &mut Comparison<'n>, two: &Two<'n>, pattern: &str, was: &Parts<'n>, places: Places) {
    let others = Others::of(&two.revision);
    if matches!(others, Others::Anything) || is_shared(&two.revision, pattern) {
        let message = format!("`{pattern}` was removed from `patternProperties`");
        two.note(on, "pattern-property-removed", places, pattern, message);
    }
    match others {
        Others::Anything => {}
        Others::Nothing => {
            let message = format!("properties whose names match `{pattern}` are refused now");
            two.note(on, "additional-properties-closed", places, pattern, message);
        }
        Others::These(others) => enter(on, two, pattern, was.clone(), others),
    }
}

/// Whether a name that matches a pattern may be spoken of elsewhere in a schema. Named properties are compared with all
/// patterns that they match, so only a pattern that cannot be read may meet them unseen.
fn is_shared(view: &View<'_>, pattern: &str) -> bool {
    let others = entries(view, "patternProperties");
    others.keys().any(|other| may_meet(pattern, other))
        || !is_readable(pattern) && !view.properties().is_empty()
}

fn enter<'n>(on: &mut Comparison<'n>, two: &Two<'n>, pattern: &str, was: Parts<'n>, now: Parts<'n>) {
    two.enter(on, was, now, two.site.inner(), &format!("patternProperties {pattern}"));
}
