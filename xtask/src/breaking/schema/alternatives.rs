//! `oneOf`, `anyOf`, and the discriminator that chooses between them.
//!
//! Owns which alternative of the base is which of the revision: by its name, by the value that chooses it, by its text, by
//! its title, and at last by its likeness. Their order never counts.

use std::collections::BTreeMap;

use super::Two;
use super::value::alike;
use super::view::{Alternatives, Parts, View};
use crate::breaking::compare::{Comparison, Places};
use crate::breaking::document::Side;
use crate::breaking::rule::{Aspect, Effect, Topic};
use crate::contract::node::{Entry, Node};
use crate::contract::source::Span;

const S: Topic = Topic::Structure;

/// The rules of this family.
pub const ASPECTS: &[Aspect] = &[
    Aspect::new(S, Effect::Widens, "one-of-added", "one-of-removed"),
    Aspect::new(S, Effect::Narrows, "one-of-removed", "one-of-added"),
    Aspect::new(S, Effect::Narrows, "one-of-set", "one-of-unset"),
    Aspect::new(S, Effect::Widens, "one-of-unset", "one-of-set"),
    Aspect::new(S, Effect::Widens, "any-of-added", "any-of-removed"),
    Aspect::new(S, Effect::Narrows, "any-of-removed", "any-of-added"),
    Aspect::new(S, Effect::Narrows, "any-of-set", "any-of-unset"),
    Aspect::new(S, Effect::Widens, "any-of-unset", "any-of-set"),
    Aspect::new(S, Effect::Widens, "one-of-became-any-of", "any-of-became-one-of"),
    Aspect::new(S, Effect::Narrows, "any-of-became-one-of", "one-of-became-any-of"),
    Aspect::new(S, Effect::Alters, "wrapped-in-one-of", "unwrapped-from-one-of"),
    Aspect::new(S, Effect::Alters, "unwrapped-from-one-of", "wrapped-in-one-of"),
    Aspect::new(S, Effect::Widens, "wrapped-in-any-of", "unwrapped-from-any-of"),
    Aspect::new(S, Effect::Narrows, "unwrapped-from-any-of", "wrapped-in-any-of"),
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
];

/// The keywords of this family.
pub const KEYWORDS: &[&str] = &["oneOf", "anyOf", "allOf", "discriminator"];

/// Compares the alternatives of two schemas.
pub fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (&two.base, &two.revision);
    let switched = |one: &View<'_>, any: &View<'_>| {
        one.one_of.is_set() && !one.any_of.is_set() && any.any_of.is_set() && !any.one_of.is_set()
    };
    if switched(base, revision) || switched(revision, base) {
        let one_of = base.one_of.is_set();
        let (was, now, word) = if one_of {
            (&base.one_of, &revision.any_of, "one-of-became-any-of")
        } else {
            (&base.any_of, &revision.one_of, "any-of-became-one-of")
        };
        let places = Places::new(was.at.unwrap_or(base.at), now.at.unwrap_or(revision.at));
        let message = if one_of { "`oneOf` became `anyOf`" } else { "`anyOf` became `oneOf`" };
        two.note(on, word, places, "", message.to_owned());
        members(on, two, if one_of { "one-of" } else { "any-of" }, was, now);
    } else {
        members(on, two, "one-of", &base.one_of, &revision.one_of);
        members(on, two, "any-of", &base.any_of, &revision.any_of);
    }
    discriminator(on, two);
}

/// Whether one side is the other behind alternatives; then that is what is noted, and the two are compared inside.
pub fn wrapped<'n>(on: &mut Comparison<'n>, two: &Two<'n>) -> bool {
    for (word, pick) in [("one-of", one_of as fn(&View<'n>) -> Alternatives<'n>), ("any-of", any_of)] {
        let (base, revision) = (pick(&two.base), pick(&two.revision));
        if revision.is_set() && is_plain(&two.base) && is_bare(&two.revision) {
            let member = like(&on.revision, &revision, &two.base);
            if let Some(member) = member {
                let places = Places::new(two.base.at, revision.at.unwrap_or(two.revision.at));
                let others = revision.members.len().saturating_sub(1);
                let message = format!("the schema is now one of several: {others} stand beside it");
                two.note(on, &format!("wrapped-in-{word}"), places, "", message);
                let parts = on.pair(two.pair).0;
                two.enter(on, parts, Parts::one(member, member.span), two.site, &label(member));
                return true;
            }
        }
        if base.is_set() && is_plain(&two.revision) && is_bare(&two.base) {
            let member = like(&on.base, &base, &two.revision);
            if let Some(member) = member {
                let places = Places::new(base.at.unwrap_or(two.base.at), two.revision.at);
                let message = "one of several schemas is left".to_owned();
                two.note(on, &format!("unwrapped-from-{word}"), places, "", message);
                let parts = on.pair(two.pair).1;
                two.enter(on, Parts::one(member, member.span), parts, two.site, &label(member));
                return true;
            }
        }
    }
    false
}

