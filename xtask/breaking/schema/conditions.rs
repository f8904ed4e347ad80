//! Conditions: `if` with what follows from it.
//!
//! Owns that a condition says nothing without `then` or `else`, and they nothing without `if`. It counts the others as what
//! must hold whenever they are tried.

use contract::node::Entry;

use super::Two;
use super::structure::{come, gone, is_same, other, schema};
use super::units::{Unit, matched};
use super::view::{Parts, View, says_nothing};
use crate::compare::{Comparison, Places};
use crate::rule::Aspect;

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    come("if-added", "if-removed"),
    gone("if-removed", "if-added"),
    other("if-changed"),
    come("then-added", "then-removed"),
    gone("then-removed", "then-added"),
    come("else-added", "else-removed"),
    gone("else-removed", "else-added"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &["if", "then", "else"];

/// Compares the conditions of two schemas.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (conditions(&two.base), conditions(&two.revision));
    for (was, now) in matched(on, base, revision) {
        match (was, now) {
            (Some(was), Some(now)) => condition(on, two, &was, &now),
            (was, now) => {
                let ending = if now.is_some() { "added" } else { "removed" };
                let place =
                    |unit: Option<Unit<'n>>, view: &View<'n>| unit.map_or(view.at, |unit| unit.head.key.span);
                let places = Places::new(place(was, &two.base), place(now, &two.revision));
                two.note(on, &format!("if-{ending}"), places, "", format!("`if` was {ending}"));
            }
        }
    }
}

fn conditions<'n>(view: &View<'n>) -> Vec<Unit<'n>> {
    let mut units = Unit::all(view, ["if", "then", "else"]);
    for unit in &mut units {
        unit.tails = unit.tails.map(|tail| tail.filter(|entry| !says_nothing(&entry.value)));
    }
    // What is tried counts as evaluated, even if nothing follows.
    let leaves = ["unevaluatedItems", "unevaluatedProperties"].iter().any(|key| view.entry(key).is_some());
    units.retain(|unit| leaves || unit.tails.iter().any(Option::is_some));
    units
}

fn condition<'n>(on: &mut Comparison<'n>, two: &Two<'n>, was: &Unit<'n>, now: &Unit<'n>) {
    let (base, revision) = (Parts::under(was.head), Parts::under(now.head));
    // What is more here is less as a whole, or the other way round: only the same is safe.
    if !is_same(on, &base, &revision) {
        let places = Places::new(base.at, revision.at);
        two.note(on, "if-changed", places, "", "`if` changed".to_owned());
    }
    for (at, keyword) in ["then", "else"].into_iter().enumerate() {
        let parts = |entry: Option<&'n Entry>| entry.map(Parts::under);
        schema(on, two, (keyword, keyword), parts(was.tails[at]), parts(now.tails[at]));
    }
}
