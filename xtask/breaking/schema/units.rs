//! Keywords of one text that only mean something together: a condition with what follows from it, a containment with its
//! counts.
//!
//! Owns which unit of the base is which of the revision. What changed inside of one is for others to say.

use contract::node::Entry;

use super::structure::is_same;
use super::view::{Parts, View};
use crate::compare::Comparison;

/// A keyword and two that depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<'n> {
    /// The keyword without which the others say nothing.
    pub head: &'n Entry,
    /// The others.
    pub tails: [Option<&'n Entry>; 2],
}

impl<'n> Unit<'n> {
    /// Every unit of a schema, one for each text that has the first keyword.
    pub(super) fn all(view: &View<'n>, [head, one, other]: [&str; 3]) -> Vec<Self> {
        let units = view.texts().filter_map(|text| {
            Some(Self { head: text.entry(head)?, tails: [text.entry(one), text.entry(other)] })
        });
        units.collect()
    }

    fn entries(&self) -> [Option<&'n Entry>; 3] {
        [Some(self.head), self.tails[0], self.tails[1]]
    }
}

/// The units of both sides: those that are the same left out, then those with the same head together, then as they come.
pub(super) fn matched<'n>(
    on: &Comparison<'n>,
    mut base: Vec<Unit<'n>>,
    mut revision: Vec<Unit<'n>>,
) -> Vec<(Option<Unit<'n>>, Option<Unit<'n>>)> {
    take(&mut base, &mut revision, |was, now| {
        was.entries().iter().zip(now.entries()).all(|(was, now)| same(on, *was, now))
    });
    let mut pairs = take(&mut base, &mut revision, |was, now| same(on, Some(was.head), Some(now.head)));
    pairs.extend(take(&mut base, &mut revision, |_, _| true));
    let mut matched: Vec<_> = pairs.into_iter().map(|(was, now)| (Some(was), Some(now))).collect();
    matched.extend(base.into_iter().map(|unit| (Some(unit), None)));
    matched.extend(revision.into_iter().map(|unit| (None, Some(unit))));
    matched
}

fn same<'n>(on: &Comparison<'n>, was: Option<&'n Entry>, now: Option<&'n Entry>) -> bool {
    match (was, now) {
        (None, None) => true,
        (Some(was), Some(now)) => is_same(on, &Parts::under(was), &Parts::under(now)),
        _ => false,
    }
}

/// Takes the pairs out of both lists that belong together.
fn take<T>(base: &mut Vec<T>, revision: &mut Vec<T>, belong: impl Fn(&T, &T) -> bool) -> Vec<(T, T)> {
    let mut taken = Vec::new();
    let mut at = 0;
    while at < base.len() {
        match revision.iter().position(|now| belong(&base[at], now)) {
            Some(there) => taken.push((base.remove(at), revision.remove(there))),
            None => at += 1,
        }
    }
    taken
}
