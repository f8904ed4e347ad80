//! `oneOf`, `anyOf` and `allOf`: shapes that can be told apart, and objects put together.

use super::super::keywords;
use super::super::model::{Member, ObjectPart, ObjectShape, Shape, UnionShape};
use super::super::node::{Node, Text, Value};
use super::super::reader::{At, Reader};
use super::schema::{self, refuse_beside};
use crate::diagnostic::Code;

/// `oneOf` or `anyOf`: a reference that can be null, or a union; and whether null is allowed.
pub(super) fn either<'n>(
    reader: &mut Reader<'n>,
    at: &At<'n>,
    list: &At<'n>,
    keyword: &str,
) -> Option<(Shape, bool)> {
    let (nulls, parts): (Vec<_>, Vec<_>) = reader.items(list).into_iter().partition(is_null);
    for null in &nulls {
        refuse_beside(reader, null, "type", &["description"]);
    }
    refuse_in_parts(reader, &parts, keyword);
    let nullable = !nulls.is_empty();
    match &parts[..] {
        [] => {
            let help = "list the shapes that a value can have";
            reader.error(Code::UnsupportedKeyword, list.named, format!("`{keyword}` lists no shape"), help);
            None
        }
        [one] => {
            if let Some(discriminator) = at.node.entry("discriminator") {
                let message = "the discriminator tells one shape from no other";
                let help = format!("leave it out, or list the other shapes in `{keyword}`");
                reader.error(Code::DiscriminatorMapping, discriminator.key.span, message, help);
            }
            let schema = schema::read(reader, one)?;
            Some((schema.shape, nullable || schema.nullable))
        }
        parts => match reader.child(at, "discriminator") {
            Some(discriminator) => discriminated(reader, parts, &discriminator).map(|it| (it, nullable)),
            None => by_kind(reader, parts).map(|it| (it, nullable)),
        },
    }
}

/// What a part says of its use would be lost: the use is that of the whole.
fn refuse_in_parts(reader: &mut Reader<'_>, parts: &[At<'_>], keyword: &str) {
    for part in parts {
        for entry in part.node.entries().unwrap_or_default() {
            let key = &*entry.key;
            if ["default", "deprecated", "x-sunset", "readOnly"].contains(&key) {
                let message = format!("`{key}` stands in a part of `{keyword}`");
                let help = match key {
                    "default" => "describe it, and let the server fill it in".to_owned(),
                    _ => format!("write it beside `{keyword}`"),
                };
                reader.error(Code::UnsupportedKeyword, entry.key.span, message, help);
            }
        }
    }
}

fn is_null(part: &At<'_>) -> bool {
    part.node.get("type").and_then(Node::as_str) == Some("null")
}

/// A union whose members are called by their names, or else by the kind of value that they are.
fn by_kind<'n>(reader: &mut Reader<'n>, parts: &[At<'n>]) -> Option<Shape> {
    let mut members = Vec::new();
    for part in parts {
        let schema = schema::read(reader, part)?;
        let name = match &schema.shape {
            Shape::Reference(name) => name.clone(),
            _ => {
                let kind = part.node.get("type").and_then(Node::as_str).unwrap_or("either");
                Text { text: kind.to_owned(), span: part.named }
            }
        };
        members.push(Member { name, schema });
    }
    Some(Shape::Union(UnionShape { discriminator: None, members }))
}

/// A union whose members are named by the mapping of its discriminator.
fn discriminated<'n>(reader: &mut Reader<'n>, parts: &[At<'n>], at: &At<'n>) -> Option<Shape> {
    if !reader.object(at, &keywords::DISCRIMINATOR) {
        return None;
    }
    let property = reader.needed(at, "propertyName", "a discriminator")?;
    let property = reader.text(&property)?;
    let Some(mapping) = reader.child(at, "mapping") else {
        let help = format!(
            "add `mapping` with one line for each shape: a value of `{}` and its `$ref`",
            property.text
        );
        reader.error(Code::DiscriminatorMapping, at.named, "the discriminator has no mapping", help);
        return None;
    };
    let mut mapped: Vec<(Text, Text)> = Vec::new();
    for (value, target) in reader.children(&mapping) {
        mapped.push((value.clone(), reader.reference(target.node, "schemas")?));
    }
    let mut members = Vec::new();
    for part in parts {
        let schema = schema::read(reader, part)?;
        let Shape::Reference(name) = &schema.shape else {
            let message = "a shape told apart by a discriminator is not a reference";
            let help = "name the object under `components.schemas`, and refer to it here and in the mapping";
            reader.error(Code::DiscriminatorMapping, part.named, message, help);
            return None;
        };
        let mut values = mapped.iter().filter(|(_, target)| target.text == name.text);
        let (Some((value, _)), None) = (values.next(), values.next()) else {
            let message = format!("the mapping does not lead to `{}` exactly once", name.text);
            let help = "write one line for each shape: a value of the property and its `$ref`";
            reader.error(Code::DiscriminatorMapping, name.span, message, help);
            return None;
        };
        members.push(Member { name: value.clone(), schema });
    }
    let unused = |target: &Text| !members.iter().any(|member| leads_to(&member.schema.shape, target));
    if let Some((_, target)) = mapped.iter().find(|(_, target)| unused(target)) {
        let message = format!("the mapping leads to `{}`, which is no shape of the union", target.text);
        reader.error(Code::DiscriminatorMapping, target.span, message, "list it, or take the line out");
        return None;
    }
    Some(Shape::Union(UnionShape { discriminator: Some(property), members }))
}

fn leads_to(shape: &Shape, target: &Text) -> bool {
    matches!(shape, Shape::Reference(name) if name.text == target.text)
}

/// `allOf`: an object with the properties of several, or one reference with something said beside it.
pub(super) fn all<'n>(reader: &mut Reader<'n>, at: &At<'n>, list: &At<'n>) -> Option<(Shape, bool)> {
    let items = reader.items(list);
    let closed = match reader.child(at, "unevaluatedProperties") {
        None => false,
        Some(At { node: Node { value: Value::Bool(allowed), .. }, .. }) => !allowed,
        Some(other) => {
            reader.wrong(other.node, "`false`");
            false
        }
    };
    refuse_in_parts(reader, &items, "allOf");
    let mut parts = Vec::new();
    for item in &items {
        let schema = schema::read(reader, item)?;
        match (schema.shape, schema.nullable) {
            (Shape::Reference(name), _) => parts.push(ObjectPart::Base(name)),
            (Shape::Object(object), false) => {
                if object.closed {
                    let help = "write `unevaluatedProperties: false` beside `allOf`";
                    let message = "a part of `allOf` refuses the properties of the others";
                    reader.error(Code::UnsupportedKeyword, item.named, message, help);
                }
                parts.extend(object.parts);
            }
            _ => {
                let help = "list references to objects, and objects; put bounds into the schema itself";
                let message = "`allOf` is supported for objects, and this part is none";
                reader.error(Code::UnsupportedKeyword, item.named, message, help);
                return None;
            }
        }
    }
    match &parts[..] {
        [] => {
            reader.error(Code::UnsupportedKeyword, list.named, "`allOf` lists nothing", "list the objects");
            None
        }
        [ObjectPart::Base(name)] if !closed => Some((Shape::Reference(name.clone()), false)),
        _ => Some((Shape::Object(ObjectShape { parts, closed }), false)),
    }
}
