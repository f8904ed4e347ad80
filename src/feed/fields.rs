//! Reads the fields of a JSON object, and gathers every fault instead of stopping at the first.

use std::cell::RefCell;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::reject::fault;
use domain::{Fault, Given, Named};

/// The faults found so far.
pub(super) type Faults = RefCell<Vec<Fault>>;

/// The fields of one object that were not read yet.
pub(super) struct Fields<'a> {
    /// The path to the object, with a `/` at the end unless it is the line itself.
    path: String,
    rest: Map<String, Value>,
    /// The names asked for, to help with one that is misspelled.
    asked: Vec<&'static str>,
    /// The value was no object: that is said once, and not that every field is missing too.
    broken: bool,
    faults: &'a Faults,
}

/// A kind of value that a field may hold.
pub(super) trait Read: Sized {
    /// The value, or what is wrong with it.
    fn read(value: Value) -> Result<Self, String>;

    /// Stands for a value at fault, so that reading goes on; never used, since the faults are returned.
    fn blank() -> Self;
}

impl<'a> Fields<'a> {
    /// The fields of `value`, which must be an object and stands at `path`.
    pub(super) fn new(path: &str, value: Value, faults: &'a Faults) -> Self {
        let broken = !value.is_object();
        let rest = match value {
            Value::Object(map) => map,
            other => {
                faults.borrow_mut().push(fault(path, format!("is {}; an object is wanted", kind(&other))));
                Map::new()
            }
        };
        let path = if path.is_empty() { String::new() } else { format!("{path}/") };
        Self { path, rest, asked: Vec::new(), broken, faults }
    }

    /// A field that must be there and not null.
    pub(super) fn required<T: Read>(&mut self, name: &'static str) -> T {
        match self.take(name) {
            Some(value) => self.convert(name, value),
            None => {
                self.missing(name);
                T::blank()
            }
        }
    }

    /// A field that may be left out; null says the same.
    pub(super) fn optional<T: Read>(&mut self, name: &'static str) -> Option<T> {
        match self.take(name)? {
            Value::Null => None,
            value => Some(self.convert(name, value)),
        }
    }

    /// A field that may be left out; null is a fault, because it could mean "keep" as well as "empty".
    pub(super) fn kept<T: Read>(&mut self, name: &'static str) -> Option<T> {
        let value = self.take(name)?;
        Some(self.convert(name, value))
    }

    /// A field that may be left out, or be null.
    pub(super) fn given<T: Read>(&mut self, name: &'static str) -> Given<T> {
        match self.take(name) {
            None => Given::Absent,
            Some(Value::Null) => Given::Null,
            Some(value) => Given::Value(self.convert(name, value)),
        }
    }

    /// An object within this one that may be left out, or be null.
    pub(super) fn given_object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'a>) -> T,
    ) -> Given<T> {
        match self.take(name) {
            None => Given::Absent,
            Some(Value::Null) => Given::Null,
            Some(value) => {
                let mut fields = Fields::new(&self.at(name), value, self.faults);
                let object = read(&mut fields);
                fields.finish();
                Given::Value(object)
            }
        }
    }

    /// A list of objects; `None` when it is left out.
    pub(super) fn objects<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(&mut Fields<'a>) -> T,
    ) -> Option<Vec<T>> {
        let items = match self.take(name)? {
            Value::Array(items) => items,
            other => {
                self.say(name, format!("is {}; a list of objects is wanted", kind(&other)));
                return None;
            }
        };
        let objects = items.into_iter().enumerate().map(|(place, item)| {
            let mut fields = Fields::new(&format!("{}/{place}", self.at(name)), item, self.faults);
            let object = read(&mut fields);
            fields.finish();
            object
        });
        Some(objects.collect())
    }

    /// The list that [`Self::objects`] found, which must be there.
    pub(super) fn must_have<T>(&mut self, name: &'static str, list: Option<Vec<T>>) -> Vec<T> {
        let found = self.faults.borrow().iter().any(|fault| fault.field == self.at(name));
        if list.is_none() && !found {
            self.missing(name);
        }
        list.unwrap_or_default()
    }

    /// Records that a field is not there.
    pub(super) fn missing(&self, name: &str) {
        if !self.broken {
            self.say(name, "is missing");
        }
    }

    /// Records a fault of a field.
    pub(super) fn say(&self, name: &str, message: impl Into<String>) {
        self.faults.borrow_mut().push(fault(&self.at(name), message));
    }

    /// How many faults were found so far.
    pub(super) fn faults(&self) -> usize {
        self.faults.borrow().len()
    }

    /// Refuses what was not read.
    pub(super) fn finish(self) {
        for name in self.rest.keys() {
            let near = self
                .asked
                .iter()
                .copied()
                .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
            match near.filter(|near| strsim::jaro_winkler(near, name) > 0.8) {
                Some(near) => self.say(name, format!("is not a field; perhaps `{near}` is meant")),
                None => self.say(name, "is not a field"),
            }
        }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.asked.push(name);
        self.rest.remove(name)
    }

    fn at(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    fn convert<T: Read>(&self, name: &str, value: Value) -> T {
        T::read(value).unwrap_or_else(|message| {
            self.say(name, message);
            T::blank()
        })
    }
}

