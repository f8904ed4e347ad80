//! Which properties there are, which of them must be there, and whether others may be.

use std::collections::BTreeSet;

use super::access::Access;
use super::view::{Parts, View};
use super::{Two, access};
use crate::breaking::compare::{Comparison, Places};
use crate::breaking::rule::{Aspect, Direction, Effect, Level, Site, Topic};
use crate::contract::node::Value;
use crate::contract::source::Span;

const P: Topic = Topic::Properties;

/// The rules of this family that are about one schema; those about a property are in [`access`].
pub const ASPECTS: &[Aspect] = &[
    Aspect::new(P, Effect::Narrows, "became-required", "became-optional"),
    Aspect::new(P, Effect::Narrows, "became-required-with-default", "became-optional"),
    Aspect::new(P, Effect::Widens, "became-optional", "became-required"),
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
];

/// The keywords of this family.
pub const KEYWORDS: &[&str] = &["properties", "required", "additionalProperties"];

/// What may stand beside the named properties.
enum Others<'n> {
    Anything,
    Nothing,
    These(Parts<'n>),
}

/// Compares the properties of two schemas.
pub fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (two.base.properties(), two.revision.properties());
    let (needed_was, needed) = (two.base.required(), two.revision.required());
    let mut names: BTreeSet<&str> = base.keys().copied().collect();
    names.extend(revision.keys());
    names.extend(needed_was.keys().filter(|name| !needed.contains_key(*name)));
    names.extend(needed.keys().filter(|name| !needed_was.contains_key(*name)));
    let closed = matches!(others(&two.revision), Others::Nothing);
    for name in names {
        let was = base.get(name).cloned();
        let now = revision.get(name).cloned();
        let must = (needed_was.get(name).copied(), needed.get(name).copied());
        let property = Property { name, must };
        match (was, now) {
            (Some(was), None) if must.1.is_none() => removed(on, two, &property, &was, closed),
            (None, Some(now)) if must.0.is_none() => added(on, two, &property, &now),
            (None, None) => required(on, two, &property, two.site.inner(), two.revision.at, false),
            (was, now) => {
                let was = was.unwrap_or_else(|| Parts::any(two.base.place("properties")));
                let now = now.unwrap_or_else(|| Parts::any(two.revision.place("properties")));
                both(on, two, &property, was, now);
            }
        }
    }
    beside(on, two);
}

/// A property by its name, and where either side says that it must be there.
struct Property<'a> {
    name: &'a str,
    must: (Option<Span>, Option<Span>),
}

fn both<'n>(on: &mut Comparison<'n>, two: &Two<'n>, property: &Property<'_>, was: Parts<'n>, now: Parts<'n>) {
    let (view_was, view_now) = (View::of(&on.base, &was), View::of(&on.revision, &now));
    let (access_was, access_now) = (Access::of(&view_was), Access::of(&view_now));
    let direction = two.site.direction();
    let unsent = access_was.is_unsent(direction) && access_now.is_unsent(direction);
    let site = if unsent { two.site.unsent() } else { two.site.inner() };
    if !two.site.is_unsent() {
        access::compare(
            on,
            two,
            property.name,
            property.must.1.is_some(),
            (&view_was, access_was),
            (&view_now, access_now),
        );
    }
    let has_default = view_now.entry("default").is_some();
    let heard = if access_now.is_unsent(direction) { two.site.unsent() } else { site };
    required(on, two, property, heard, now.at, has_default);
    two.enter(on, was, now, site, property.name);
}

fn required<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    property: &Property<'_>,
    site: Site,
    at: Span,
    has_default: bool,
) {
    let name = property.name;
    let base = two.base.properties().get(name).map_or(two.base.at, |parts| parts.at);
    let (word, places, message) = match property.must {
        (None, Some(now)) => {
            let defaulted = has_default && site == Site::RequestProperty;
            let word = if defaulted { "became-required-with-default" } else { "became-required" };
            (word, Places::new(base, now), format!("`{name}` must be there now"))
        }
        (Some(was), None) => {
            ("became-optional", Places::new(was, at), format!("`{name}` may be left out now"))
        }
        _ => return,
    };
    on.note_inside(two.pair, site, word, name, places, message);
}

fn removed<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    property: &Property<'_>,
    was: &Parts<'n>,
    closed: bool,
) {
    let name = property.name;
    let places = Places::new(was.at, two.revision.place("properties"));
    let message = format!("the property `{name}` was removed");
    let access = Access::of(&View::of(&on.base, was));
    let direction = two.site.direction();
    let unsent = two.site.is_unsent() || access.is_unsent(direction);
    match direction {
        Direction::Request => {
            let site = if unsent { Site::RequestReadOnly } else { Site::RequestProperty };
            // What is not known is refused where the schema is closed; elsewhere it is merely not read.
            let level = match (unsent, closed) {
                (true, _) => Level::Info,
                (false, true) => Level::Error,
                (false, false) => Level::Warning,
            };
            access::note(on, two, &access::removed_id(site, false), Some(level), places, name, message);
        }
        Direction::Response => {
            let site = if unsent { Site::ResponseWriteOnly } else { Site::ResponseProperty };
            access::note(
                on,
                two,
                &access::removed_id(site, property.must.0.is_some()),
                None,
                places,
                name,
                message,
            );
        }
    }
}

fn added<'n>(on: &mut Comparison<'n>, two: &Two<'n>, property: &Property<'_>, now: &Parts<'n>) {
    let name = property.name;
    let places = Places::new(two.base.place("properties"), now.at);
    let view = View::of(&on.revision, now);
    let unsent = two.site.is_unsent() || Access::of(&view).is_unsent(two.site.direction());
    let must = property.must.1.is_some();
    let message = format!("the {} property `{name}` was added", if must { "required" } else { "optional" });
    let id = match (two.site.direction(), must && !unsent) {
        (Direction::Request, true) if matches!(two.site, Site::HeaderProperty | Site::HeaderParameter) => {
            "new-required-request-header-property"
        }
        (Direction::Request, true) if view.entry("default").is_some() => {
            "new-required-request-property-with-default"
        }
        (Direction::Request, true) => "new-required-request-property",
        (Direction::Request, false) => "new-optional-request-property",
        (Direction::Response, _) => match (must, unsent) {
            (true, false) => "response-required-property-added",
            (true, true) => "response-required-write-only-property-added",
            (false, false) => "response-optional-property-added",
            (false, true) => "response-optional-write-only-property-added",
        },
    };
    access::note(on, two, id, None, places, name, message);
}

fn others<'n>(view: &View<'n>) -> Others<'n> {
    let mut these = None;
    for entry in view.entries("additionalProperties") {
        match &entry.value.value {
            Value::Bool(false) => return Others::Nothing,
            Value::Mapping(entries) if !entries.is_empty() => {
                let parts = these.get_or_insert_with(|| Parts { nodes: Vec::new(), at: entry.key.span });
                parts.nodes.push(&entry.value);
            }
            _ => {}
        }
    }
    these.map_or(Others::Anything, Others::These)
}

/// What may stand beside the named properties.
fn beside<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let places = two.places("additionalProperties");
    let (word, message) = match (others(&two.base), others(&two.revision)) {
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
