//! References to records by id or key, and updates of optional fields. A key is the name that the platform gave a
//! record.

use std::fmt;

use foundation::id::{Id, IdKind};

/// A reference to a record by its id or by the platform's key.
///
/// A string that is an id of the expected kind is used as that id, any other string as a key. Callers look up both
/// within one workspace only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(transparent)]
pub struct IdOrKey(String);

impl IdOrKey {
    /// Returns the original string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id if the string is an id of kind `K`.
    pub fn id<K: IdKind>(&self) -> Option<Id<K>> {
        self.0.parse().ok()
    }
}

impl From<&str> for IdOrKey {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for IdOrKey {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl<K: IdKind> From<Id<K>> for IdOrKey {
    fn from(id: Id<K>) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for IdOrKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The update of an optional field by an upsert.
///
/// A field of this type in a deserialized struct needs `#[serde(default)]`, so that a missing field becomes `Absent`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldUpdate<T> {
    /// The field keeps its value.
    #[default]
    Absent,
    /// The field becomes empty.
    Null,
    /// The field gets this value.
    Value(T),
}

impl<T> FieldUpdate<T> {
    /// Returns the value of the field after the upsert, from its value before.
    pub fn apply_to(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Absent => before,
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }

    /// Returns the new value. `None` if the field keeps its value or becomes empty.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

/// `None` becomes `Null`, not `Absent`.
impl<T> From<Option<T>> for FieldUpdate<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Value)
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for FieldUpdate<T> {
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
        assert_eq!(IdOrKey::from(course).id(), Some(course));
        assert_eq!(IdOrKey::from(course).id::<Student>(), None);
    }

    #[test]
    fn an_absent_field_keeps_its_value() {
        assert_eq!(FieldUpdate::Absent.apply_to(Some(1)), Some(1));
        assert_eq!(FieldUpdate::Null.apply_to(Some(1)), None);
        assert_eq!(FieldUpdate::Value(2).apply_to(Some(1)), Some(2));
    }
}