fn one_of<'n>(view: &View<'n>) -> Alternatives<'n> {
    view.one_of.clone()
}

fn any_of<'n>(view: &View<'n>) -> Alternatives<'n> {
    view.any_of.clone()
}

/// Whether a schema says what it is by itself, without alternatives.
fn is_plain(view: &View<'_>) -> bool {
    !view.one_of.is_set() && !view.any_of.is_set() && !is_empty(view)
}

/// Whether a schema says nothing but its alternatives.
fn is_bare(view: &View<'_>) -> bool {
    is_empty(view)
}

fn is_empty(view: &View<'_>) -> bool {
    let says = ["properties", "enum", "const", "items", "additionalProperties"];
    view.types.is_any() && !view.keywords().iter().any(|keyword| says.contains(keyword))
}

/// The alternative that a schema is most like.
fn like<'n>(side: &Side<'n>, among: &Alternatives<'n>, view: &View<'n>) -> Option<&'n Node> {
    let views: Vec<(&Node, View<'_>)> = among
        .members
        .iter()
        .map(|member| (*member, View::of(side, &Parts::one(member, member.span))))
        .collect();
    let named = views.iter().find(|(_, member)| member.name.is_some() && member.name == view.name);
    let alike = || views.iter().find(|(_, member)| are_alike(member, view));
    named.or_else(alike).map(|(member, _)| *member)
}

/// Whether two schemas could be one: the same types, and where they are objects a property in common.
fn are_alike(left: &View<'_>, right: &View<'_>) -> bool {
    if left.types != right.types {
        return false;
    }
    let (left, right) = (left.properties(), right.properties());
    left.is_empty() && right.is_empty() || left.keys().any(|name| right.contains_key(name))
}

/// What an alternative is called in a path.
fn label(member: &Node) -> String {
    let text = |key| member.get(key).and_then(Node::as_str);
    let name = text("$ref").and_then(|target| target.rsplit('/').next());
    let name = name.or_else(|| text("title")).or_else(|| text("type"));
    format!("({})", name.unwrap_or("alternative"))
}

/// An alternative with all that it can be known by.
struct Member<'n> {
    node: &'n Node,
    name: Option<&'n str>,
    title: Option<&'n str>,
    chosen_by: Option<String>,
    view: View<'n>,
}

impl<'n> Member<'n> {
    fn all(side: &Side<'n>, among: &Alternatives<'n>, owner: &View<'n>) -> Vec<Self> {
        let property =
            owner.entry("discriminator").and_then(|entry| entry.value.get("propertyName")?.as_str());
        let of = |node: &&'n Node| {
            let view = View::of(side, &Parts::one(node, node.span));
            let chosen_by = property.and_then(|property| {
                let value = View::of(side, view.properties().get(property)?);
                let listed = value.entry("enum").and_then(|entry| entry.value.items()?.first());
                let fixed = value.entry("const").map(|entry| &entry.value).or(listed)?;
                fixed.as_str().map(str::to_owned)
            });
            let title = view.entry("title").and_then(|entry| entry.value.as_str());
            Member { node, name: view.name, title, chosen_by, view }
        };
        among.members.iter().map(of).collect()
    }
}

