//! How a change names a record, and how it leaves a field alone.

use std::fmt;

use foundation::id::{Id, Kind};

/// A record named by our id or by the platform's own key.
///
/// A text that is an id of the wanted kind is taken as that id, anything else as a key; both are looked up
/// inside the workspace only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(transparent)]
pub struct Named(String);

impl Named {
    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id, when the text is one of kind `K`.
    pub fn id<K: Kind>(&self) -> Option<Id<K>> {
        self.0.parse().ok()
    }
}

impl From<&str> for Named {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Named {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl<K: Kind> From<Id<K>> for Named {
    fn from(id: Id<K>) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an upsert says of a field that may be empty.
///
/// As a field of a deserialised struct it needs `#[serde(default)]`, which makes a missing one `Absent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Given<T> {
    /// Nothing: the field keeps its value.
    #[default]
    Absent,
    /// That it has no value.
    Null,
    /// Its value.
    Value(T),
}

impl<T> Given<T> {
    /// The field's value after the upsert, from the one before.
    pub fn or(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Absent => before,
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// The value, when one is given.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

/// `None` is a given null.
impl<T> From<Option<T>> for Given<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Value)
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Given<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foundation::id::{CourseId, Ids, Student};

    #[test]
    fn an_id_of_another_kind_is_a_key() {
        let course: CourseId = Ids::default().next(jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(Named::from(course).id(), Some(course));
        assert_eq!(Named::from(course).id::<Student>(), None);
    }

    #[test]
    fn an_absent_field_keeps_its_value() {
        assert_eq!(Given::Absent.or(Some(1)), Some(1));
        assert_eq!(Given::Null.or(Some(1)), None);
        assert_eq!(Given::Value(2).or(Some(1)), Some(2));
    }
}
