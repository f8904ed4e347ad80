//! Configuration errors.

/// All errors in the configuration, at least one. Each message names the source of the setting and what is expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct ConfigErrors(pub Vec<String>);

/// Returns the end of an error message, such as "; did you mean `listen`?", with the most similar of the known names.
/// Returns an empty string if there is no known name.
pub fn suggestion(name: &str, known: impl Iterator<Item = String>) -> String {
    known
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, &candidate), candidate))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| format!("; did you mean `{candidate}`?"))
        .unwrap_or_default()
}
