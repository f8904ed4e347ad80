//! Schemas.

use super::super::keywords;
use super::super::model::{ArrayShape, MapShape, ObjectPart, ObjectShape, Property, Schema, Shape};
use super::super::node::{Node, Value};
use super::super::reader::{At, Reader};
use super::{bounds, composition, scalar, sunset};
use crate::diagnostic::Code;

const ONE_TYPE: &str = "write one type, or one type and 'null': `type: [string, 'null']`";

/// What may stand beside a composition or a reference without changing which values it takes.
pub(super) const BESIDE: &[&str] =
    &["description", "deprecated", "x-sunset", "example", "examples", "title", "readOnly"];

/// Reads a schema and everything inside it.
pub(super) fn read<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Schema> {
    if matches!(at.node.value, Value::Bool(true)) {
        return Some(schema(at, Shape::Any, false));
    }
    if !reader.object(at, &keywords::SCHEMA) {
        return None;
    }
    let (shape, nullable) = shape(reader, at)?;
    refuse_open(reader, at, &shape);
    bounds::judge(reader, at);
    if let Some(examples) = reader.child(at, "examples") {
        reader.items(&examples);
    }
    sunset(reader, at);
    let default = at.node.get("default").cloned();
    scalar::refuse_default(reader, default.as_ref(), &shape);
    Some(Schema {
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        read_only: reader.flag(at, "readOnly").then(|| at.node.place_of("/readOnly")),
        default,
        ..schema(at, shape, nullable)
    })
}

fn schema(at: &At<'_>, shape: Shape, nullable: bool) -> Schema {
    Schema {
        span: at.named,
        pointer: at.pointer.clone(),
        nullable,
        description: None,
        deprecated: false,
        read_only: None,
        default: None,
        shape,
    }
}

fn refuse_open(reader: &mut Reader<'_>, at: &At<'_>, shape: &Shape) {
    if let Some(open) = at.node.get("x-extensible-enum")
        && !matches!((&open.value, shape), (Value::Bool(_), Shape::Enum(_)))
    {
        let help = "write `x-extensible-enum: true` beside an `enum`, or leave it out";
        let message = "`x-extensible-enum` marks an open enum with `true`";
        reader.error(Code::UnsupportedKeyword, open.span, message, help);
    }
}

fn shape<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<(Shape, bool)> {
    if let Some(target) = at.node.get("$ref") {
        refuse_beside(reader, at, "$ref", BESIDE);
        return reader.reference(target, "schemas").map(|name| (Shape::Reference(name), false));
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(list) = reader.child(at, keyword) {
            refuse_beside(reader, at, keyword, &[BESIDE, &["discriminator"]].concat());
            return composition::either(reader, at, &list, keyword);
        }
    }
    if let Some(list) = reader.child(at, "allOf") {
        refuse_beside(reader, at, "allOf", &[BESIDE, &["unevaluatedProperties"]].concat());
        return composition::all(reader, at, &list);
    }
    for (keyword, beside) in [("discriminator", "`oneOf`"), ("unevaluatedProperties", "`allOf`")] {
        if let Some(entry) = at.node.entry(keyword) {
            let message = format!("`{keyword}` stands without {beside}");
            let help = "leave it out; an object is closed by `additionalProperties: false`";
            reader.error(Code::UnsupportedKeyword, entry.key.span, message, help);
        }
    }
    let (kind, nullable) = kind(reader, at)?;
    let shape = match kind {
        "object" => object(reader, at)?,
        "array" => array(reader, at)?,
        "string" => scalar::string(reader, at, nullable)?,
        "integer" => scalar::integer(reader, at, nullable)?,
        "number" => Shape::Number(scalar::number(reader, at, kind)),
        _ => Shape::Boolean,
    };
    refuse_foreign(reader, at, kind);
    Some((shape, nullable))
}

/// Reports what may not stand beside a composition.
pub(super) fn refuse_beside(reader: &mut Reader<'_>, at: &At<'_>, keyword: &str, allowed: &[&str]) {
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
        let help = "write `type`, `$ref`, `oneOf` or `allOf`; where any value may stand, write `true`";
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
    let message = "this is not one type that can be generated";
    reader.error(Code::UnsupportedKeyword, stated.node.span, message, ONE_TYPE);
    None
}

/// Keywords that say nothing about a type, and the types that they belong to.
const BELONGS: [(&[&str], &[&str]); 7] = [
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

fn refuse_foreign(reader: &mut Reader<'_>, at: &At<'_>, kind: &str) {
    for entry in at.node.entries().unwrap_or_default() {
        let key = &*entry.key;
        let Some((_, kinds)) = BELONGS.iter().find(|(keywords, _)| keywords.contains(&key)) else { continue };
        if kinds.contains(&kind) || key == "x-extensible-enum" {
            continue;
        }
        let (message, help) = if ["enum", "const"].contains(&key) {
            let message = format!("`{key}` of a schema of type {kind} is not supported");
            (message, "list strings or whole numbers; for others describe what is meant")
        } else {
            let message = format!("`{key}` says nothing about a schema of type {kind}");
            (message, "leave it out, or correct the type")
        };
        reader.error(Code::UnsupportedKeyword, entry.key.span, message, help);
    }
}

fn object<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Shape> {
    let properties = reader.child(at, "properties");
    let additional = reader.child(at, "additionalProperties");
    if let Some(names) = reader.child(at, "propertyNames") {
        read(reader, &names);
    }
    let closed = match &additional {
        None => false,
        Some(values) if properties.is_none() && !matches!(values.node.value, Value::Bool(false)) => {
            return map(reader, at, values);
        }
        Some(At { node: Node { value: Value::Bool(allowed), .. }, .. }) => !allowed,
        Some(both) => {
            let help = "keep one of the two: an object with fields, or a map";
            let message = "an object has properties and a schema for others";
            reader.error(Code::UnsupportedKeyword, both.named, message, help);
            return None;
        }
    };
    let Some(list) = properties else {
        let help = "write `properties`, or `additionalProperties` with one schema (`true` takes anything)";
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
    Some(Shape::Object(ObjectShape { parts: vec![ObjectPart::Own(own)], closed }))
}

fn required<'n>(reader: &mut Reader<'n>, at: &At<'n>, properties: &At<'n>) -> Vec<String> {
    let Some(list) = reader.child(at, "required") else { return Vec::new() };
    let mut names = Vec::new();
    for item in reader.items(&list) {
        let Some(name) = reader.text(&item) else { continue };
        if properties.node.get(&name.text).is_none() {
            let message = format!("`{}` is required and not among the properties", name.text);
            let help = "add the property, or correct the name; in an `allOf` require it where it is written";
            reader.error(Code::RequiredWithoutProperty, name.span, message, help);
        }
        names.push(name.text);
    }
    names
}

fn map<'n>(reader: &mut Reader<'n>, at: &At<'n>, values: &At<'n>) -> Option<Shape> {
    if let Some(required) = at.node.entry("required") {
        let help = "name the keys under `properties`, or leave `required` out";
        let message = "a map has keys of the caller's choice and none that is required";
        reader.error(Code::RequiredWithoutProperty, required.key.span, message, help);
    }
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
