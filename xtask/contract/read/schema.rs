//! Reads schemas.

use super::super::keywords;
use super::super::model::{ArrayShape, MapShape, ObjectPart, ObjectShape, Property, Schema, Shape};
use super::super::node::{Node, Value};
use super::super::reader::{Cursor, NodeReader};
use super::{bounds, composition, deprecation, scalar};
use crate::diagnostic::Code;

const ONE_TYPE: &str = "use `object`, `array`, `string`, `integer`, `number` or `boolean`, \
                        optionally with 'null', such as `type: [string, 'null']`";

/// Keywords that can be used beside a composition or a reference, because they do not change which values are valid.
pub(super) const ANNOTATIONS: &[&str] = &[
    "description",
    "deprecated",
    "x-deprecated-at",
    "x-sunset",
    "x-replaced-by",
    "example",
    "examples",
    "title",
    "readOnly",
];

/// Reads a schema and the schemas inside it.
pub(super) fn read<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<Schema> {
    if matches!(cursor.node.value, Value::Bool(true)) {
        return Some(without_annotations(cursor, Shape::Any, false));
    }
    if !reader.check_keywords(cursor, &keywords::SCHEMA) {
        return None;
    }
    let (shape, nullable) = shape(reader, cursor)?;
    check_extensible_enum(reader, cursor, &shape);
    bounds::check(reader, cursor);
    if let Some(examples) = reader.child(cursor, "examples") {
        reader.items(&examples);
    }
    deprecation::check(reader, cursor);
    deprecation::check_values(reader, cursor, &shape);
    let default = cursor.node.get("default").cloned();
    scalar::check_default(reader, default.as_ref(), &shape);
    Some(Schema {
        description: reader.string_child(cursor, "description").map(|text| text.text),
        deprecated: reader.flag(cursor, "deprecated"),
        read_only: reader.flag(cursor, "readOnly").then(|| cursor.node.span_at("/readOnly")),
        default,
        ..without_annotations(cursor, shape, nullable)
    })
}

/// Creates a schema without description, default and other annotations.
fn without_annotations(cursor: &Cursor<'_>, shape: Shape, nullable: bool) -> Schema {
    Schema {
        span: cursor.name_span,
        pointer: cursor.pointer.clone(),
        nullable,
        description: None,
        deprecated: false,
        read_only: None,
        default: None,
        shape,
    }
}

fn check_extensible_enum(reader: &mut NodeReader<'_>, cursor: &Cursor<'_>, shape: &Shape) {
    if let Some(extensible) = cursor.node.get("x-extensible-enum")
        && !matches!((&extensible.value, shape), (Value::Bool(_), Shape::Enum(_)))
    {
        let help = "write `x-extensible-enum: true` next to `enum`, or remove it";
        let message = "expected `x-extensible-enum: true` next to `enum`";
        reader.error(Code::UnsupportedKeyword, extensible.span, message, help);
    }
}

/// Reads the shape of a schema. Returns it, and whether null is valid.
fn shape<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<(Shape, bool)> {
    if let Some(target) = cursor.node.get("$ref") {
        reject_siblings(reader, cursor, "$ref", ANNOTATIONS);
        return reader.reference(target, "schemas").map(|name| (Shape::Reference(name), false));
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(list) = reader.child(cursor, keyword) {
            reject_siblings(reader, cursor, keyword, &[ANNOTATIONS, &["discriminator"]].concat());
            return composition::one_of(reader, cursor, &list, keyword);
        }
    }
    if let Some(list) = reader.child(cursor, "allOf") {
        reject_siblings(reader, cursor, "allOf", &[ANNOTATIONS, &["unevaluatedProperties"]].concat());
        return composition::all_of(reader, cursor, &list);
    }
    for (keyword, companion) in
        [("discriminator", "`oneOf` or `anyOf`"), ("unevaluatedProperties", "`allOf`")]
    {
        if let Some(entry) = cursor.node.entry(keyword) {
            let message = format!("`{keyword}` requires {companion}");
            let help = "remove it; to reject other properties, write `additionalProperties: false`";
            reader.error(Code::UnsupportedKeyword, entry.key.span, message, help);
        }
    }
    let (kind, nullable) = kind(reader, cursor)?;
    let shape = match kind {
        "object" => object(reader, cursor)?,
        "array" => array(reader, cursor)?,
        "string" => scalar::string(reader, cursor, nullable)?,
        "integer" => scalar::integer(reader, cursor, nullable)?,
        "number" => Shape::Number(scalar::number(reader, cursor, kind)),
        _ => Shape::Boolean,
    };
    reject_inapplicable(reader, cursor, kind);
    Some((shape, nullable))
}

/// Reports keywords that cannot be used beside a composition or a reference.
fn reject_siblings(reader: &mut NodeReader<'_>, cursor: &Cursor<'_>, keyword: &str, allowed: &[&str]) {
    for entry in cursor.node.entries().unwrap_or_default() {
        let key = &*entry.key;
        if key != keyword && !allowed.contains(&key) {
            reader.error(
                Code::UnsupportedKeyword,
                entry.key.span,
                format!("`{key}` cannot be used with `{keyword}`"),
                "move it into the schema that it applies to",
            );
        }
    }
}

