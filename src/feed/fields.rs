//! Reads the fields of a JSON object, and collects all errors instead of stopping at the first one.

use std::cell::RefCell;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::reject::field_error;
use domain::{FieldError, FieldUpdate, IdOrKey};

/// A name is suggested for an unknown one only if their [`similarity`] is greater than this.
const MIN_SIMILARITY: f64 = 0.8;

/// The errors found in a line so far.
pub(super) type LineErrors = RefCell<Vec<FieldError>>;

/// Reads the fields of an object by name, and reports those that were not read.
pub(super) struct ObjectFields<'a> {
    /// The path of the object with a trailing `/`, empty for the line itself.
    path: String,
    unread: Map<String, Value>,
    /// The names read so far, from which a suggestion for a misspelled field is chosen.
    read_names: Vec<&'static str>,
    /// Whether the value is not an object. This is reported once, and its fields are not reported as missing.
    is_not_object: bool,
    errors: &'a LineErrors,
}

/// A type that a field can have.
pub(super) trait FieldValue: Sized {
    /// Parses the value, or returns the error message.
    fn read(value: Value) -> Result<Self, String>;

    /// Returns a placeholder for an invalid value, so that parsing continues. It is never used, because the errors are
    /// returned.
    fn placeholder() -> Self;
}

impl<'a> ObjectFields<'a> {
    /// Creates a reader for the fields of `value` at `path`. Reports an error if `value` is not an object.
    pub(super) fn new(path: &str, value: Value, errors: &'a LineErrors) -> Self {
        let is_not_object = !value.is_object();
        let unread = match value {
            Value::Object(map) => map,
            other => {
                errors
                    .borrow_mut()
                    .push(field_error(path, format!("expected an object, got {}", type_name(&other))));
                Map::new()
            }
        };
        let path = if path.is_empty() { String::new() } else { format!("{path}/") };
        Self { path, unread, read_names: Vec::new(), is_not_object, errors }
    }

    /// Reads a field that is required and not null.
    pub(super) fn required<T: FieldValue>(&mut self, name: &'static str) -> T {
        match self.take(name) {
            Some(value) => self.convert(name, value),
            None => {
                self.report_missing(name);
                T::placeholder()
            }
        }
    }

    /// Reads an optional field. Null is equivalent to a missing field.
    pub(super) fn optional<T: FieldValue>(&mut self, name: &'static str) -> Option<T> {
        match self.take(name)? {
            Value::Null => None,
            value => Some(self.convert(name, value)),
        }
    }

    /// Reads an optional field that must not be null, because null could mean "keep" as well as "clear".
    pub(super) fn optional_not_null<T: FieldValue>(&mut self, name: &'static str) -> Option<T> {
        let value = self.take(name)?;
        Some(self.convert(name, value))
    }

    /// Reads an optional field that null clears.
    pub(super) fn nullable<T: FieldValue>(&mut self, name: &'static str) -> FieldUpdate<T> {
        match self.take(name) {
            None => FieldUpdate::Absent,
            Some(Value::Null) => FieldUpdate::Null,
            Some(value) => FieldUpdate::Value(self.convert(name, value)),
        }
    }

