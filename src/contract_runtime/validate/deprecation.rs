//! Finds what a request uses that the contract marks as deprecated.
//!
//! `deprecated: true` marks an operation, a parameter or a schema, and `x-deprecated-values` marks values of an enum. Beside it,
//! `x-deprecated-at` and `x-sunset` are the dates from which it is deprecated and no longer works, and `x-replaced-by` says what
//! to use instead.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::Date;
use jsonschema::Validator;
use serde_json::{Map, Value};

use super::body::{self, BodyValidator};
use super::conformance::{ReceivedRequest, SentParameters};
use super::{query, schemas, walk};
use crate::contract::{BodyFormat, Operation};
use crate::json::escape;
use crate::reference;
use crate::removal::REMOVED_AT_SUNSET;

/// The keyword that marks values of an enum.
const DEPRECATED_VALUES: &str = "x-deprecated-values";

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

/// Something deprecated that a request uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeprecatedUse {
    /// Where the contract marks it, as a JSON pointer.
    pub pointer: String,
    /// The name of the parameter, or the JSON pointer of the field of the body, with `*` for indexes and for names that clients
    /// choose; `/` is the body itself. For a value of an enum, `=` and the value follow. Empty for the whole operation.
    pub name: String,
    /// What the contract says about it.
    pub announcement: Announcement,
}

/// Everything that a contract marks as deprecated, by JSON pointer.
pub type Announcements = BTreeMap<String, Announcement>;

/// Returns everything that a contract's JSON marks as deprecated.
///
/// # Errors
/// Returns an error when it is not JSON.
pub fn announcements(document: &str) -> anyhow::Result<Announcements> {
    Ok(announcements_of(&schemas::read_document(document)?))
}

pub(super) fn announcements_of(document: &Value) -> Announcements {
    let mut found = BTreeMap::new();
    walk::for_each_schema(document, |pointer, fields| {
        if fields.get("deprecated") == Some(&Value::Bool(true)) {
            found.insert(pointer.to_owned(), Announcement::of(fields));
        }
        let values = fields.get(DEPRECATED_VALUES).and_then(Value::as_object);
        for (value, fields) in values.into_iter().flatten() {
            let announcement = fields.as_object().map(Announcement::of);
            found.extend(announcement.map(|announcement| (value_pointer(pointer, value), announcement)));
        }
    });
    found
}

fn value_pointer(schema: &str, value: &str) -> String {
    format!("{schema}/{DEPRECATED_VALUES}/{}", escape(value))
}

impl Announcement {
    fn of(fields: &Map<String, Value>) -> Self {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let date = |name: &str| text(name).and_then(|date| date.parse().ok());
        Self {
            since: date("x-deprecated-at"),
            sunset: date("x-sunset"),
            replacement: text("x-replaced-by").map(str::to_owned),
            is_removed: fields.get(REMOVED_AT_SUNSET) == Some(&Value::Bool(true)),
        }
    }
}

/// What an operation has that is deprecated.
#[derive(Debug)]
pub(super) struct OperationDeprecations {
    announcements: Arc<Announcements>,
    /// The JSON pointer of the operation.
    pointer: String,
    /// Whether the schema of each parameter, in their order, or a schema inside it is deprecated.
    parameter_schemas: Vec<bool>,
    /// Whether the body or a part of it is deprecated.
    has_body: bool,
}

impl OperationDeprecations {
    /// Returns `None` if nothing of the operation is deprecated.
    pub(super) fn new(
        document: &Value,
        announcements: &Arc<Announcements>,
        operation: &Operation,
    ) -> Option<Self> {
        let concerns = |pointer: &str| concerns(document, announcements, pointer, &mut BTreeSet::new());
        let found = Self {
            announcements: Arc::clone(announcements),
            pointer: format!("/paths/{}/{}", escape(operation.path), operation.method.to_ascii_lowercase()),
            parameter_schemas: operation
                .parameters
                .iter()
                .map(|parameter| concerns(parameter.schema))
                .collect(),
            has_body: operation.body.as_ref().is_some_and(|body| concerns(body.schema)),
        };
        let is_marked = |pointer: &str| announcements.contains_key(pointer);
        let has_any = found.has_body
            || is_marked(&found.pointer)
            || found.parameter_schemas.contains(&true)
            || operation.parameters.iter().any(|parameter| is_marked(parameter_pointer(parameter.schema)));
        has_any.then_some(found)
    }

