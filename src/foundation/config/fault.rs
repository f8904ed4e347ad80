//! What is wrong with the configuration, one sentence a fault.

use std::fmt;

/// One fault: where, what, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(pub String);

/// Every fault that was found, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&fault.0)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

/// The name among `known` that comes nearest to `name`, as the end of a sentence.
pub fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    known
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, &candidate), candidate))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| format!("; the nearest known one is `{candidate}`"))
        .unwrap_or_default()
}