/// Returns the type, and whether null is valid.
fn kind<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<(&'static str, bool)> {
    let Some(declared) = reader.child(cursor, "type") else {
        if reader.diagnostics.last().is_some_and(|diagnostic| {
            cursor.node.span.start <= diagnostic.span.start && diagnostic.span.end <= cursor.node.span.end
        }) {
            return None; // An error inside this schema was already reported.
        }
        let help = "add `type`, `$ref`, `oneOf` or `allOf`, or write `true` to allow any value";
        reader.error(Code::UnsupportedKeyword, cursor.name_span, "the schema has no type", help);
        return None;
    };
    let names: Vec<&Node> = match &declared.node.value {
        Value::Sequence(names) => names.iter().collect(),
        _ => vec![declared.node],
    };
    let is_null = |node: &&&Node| node.as_str() == Some("null");
    let nullable = names.iter().any(|node| is_null(&node));
    let types: Vec<_> = names.iter().filter(|node| !is_null(node)).collect();
    let supported = ["object", "array", "string", "integer", "number", "boolean"];
    if let [name] = &types[..]
        && let Some(kind) = supported.into_iter().find(|kind| name.as_str() == Some(kind))
    {
        return Some((kind, nullable));
    }
    let message = "unsupported type";
    reader.error(Code::UnsupportedKeyword, declared.node.span, message, ONE_TYPE);
    None
}

/// Groups of keywords, each with the types that it applies to.
const APPLICABLE_TYPES: [(&[&str], &[&str]); 7] = [
    (&["minLength", "maxLength", "pattern"], &["string"]),
    (&["enum", "const"], &["string", "integer"]),
    (&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], &["integer", "number"]),
    (&["format"], &["string", "integer", "number"]),
    (&["items", "minItems", "maxItems", "uniqueItems"], &["array"]),
    (&["x-extensible-enum"], &["string"]),
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

/// Reports keywords that do not apply to the type.
fn reject_inapplicable(reader: &mut NodeReader<'_>, cursor: &Cursor<'_>, kind: &str) {
    for entry in cursor.node.entries().unwrap_or_default() {
        let key = &*entry.key;
        let Some((_, kinds)) = APPLICABLE_TYPES.iter().find(|(keywords, _)| keywords.contains(&key)) else {
            continue;
        };
        // `check_extensible_enum` reports `x-extensible-enum`.
        if kinds.contains(&kind) || key == "x-extensible-enum" {
            continue;
        }
        let (message, help) = if ["enum", "const"].contains(&key) {
            let message = format!("`{key}` is not supported for type {kind}");
            (message, "use an enum of strings or integers, or describe the values")
        } else {
            let message = format!("`{key}` does not apply to type {kind}");
            (message, "remove it, or correct the type")
        };
        reader.error(Code::UnsupportedKeyword, entry.key.span, message, help);
    }
}

fn object<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<Shape> {
    let properties = reader.child(cursor, "properties");
    let additional = reader.child(cursor, "additionalProperties");
    if let Some(names) = reader.child(cursor, "propertyNames") {
        read(reader, &names);
    }
    let closed = match &additional {
        None => false,
        Some(values) if properties.is_none() && !matches!(values.node.value, Value::Bool(false)) => {
            return map(reader, cursor, values);
        }
        Some(Cursor { node: Node { value: Value::Bool(allowed), .. }, .. }) => !allowed,
        Some(values) => {
            let help = "keep one of them: `properties` for an object, `additionalProperties` for a map";
            let message = "a schema for `additionalProperties` cannot be used with `properties`";
            reader.error(Code::UnsupportedKeyword, values.name_span, message, help);
            return None;
        }
    };
    let Some(list) = properties else {
        let help = "add `properties`, or `additionalProperties` with a schema (`true` allows any value)";
        reader.error(
            Code::UnsupportedKeyword,
            cursor.name_span,
            "the object has neither `properties` nor `additionalProperties`",
            help,
        );
        return None;
    };
    let required = required(reader, cursor, &list);
    let mut own = Vec::new();
    for (name, property) in reader.children(&list) {
        if let Some(schema) = read(reader, &property) {
            own.push(Property { name: name.clone(), required: required.contains(&name.text), schema });
        }
    }
    Some(Shape::Object(ObjectShape { parts: vec![ObjectPart::Own(own)], closed }))
}

fn required<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, properties: &Cursor<'n>) -> Vec<String> {
    let Some(list) = reader.child(cursor, "required") else { return Vec::new() };
    let mut names = Vec::new();
    for item in reader.items(&list) {
        let Some(name) = reader.string(&item) else { continue };
        if properties.node.get(&name.text).is_none() {
            let message = format!("the required property `{}` is not declared", name.text);
            let help =
                "add the property, or correct the name; in `allOf`, list it in the member that declares it";
            reader.error(Code::RequiredWithoutProperty, name.span, message, help);
        }
        names.push(name.text);
    }
    names
}

fn map<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, values: &Cursor<'n>) -> Option<Shape> {
    if let Some(required) = cursor.node.entry("required") {
        let help = "declare the keys in `properties`, or remove `required`";
        let message = "a map cannot have required properties";
        reader.error(Code::RequiredWithoutProperty, required.key.span, message, help);
    }
    Some(Shape::Map(MapShape {
        values: Box::new(read(reader, values)?),
        min_properties: reader.count(cursor, "minProperties"),
        max_properties: reader.count(cursor, "maxProperties"),
    }))
}

fn array<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<Shape> {
    let items = reader.required_child(cursor, "items", "a list")?;
    Some(Shape::Array(ArrayShape {
        items: Box::new(read(reader, &items)?),
        min_items: reader.count(cursor, "minItems"),
        max_items: reader.count(cursor, "maxItems"),
        unique_items: reader.flag(cursor, "uniqueItems"),
    }))
}
