//! Schemas.

use super::super::keywords;
use super::super::model::{
    ArrayShape, EnumShape, MapShape, NumberShape, ObjectShape, Property, Schema, Shape, StringShape,
};
use super::super::node::{Node, Text, Value};
use super::super::reader::{At, Reader};
use crate::diagnostic::Code;

const ONE_TYPE: &str = "write one type, or one type and 'null': `type: [string, 'null']`";
const NULLABLE_REF: &str = "write `oneOf: [{$ref: ...}, {type: 'null'}]` for a thing that can be null";
const EXTENSION: &str =
    "write `allOf: [{$ref: ...}, {type: object, ...}]` for an object with more properties than another";

/// Reads a schema and everything inside it.
pub fn read<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Schema> {
    if !reader.object(at, &keywords::SCHEMA) {
        return None;
    }
    let (shape, nullable) = shape(reader, at)?;
    if let Some(open) = at.node.get("x-extensible-enum")
        && !matches!((&open.value, &shape), (Value::Bool(_), Shape::Enum(_)))
    {
        let help = "write `x-extensible-enum: true` beside an `enum`, or leave it out";
        reader.error(
            Code::UnsupportedKeyword,
            open.span,
            "`x-extensible-enum` marks an open enum with `true`",
            help,
        );
    }
    let default = at.node.get("default").cloned();
    refuse_default(reader, default.as_ref(), &shape);
    Some(Schema {
        span: at.named,
        pointer: at.pointer.clone(),
        nullable,
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        default,
        shape,
    })
}

/// Only scalars have a default that can be written in Rust.
fn refuse_default(reader: &mut Reader<'_>, default: Option<&Node>, shape: &Shape) {
    let Some(default) = default else { return };
    let scalar = !matches!(default.value, Value::Sequence(_) | Value::Mapping(_) | Value::Null);
    let time = matches!(shape, Shape::String(string) if string.is_time());
    if !scalar || time {
        let message = "a default of this type is not supported";
        reader.error(
            Code::UnsupportedKeyword,
            default.span,
            message,
            "describe it, and let the server fill it in",
        );
    }
}

fn shape<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<(Shape, bool)> {
    if let Some(target) = at.node.get("$ref") {
        refuse_beside(reader, at, "$ref", &["description", "deprecated"]);
        return reader.reference(target, "schemas").map(|name| (Shape::Reference(name), false));
    }
    if let Some(list) = reader.child(at, "oneOf") {
        refuse_beside(
            reader,
            at,
            "oneOf",
            &["description", "deprecated", "example", "examples", "title", "readOnly"],
        );
        return nullable_reference(reader, &list).map(|name| (Shape::Reference(name), true));
    }
    if let Some(list) = reader.child(at, "allOf") {
        refuse_beside(
            reader,
            at,
            "allOf",
            &["description", "deprecated", "example", "examples", "title", "readOnly"],
        );
        return extension(reader, &list).map(|shape| (Shape::Object(shape), false));
    }
    let (kind, nullable) = kind(reader, at)?;
    let shape = match kind {
        "object" => object(reader, at)?,
        "array" => array(reader, at)?,
        "string" => string(reader, at)?,
        "integer" => Shape::Integer(number(reader, at)),
        "number" => Shape::Number(number(reader, at)),
        _ => Shape::Boolean,
    };
    refuse_foreign(reader, at, kind);
    Some((shape, nullable))
}

/// Reports what may not stand beside a composition.
fn refuse_beside(reader: &mut Reader<'_>, at: &At<'_>, keyword: &str, allowed: &[&str]) {
    for entry in at.node.entries().unwrap_or_default() {
        let key = &*entry.key;
        if key != keyword && !allowed.contains(&key) {
            reader.error(
                Code::UnsupportedKeyword,
                entry.key.span,
                format!("`{key}` stands beside `{keyword}`"),
                "put it into the schema that it belongs to",
            );
        }
    }
}

