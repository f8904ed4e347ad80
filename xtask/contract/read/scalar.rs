//! Reads strings, numbers and enums.

use super::super::model::{EnumShape, IntegerEnumShape, NumberShape, Shape, StringShape};
use super::super::node::{Node, SpannedString, Value};
use super::super::reader::{Cursor, NodeReader};
use super::super::source::Span;
use crate::diagnostic::{Code, Diagnostic};

/// The supported string formats.
pub(crate) const STRING_FORMATS: [&str; 21] = [
    "byte",
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "password",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Reads a string or a string enum.
pub(super) fn string<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, nullable: bool) -> Option<Shape> {
    if let Some(items) = enum_values(reader, cursor, nullable) {
        let mut values = Vec::new();
        for item in items {
            values.extend(reader.string(&item));
        }
        return Some(Shape::Enum(EnumShape { values }));
    }
    let pattern = reader.string_child(cursor, "pattern");
    check_pattern(reader, pattern.as_ref());
    let format = reader.string_child(cursor, "format");
    check_format(reader, format.as_ref(), "string", &STRING_FORMATS);
    Some(Shape::String(StringShape {
        format,
        pattern,
        min_length: reader.count(cursor, "minLength"),
        max_length: reader.count(cursor, "maxLength"),
    }))
}

/// Reads an integer or an integer enum.
pub(super) fn integer<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, nullable: bool) -> Option<Shape> {
    let Some(items) = enum_values(reader, cursor, nullable) else {
        return Some(Shape::Integer(number(reader, cursor, "integer")));
    };
    let mut values: Vec<(i64, Span)> = Vec::new();
    for item in items {
        match item.node.value {
            Value::Integer(value) => values.push((value, item.node.span)),
            _ => reader.wrong_type(item.node, "an integer"),
        }
    }
    Some(Shape::IntegerEnum(IntegerEnumShape { values }))
}

/// Returns the values of `enum` without null, or the value of `const`. Returns `None` if the schema has neither.
fn enum_values<'n>(
    reader: &mut NodeReader<'n>,
    cursor: &Cursor<'n>,
    nullable: bool,
) -> Option<Vec<Cursor<'n>>> {
    if let Some(value) = reader.child(cursor, "const") {
        if let Some(list) = cursor.node.entry("enum") {
            let help = "remove one of them";
            reader.error(Code::UnsupportedKeyword, list.key.span, "`enum` cannot be used with `const`", help);
        }
        check_enum_null(reader, value.name_span, nullable, false);
        return Some(vec![value]);
    }
    let list = reader.child(cursor, "enum")?;
    let items = reader.items(&list);
    let (nulls, values): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| matches!(item.node.value, Value::Null));
    check_enum_null(
        reader,
        nulls.first().map_or(list.name_span, |null| null.node.span),
        nullable,
        !nulls.is_empty(),
    );
    if values.is_empty() && list.node.items().is_some() {
        reader.error(Code::UnsupportedKeyword, list.name_span, "`enum` is empty", "list the valid values");
    }
    Some(values)
}

/// Reports a nullable type without null in `enum`, and null in `enum` without a nullable type.
fn check_enum_null(reader: &mut NodeReader<'_>, span: Span, type_allows_null: bool, enum_has_null: bool) {
    let (message, help) = match (type_allows_null, enum_has_null) {
        (true, false) => {
            ("`type` allows null, but `enum` does not", "add null to `enum`, or remove 'null' from `type`")
        }
        (false, true) => (
            "`enum` contains null, but `type` does not allow it",
            "add 'null' to `type`, or remove null from `enum`",
        ),
        _ => return,
    };
    reader.error(Code::UnsupportedKeyword, span, message, help);
}

fn check_pattern(reader: &mut NodeReader<'_>, pattern: Option<&SpannedString>) {
    let Some(pattern) = pattern else { return };
    if let Err(error) = regex::Regex::new(pattern) {
        reader.diagnostics.push(regex_problem(&error, pattern.span));
    }
}

