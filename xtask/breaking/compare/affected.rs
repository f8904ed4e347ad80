//! Finds the operations that a change affects, by following the origins of schema pairs.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::Serialize;

use super::{Comparison, OperationPath, Origin};

/// An affected operation and the shortest path to the change in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct AffectedOperation {
    /// The operation id, or the method and path.
    pub operation: String,
    /// The path, for example `listOrders 200 -> data[] -> items[] -> title`.
    pub path: String,
}

/// Returns every operation that leads to one of the origins, each with its shortest path, shortest paths first.
pub(crate) fn operations(comparison: &Comparison<'_>, origins: &[&Origin]) -> Vec<AffectedOperation> {
    let mut paths = BTreeMap::new();
    let mut seen = HashSet::new();
    // Each step has the index of the following one. Paths are built only when an operation is found.
    let mut steps: Vec<(Option<usize>, &str)> = Vec::new();
    let mut queue: VecDeque<(&Origin, Option<usize>)> =
        origins.iter().map(|origin| (*origin, None)).collect();
    while let Some((origin, after)) = queue.pop_front() {
        match origin {
            Origin::Operation(used) => {
                if !paths.contains_key(&used.operation) {
                    paths.insert(used.operation.clone(), path(used, &steps, after));
                }
            }
            Origin::Pair(pair, step) => {
                let after = if step.is_empty() {
                    after
                } else {
                    steps.push((after, step));
                    Some(steps.len() - 1)
                };
                if seen.insert(*pair) {
                    queue.extend(comparison.origins(*pair).iter().map(|origin| (origin, after)));
                }
            }
        }
    }
    let mut paths: Vec<AffectedOperation> =
        paths.into_iter().map(|(operation, path)| AffectedOperation { operation, path }).collect();
    // The shortest path is the easiest to understand.
    paths.sort_by_key(|affected| affected.path.matches(" -> ").count());
    paths
}

fn path(used: &OperationPath, steps: &[(Option<usize>, &str)], last: Option<usize>) -> String {
    let mut path = used.operation.clone();
    if !used.steps.is_empty() {
        path = format!("{path} {}", used.steps);
    }
    let mut is_first = true;
    let mut next = last;
    while let Some(at) = next {
        let (after, step) = steps[at];
        if step == "[]" && !is_first {
            path += step;
        } else {
            path = format!("{path} -> {step}");
        }
        is_first = false;
        next = after;
    }
    path
}
