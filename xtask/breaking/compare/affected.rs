//! Finds the operations that a change affects.
//!
//! The search starts at the change. A pair consists of a schema in the base and its counterpart in the revision, and
//! its origins are the operations and the other pairs that refer to it.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::Serialize;

use super::{Comparison, OperationPath, Origin};

/// An affected operation and the shortest path to the change in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct AffectedOperation {
    /// The operation id, or the method and path. For a change outside of operations, the object, such as `info`.
    pub operation: String,
    /// The path, for example `listOrders 200 -> data[] -> items[] -> title`.
    pub path: String,
    /// The part of the operation, for example `200`; empty for the operation itself.
    #[serde(skip)]
    pub part: String,
    /// The steps within the part, for example `data` and `[]`.
    #[serde(skip)]
    pub steps: Vec<String>,
}

/// Returns every operation affected by a change with these origins, each with its shortest path to the change. Shorter
/// paths come first.
pub(crate) fn operations(comparison: &Comparison<'_>, origins: &[&Origin]) -> Vec<AffectedOperation> {
    let mut paths = BTreeMap::new();
    let mut seen = HashSet::new();
    // The search goes from the change to the operations, so each step has the index of the next one toward the change.
    // Paths are built only when an operation is found.
    let mut steps: Vec<(Option<usize>, &str)> = Vec::new();
    let mut queue: VecDeque<(&Origin, Option<usize>)> =
        origins.iter().map(|origin| (*origin, None)).collect();
    while let Some((origin, next_step)) = queue.pop_front() {
        match origin {
            Origin::Operation(operation_path) => {
                if !paths.contains_key(&operation_path.operation) {
                    paths.insert(
                        operation_path.operation.clone(),
                        AffectedOperation::new(operation_path, &steps, next_step),
                    );
                }
            }
            Origin::Pair(pair, step) => {
                let next_step = if step.is_empty() {
                    next_step
                } else {
                    steps.push((next_step, step));
                    Some(steps.len() - 1)
                };
                if seen.insert(*pair) {
                    queue.extend(comparison.origins(*pair).iter().map(|origin| (origin, next_step)));
                }
            }
        }
    }
    let mut paths: Vec<AffectedOperation> = paths.into_values().collect();
    // The shortest path is the easiest to understand.
    paths.sort_by_key(|affected| affected.path.matches(" -> ").count());
    paths
}

impl AffectedOperation {
    /// Describes the path to a change. `first_step` is the index of the step that follows the operation, or `None` if the
    /// change is in the operation itself.
    fn new(
        operation_path: &OperationPath,
        steps: &[(Option<usize>, &str)],
        first_step: Option<usize>,
    ) -> Self {
        let OperationPath { operation, steps: part, .. } = operation_path;
        let mut path = operation.clone();
        if !part.is_empty() {
            path = format!("{path} {part}");
        }
        let indexes = std::iter::successors(first_step, |index| steps[*index].0);
        let steps: Vec<String> = indexes.map(|index| steps[index].1.to_owned()).collect();
        for (number, step) in steps.iter().enumerate() {
            path += if step == "[]" && number > 0 { "" } else { " -> " };
            path += step;
        }
        Self { operation: operation.clone(), path, part: part.clone(), steps }
    }
}