fn members<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    word: &str,
    was: &Alternatives<'n>,
    now: &Alternatives<'n>,
) {
    let places = Places::new(was.at.unwrap_or(two.base.at), now.at.unwrap_or(two.revision.at));
    match (was.is_set(), now.is_set()) {
        (false, false) => return,
        (false, true) => {
            let message = "a value must now be one of several schemas as well".to_owned();
            two.note(on, &format!("{word}-set"), places, "", message);
            return;
        }
        (true, false) => {
            let message = "a value need not be one of several schemas any more".to_owned();
            two.note(on, &format!("{word}-unset"), places, "", message);
            return;
        }
        (true, true) => {}
    }
    let mut base = Member::all(&on.base, was, &two.base);
    let mut revision = Member::all(&on.revision, now, &two.revision);
    let known_by: [fn(&Member<'_>, &Member<'_>) -> bool; 5] = [
        |left, right| left.name.is_some() && left.name == right.name,
        |left, right| left.chosen_by.is_some() && left.chosen_by == right.chosen_by,
        |left, right| alike(left.node, right.node),
        |left, right| left.title.is_some() && left.title == right.title,
        |left, right| are_alike(&left.view, &right.view),
    ];
    for is_it in known_by {
        for at in (0..base.len()).rev() {
            if let Some(other) = revision.iter().position(|member| is_it(&base[at], member)) {
                let (was, now) = (base.remove(at), revision.remove(other));
                let step = label(was.node);
                let (was, now) = (Parts::one(was.node, was.node.span), Parts::one(now.node, now.node.span));
                two.enter(on, was, now, two.site, &step);
            }
        }
    }
    for member in &base {
        let name = label(member.node);
        let places = Places::new(member.node.span, places.revision);
        two.note(
            on,
            &format!("{word}-removed"),
            places,
            &name,
            format!("the alternative {name} was removed"),
        );
    }
    for member in &revision {
        let name = label(member.node);
        let places = Places::new(places.base, member.node.span);
        two.note(on, &format!("{word}-added"), places, &name, format!("the alternative {name} was added"));
    }
}

fn discriminator<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (was, now) = match (two.base.entry("discriminator"), two.revision.entry("discriminator")) {
        (None, None) => return,
        (Some(was), Some(now)) => (was, now),
        (was, _) => {
            let (word, message) = if was.is_none() {
                ("discriminator-added", "a property now tells the alternatives apart")
            } else {
                ("discriminator-removed", "no property tells the alternatives apart any more")
            };
            two.note(on, word, two.places("discriminator"), "", message.to_owned());
            return;
        }
    };
    let property =
        |entry: &'n Entry| entry.value.get("propertyName").and_then(Node::as_str).unwrap_or_default();
    if property(was) != property(now) {
        let facts = format!("{} to {}", property(was), property(now));
        let message = format!("the property that tells the alternatives apart went from {facts}");
        two.note(on, "discriminator-property-name-changed", two.places("discriminator"), &facts, message);
    }
    let (was, now) = (mapping(was), mapping(now));
    let places = two.places("discriminator");
    for (value, (target, at)) in &was {
        match now.get(value) {
            None => {
                let places = Places::new(*at, places.revision);
                let message = format!("the value `{value}` chooses no schema any more");
                two.note(on, "discriminator-mapping-deleted", places, value, message);
            }
            Some((other, there)) if name(other) != name(target) => {
                let facts = format!("{value}: {target} to {other}");
                let message =
                    format!("the value `{value}` chooses `{}`, no longer `{}`", name(other), name(target));
                two.note(on, "discriminator-mapping-changed", Places::new(*at, *there), &facts, message);
            }
            Some(_) => {}
        }
    }
    for (value, (_, at)) in now.iter().filter(|(value, _)| !was.contains_key(*value)) {
        let message = format!("the value `{value}` chooses a schema now");
        two.note(on, "discriminator-mapping-added", Places::new(places.base, *at), value, message);
    }
}

/// The values of a discriminator, each with the schema that it chooses.
fn mapping(discriminator: &Entry) -> BTreeMap<&str, (&str, Span)> {
    let entries = discriminator.value.get("mapping").and_then(Node::entries).unwrap_or_default();
    let targets = entries
        .iter()
        .filter_map(|entry| Some((entry.key.text.as_str(), (entry.value.as_str()?, entry.key.span))));
    targets.collect()
}

/// A mapping may name a schema by its reference or by its name.
fn name(target: &str) -> &str {
    target.rsplit('/').next().unwrap_or(target)
}