    /// Reads an optional object that null clears.
    pub(super) fn nullable_object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut ObjectFields<'a>) -> T,
    ) -> FieldUpdate<T> {
        match self.take(name) {
            None => FieldUpdate::Absent,
            Some(Value::Null) => FieldUpdate::Null,
            Some(value) => {
                let mut fields = ObjectFields::new(&self.path_of(name), value, self.errors);
                let object = read(&mut fields);
                fields.finish();
                FieldUpdate::Value(object)
            }
        }
    }

    /// Reads an array of objects. Returns `None` if the field is missing, or if it is not an array, which is reported.
    pub(super) fn objects<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(&mut ObjectFields<'a>) -> T,
    ) -> Option<Vec<T>> {
        let items = match self.take(name)? {
            Value::Array(items) => items,
            other => {
                self.report(name, format!("expected an array of objects, got {}", type_name(&other)));
                return None;
            }
        };
        let objects = items.into_iter().enumerate().map(|(index, item)| {
            let mut fields = ObjectFields::new(&format!("{}/{index}", self.path_of(name)), item, self.errors);
            let object = read(&mut fields);
            fields.finish();
            object
        });
        Some(objects.collect())
    }

    /// Returns the list that [`Self::objects`] read. If it read none, returns an empty list and reports the field as
    /// missing, unless another error in the field was reported.
    pub(super) fn require_list<T>(&mut self, name: &'static str, list: Option<Vec<T>>) -> Vec<T> {
        let has_error = self.errors.borrow().iter().any(|error| error.field == self.path_of(name));
        if list.is_none() && !has_error {
            self.report_missing(name);
        }
        list.unwrap_or_default()
    }

    /// Reports a missing field.
    pub(super) fn report_missing(&self, name: &str) {
        if !self.is_not_object {
            self.report(name, "is required");
        }
    }

    /// Reports an error in a field.
    pub(super) fn report(&self, name: &str, message: impl Into<String>) {
        self.errors.borrow_mut().push(field_error(&self.path_of(name), message));
    }

    /// Returns the number of errors found so far.
    pub(super) fn error_count(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Reports all fields that were not read.
    pub(super) fn finish(self) {
        for name in self.unread.keys() {
            let closest = self
                .read_names
                .iter()
                .copied()
                .max_by(|left, right| similarity(left, name).total_cmp(&similarity(right, name)));
            match closest.filter(|closest| similarity(closest, name) > MIN_SIMILARITY) {
                Some(closest) => self.report(name, format!("unknown field; did you mean `{closest}`?")),
                None => self.report(name, "unknown field"),
            }
        }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.read_names.push(name);
        self.unread.remove(name)
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    fn convert<T: FieldValue>(&self, name: &str, value: Value) -> T {
        T::read(value).unwrap_or_else(|message| {
            self.report(name, message);
            T::placeholder()
        })
    }
}

/// Returns the similarity of two names, from 0 to 1.
fn similarity(left: &str, right: &str) -> f64 {
    strsim::jaro_winkler(left, right)
}

/// Returns the JSON type of a value for a message, with an article.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn type_error(value: &Value, expected: &str) -> String {
    format!("expected {expected}, got {}", type_name(value))
}

impl FieldValue for String {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(type_error(&other, "a string")),
        }
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

impl FieldValue for IdOrKey {
    fn read(value: Value) -> Result<Self, String> {
        match String::read(value)? {
            text if text.is_empty() => Err("must not be empty; expected a key or an id".to_owned()),
            text => Ok(text.into()),
        }
    }

    fn placeholder() -> Self {
        "".into()
    }
}

impl FieldValue for i64 {
    fn read(value: Value) -> Result<Self, String> {
        match &value {
            Value::Number(number) => number
                .as_i64()
                .or_else(|| integral(number.as_f64()?))
                .ok_or_else(|| format!("{number} is not a 64-bit integer")),
            other => Err(type_error(other, "an integer")),
        }
    }

    fn placeholder() -> Self {
        0
    }
}

/// Returns the integer that a floating-point number such as `100.0` or `1e3` represents exactly. In JSON Schema, such a number is
/// an integer.
fn integral(number: f64) -> Option<i64> {
    const MAX_EXACT: f64 = (1_u64 << 53) as f64;
    (number.fract() == 0.0 && number.abs() <= MAX_EXACT).then_some(number as i64)
}

impl FieldValue for i32 {
    fn read(value: Value) -> Result<Self, String> {
        let number = i64::read(value)?;
        Self::try_from(number).map_err(|_| format!("{number} is out of range"))
    }

    fn placeholder() -> Self {
        0
    }
}

impl FieldValue for bool {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Bool(value) => Ok(value),
            other => Err(type_error(&other, "a boolean")),
        }
    }

    fn placeholder() -> Self {
        false
    }
}

impl FieldValue for Timestamp {
    fn read(value: Value) -> Result<Self, String> {
        let text = String::read(value)?;
        match text.parse() {
            Ok(time) => Ok(foundation::clock::truncate_to_ms(time)),
            Err(_) => Err(format!("{text:?} is not an RFC 3339 time, such as `2026-03-01T10:00:00Z`")),
        }
    }

    fn placeholder() -> Self {
        Self::UNIX_EPOCH
    }
}

impl FieldValue for Vec<String> {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Array(items) => items.into_iter().map(String::read).collect(),
            other => Err(type_error(&other, "an array of strings")),
        }
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

impl FieldValue for BTreeMap<String, String> {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(map) => {
                map.into_iter().map(|(name, value)| Ok((name, String::read(value)?))).collect()
            }
            other => Err(type_error(&other, "an object with string values")),
        }
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

/// Implements [`FieldValue`] for enums of `text_enum!`. The placeholder is the first variant.
macro_rules! text_enum_fields {
    ($($name:ty),* $(,)?) => {
        $(impl $crate::fields::FieldValue for $name {
            fn read(value: serde_json::Value) -> Result<Self, String> {
                String::read(value)?.parse().map_err(|error: domain::text_enum::UnknownVariant| error.to_string())
            }

            fn placeholder() -> Self {
                Self::ALL[0]
            }
        })*
    };
}

pub(super) use text_enum_fields;
