//! What a schema's refusal means, in words for people.
//!
//! Each message says what is allowed, as the end of a sentence that begins with the field. The refused value
//! is not repeated: the caller has it, and it may be someone's email address.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::{date_time, shorten};
use foundation::json;

/// A query parameter that the contract does not name.
pub const UNKNOWN_PARAMETER: &str = "is not a parameter of this operation";
/// A body field that the contract does not name.
const UNKNOWN_FIELD: &str = "is not a field of this body";

/// The faults behind one error of the validator: JSON pointer and message.
pub fn describe(error: &ValidationError<'_>) -> Vec<(String, String)> {
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
            vec![(place, format!("has a name that cannot be taken: it {}", sentence(inner)))]
        }
        _ => vec![(place, sentence(error))],
    }
}

fn sentence(error: &ValidationError<'_>) -> String {
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
        Kind::Pattern { pattern } => shape(pattern),
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

/// What a text that follows one of the contract's patterns looks like.
fn shape(pattern: &str) -> String {
    const EMAIL: &str = r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$";
    let id = pattern.strip_prefix('^').and_then(|rest| rest.split_once("_[0-7]"));
    if let Some((prefix, _)) = id.filter(|(prefix, _)| prefix.bytes().all(|byte| byte.is_ascii_lowercase())) {
        return format!("must be an id that begins with `{prefix}_`, with 26 characters after it");
    }
    match pattern {
        EMAIL => "must hold one @ between two parts without blanks",
        r"^[^\x00-\x1f\x7f]*$" => "must not hold control characters, such as line breaks",
        r"^[^\x00]*$" => "must not hold the character NUL (U+0000)",
        "^[!-~]+$" => "must be visible ASCII characters without blanks",
        "^[A-Z]{3}$" => "must be a currency code of three capital letters, such as `USD`",
        "^[a-z0-9]+(-[a-z0-9]+)*$" => {
            "must be lower-case letters and digits, with single hyphens between them, such as `ink-and-line`"
        }
        "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" => "must be a language tag (BCP 47), such as `en` or `pt-BR`",
        "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$" => {
            "must be the name of an IANA time zone, such as `Europe/Berlin`"
        }
        other => return format!("must match the pattern `{other}`"),
    }
    .to_owned()
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
