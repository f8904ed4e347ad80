//! Matches two lists by key or by a condition.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The result of matching two lists. All results keep the order of their list. If several entries of the revision have
/// the same key as an entry of the base, the first one is matched and the others are left out.
pub(super) struct MatchedLists<'a, T> {
    /// The entries of the base whose key occurs in both lists, each with the matching entry of the revision.
    pub common: Vec<(&'a T, &'a T)>,
    /// The entries whose key occurs only in the base.
    pub removed: Vec<&'a T>,
    /// The entries whose key occurs only in the revision.
    pub added: Vec<&'a T>,
}

/// Matches two lists by the keys of their entries.
pub(super) fn match_by_key<'a, T, K: Eq + Hash>(
    base: &'a [T],
    revision: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> MatchedLists<'a, T> {
    let mut revision_by_key = HashMap::new();
    for entry in revision {
        revision_by_key.entry(key(entry)).or_insert(entry);
    }
    let base_keys: HashSet<K> = base.iter().map(&key).collect();
    let mut matched = MatchedLists { common: Vec::new(), removed: Vec::new(), added: Vec::new() };
    for before in base {
        match revision_by_key.get(&key(before)) {
            Some(after) => matched.common.push((before, after)),
            None => matched.removed.push(before),
        }
    }
    matched.added.extend(revision.iter().filter(|entry| !base_keys.contains(&key(entry))));
    matched
}

/// Removes matching entries from both lists and returns them as pairs. Each entry of the base is matched with the first
/// matching entry of the revision.
pub(crate) fn take_matches<T: Copy>(
    base: &mut Vec<T>,
    revision: &mut Vec<T>,
    is_match: impl Fn(T, T) -> bool,
) -> Vec<(T, T)> {
    let mut pairs = Vec::new();
    base.retain(|before| match revision.iter().position(|after| is_match(*before, *after)) {
        Some(index) => {
            pairs.push((*before, revision.remove(index)));
            false
        }
        None => true,
    });
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_matched_by_key() {
        let (base, revision) = (["Link", "ETag", "Age"], ["etag", "Vary", "ETAG", "age"]);
        let matched = match_by_key(&base, &revision, |name| name.to_ascii_lowercase());
        assert_eq!(matched.common, [(&"ETag", &"etag"), (&"Age", &"age")]);
        assert_eq!((matched.removed, matched.added), (vec![&"Link"], vec![&"Vary"]));
    }
}