/// Returns the diagnostic about an invalid pattern.
pub(crate) fn regex_problem(error: &regex::Error, span: Span) -> Diagnostic {
    let reason = error.to_string();
    let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
    let message = format!("invalid pattern for Rust's `regex` crate: {reason}");
    let help = "correct the pattern; look-around and backreferences are not supported";
    Diagnostic::error(Code::BadPattern, span, message, help)
}

/// Reads the keywords of a number.
pub(super) fn number<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, kind: &str) -> NumberShape {
    let format = reader.string_child(cursor, "format");
    let supported: &[&str] = if kind == "integer" { &["int32", "int64"] } else { &["float", "double"] };
    check_format(reader, format.as_ref(), kind, supported);
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let (Some(entry), Some(_)) = (cursor.node.entry(exclusive), cursor.node.entry(inclusive)) {
            let message = format!("`{exclusive}` cannot be used with `{inclusive}`");
            reader.error(
                Code::UnsupportedKeyword,
                entry.key.span,
                message,
                "remove the bound that has no effect",
            );
        }
    }
    NumberShape {
        format,
        minimum: reader.number(cursor, "minimum"),
        maximum: reader.number(cursor, "maximum"),
        exclusive_minimum: reader.number(cursor, "exclusiveMinimum"),
        exclusive_maximum: reader.number(cursor, "exclusiveMaximum"),
        multiple_of: reader.number(cursor, "multipleOf"),
    }
}

/// Reports an unsupported format. `kind` is the type of the schema.
fn check_format(reader: &mut NodeReader<'_>, format: Option<&SpannedString>, kind: &str, supported: &[&str]) {
    let Some(format) = format.filter(|format| !supported.contains(&&***format)) else { return };
    let help = match &**format {
        "binary" => "use `format: byte` (base64), or the media type `application/octet-stream`".to_owned(),
        _ => format!(
            "use one of {}, or a pattern or bounds",
            supported.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    let message = format!("unsupported format `{}` for type {kind}", format.text);
    reader.error(Code::UnsupportedKeyword, format.span, message, help);
}

/// Reports an unsupported default. The generator supports scalars and empty lists as defaults. It supports none for
/// unions, schemas that allow any value, and strings whose format has a special Rust type. A number must fit the Rust
/// type of its format.
pub(super) fn check_default(reader: &mut NodeReader<'_>, default: Option<&Node>, shape: &Shape) {
    let Some(default) = default else { return };
    let is_supported_value = match &default.value {
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(_) | Value::Null => false,
        _ => true,
    };
    let has_typed_format = matches!(shape, Shape::String(string) if string.rust_type().is_some());
    let has_several_types = matches!(shape, Shape::Union(_) | Shape::Any);
    if !is_supported_value || has_typed_format || has_several_types {
        let message = "a default of this type is not supported";
        let help = "remove it, document the default in `description`, and set it in the server";
        reader.error(Code::UnsupportedKeyword, default.span, message, help);
    }
    if let Some(format) = overflowed_format(shape, &default.value) {
        let message = format!("the default is out of range for `{format}`");
        let help = "correct the default, or use a larger format";
        reader.error(Code::DefaultRefused, default.span, message, help);
    }
}

/// Returns the number format whose Rust type cannot represent the value, or `None` if the value fits.
#[allow(clippy::cast_possible_truncation)] // This function detects truncation.
fn overflowed_format(shape: &Shape, value: &Value) -> Option<&'static str> {
    // 2^63. `f64` cannot represent `i64::MAX`, which is one less.
    const I64_LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let has_format = |number: &NumberShape, name| number.format.as_deref() == Some(name);
    match (shape, value) {
        (Shape::Integer(number), Value::Integer(value)) if has_format(number, "int32") => {
            i32::try_from(*value).is_err().then_some("int32")
        }
        (Shape::Integer(number), Value::Float(value)) if has_format(number, "int32") => {
            (*value < f64::from(i32::MIN) || *value > f64::from(i32::MAX)).then_some("int32")
        }
        (Shape::Integer(_), Value::Float(value)) => {
            (*value < -I64_LIMIT || *value >= I64_LIMIT).then_some("int64")
        }
        (Shape::Number(number), Value::Float(value)) if has_format(number, "float") => {
            (*value as f32).is_infinite().then_some("float")
        }
        _ => None,
    }
}