/// What a value is, for a message.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn wanted(value: &Value, noun: &str) -> String {
    format!("is {}; {noun} is wanted", kind(value))
}

impl Read for String {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(wanted(&other, "a text")),
        }
    }

    fn blank() -> Self {
        Self::new()
    }
}

impl Read for Named {
    fn read(value: Value) -> Result<Self, String> {
        match String::read(value)? {
            text if text.is_empty() => Err("is empty; a key or an id is wanted".to_owned()),
            text => Ok(text.into()),
        }
    }

    fn blank() -> Self {
        "".into()
    }
}

impl Read for i64 {
    fn read(value: Value) -> Result<Self, String> {
        match &value {
            Value::Number(number) => {
                number.as_i64().ok_or_else(|| format!("{number} is not a whole number of 64 bits"))
            }
            other => Err(wanted(other, "a whole number")),
        }
    }

    fn blank() -> Self {
        0
    }
}

impl Read for i32 {
    fn read(value: Value) -> Result<Self, String> {
        let number = i64::read(value)?;
        Self::try_from(number).map_err(|_| format!("{number} is out of range"))
    }

    fn blank() -> Self {
        0
    }
}

impl Read for bool {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Bool(value) => Ok(value),
            other => Err(wanted(&other, "`true` or `false`")),
        }
    }

    fn blank() -> Self {
        false
    }
}

impl Read for Timestamp {
    fn read(value: Value) -> Result<Self, String> {
        let text = String::read(value)?;
        match text.parse() {
            Ok(time) => Ok(foundation::clock::truncate(time)),
            Err(_) => Err(format!("{text:?} is not a time; write it as `2026-03-01T10:00:00Z`")),
        }
    }

    fn blank() -> Self {
        Self::UNIX_EPOCH
    }
}

impl Read for Vec<String> {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Array(items) => items.into_iter().map(String::read).collect(),
            other => Err(wanted(&other, "a list of texts")),
        }
    }

    fn blank() -> Self {
        Self::new()
    }
}

impl Read for BTreeMap<String, String> {
    fn read(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(map) => {
                map.into_iter().map(|(name, value)| Ok((name, String::read(value)?))).collect()
            }
            other => Err(wanted(&other, "an object of texts")),
        }
    }

    fn blank() -> Self {
        Self::new()
    }
}

/// Reads a word of a closed list, whose first word stands for a fault.
macro_rules! word {
    ($($name:ty),* $(,)?) => {
        $(impl $crate::fields::Read for $name {
            fn read(value: serde_json::Value) -> Result<Self, String> {
                String::read(value)?.parse().map_err(|error: domain::word::UnknownWord| error.to_string())
            }

            fn blank() -> Self {
                Self::ALL[0]
            }
        })*
    };
}

pub(super) use word;
