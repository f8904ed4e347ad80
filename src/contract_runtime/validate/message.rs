//! What a schema's refusal means, in words for people.
//!
//! Each message says what is allowed, as the end of a sentence that begins with the field. The refused value
//! is not repeated: the caller has it, and it may be someone's email address.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::{date_time, shorten};
use crate::json;

/// A query parameter that the contract does not name.
pub const UNKNOWN_PARAMETER: &str = "is not a parameter of this operation";
/// A body field that the contract does not name.
const UNKNOWN_FIELD: &str = "is not a field of this body";

/// Describes a pattern of a contract in words: the end of a sentence that begins with the field. `None` shows the
/// pattern itself.
pub type DescribePattern = fn(&str) -> Option<String>;

/// The faults behind one error of the validator: JSON pointer and message.
pub(super) fn describe(
    error: &ValidationError<'_>,
    describe_pattern: DescribePattern,
) -> Vec<(String, String)> {
    let place = error.instance_path().to_string();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| (format!("{place}/{}", json::escape(&shorten(name))), UNKNOWN_FIELD.to_owned()))
            .collect(),
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![(format!("{place}/{}", json::escape(name)), "is required".to_owned())]
        }
        Kind::PropertyNames { error: inner } => {
            let name = inner.instance().as_str().unwrap_or_default().to_owned();
            let place = format!("{place}/{}", json::escape(&shorten(&name)));
            vec![(
                place,
                format!("has a name that cannot be taken: it {}", sentence(inner, describe_pattern)),
            )]
        }
        _ => vec![(place, sentence(error, describe_pattern))],
    }
}

fn sentence(error: &ValidationError<'_>, describe_pattern: DescribePattern) -> String {
    match error.kind() {
        Kind::Type { kind } => format!("must be {}", types(kind)),
        Kind::Enum { options } => match options.as_array().map(Vec::as_slice) {
            Some([only]) => format!("must be {}", shown(only)),
            Some(many) => format!("must be one of {}", list(many)),
            None => "is not one of the values allowed".to_owned(),
        },
        Kind::Constant { expected_value } => format!("must be {}", shown(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit: 1 } => "must not be empty".to_owned(),
        Kind::MinLength { limit } => format!("must be at least {limit} characters long"),
        Kind::MaxLength { limit } => format!("must be at most {}", count(*limit, "character", " long")),
        Kind::MinItems { limit } => format!("must hold at least {}", count(*limit, "item", "")),
        Kind::MaxItems { limit } => format!("must hold at most {}", count(*limit, "item", "")),
        Kind::MinProperties { limit } => format!("must hold at least {}", count(*limit, "field", "")),
        Kind::MaxProperties { limit } => format!("must hold at most {}", count(*limit, "field", "")),
        Kind::UniqueItems => "must not hold an item twice".to_owned(),
        Kind::Pattern { pattern } => {
            describe_pattern(pattern).unwrap_or_else(|| format!("must match the pattern `{pattern}`"))
        }
        Kind::Format { format } => form(format, error.instance().as_str().unwrap_or_default()),
        other => format!("breaks the rule `{}` of the contract", other.keyword()),
    }
}

/// What a text of this format looks like.
fn form(format: &str, text: &str) -> String {
    match format {
        "date-time" => date_time::check(text).err().unwrap_or("is not a time").to_owned(),
        "byte" => "must be bytes in base64, padded with `=`".to_owned(),
        "date" => "must be a day of the calendar, such as `2026-02-14`".to_owned(),
        "uuid" => "must be a UUID, such as `0198c2d4-6c1f-7a10-9d3b-5b1e6f0a2c44`".to_owned(),
        "email" => "must be an email address".to_owned(),
        "uri" => "must be an absolute address, such as `https://example.com/page`".to_owned(),
        other => format!("must be in the format `{other}`"),
    }
}

fn types(kind: &TypeKind) -> String {
    let words: Vec<&str> = match kind {
        TypeKind::Single(one) => vec![one.as_str()],
        TypeKind::Multiple(many) => many.iter().map(|one| one.as_str()).collect(),
    };
    let words: Vec<&str> = words
        .into_iter()
        .map(|word| match word {
            "array" => "an array",
            "boolean" => "true or false",
            "integer" => "a whole number",
            "number" => "a number",
            "object" => "an object",
            "string" => "a string",
            other => other,
        })
        .collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => "of another type".to_owned(),
    }
}

fn count(limit: u64, noun: &str, rest: &str) -> String {
    let plural = if limit == 1 { "" } else { "s" };
    format!("{limit} {noun}{plural}{rest}")
}

fn list(values: &[Value]) -> String {
    values.iter().map(shown).collect::<Vec<_>>().join(", ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}
