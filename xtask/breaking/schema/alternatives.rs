//! `oneOf` and `anyOf`.
//!
//! Owns which alternative of the base is which of the revision: by its name, by the value that chooses it, by its text, by
//! its title, and at last by its likeness. Their order never counts.

use contract::node::{Entry, Node};

use super::value::alike;
use super::view::{Alternatives, Parts, View};
use super::{Two, discriminator, is_annotation};
use crate::compare::{Comparison, Places};
use crate::document::Side;
use crate::rule::{Aspect, Effect, Topic};

const S: Topic = Topic::Structure;

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
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
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &["oneOf", "anyOf", "allOf"];

/// Compares the alternatives of two schemas.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (&two.base, &two.revision);
    if let (Some((one_of, was)), Some((other, now))) = (only(base), only(revision))
        && one_of != other
    {
        let word = if one_of { "one-of-became-any-of" } else { "any-of-became-one-of" };
        let message = if one_of { "`oneOf` became `anyOf`" } else { "`anyOf` became `oneOf`" };
        two.note(on, word, Places::new(was.at, now.at), "", message.to_owned());
        members(on, two, if one_of { "one-of" } else { "any-of" }, was, now);
        return;
    }
    lists(on, two, "one-of", &base.one_of, &revision.one_of);
    lists(on, two, "any-of", &base.any_of, &revision.any_of);
}

/// The alternatives of a schema that has them once, and whether they are `oneOf`.
fn only<'a, 'n>(view: &'a View<'n>) -> Option<(bool, &'a Alternatives<'n>)> {
    match (view.one_of.as_slice(), view.any_of.as_slice()) {
        ([one], []) => Some((true, one)),
        ([], [any]) => Some((false, any)),
        _ => None,
    }
}

/// Compares lists of alternatives that hold together, each with the one that it has most in common with, the rest
/// as they come.
fn lists<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    word: &str,
    base: &[Alternatives<'n>],
    revision: &[Alternatives<'n>],
) {
    let mut left: Vec<&Alternatives<'_>> = revision.iter().collect();
    let mut alone = Vec::new();
    for was in base {
        let like = |now: &Alternatives<'_>| now.members.iter().filter(|now| was.has(now)).count();
        // The first of equals.
        let best = (0..left.len()).rev().max_by_key(|other| like(left[*other]));
        match best.filter(|best| like(left[*best]) > 0) {
            Some(best) => members(on, two, word, was, left.remove(best)),
            None => alone.push(was),
        }
    }
    for (was, now) in alone.iter().zip(&left) {
        members(on, two, word, was, now);
    }
    for was in alone.iter().skip(left.len()) {
        let message = "a value need not be one of several schemas any more".to_owned();
        two.note(on, &format!("{word}-unset"), Places::new(was.at, two.revision.at), "", message);
    }
    for now in left.iter().skip(alone.len()) {
        let message = "a value must now be one of several schemas as well".to_owned();
        two.note(on, &format!("{word}-set"), Places::new(two.base.at, now.at), "", message);
    }
}

impl Alternatives<'_> {
    fn has(&self, other: &Node) -> bool {
        let name = |node: &Node| node.get("$ref").and_then(Node::as_str).map(str::to_owned);
        self.members.iter().any(|member| match (name(member), name(other)) {
            (None, None) => alike(member, other),
            (left, right) => left == right,
        })
    }
}

/// Whether one side is the other behind alternatives; then that is what is noted, and the two are compared inside.
pub(super) fn wrapped<'n>(on: &mut Comparison<'n>, two: &Two<'n>) -> bool {
    let word = |one_of: bool| if one_of { "one-of" } else { "any-of" };
    if let Some((one_of, among)) =
        only(&two.revision).filter(|_| is_plain(&two.base) && is_bare(&two.revision))
        && let Some(member) = like(&on.revision, among, &two.base)
    {
        let others = match among.members.len() {
            2 => "another stands beside it".to_owned(),
            several => format!("{} others stand beside it", several.saturating_sub(1)),
        };
        let message = format!("the schema is now one of several: {others}");
        two.note(
            on,
            &format!("wrapped-in-{}", word(one_of)),
            Places::new(two.base.at, among.at),
            "",
            message,
        );
        discriminator::came(on, two);
        let parts = on.pair(two.pair).0;
        two.enter(on, parts, Parts::one(member, member.span), two.site, &label(member));
        return true;
    }
    if let Some((one_of, among)) = only(&two.base).filter(|_| is_plain(&two.revision) && is_bare(&two.base))
        && let Some(member) = like(&on.base, among, &two.revision)
    {
        let places = Places::new(among.at, two.revision.at);
        let message = "one of several schemas is left".to_owned();
        two.note(on, &format!("unwrapped-from-{}", word(one_of)), places, "", message);
        discriminator::went(on, two);
        let parts = on.pair(two.pair).1;
        two.enter(on, Parts::one(member, member.span), parts, two.site, &label(member));
        return true;
    }
    false
}

/// Whether a schema says what it is by itself, without alternatives.
fn is_plain(view: &View<'_>) -> bool {
    let says = ["properties", "enum", "const", "items", "additionalProperties"];
    let alone = view.one_of.is_empty() && view.any_of.is_empty();
    alone && (!view.types.is_any() || view.keywords().iter().any(|keyword| says.contains(keyword)))
}

/// Whether a schema says nothing of values but its alternatives and how to tell them apart.
fn is_bare(view: &View<'_>) -> bool {
    let aside = ["discriminator", "readOnly", "writeOnly"];
    let says = |keyword: &&str| !is_annotation(keyword) && !aside.contains(keyword);
    view.types.is_any() && view.lists.is_empty() && !view.keywords().iter().any(says)
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
            let chosen_by = property.and_then(|property| chosen_by(side, &view, property));
            let title = view.entry("title").and_then(|entry| entry.value.as_str());
            Member { node, name: view.name, title, chosen_by, view }
        };
        among.members.iter().map(of).collect()
    }
}

/// Without a mapping and without a constant the name of an alternative is the value that chooses it.
fn renamed<'n>(on: &mut Comparison<'n>, two: &Two<'n>, was: &Member<'n>, now: &Member<'n>) {
    let by_name = |view: &View<'n>, member: &Member<'n>| {
        let discriminator = view.entry("discriminator")?;
        let name = member.name.filter(|_| member.chosen_by.is_none())?;
        let mapping = discriminator.value.get("mapping").and_then(Node::entries).unwrap_or_default();
        let target = |entry: &'n Entry| entry.value.as_str()?.rsplit('/').next();
        (!mapping.iter().any(|entry| target(entry) == Some(name))).then_some(name)
    };
    if let Some((base, revision)) = by_name(&two.base, was).zip(by_name(&two.revision, now))
        && base != revision
    {
        let places = two.places("discriminator");
        let message = format!("the value `{base}` that chooses an alternative is called `{revision}` now");
        two.note(on, "discriminator-mapping-changed", places, &format!("{base} to {revision}"), message);
    }
}

/// The value of the property that says which alternative a value is of.
pub(super) fn chosen_by<'n>(side: &Side<'n>, view: &View<'n>, property: &str) -> Option<String> {
    let value = View::of(side, view.properties().get(property)?);
    let listed = value.entry("enum").and_then(|entry| entry.value.items()?.first());
    let fixed = value.entry("const").map(|entry| &entry.value).or(listed)?;
    fixed.as_str().map(str::to_owned)
}

fn members<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    word: &str,
    was: &Alternatives<'n>,
    now: &Alternatives<'n>,
) {
    let places = Places::new(was.at, now.at);
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
                renamed(on, two, &was, &now);
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
