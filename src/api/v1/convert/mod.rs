//! Domain records as the contract shows them, one file a noun.

mod analytics;
mod courses;
mod enrollments;
mod orders;
mod students;

use crate::error::{ApiError, Reply};
use domain::error::Missing;
use foundation::id::{Id, Kind};

/// An id as text.
pub(crate) fn text<K: Kind>(id: Id<K>) -> String {
    id.to_string()
}

/// An id that may be absent, as text.
pub(crate) fn texts<K: Kind>(id: Option<Id<K>>) -> Option<String> {
    id.map(text)
}

/// A count as the contract's 32 bits hold it.
pub(crate) fn count(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(if count < 0 { i32::MIN } else { i32::MAX })
}

/// The id of a query filter. The contract's pattern has judged it already, so a fault is rare: 422.
pub(super) fn id_filter<K: Kind>(name: &str, given: Option<String>) -> Reply<Option<Id<K>>> {
    let parsed = given.map(|id| id.parse::<Id<K>>()).transpose();
    parsed.map_err(|error| ApiError::invalid_query(name, &format!("is not such an id: {error}")))
}

/// The id in a field of the body.
pub(super) fn body_id<K: Kind>(field: &str, given: &str) -> Reply<Id<K>> {
    given.parse().map_err(|error| ApiError::not_found_in_body(field, &Missing::NotAnId(error)))
}

/// Translates between a domain enum and its twin in the contract, variant by variant.
macro_rules! twins {
    ($domain:path => $schema:path: $($variant:ident),+) => {
        impl From<$domain> for $schema {
            fn from(value: $domain) -> Self {
                use $domain as Theirs;
                match value { $(Theirs::$variant => Self::$variant),+ }
            }
        }
    };
    ($domain:path => $schema:path, and back: $($variant:ident),+) => {
        twins!($domain => $schema: $($variant),+);
        twins!($schema => $domain: $($variant),+);
    };
}

pub(crate) use twins;
