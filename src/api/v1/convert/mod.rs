//! Conversions between domain types and the generated types of the contract, one file per noun.

mod analytics;
mod courses;
mod enrollments;
mod orders;
mod students;

use crate::error::{ApiError, Reply};
use domain::error::NotFound;
use foundation::id::{Id, IdKind};

/// Formats an id.
pub(crate) fn id_string<K: IdKind>(id: Id<K>) -> String {
    id.to_string()
}

/// Formats an optional id.
pub(crate) fn optional_id_string<K: IdKind>(id: Option<Id<K>>) -> Option<String> {
    id.map(id_string)
}

/// Converts a count or a percentage to the 32-bit integer of the contract. Numbers beyond its range become its minimum
/// or maximum.
pub(crate) fn saturating_i32(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

/// Parses the id of a query filter. Returns 422 if it is invalid. The contract's pattern has already rejected most
/// invalid ids.
pub(crate) fn id_filter<K: IdKind>(name: &str, value: Option<String>) -> Reply<Option<Id<K>>> {
    let parsed = value.map(|id| id.parse::<Id<K>>()).transpose();
    parsed.map_err(|error| ApiError::invalid_query(name, &format!("is not a valid id: {error}")))
}

/// Parses the id in a field of the body. Returns 404 if it is invalid.
pub(super) fn body_id<K: IdKind>(field: &str, value: &str) -> Reply<Id<K>> {
    value.parse().map_err(|error| ApiError::not_found_in_body(field, &NotFound::NotAnId(error)))
}

/// Implements the conversion between two enums that are generated from the same list of the contract: one for `domain`, one
/// for the API.
macro_rules! enum_map {
    ($from:path => $to:path) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                const { assert!(<$from>::ALL.len() == <$to>::ALL.len()) };
                Self::ALL[value as usize]
            }
        }
    };
    ($domain:path => $schema:path, and back) => {
        enum_map!($domain => $schema);
        enum_map!($schema => $domain);
    };
}

pub(crate) use enum_map;
