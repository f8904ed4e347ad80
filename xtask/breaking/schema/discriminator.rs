//! The discriminator: the property whose value chooses a schema.
//!
//! Owns which values choose which schemas, and that those are compared though nothing else refers to them. Without a mapping
//! the name of a schema is its value, unless the schema says another by a constant.

use std::collections::{BTreeMap, BTreeSet};

use contract::node::{Entry, Node};
use contract::source::Span;

use super::Two;
use super::alternatives::chosen_by;
use super::values::distinct;
use super::view::{Parts, View};
use crate::compare::{Comparison, Places};
use crate::document::Side;
use crate::rule::{Aspect, Effect, Topic};

const S: Topic = Topic::Structure;

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    Aspect::new(S, Effect::Alters, "discriminator-added", "discriminator-removed"),
    Aspect::new(S, Effect::Alters, "discriminator-removed", "discriminator-added"),
    Aspect::new(
        S,
        Effect::Alters,
        "discriminator-property-name-changed",
        "discriminator-property-name-changed",
    ),
    Aspect::new(S, Effect::Widens, "discriminator-mapping-added", "discriminator-mapping-deleted"),
    Aspect::new(S, Effect::Alters, "discriminator-mapping-deleted", "discriminator-mapping-added"),
    Aspect::new(S, Effect::Alters, "discriminator-mapping-changed", "discriminator-mapping-changed"),
    Aspect::new(S, Effect::Notes, "discriminator-mapping-renamed", "discriminator-mapping-renamed"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &["discriminator"];

/// Compares the discriminators of two schemas.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (mut base, mut revision) =
        (distinct(&two.base, "discriminator"), distinct(&two.revision, "discriminator"));
    if base.len() != 1 || revision.len() != 1 {
        // Several hold together, each for its property.
        base.retain(|was| {
            let at = revision.iter().position(|now| property(now) == property(was));
            let now = at.map(|at| revision.remove(at));
            now.is_none_or(|now| {
                values(on, two, was, now);
                false
            })
        });
    }
    if let ([was], [now]) = (base.as_slice(), revision.as_slice()) {
        if property(was) != property(now) {
            let facts = format!("{} to {}", property(was), property(now));
            let message = format!("the property that tells the alternatives apart went from {facts}");
            let places = Places::new(was.key.span, now.key.span);
            two.note(on, "discriminator-property-name-changed", places, &facts, message);
        }
        values(on, two, was, now);
        return;
    }
    let places = two.places("discriminator");
    revision.into_iter().for_each(|now| added(on, two, Places::new(places.base, now.key.span)));
    base.into_iter().for_each(|was| removed(on, two, Places::new(was.key.span, places.revision)));
}

/// Tells of the discriminators of alternatives that a schema came to be one of. What it had itself is compared inside.
pub(super) fn came<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    for now in distinct(&two.revision, "discriminator") {
        added(on, two, Places::new(two.base.at, now.key.span));
    }
}

/// Tells of the discriminators of alternatives of which one schema is left.
pub(super) fn went<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    for was in distinct(&two.base, "discriminator") {
        removed(on, two, Places::new(was.key.span, two.revision.at));
    }
}

fn added<'n>(on: &mut Comparison<'n>, two: &Two<'n>, places: Places) {
    let message = "a property now tells the alternatives apart".to_owned();
    two.note(on, "discriminator-added", places, "", message);
}

fn removed<'n>(on: &mut Comparison<'n>, two: &Two<'n>, places: Places) {
    let message = "no property tells the alternatives apart any more".to_owned();
    two.note(on, "discriminator-removed", places, "", message);
}

fn property(discriminator: &Entry) -> &str {
    discriminator.value.get("propertyName").and_then(Node::as_str).unwrap_or_default()
}

/// What a value chooses.
#[derive(Clone, Copy)]
struct Chosen<'n> {
    target: &'n str,
    at: Span,
}

impl<'n> Chosen<'n> {
    /// A mapping may name a schema by its reference or by its name.
    fn name(&self) -> &'n str {
        self.target.rsplit('/').next().unwrap_or(self.target)
    }

    fn parts(&self, side: &Side<'n>) -> Option<Parts<'n>> {
        if self.target.starts_with('#') {
            let at = side.named_at(self.target)?;
            return Some(Parts::one(side.resolve(self.target)?, at));
        }
        let entry = side.section("schemas").iter().find(|entry| entry.key.text == self.target)?;
        Some(Parts::under(entry))
    }
}

/// Values with what they choose.
type Values<'n> = BTreeMap<String, Chosen<'n>>;

fn values<'n>(on: &mut Comparison<'n>, two: &Two<'n>, was: &'n Entry, now: &'n Entry) {
    let (base, revision) = (chosen(&on.base, &two.base, was), chosen(&on.revision, &two.revision, now));
    let (members_was, members_now) = (Members::of(&two.base), Members::of(&two.revision));
    let members = (&members_was, &members_now);
    let told = (was, now);
    for (value, one) in &base {
        if let Some(other) = revision.get(value).copied().or_else(|| members_now.by_name(value)) {
            both(on, two, told, members, value, (*one, other));
        } else {
            let message = format!("the value `{value}` chooses no schema any more");
            let places = Places::new(one.at, now.key.span);
            two.note(on, "discriminator-mapping-deleted", places, value, message);
        }
    }
    for (value, other) in revision.iter().filter(|(value, _)| !base.contains_key(*value)) {
        if let Some(one) = members_was.by_name(value) {
            both(on, two, told, members, value, (one, *other));
        } else {
            let message = format!("the value `{value}` chooses a schema now");
            let places = Places::new(was.key.span, other.at);
            two.note(on, "discriminator-mapping-added", places, value, message);
        }
    }
}

