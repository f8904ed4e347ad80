//! Converts schema validation errors to messages.
//!
//! Each message states what is allowed, as the end of a sentence that begins with the field. Messages do not repeat the
//! invalid value, which can be personal data such as an email address.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::known_fields::KnownFields;
use super::{date_time, shorten};
use crate::json;

/// The message for a query parameter that the contract does not declare.
pub const UNKNOWN_PARAMETER: &str = "is not a parameter of this operation";
/// The message for a body field that the contract does not declare.
const UNKNOWN_FIELD: &str = "is not a field of this body";

/// Describes a pattern of a contract, as the end of a sentence that begins with the field. If it returns `None`, the
/// message contains the pattern itself.
pub type DescribePattern = fn(&str) -> Option<String>;

/// What messages contain from a contract.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) describe_pattern: DescribePattern,
    pub(super) known_fields: KnownFields,
}

impl Messages {
    /// Returns the violations for one error of the schema validator, as pairs of JSON pointer and message.
    pub(super) fn describe(&self, error: &ValidationError<'_>) -> Vec<(String, String)> {
        let pointer = error.instance_path().to_string();
        match error.kind() {
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                let keyword = error.absolute_keyword_location().and_then(|location| location.fragment());
                let keyword = keyword.map(|fragment| fragment.as_str()).unwrap_or_default();
                let violation = |name: &String| {
                    let suggestion = self.known_fields.similar(keyword, name);
                    let suggestion = suggestion.map(|known| format!("; did you mean `{known}`?"));
                    let message = format!("{UNKNOWN_FIELD}{}", suggestion.unwrap_or_default());
                    (format!("{pointer}/{}", json::escape(&shorten(name))), message)
                };
                unexpected.iter().map(violation).collect()
            }
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                vec![(format!("{pointer}/{}", json::escape(name)), "is required".to_owned())]
            }
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default().to_owned();
                let pointer = format!("{pointer}/{}", json::escape(&shorten(&name)));
                vec![(pointer, format!("has an invalid name: it {}", message(inner, self.describe_pattern)))]
            }
            Kind::OneOfNotValid { context } | Kind::AnyOf { context } => {
                self.describe_members(error, context)
            }
            _ => vec![(pointer, message(error, self.describe_pattern))],
        }
    }

    /// Returns the violations for a value that matches no member of a union: those of the only member that has its type, such as
    /// the object of a nullable object.
    fn describe_members(
        &self,
        error: &ValidationError<'_>,
        members: &[Vec<ValidationError<'_>>],
    ) -> Vec<(String, String)> {
        let wrong_type = |errors: &[ValidationError<'_>]| {
            let mut at_value = errors.iter().filter(|inner| inner.instance_path() == error.instance_path());
            at_value.find_map(|inner| match inner.kind() {
                Kind::Type { kind } => Some(expected_types(kind)),
                _ => None,
            })
        };
        let wrong_types: Vec<_> = members.iter().map(|errors| wrong_type(errors)).collect();
        let mut fitting = members.iter().zip(&wrong_types).filter(|(_, wrong)| wrong.is_none());
        match (fitting.next(), fitting.next()) {
            (Some((errors, _)), None) => errors.iter().flat_map(|error| self.describe(error)).collect(),
            (None, _) => {
                let expected = wrong_types.into_iter().flatten().collect::<Vec<_>>().join(" or ");
                vec![(error.instance_path().to_string(), format!("must be {expected}"))]
            }
            _ => vec![(error.instance_path().to_string(), message(error, self.describe_pattern))],
        }
    }
}

/// Returns the message for a string that is not one of these.
pub(super) fn one_of<'v>(values: impl Iterator<Item = &'v String>) -> String {
    let values = values.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    format!("must be one of {values}")
}

/// Returns the message for an error, without the location.
fn message(error: &ValidationError<'_>, describe_pattern: DescribePattern) -> String {
    match error.kind() {
        Kind::Type { kind } => format!("must be {}", expected_types(kind)),
        Kind::Enum { options } => match options.as_array().map(Vec::as_slice) {
            Some([value]) => format!("must be {}", quote(value)),
            Some(values) => format!("must be one of {}", join(values)),
            None => "is not an allowed value".to_owned(),
        },
        Kind::Constant { expected_value } => format!("must be {}", quote(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit: 1 } => "must not be empty".to_owned(),
        Kind::MinLength { limit } => format!("must be at least {limit} characters long"),
        Kind::MaxLength { limit } => format!("must be at most {}", quantity(*limit, "character", " long")),
        Kind::MinItems { limit } => format!("must have at least {}", quantity(*limit, "item", "")),
        Kind::MaxItems { limit } => format!("must have at most {}", quantity(*limit, "item", "")),
        Kind::MinProperties { limit } => format!("must have at least {}", quantity(*limit, "field", "")),
        Kind::MaxProperties { limit } => format!("must have at most {}", quantity(*limit, "field", "")),
        Kind::UniqueItems => "must not contain duplicate items".to_owned(),
        Kind::Pattern { pattern } => {
            describe_pattern(pattern).unwrap_or_else(|| format!("must match the pattern `{pattern}`"))
        }
        Kind::Format { format } => format_message(format, error.instance().as_str().unwrap_or_default()),
        Kind::Custom { message, .. } => message.clone(),
        other => format!("violates the rule `{}` of the contract", other.keyword()),
    }
}

/// Returns the message for a string that does not have this format.
fn format_message(format: &str, text: &str) -> String {
    match format {
        "date-time" => date_time::check(text).err().unwrap_or("is not a valid date and time").to_owned(),
        "byte" => "must be base64, padded with `=`".to_owned(),
        "date" => "must be a date, such as `2026-02-14`".to_owned(),
        "uuid" => "must be a UUID, such as `0198c2d4-6c1f-7a10-9d3b-5b1e6f0a2c44`".to_owned(),
        "email" => "must be an email address".to_owned(),
        "uri" => "must be an absolute URI, such as `https://example.com/page`".to_owned(),
        other => format!("must be in the format `{other}`"),
    }
}

fn expected_types(kind: &TypeKind) -> String {
    let names: Vec<&str> = match kind {
        TypeKind::Single(json_type) => vec![json_type.as_str()],
        TypeKind::Multiple(json_types) => json_types.iter().map(|json_type| json_type.as_str()).collect(),
    };
    let nouns: Vec<&str> = names
        .into_iter()
        .map(|name| match name {
            "array" => "an array",
            "boolean" => "true or false",
            "integer" => "an integer",
            "number" => "a number",
            "object" => "an object",
            "string" => "a string",
            other => other,
        })
        .collect();
    match nouns.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "of another type".to_owned(),
    }
}

/// Formats a number with its noun in the singular or plural: `1 item`, `2 items`.
fn quantity(limit: u64, noun: &str, suffix: &str) -> String {
    let plural = if limit == 1 { "" } else { "s" };
    format!("{limit} {noun}{plural}{suffix}")
}

fn join(values: &[Value]) -> String {
    values.iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// Formats a value: strings in backticks, others as JSON.
fn quote(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}
