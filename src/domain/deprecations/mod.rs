//! What contracts mark as deprecated, which requests use it, and the mails about it.
//!
//! [`Deprecations`] keeps the uses of a process in memory; [`flush`] adds them to the database, where they are stored for 90 days.
//! [`notify`] mails the owners of the workspaces concerned.

mod notices;
mod read;
mod uses;

use jiff::civil::Date;

pub use notices::notify;
pub use read::{KeyUses, UsedDeprecation, recent, since};
pub use uses::{Deprecations, flush, prune};

/// How long uses are stored, in days.
pub const RETENTION_DAYS: i64 = 90;

/// What a contract says about something deprecated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// The date from which it is deprecated.
    pub since: Option<Date>,
    /// The date from which it no longer works.
    pub sunset: Option<Date>,
    /// What to use instead, as a sentence.
    pub replacement: Option<String>,
}

/// Something deprecated that a request can use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeprecatedPart {
    /// The name of the contract.
    pub contract: String,
    /// The operation id.
    pub operation: String,
    /// Where the contract marks it, as a JSON pointer.
    pub pointer: String,
    /// The name of the parameter, or the JSON pointer of the field. For a value of an enum, `=` and the value follow. Empty for
    /// the whole operation.
    pub name: String,
}

impl DeprecatedPart {
    /// Describes the part, as the beginning of a sentence.
    pub fn describe(&self) -> String {
        let Self { operation, name, .. } = self;
        let (name, value) = name.split_once('=').map_or((&**name, None), |(name, value)| (name, Some(value)));
        let kind = if name.starts_with('/') { "field" } else { "parameter" };
        match (name, value) {
            ("", None) => format!("The operation {operation}"),
            ("", Some(value)) => format!("The value {value} in the body of {operation}"),
            (name, None) => format!("The {kind} {name} of {operation}"),
            (name, Some(value)) => format!("The value {value} of the {kind} {name} of {operation}"),
        }
    }
}

impl Announcement {
    /// Describes until when the part works and what to use instead, as the rest of a sentence that begins with the part.
    pub fn describe(&self) -> String {
        let until = match self.sunset {
            Some(sunset) => format!("is deprecated and can stop working on {sunset}."),
            None => "is deprecated.".to_owned(),
        };
        match &self.replacement {
            Some(replacement) => format!("{until} {replacement}"),
            None => until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_described_by_its_kind() {
        let describe = |name: &str| {
            let (contract, operation) = ("v1".to_owned(), "listA".to_owned());
            DeprecatedPart { contract, operation, pointer: String::new(), name: name.to_owned() }.describe()
        };
        assert_eq!(describe(""), "The operation listA");
        assert_eq!(describe("sort"), "The parameter sort of listA");
        assert_eq!(describe("sort=a=b"), "The value a=b of the parameter sort of listA");
        assert_eq!(describe("/items/*/b"), "The field /items/*/b of listA");
        assert_eq!(describe("=a"), "The value a in the body of listA");
    }
}
