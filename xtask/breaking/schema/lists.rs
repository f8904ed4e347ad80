//! Lists: which schema each item must meet, and how many items must meet one.
//!
//! Owns that every text of a schema has its own say: its `prefixItems` come before its `items`, its `minContains` counts what
//! its `contains` names.

use contract::node::{Entry, Value};

use super::structure::{come, gone, is_same, other, schema};
use super::units::{Unit, matched};
use super::view::{Parts, View, says_nothing};
use super::{Two, bounds};
use crate::compare::{Comparison, Places};
use crate::rule::Aspect;

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    come("items-schema-added", "items-schema-removed"),
    gone("items-schema-removed", "items-schema-added"),
    gone("prefix-items-added", "prefix-items-removed"),
    come("prefix-items-removed", "prefix-items-added"),
    come("unevaluated-items-added", "unevaluated-items-removed"),
    gone("unevaluated-items-removed", "unevaluated-items-added"),
    come("contains-added", "contains-removed"),
    gone("contains-removed", "contains-added"),
    other("contains-changed"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] =
    &["items", "prefixItems", "unevaluatedItems", "contains", "minContains", "maxContains"];

/// Compares what the items of two lists must meet.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let items = |view: &View<'n>| view.parts("items");
    schema(on, two, ("items", "items-schema"), items(&two.base), items(&two.revision));
    // `items` leaves nothing that is not evaluated.
    let rest = |view: &View<'n>| view.parts("unevaluatedItems").filter(|_| view.entry("items").is_none());
    let names = ("unevaluatedItems", "unevaluated-items");
    schema(on, two, names, rest(&two.base), rest(&two.revision));
    prefix(on, two);
    containments(on, two);
}

/// What an item at a place must meet.
struct Item<'n> {
    parts: Parts<'n>,
    /// Whether `prefixItems` speaks of it.
    prefixed: bool,
}

impl<'n> Item<'n> {
    fn of(view: &View<'n>, at: usize) -> Self {
        let mut item = Self { parts: Parts::any(view.place("prefixItems")), prefixed: false };
        let mut evaluated = false;
        for text in view.texts() {
            let own = text.entry("prefixItems").and_then(|entry| entry.value.items()?.get(at));
            let others = || text.entry("items").map(|entry| &entry.value);
            if let Some(own) = own {
                if !item.prefixed {
                    item.parts.at = own.span;
                }
                item.prefixed = true;
            }
            let found = own.or_else(others);
            evaluated |= found.is_some();
            item.parts.nodes.extend(found.filter(|node| !says_nothing(node)));
        }
        if !evaluated {
            item.parts.nodes.extend(view.parts("unevaluatedItems").into_iter().flat_map(|parts| parts.nodes));
        }
        item
    }

    /// Whether there can be none.
    fn is_refused(&self) -> bool {
        self.parts.nodes.iter().any(|node| matches!(node.value, Value::Bool(false)))
    }
}

fn prefix<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let length = |view: &View<'n>| {
        view.entries("prefixItems").filter_map(|entry| Some(entry.value.items()?.len())).max().unwrap_or(0)
    };
    for at in 0..length(&two.base).max(length(&two.revision)) {
        let (was, now) = (Item::of(&two.base, at), Item::of(&two.revision, at));
        let places = Places::new(was.parts.at, now.parts.at);
        let facts = at.to_string();
        if was.is_refused() && now.is_refused() {
            continue;
        }
        if !was.prefixed && was.is_refused() {
            two.note(on, "prefix-items-added", places, &facts, format!("an item {at} can be there now"));
        } else if !now.prefixed && now.is_refused() {
            two.note(on, "prefix-items-removed", places, &facts, format!("item {at} is refused now"));
        } else {
            two.enter(on, was.parts, now.parts, two.site.inner(), &format!("[{at}]"));
        }
    }
}

/// `contains` with what is counted by it.
const COUNTED: [&str; 3] = ["contains", "minContains", "maxContains"];

fn containments<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    // What is contained counts as evaluated, so that more of it is more that `unevaluatedItems` does not ask.
    let leaves = [&two.base, &two.revision].iter().any(|view| view.entry("unevaluatedItems").is_some());
    let of = |view: &View<'n>| {
        let mut units = Unit::all(view, COUNTED);
        units.retain(|unit| leaves || !counts_nothing(unit));
        units
    };
    for (was, now) in matched(on, of(&two.base), of(&two.revision)) {
        match (was, now) {
            (Some(was), Some(now)) => containment(on, two, &was, &now, leaves),
            (was, now) => {
                let what = if now.is_some() { "added" } else { "removed" };
                let ending = if leaves { "changed" } else { what };
                let place = |unit: &Option<Unit<'n>>, view: &View<'n>| {
                    unit.as_ref().map_or(view.at, |unit| unit.head.key.span)
                };
                let places = Places::new(place(&was, &two.base), place(&now, &two.revision));
                two.note(on, &format!("contains-{ending}"), places, "", format!("`contains` was {what}"));
            }
        }
    }
}

/// Whether any number of items will do, none included.
fn counts_nothing(unit: &Unit<'_>) -> bool {
    let [at_least, at_most] = unit.tails;
    at_most.is_none() && at_least.is_some_and(|entry| matches!(entry.value.value, Value::Integer(0)))
}

fn containment<'n>(on: &mut Comparison<'n>, two: &Two<'n>, was: &Unit<'n>, now: &Unit<'n>, leaves: bool) {
    let whole = |entry: &'n Entry| Parts::under(entry);
    let (base, revision) = (whole(was.head), whole(now.head));
    if leaves || was.tails[1].or(now.tails[1]).is_some() {
        // What is more here is more that counts against the limit or as evaluated, and the other way round: only the same
        // is safe.
        if !is_same(on, &base, &revision) {
            let places = Places::new(base.at, revision.at);
            two.note(on, "contains-changed", places, "", "`contains` changed".to_owned());
        }
    } else {
        two.enter(on, base, revision, two.site.inner(), "contains");
    }
    bounds::contained(on, two, was.tails, now.tails);
}
