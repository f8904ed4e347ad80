//! Matches two lists by key.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The result of matching two lists. Each list keeps its order. If several entries of the revision have the same key, the first
/// one is matched.
pub(super) struct MatchedLists<'a, T> {
    /// Entries of both lists.
    pub common: Vec<(&'a T, &'a T)>,
    /// Entries of the base alone.
    pub removed: Vec<&'a T>,
    /// Entries of the revision alone.
    pub added: Vec<&'a T>,
}

/// Matches two lists by the keys of their entries.
pub(super) fn by_key<'a, T, K: Eq + Hash>(
    base: &'a [T],
    revision: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> MatchedLists<'a, T> {
    let mut revisions = HashMap::new();
    for entry in revision {
        revisions.entry(key(entry)).or_insert(entry);
    }
    let bases: HashSet<K> = base.iter().map(&key).collect();
    let mut matched = MatchedLists { common: Vec::new(), removed: Vec::new(), added: Vec::new() };
    for before in base {
        match revisions.get(&key(before)) {
            Some(after) => matched.common.push((before, after)),
            None => matched.removed.push(before),
        }
    }
    matched.added.extend(revision.iter().filter(|entry| !bases.contains(&key(entry))));
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_matched_by_key() {
        let (base, revision) = (["Link", "ETag", "Age"], ["etag", "Vary", "ETAG", "age"]);
        let matched = by_key(&base, &revision, |name| name.to_ascii_lowercase());
        assert_eq!(matched.common, [(&"ETag", &"etag"), (&"Age", &"age")]);
        assert_eq!((matched.removed, matched.added), (vec![&"Link"], vec![&"Vary"]));
    }
}
