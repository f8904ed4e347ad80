//! Strings, numbers, and lists of either to choose from.

use super::super::model::{EnumShape, IntegerEnumShape, NumberShape, Shape, StringShape};
use super::super::node::{Node, Text, Value};
use super::super::reader::{At, Reader};
use super::super::source::Span;
use crate::diagnostic::Code;

/// Formats of strings that the server holds requests to.
const STRING_FORMATS: [&str; 21] = [
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

/// A string, or one out of a list.
pub(super) fn string<'n>(reader: &mut Reader<'n>, at: &At<'n>, nullable: bool) -> Option<Shape> {
    if let Some(listed) = listed(reader, at, nullable) {
        let mut values = Vec::new();
        for item in listed {
            values.extend(reader.text(&item));
        }
        return Some(Shape::Enum(EnumShape { values }));
    }
    let pattern = reader.text_of(at, "pattern");
    refuse_pattern(reader, pattern.as_ref());
    let format = reader.text_of(at, "format");
    refuse_format(reader, format.as_ref(), "string", &STRING_FORMATS);
    Some(Shape::String(StringShape {
        format,
        pattern,
        min_length: reader.count(at, "minLength"),
        max_length: reader.count(at, "maxLength"),
    }))
}

/// A whole number, or one out of a list.
pub(super) fn integer<'n>(reader: &mut Reader<'n>, at: &At<'n>, nullable: bool) -> Option<Shape> {
    let Some(listed) = listed(reader, at, nullable) else {
        return Some(Shape::Integer(number(reader, at, "integer")));
    };
    let mut values: Vec<(i64, Span)> = Vec::new();
    for item in listed {
        match item.node.value {
            Value::Integer(value) => values.push((value, item.node.span)),
            _ => reader.wrong(item.node, "a whole number"),
        }
    }
    Some(Shape::IntegerEnum(IntegerEnumShape { values }))
}

/// The values of `enum` or `const`, without null.
fn listed<'n>(reader: &mut Reader<'n>, at: &At<'n>, nullable: bool) -> Option<Vec<At<'n>>> {
    if let Some(value) = reader.child(at, "const") {
        if let Some(list) = at.node.entry("enum") {
            let help = "keep one of the two";
            reader.error(Code::UnsupportedKeyword, list.key.span, "`enum` stands beside `const`", help);
        }
        refuse_null(reader, value.named, nullable, false);
        return Some(vec![value]);
    }
    let list = reader.child(at, "enum")?;
    let items = reader.items(&list);
    let (nulls, values): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| matches!(item.node.value, Value::Null));
    refuse_null(reader, nulls.first().map_or(list.named, |null| null.node.span), nullable, !nulls.is_empty());
    if values.is_empty() && list.node.items().is_some() {
        reader.error(Code::UnsupportedKeyword, list.named, "the list of values is empty", "list the values");
    }
    Some(values)
}

/// The type and the list must agree on null: no value is allowed that one of them refuses.
fn refuse_null(reader: &mut Reader<'_>, span: Span, in_type: bool, in_list: bool) {
    let (message, help) = match (in_type, in_list) {
        (true, false) => ("the type allows null and the list of values does not", "add null to `enum`"),
        (false, true) => {
            ("the list of values holds null and the type does not allow it", "add 'null' to `type`")
        }
        _ => return,
    };
    reader.error(Code::UnsupportedKeyword, span, message, help);
}

fn refuse_pattern(reader: &mut Reader<'_>, pattern: Option<&Text>) {
    let Some(pattern) = pattern else { return };
    if let Err(error) = regex::Regex::new(pattern) {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        reader.error(
            Code::BadPattern,
            pattern.span,
            format!("Rust's `regex` cannot read the pattern: {reason}"),
            "write it without look-around and back-references",
        );
    }
}

/// A number of this kind.
pub(super) fn number<'n>(reader: &mut Reader<'n>, at: &At<'n>, kind: &str) -> NumberShape {
    let format = reader.text_of(at, "format");
    let known: &[&str] = if kind == "integer" { &["int32", "int64"] } else { &["float", "double"] };
    refuse_format(reader, format.as_ref(), kind, known);
    for (open, closed) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let (Some(entry), Some(_)) = (at.node.entry(open), at.node.entry(closed)) {
            let message = format!("`{open}` stands beside `{closed}`");
            reader.error(Code::UnsupportedKeyword, entry.key.span, message, "keep the one that counts");
        }
    }
    NumberShape {
        format,
        minimum: reader.number(at, "minimum"),
        maximum: reader.number(at, "maximum"),
        exclusive_minimum: reader.number(at, "exclusiveMinimum"),
        exclusive_maximum: reader.number(at, "exclusiveMaximum"),
        multiple_of: reader.number(at, "multipleOf"),
    }
}

/// A format that nobody holds values to says less than it seems to.
fn refuse_format(reader: &mut Reader<'_>, format: Option<&Text>, kind: &str, known: &[&str]) {
    let Some(format) = format.filter(|format| !known.contains(&&***format)) else { return };
    let help = match &**format {
        "binary" => "write `format: byte` (base64), or send it as `application/octet-stream`".to_owned(),
        _ => format!(
            "write one of {}, or say it with a pattern or bounds",
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    let message = format!("nothing holds a value of type {kind} to the format `{}`", format.text);
    reader.error(Code::UnsupportedKeyword, format.span, message, help);
}

/// Only scalars, and lists without items, have a default that can be written in Rust; and a number, only one that the type
/// of its format can hold.
pub(super) fn refuse_default(reader: &mut Reader<'_>, default: Option<&Node>, shape: &Shape) {
    let Some(default) = default else { return };
    let plain = match &default.value {
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(_) | Value::Null => false,
        _ => true,
    };
    let typed = matches!(shape, Shape::String(string) if string.scalar().is_some());
    let undecided = matches!(shape, Shape::Union(_) | Shape::Any);
    if !plain || typed || undecided {
        let message = "a default of this type is not supported";
        let help = "describe it, and let the server fill it in";
        reader.error(Code::UnsupportedKeyword, default.span, message, help);
    }
    if let Some(format) = too_small(shape, &default.value) {
        let message = format!("the default does not fit into `{format}`");
        let help = "correct it, or the format: a value is held in a type of that size";
        reader.error(Code::DefaultRefused, default.span, message, help);
    }
}

/// The format of a number, where its type cannot hold a value.
#[allow(clippy::cast_possible_truncation)] // What is cut off is looked for here.
fn too_small(shape: &Shape, value: &Value) -> Option<&'static str> {
    // The first whole number that 64 bits cannot hold; the last one is no double.
    const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;
    let is = |number: &NumberShape, name| number.format.as_deref() == Some(name);
    match (shape, value) {
        (Shape::Integer(number), Value::Integer(value)) if is(number, "int32") => {
            i32::try_from(*value).is_err().then_some("int32")
        }
        (Shape::Integer(number), Value::Float(value)) if is(number, "int32") => {
            (*value < f64::from(i32::MIN) || *value > f64::from(i32::MAX)).then_some("int32")
        }
        (Shape::Integer(_), Value::Float(value)) => {
            (*value < -TOO_LARGE || *value >= TOO_LARGE).then_some("int64")
        }
        (Shape::Number(number), Value::Float(value)) if is(number, "float") => {
            (*value as f32).is_infinite().then_some("float")
        }
        _ => None,
    }
}
