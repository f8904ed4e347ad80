//! What is wrong with the configuration, one sentence a fault.

/// Every fault that was found, at least one: where, what, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Faults(pub Vec<String>);

/// The name among `known` that comes nearest to `name`, as the end of a sentence.
pub fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    known
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, &candidate), candidate))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| format!("; the nearest known one is `{candidate}`"))
        .unwrap_or_default()
}
