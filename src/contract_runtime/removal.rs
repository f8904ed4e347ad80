//! When a deprecated operation stops working.
//!
//! The contract says so with `x-removed-at-sunset`.

use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};
use serde_json::Value;

/// The keyword of operations that stop working at their sunset.
pub(crate) const REMOVED_AT_SUNSET: &str = "x-removed-at-sunset";

/// The times at which an operation is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// `x-sunset`: the day from which the operation is not served.
    pub sunset: Date,
    /// `x-brownouts`: times before the sunset at which it is not served, so that the clients that are left notice. Each has a start
    /// and an end.
    brownouts: Vec<(Timestamp, Timestamp)>,
}

/// Why an operation is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unserved {
    /// Its sunset is over.
    Removed,
    /// A brownout ends at this time.
    Until(Timestamp),
}

impl Removal {
    /// Reads the removal of an operation from the contract's JSON. `None` if the operation is not deprecated, or keeps working.
    pub(super) fn of(operation: &Value) -> Option<Self> {
        operation[REMOVED_AT_SUNSET].as_bool().filter(|is_removed| *is_removed)?;
        let brownouts = operation["x-brownouts"].as_array().into_iter().flatten();
        Some(Self {
            sunset: operation["x-sunset"].as_str()?.parse().ok()?,
            brownouts: brownouts.filter_map(|brownout| interval(brownout.as_str()?)).collect(),
        })
    }

    /// Returns why the operation is not served at a time; `None` if it is.
    pub fn unserved(&self, now: Timestamp) -> Option<Unserved> {
        if now.to_zoned(TimeZone::UTC).date() >= self.sunset {
            return Some(Unserved::Removed);
        }
        let brownout = self.brownouts.iter().find(|(start, end)| (*start..*end).contains(&now));
        brownout.map(|(_, end)| Unserved::Until(*end))
    }
}

/// Parses a start and a duration, such as `2027-01-10T10:00:00Z/PT1H`.
fn interval(text: &str) -> Option<(Timestamp, Timestamp)> {
    let (start, duration) = text.split_once('/')?;
    let start: Timestamp = start.parse().ok()?;
    let end = start.to_zoned(TimeZone::UTC).checked_add(duration.parse::<Span>().ok()?).ok()?;
    Some((start, end.timestamp()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operation_is_not_served_in_brownouts_and_after_the_sunset() {
        let operation = json!({
            "x-sunset": "2027-01-31",
            "x-brownouts": ["2027-01-10T10:00:00Z/PT1H", "2027-01-20T00:00:00Z/P1D"],
            "x-removed-at-sunset": true,
        });
        let removal = Removal::of(&operation).unwrap();
        let until = |end: &str| Some(Unserved::Until(end.parse().unwrap()));
        for (now, expected) in [
            ("2027-01-10T09:59:59Z", None),
            ("2027-01-10T10:00:00Z", until("2027-01-10T11:00:00Z")),
            ("2027-01-10T11:00:00Z", None),
            ("2027-01-20T12:00:00Z", until("2027-01-21T00:00:00Z")),
            ("2027-01-30T23:59:59Z", None),
            ("2027-01-31T00:00:00Z", Some(Unserved::Removed)),
            ("2028-01-01T00:00:00Z", Some(Unserved::Removed)),
        ] {
            assert_eq!(removal.unserved(now.parse().unwrap()), expected, "{now}");
        }
    }

    #[test]
    fn other_deprecated_operations_keep_working() {
        assert_eq!(Removal::of(&json!({"x-sunset": "2027-01-31", "responses": {"410": {}}})), None);
        assert_eq!(Removal::of(&json!({"x-sunset": "2027-01-31", "x-removed-at-sunset": false})), None);
    }
}
