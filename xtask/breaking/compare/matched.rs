//! Which thing of the base is which of the revision, when each is known by a key.
//!
//! Owns the three lists that every such comparison begins with. It never compares what it matched.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Two lists, matched. Each list keeps its order; of several with one key, the first of the revision answers.
pub(super) struct Matched<'a, T> {
    /// What both have.
    pub stayed: Vec<(&'a T, &'a T)>,
    /// What only the base has.
    pub gone: Vec<&'a T>,
    /// What only the revision has.
    pub came: Vec<&'a T>,
}

/// Matches two lists by what their things are known by.
pub(super) fn by_key<'a, T, K: Eq + Hash>(
    base: &'a [T],
    revision: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> Matched<'a, T> {
    let mut revisions = HashMap::new();
    for thing in revision {
        revisions.entry(key(thing)).or_insert(thing);
    }
    let bases: HashSet<K> = base.iter().map(&key).collect();
    let mut matched = Matched { stayed: Vec::new(), gone: Vec::new(), came: Vec::new() };
    for was in base {
        match revisions.get(&key(was)) {
            Some(now) => matched.stayed.push((was, now)),
            None => matched.gone.push(was),
        }
    }
    matched.came.extend(revision.iter().filter(|thing| !bases.contains(&key(thing))));
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_goes_and_comes_is_told_by_the_key_alone() {
        let (base, revision) = (["Link", "ETag", "Age"], ["etag", "Vary", "ETAG", "age"]);
        let matched = by_key(&base, &revision, |name| name.to_ascii_lowercase());
        assert_eq!(matched.stayed, [(&"ETag", &"etag"), (&"Age", &"age")]);
        assert_eq!((matched.gone, matched.came), (vec![&"Link"], vec![&"Vary"]));
    }
}