    /// Returns what a request uses, each once. A part that is not valid uses nothing.
    pub(super) fn uses(
        &self,
        operation: &Operation,
        parameters: &[Validator],
        body: Option<&BodyValidator>,
        request: &ReceivedRequest<'_>,
    ) -> Vec<DeprecatedUse> {
        let mut uses = Vec::new();
        self.add(&self.pointer, String::new(), &mut uses);
        let sent = SentParameters::parse(operation, request);
        for (index, parameter) in operation.parameters.iter().enumerate() {
            let values = sent.values(parameter);
            if values.is_empty() {
                continue;
            }
            self.add(parameter_pointer(parameter.schema), parameter.name.to_owned(), &mut uses);
            if self.parameter_schemas[index]
                && let Ok(value) = sent.convert(parameter, &values)
            {
                self.add_parts(&parameters[index], &value, parameter.name, &mut uses);
            }
        }
        if let (true, Some(validator), Some(declared)) = (self.has_body, body, &operation.body)
            && let Ok(value) = body::parse(BodyFormat::of(declared.media_type), request.body)
            && let Ok(validator) = validator.validator_of(&value)
        {
            self.add_parts(validator, &value, "", &mut uses);
        }
        uses
    }

    /// Adds the deprecated parts of a value: the annotations of its schemas.
    fn add_parts(&self, validator: &Validator, value: &Value, name: &str, uses: &mut Vec<DeprecatedUse>) {
        for entry in validator.evaluate(value).iter_annotations() {
            let Some(fragment) = entry.absolute_keyword_location.and_then(|location| location.fragment())
            else {
                continue;
            };
            let Some(pointer) = query::decode_segment(fragment.as_str()) else { continue };
            let part = part_name(name, &field_name(entry.schema_location));
            self.add(&pointer, part.clone(), uses);
            if let Some(text) = value.pointer(entry.instance_location.as_str()).and_then(Value::as_str) {
                self.add(&value_pointer(&pointer, text), format!("{part}={text}"), uses);
            }
        }
    }

    fn add(&self, pointer: &str, name: String, uses: &mut Vec<DeprecatedUse>) {
        let Some(announcement) = self.announcements.get(pointer) else { return };
        let is_known = uses.iter().any(|known| known.pointer == pointer && known.name == name);
        if !is_known {
            uses.push(DeprecatedUse {
                pointer: pointer.to_owned(),
                name,
                announcement: announcement.clone(),
            });
        }
    }
}

/// Returns the JSON pointer of the parameter with this schema.
fn parameter_pointer(schema: &str) -> &str {
    schema.strip_suffix("/schema").unwrap_or(schema)
}

/// Returns whether the object at a JSON pointer, or one that it contains or refers to, is deprecated.
fn concerns<'d>(
    document: &'d Value,
    announcements: &Announcements,
    pointer: &'d str,
    visited: &mut BTreeSet<&'d str>,
) -> bool {
    if !visited.insert(pointer) {
        return false;
    }
    let inside = format!("{pointer}/");
    let is_inside = |marked: &String| marked == pointer || marked.starts_with(&inside);
    if announcements.keys().any(is_inside) {
        return true;
    }
    let mut open: Vec<&Value> = document.pointer(pointer).into_iter().collect();
    while let Some(value) = open.pop() {
        if let Some(target) = reference::target(value)
            && concerns(document, announcements, target, visited)
        {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    false
}

/// Returns the name of a field of a parameter or, if its name is empty, of the body. The values of a list belong to the parameter.
fn part_name(parameter: &str, field: &str) -> String {
    match (parameter, field) {
        ("", "") => "/".to_owned(),
        ("", field) => field.to_owned(),
        (parameter, field) => format!("{parameter}{}", field.strip_prefix("/*").unwrap_or(field)),
    }
}

/// Returns the JSON pointer of the field that a path of keywords describes, with `*` for indexes and for names that clients choose.
fn field_name(keywords: &str) -> String {
    let mut name = String::new();
    let mut keywords = keywords.split('/').skip(1);
    while let Some(keyword) = keywords.next() {
        match keyword {
            "properties" => {
                name.push('/');
                name.push_str(keywords.next().unwrap_or_default());
            }
            "items" | "additionalProperties" | "unevaluatedProperties" => name.push_str("/*"),
            "patternProperties" | "prefixItems" => {
                keywords.next();
                name.push_str("/*");
            }
            // The members of a composition, and the names of definitions, are no fields.
            "allOf" | "anyOf" | "oneOf" => drop(keywords.next()),
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_keywords_names_a_field() {
        for (keywords, field) in [
            ("", ""),
            ("/$ref", ""),
            ("/$ref/properties/items/items/properties/a~1b", "/items/*/a~1b"),
            ("/allOf/1/properties/properties", "/properties"),
            ("/properties/labels/additionalProperties", "/labels/*"),
        ] {
            assert_eq!(field_name(keywords), field, "{keywords}");
        }
    }

    #[test]
    fn a_part_is_named_by_its_parameter_or_field() {
        let named = [("", ""), ("", "/a"), ("sort", ""), ("sort", "/*"), ("filter", "/a/*")];
        let names = named.map(|(parameter, field)| part_name(parameter, field));
        assert_eq!(names, ["/", "/a", "sort", "sort", "filter/a/*"]);
    }
}
