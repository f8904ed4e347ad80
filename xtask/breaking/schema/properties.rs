//! Which properties there are, and which of them must be there.

use std::collections::BTreeSet;

use contract::source::Span;

use super::access::Access;
use super::fields::{Field, Fields};
use super::view::{Parts, View};
use super::{Two, access};
use crate::compare::{Comparison, Places};
use crate::rule::{Aspect, Direction, Effect, Level, Site, Topic};

const P: Topic = Topic::Properties;

/// The rules of this family that are about one schema; those about a property are in [`access`].
pub(super) const ASPECTS: &[Aspect] = &[
    Aspect::new(P, Effect::Narrows, "became-required", "became-optional"),
    Aspect::new(P, Effect::Narrows, "became-required-with-default", "became-optional"),
    Aspect::new(P, Effect::Widens, "became-optional", "became-required"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &["properties", "required"];

/// Compares the properties of two schemas.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (Fields::of(&two.base), Fields::of(&two.revision));
    let (needed_was, needed) = (two.base.required(), two.revision.required());
    let mut names: BTreeSet<&str> = base.names();
    names.extend(revision.names());
    names.extend(needed_was.keys().filter(|name| !needed.contains_key(*name)));
    names.extend(needed.keys().filter(|name| !needed_was.contains_key(*name)));
    for name in names {
        let (was, now) = (base.get(name), revision.get(name));
        let must = (needed_was.get(name).copied(), needed.get(name).copied());
        let property = Property { name, must };
        match (was.named, now.named) {
            (true, false) if must.1.is_none() => removed(on, two, &property, was.parts, now),
            (false, true) if must.0.is_none() => added(on, two, &property, was, now.parts),
            (false, false) => required(on, two, &property, two.site.inner(), two.revision.at, false),
            _ => both(on, two, &property, was.parts, now.parts),
        }
    }
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
            (property.must.0.is_some(), property.must.1.is_some()),
            (&view_was, access_was),
            (&view_now, access_now),
        );
    }
    let has_default = view_now.entry("default").is_some();
    required(on, two, property, site, now.at, has_default);
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
    was: Parts<'n>,
    now: Field<'n>,
) {
    let name = property.name;
    let places = Places::new(was.at, two.revision.place("properties"));
    let message = format!("the property `{name}` was removed");
    let access = Access::of(&View::of(&on.base, &was));
    let direction = two.site.direction();
    let unsent = two.site.is_unsent() || access.is_unsent(direction);
    match direction {
        Direction::Request => {
            let site = if unsent { Site::RequestReadOnly } else { Site::RequestProperty };
            // What is not known is refused where the schema is closed; elsewhere it is merely not read.
            let level = match (unsent, now.is_refused()) {
                (true, _) => Level::Info,
                (false, true) => Level::Error,
                (false, false) => Level::Warning,
            };
            let id = access::removed_id(site, false);
            on.raise_in(two.pair, &id, Some(level), places, name, message);
        }
        Direction::Response => {
            let site = if unsent { Site::ResponseWriteOnly } else { Site::ResponseProperty };
            let id = access::removed_id(site, property.must.0.is_some());
            on.raise_in(two.pair, &id, None, places, name, message);
        }
    }
    if !now.is_refused() && !now.is_free() {
        // It can be there still, as one of those that are not named.
        two.enter(on, was, now.parts, if unsent { two.site.unsent() } else { two.site.inner() }, name);
    }
}

fn added<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    property: &Property<'_>,
    was: Field<'n>,
    now: Parts<'n>,
) {
    let name = property.name;
    let places = Places::new(two.base.place("properties"), now.at);
    let view = View::of(&on.revision, &now);
    let unsent = two.site.is_unsent() || Access::of(&view).is_unsent(two.site.direction());
    let must = property.must.1.is_some();
    let message = format!("the {} property `{name}` was added", if must { "required" } else { "optional" });
    let id = match (two.site.direction(), must && !unsent) {
        (Direction::Request, true) if two.site.inner() == Site::HeaderProperty => {
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
    on.raise_in(two.pair, id, None, places, name, message);
    if !was.is_refused() && !was.is_free() {
        // It could be there before, as one of those that were not named.
        two.enter(on, was.parts, now, if unsent { two.site.unsent() } else { two.site.inner() }, name);
    }
}