/// The type, and whether null is allowed.
fn kind<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<(&'static str, bool)> {
    let Some(stated) = reader.child(at, "type") else {
        if reader.findings.last().is_some_and(|finding| {
            at.node.span.start <= finding.span.start && finding.span.end <= at.node.span.end
        }) {
            return None; // What it says instead was refused just before.
        }
        let help =
            "write `type`, `$ref`, `oneOf` of a reference and null, or `allOf` of a reference and an object";
        reader.error(Code::UnsupportedKeyword, at.named, "the schema does not say what it is", help);
        return None;
    };
    let names: Vec<&Node> = match &stated.node.value {
        Value::Sequence(names) => names.iter().collect(),
        _ => vec![stated.node],
    };
    let null = |node: &&&Node| node.as_str() == Some("null");
    let nullable = names.iter().any(|node| null(&node));
    let rest: Vec<_> = names.iter().filter(|node| !null(node)).collect();
    let known = ["object", "array", "string", "integer", "number", "boolean"];
    if let [one] = &rest[..]
        && let Some(kind) = known.into_iter().find(|kind| one.as_str() == Some(kind))
    {
        return Some((kind, nullable));
    }
    reader.error(
        Code::UnsupportedKeyword,
        stated.node.span,
        "this is not one type that can be generated",
        ONE_TYPE,
    );
    None
}

/// Keywords that say nothing about a type, and the types that they belong to.
const BELONGS: [(&[&str], &[&str]); 5] = [
    (&["minLength", "maxLength", "pattern", "const"], &["string"]),
    (&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], &["integer", "number"]),
    (&["format"], &["string", "integer", "number"]),
    (&["items", "minItems", "maxItems", "uniqueItems"], &["array"]),
    (
        &[
            "properties",
            "required",
            "additionalProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
        ],
        &["object"],
    ),
];

fn refuse_foreign(reader: &mut Reader<'_>, at: &At<'_>, kind: &str) {
    for entry in at.node.entries().unwrap_or_default() {
        let key = &*entry.key;
        let owner = BELONGS.iter().find(|(keywords, _)| keywords.contains(&key));
        if owner.is_some_and(|(_, kinds)| !kinds.contains(&kind)) || (key == "enum" && kind != "string") {
            reader.error(
                Code::UnsupportedKeyword,
                entry.key.span,
                format!("`{key}` says nothing about a schema of type {kind}"),
                "leave it out, or correct the type",
            );
        }
    }
}

fn nullable_reference<'n>(reader: &mut Reader<'n>, list: &At<'n>) -> Option<Text> {
    let items = reader.items(list);
    let is_null = |item: &At<'_>| item.node.get("type").and_then(Node::as_str) == Some("null");
    let target = |item: &At<'n>| item.node.get("$ref");
    let target = match &items[..] {
        [left, right] if is_null(right) => target(left),
        [left, right] if is_null(left) => target(right),
        _ => None,
    };
    let Some(target) = target else {
        let message = "`oneOf` is supported for one reference and null";
        reader.error(Code::UnsupportedKeyword, list.named, message, NULLABLE_REF);
        return None;
    };
    reader.reference(target, "schemas")
}

fn extension<'n>(reader: &mut Reader<'n>, list: &At<'n>) -> Option<ObjectShape> {
    let items = reader.items(list);
    let [base, own] = &items[..] else {
        let message = "`allOf` is supported for one reference and one object";
        reader.error(Code::UnsupportedKeyword, list.named, message, EXTENSION);
        return None;
    };
    let (Some(target), Some("object")) = (base.node.get("$ref"), own.node.get("type").and_then(Node::as_str))
    else {
        let message = "`allOf` is supported for one reference and one object";
        reader.error(Code::UnsupportedKeyword, list.named, message, EXTENSION);
        return None;
    };
    let base = reader.reference(target, "schemas")?;
    let Shape::Object(own) = read(reader, own)?.shape else { return None };
    Some(ObjectShape { base: Some(base), ..own })
}

