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
    /// Whether the server rejects requests from the sunset on.
    pub is_removed: bool,
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
    /// The name of the parameter, or the JSON pointer of the field; `/` is the body itself. For a value of an enum, `=` and the
    /// value follow. Empty for the whole operation.
    pub name: String,
}

impl DeprecatedPart {
    /// Describes the part, as the beginning of a sentence.
    pub fn describe(&self) -> String {
        let Self { operation, name, .. } = self;
        let (name, value) = name.split_once('=').map_or((&**name, None), |(name, value)| (name, Some(value)));
        let part = match name {
            "" => return format!("The operation {operation}"),
            "/" => format!("body of {operation}"),
            field if field.starts_with('/') => format!("field {field} of {operation}"),
            parameter => format!("parameter {parameter} of {operation}"),
        };
        match value {
            Some(value) => format!("The value {value} of the {part}"),
            None => format!("The {part}"),
        }
    }
}

impl Announcement {
    /// Describes on this day until when the part works and what to use instead, as the rest of a sentence that begins with the part.
    pub fn describe(&self, today: Date) -> String {
        let begins = match self.since {
            Some(since) if today < since => format!("will be deprecated on {since}"),
            _ => "is deprecated".to_owned(),
        };
        let until = match self.sunset {
            Some(sunset) if today < sunset && self.is_removed => {
                format!("{begins} and stops working on {sunset}.")
            }
            Some(sunset) if today < sunset => format!("{begins} and can stop working on {sunset}."),
            Some(sunset) if self.is_removed => format!("was removed on {sunset}."),
            Some(sunset) => format!("{begins} and can stop working at any time since {sunset}."),
            None => format!("{begins}."),
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
        assert_eq!(describe("/"), "The body of listA");
        assert_eq!(describe("/=a"), "The value a of the body of listA");
    }

    #[test]
    fn the_dates_decide_how_an_announcement_reads() {
        let date = |text: &str| text.parse::<Date>().unwrap();
        let (since, sunset) = (Some(date("2026-02-01")), Some(date("2026-08-01")));
        let dated =
            Announcement { since, sunset, replacement: Some("Use listB.".to_owned()), is_removed: false };
        for (today, expected) in [
            ("2026-01-31", "will be deprecated on 2026-02-01 and can stop working on 2026-08-01. Use listB."),
            ("2026-02-01", "is deprecated and can stop working on 2026-08-01. Use listB."),
            ("2026-08-01", "is deprecated and can stop working at any time since 2026-08-01. Use listB."),
        ] {
            assert_eq!(dated.describe(date(today)), expected);
        }
        let removed = Announcement { is_removed: true, replacement: None, ..dated };
        assert_eq!(removed.describe(date("2026-02-01")), "is deprecated and stops working on 2026-08-01.");
        assert_eq!(removed.describe(date("2026-08-01")), "was removed on 2026-08-01.");
        let undated = Announcement { since: None, sunset: None, ..removed };
        assert_eq!(undated.describe(date("2026-01-31")), "is deprecated.");
    }
}