/// Compares what a value chooses on both sides.
fn both<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    (told_was, told): (&'n Entry, &'n Entry),
    members: (&Members<'n>, &Members<'n>),
    value: &str,
    (one, other): (Chosen<'n>, Chosen<'n>),
) {
    let member = (members.0.0.get(one.name()).copied(), members.1.0.get(other.name()).copied());
    if one.name() != other.name() {
        let facts = format!("{value}: {} to {}", one.target, other.target);
        let places = Places::new(one.at, other.at);
        if !is_renamed(on, two, member, (one, other)) {
            let message =
                format!("the value `{value}` chooses `{}`, no longer `{}`", other.name(), one.name());
            two.note(on, "discriminator-mapping-changed", places, &facts, message);
            return;
        }
        let message = format!("the schema that the value `{value}` chooses is called `{}` now", other.name());
        two.note(on, "discriminator-mapping-renamed", places, &facts, message);
    }
    // What is one of the alternatives on both sides is compared with them.
    let is_met = member.0.is_some() && member.1.is_some();
    // What inherits the discriminator is one of its schemas, not all of them.
    if !is_met
        && two.base.discriminates(told_was)
        && two.revision.discriminates(told)
        && let Some((was, now)) = one.parts(&on.base).zip(other.parts(&on.revision))
    {
        two.enter(on, was, now, two.site, &format!("({})", one.name()));
    }
}

/// Whether another name is all that is new about what a value chooses: of alternatives where the two are compared with each
/// other, elsewhere where the one schema went and the other came.
fn is_renamed<'n>(
    on: &Comparison<'n>,
    two: &Two<'n>,
    member: (Option<&'n Node>, Option<&'n Node>),
    (one, other): (Chosen<'n>, Chosen<'n>),
) -> bool {
    match member {
        (Some(was), Some(now)) => {
            on.has_met(&Parts::one(was, was.span), &Parts::one(now, now.span), two.site)
        }
        (None, None) => {
            on.revision.component("schemas", one.name()).is_none()
                && on.base.component("schemas", other.name()).is_none()
        }
        _ => false,
    }
}

/// The alternatives that have names.
struct Members<'n>(BTreeMap<&'n str, &'n Node>);

impl<'n> Members<'n> {
    fn of(view: &View<'n>) -> Self {
        let members = view.one_of.iter().chain(&view.any_of).flat_map(|among| among.members.iter());
        let named =
            members.filter_map(|member| Some((member.get("$ref")?.as_str()?.rsplit('/').next()?, *member)));
        Self(named.collect())
    }

    /// What a value chooses that is the name of an alternative.
    fn by_name(&self, value: &str) -> Option<Chosen<'n>> {
        self.0.get_key_value(value).map(|(name, member)| Chosen { target: name, at: member.span })
    }
}

/// The values of the mapping, and those of schemas that inherit the discriminator and have none there.
fn chosen<'n>(side: &Side<'n>, view: &View<'n>, discriminator: &'n Entry) -> Values<'n> {
    let entries = discriminator.value.get("mapping").and_then(Node::entries).unwrap_or_default();
    let mut values: Values<'_> = entries
        .iter()
        .filter_map(|entry| {
            Some((entry.key.text.clone(), Chosen { target: entry.value.as_str()?, at: entry.key.span }))
        })
        .collect();
    let Some(owner) = view.name.filter(|_| view.discriminates(discriminator)) else { return values };
    if !view.one_of.is_empty() || !view.any_of.is_empty() {
        return values;
    }
    let mapped: BTreeSet<&str> = values.values().map(Chosen::name).collect();
    for heir in side.section("schemas").iter().filter(|entry| owners(side, &entry.value).contains(owner)) {
        let name = heir.key.text.as_str();
        if !mapped.contains(name) {
            let own = chosen_by(side, &View::of(side, &Parts::under(heir)), property(discriminator));
            values
                .entry(own.unwrap_or_else(|| name.to_owned()))
                .or_insert(Chosen { target: name, at: heir.key.span });
        }
    }
    values
}

/// The names of the schemas that a schema is one of by `allOf`, and of those that these are one of.
pub(crate) fn owners<'n>(side: &Side<'n>, heir: &'n Node) -> BTreeSet<&'n str> {
    let parts = |node: &'n Node| node.get("allOf").and_then(Node::items).unwrap_or_default();
    let mut owners = BTreeSet::new();
    let mut left: Vec<&Node> = parts(heir).iter().collect();
    while let Some(part) = left.pop() {
        left.extend(parts(part));
        let target = part.get("$ref").and_then(Node::as_str);
        if let Some(name) = target.and_then(|target| target.strip_prefix("#/components/schemas/"))
            && owners.insert(name)
        {
            left.extend(side.component("schemas", name));
        }
    }
    owners
}