fn object<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Shape> {
    let properties = reader.child(at, "properties");
    let additional = reader.child(at, "additionalProperties");
    if let Some(names) = reader.child(at, "propertyNames") {
        read(reader, &names);
    }
    let closed = match &additional {
        None => false,
        Some(At { node: Node { value: Value::Bool(allowed), .. }, .. }) => !allowed,
        Some(values) if properties.is_none() => return map(reader, at, values),
        Some(both) => {
            let help = "keep one of the two: an object with fields, or a map";
            reader.error(
                Code::UnsupportedKeyword,
                both.named,
                "an object has properties and a schema for others",
                help,
            );
            return None;
        }
    };
    let Some(list) = properties else {
        let help = "write `properties`, or `additionalProperties` with one schema";
        reader.error(Code::UnsupportedKeyword, at.named, "the object does not say what it holds", help);
        return None;
    };
    let required = required(reader, at, &list);
    let mut own = Vec::new();
    for (name, property) in reader.children(&list) {
        if let Some(schema) = read(reader, &property) {
            own.push(Property { name: name.clone(), required: required.contains(&name.text), schema });
        }
    }
    Some(Shape::Object(ObjectShape { base: None, properties: own, closed }))
}

fn required<'n>(reader: &mut Reader<'n>, at: &At<'n>, properties: &At<'n>) -> Vec<String> {
    let Some(list) = reader.child(at, "required") else { return Vec::new() };
    let mut names = Vec::new();
    for item in reader.items(&list) {
        let Some(name) = reader.text(&item) else { continue };
        if properties.node.get(&name.text).is_none() {
            let message = format!("`{}` is required and not among the properties", name.text);
            reader.error(
                Code::UnsupportedKeyword,
                name.span,
                message,
                "add the property, or correct the name",
            );
        }
        names.push(name.text);
    }
    names
}

fn map<'n>(reader: &mut Reader<'n>, at: &At<'n>, values: &At<'n>) -> Option<Shape> {
    Some(Shape::Map(MapShape {
        values: Box::new(read(reader, values)?),
        min_properties: reader.count(at, "minProperties"),
        max_properties: reader.count(at, "maxProperties"),
    }))
}

fn array<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Shape> {
    let items = reader.needed(at, "items", "a list")?;
    Some(Shape::Array(ArrayShape {
        items: Box::new(read(reader, &items)?),
        min_items: reader.count(at, "minItems"),
        max_items: reader.count(at, "maxItems"),
        unique_items: reader.flag(at, "uniqueItems"),
    }))
}

fn string<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Shape> {
    if let Some(value) = reader.child(at, "const") {
        return Some(Shape::Enum(EnumShape { values: vec![reader.text(&value)?] }));
    }
    if let Some(list) = reader.child(at, "enum") {
        let mut values = Vec::new();
        for item in reader.items(&list) {
            if !matches!(item.node.value, Value::Null) {
                values.extend(reader.text(&item));
            }
        }
        return Some(Shape::Enum(EnumShape { values }));
    }
    let pattern = reader.text_of(at, "pattern");
    if let Some(pattern) = &pattern
        && let Err(error) = regex::Regex::new(pattern)
    {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        reader.error(
            Code::BadPattern,
            pattern.span,
            format!("Rust's `regex` cannot read the pattern: {reason}"),
            "write it without look-around and back-references",
        );
    }
    Some(Shape::String(StringShape {
        format: reader.text_of(at, "format"),
        pattern,
        min_length: reader.count(at, "minLength"),
        max_length: reader.count(at, "maxLength"),
    }))
}

fn number<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> NumberShape {
    NumberShape {
        format: reader.text_of(at, "format"),
        minimum: reader.number(at, "minimum"),
        maximum: reader.number(at, "maximum"),
        exclusive_minimum: reader.number(at, "exclusiveMinimum"),
        exclusive_maximum: reader.number(at, "exclusiveMaximum"),
        multiple_of: reader.number(at, "multipleOf"),
    }
}
