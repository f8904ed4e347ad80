//! From a change to the operations that reach it.
//!
//! Owns the way back through the pairs of schemas. It never judges.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::Serialize;

use super::{Comparison, Origin, Use};

/// An operation that a change reaches, and the shortest way to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Reach {
    /// The operation's id, or its method and path.
    pub operation: String,
    /// The way: `listOrders 200 -> data[] -> items[] -> title`.
    pub path: String,
}

/// Every operation that is reached from one of the origins, once, the shortest way first.
pub(crate) fn of(comparison: &Comparison<'_>, origins: &[&Origin]) -> Vec<Reach> {
    let mut reached = BTreeMap::new();
    let mut seen = HashSet::new();
    // Each with the one before it and the step from there: paths are written only where they arrive.
    let mut trail: Vec<(Option<usize>, &str)> = Vec::new();
    let mut queue: VecDeque<(&Origin, Option<usize>)> =
        origins.iter().map(|origin| (*origin, None)).collect();
    while let Some((origin, after)) = queue.pop_front() {
        match origin {
            Origin::Use(used) => {
                if !reached.contains_key(&used.operation) {
                    reached.insert(used.operation.clone(), path(used, &trail, after));
                }
            }
            Origin::Pair(pair, step) => {
                let after = if step.is_empty() {
                    after
                } else {
                    trail.push((after, step));
                    Some(trail.len() - 1)
                };
                if seen.insert(*pair) {
                    queue.extend(comparison.origins(*pair).iter().map(|origin| (origin, after)));
                }
            }
        }
    }
    let mut reached: Vec<Reach> =
        reached.into_iter().map(|(operation, path)| Reach { operation, path }).collect();
    // The shortest way explains most.
    reached.sort_by_key(|reach| reach.path.matches(" -> ").count());
    reached
}

fn path(used: &Use, trail: &[(Option<usize>, &str)], last: Option<usize>) -> String {
    let mut path = used.operation.clone();
    if !used.steps.is_empty() {
        path = format!("{path} {}", used.steps);
    }
    let mut bare = true;
    let mut next = last;
    while let Some(at) = next {
        let (after, step) = trail[at];
        if step == "[]" && !bare {
            path += step;
        } else {
            path = format!("{path} -> {step}");
        }
        bare = false;
        next = after;
    }
    path
}
