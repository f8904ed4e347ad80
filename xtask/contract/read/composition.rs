//! Reads `oneOf`, `anyOf` and `allOf`.

use super::super::keywords;
use super::super::model::{ObjectPart, ObjectShape, Shape, UnionMember, UnionShape};
use super::super::node::{Node, SpannedString, Value};
use super::super::reader::{Cursor, NodeReader};
use super::schema;
use crate::diagnostic::Code;

/// Reads `oneOf` or `anyOf`: a single schema, which can be nullable, or a union. Returns the shape, and whether null is
/// valid.
pub(super) fn one_of<'n>(
    reader: &mut NodeReader<'n>,
    cursor: &Cursor<'n>,
    list: &Cursor<'n>,
    keyword: &str,
) -> Option<(Shape, bool)> {
    let (nulls, parts): (Vec<_>, Vec<_>) = reader.items(list).into_iter().partition(is_null);
    for null in &nulls {
        reject_in_null(reader, null);
    }
    reject_in_members(reader, &parts, keyword);
    let nullable = !nulls.is_empty();
    match &parts[..] {
        [] => {
            let help = "list the schemas that a value can match";
            reader.error(Code::UnsupportedKeyword, list.name_span, format!("`{keyword}` is empty"), help);
            None
        }
        [part] => {
            if let Some(discriminator) = cursor.node.entry("discriminator") {
                let message = "a discriminator requires at least two members";
                let help = format!("remove it, or list the other members in `{keyword}`");
                reader.error(Code::DiscriminatorMapping, discriminator.key.span, message, help);
            }
            let schema = schema::read(reader, part)?;
            Some((schema.shape, nullable || schema.nullable))
        }
        parts => match reader.child(cursor, "discriminator") {
            Some(discriminator) => {
                with_discriminator(reader, parts, &discriminator).map(|union| (union, nullable))
            }
            None => without_discriminator(reader, parts).map(|union| (union, nullable)),
        },
    }
}

/// Reports keywords of the member that allows null.
fn reject_in_null(reader: &mut NodeReader<'_>, null: &Cursor<'_>) {
    for entry in null.node.entries().unwrap_or_default() {
        if !["type", "description"].contains(&&*entry.key) {
            let message = format!("`{}` has no effect on null", entry.key.text);
            let help = "remove it, or move it into another member";
            reader.error(Code::UnsupportedKeyword, entry.key.span, message, help);
        }
    }
}

/// Reports keywords that a member cannot have because they apply to the whole composition.
fn reject_in_members(reader: &mut NodeReader<'_>, parts: &[Cursor<'_>], keyword: &str) {
    for part in parts {
        for entry in part.node.entries().unwrap_or_default() {
            let key = &*entry.key;
            if ["default", "deprecated", "x-deprecated-at", "x-sunset", "x-replaced-by", "readOnly"]
                .contains(&key)
            {
                let message = format!("`{key}` is not supported in a member of `{keyword}`");
                let help = match key {
                    "default" => "remove it, document the default in `description`, and set it in the server"
                        .to_owned(),
                    _ => format!("move it next to `{keyword}`"),
                };
                reader.error(Code::UnsupportedKeyword, entry.key.span, message, help);
            }
        }
    }
}

fn is_null(part: &Cursor<'_>) -> bool {
    part.node.get("type").and_then(Node::as_str) == Some("null")
}

/// Reads a union without a discriminator. The members are named after their schemas or their JSON types.
fn without_discriminator<'n>(reader: &mut NodeReader<'n>, parts: &[Cursor<'n>]) -> Option<Shape> {
    let mut members = Vec::new();
    for part in parts {
        let schema = schema::read(reader, part)?;
        let name = match &schema.shape {
            Shape::Reference(name) => name.clone(),
            _ => {
                // A rule rejects members without a type.
                let kind = part.node.get("type").and_then(Node::as_str).unwrap_or("either");
                SpannedString { text: kind.to_owned(), span: part.name_span }
            }
        };
        members.push(UnionMember { name, schema });
    }
    Some(Shape::Union(UnionShape { discriminator: None, members }))
}

/// Reads a union with a discriminator. The keys of its mapping become the names of the members.
fn with_discriminator<'n>(
    reader: &mut NodeReader<'n>,
    parts: &[Cursor<'n>],
    cursor: &Cursor<'n>,
) -> Option<Shape> {
    if !reader.check_keywords(cursor, &keywords::DISCRIMINATOR) {
        return None;
    }
    let property = reader.required_child(cursor, "propertyName", "a discriminator")?;
    let property = reader.string(&property)?;
    let Some(mapping) = reader.child(cursor, "mapping") else {
        let help =
            format!("add `mapping` with one entry per member: a value of `{}` and its `$ref`", property.text);
        reader.error(
            Code::DiscriminatorMapping,
            cursor.name_span,
            "the discriminator has no `mapping`",
            help,
        );
        return None;
    };
    let mut mapping_entries: Vec<(SpannedString, SpannedString)> = Vec::new();
    for (value, target) in reader.children(&mapping) {
        mapping_entries.push((value.clone(), reader.reference(target.node, "schemas")?));
    }
    let mut members = Vec::new();
    for part in parts {
        let schema = schema::read(reader, part)?;
        let Shape::Reference(name) = &schema.shape else {
            let message = "a member of a union with a discriminator must be a `$ref`";
            let help = "move the object to `components.schemas`, and reference it here and in the mapping";
            reader.error(Code::DiscriminatorMapping, part.name_span, message, help);
            return None;
        };
        let mut values = mapping_entries.iter().filter(|(_, target)| target.text == name.text);
        let (Some((value, _)), None) = (values.next(), values.next()) else {
            let message = format!("expected one mapping entry for `{}`", name.text);
            let help = "write one mapping entry per member: a value of the property and its `$ref`";
            reader.error(Code::DiscriminatorMapping, name.span, message, help);
            return None;
        };
        members.push(UnionMember { name: value.clone(), schema });
    }
    let is_unused =
        |target: &SpannedString| !members.iter().any(|member| references(&member.schema.shape, target));
    if let Some((_, target)) = mapping_entries.iter().find(|(_, target)| is_unused(target)) {
        let message = format!("the mapping references `{}`, which is not a member of the union", target.text);
        reader.error(
            Code::DiscriminatorMapping,
            target.span,
            message,
            "add it to the union, or remove the mapping entry",
        );
        return None;
    }
    Some(Shape::Union(UnionShape { discriminator: Some(property), members }))
}

fn references(shape: &Shape, target: &SpannedString) -> bool {
    matches!(shape, Shape::Reference(name) if name.text == target.text)
}

/// Reads `allOf`: an object that extends others, or one reference with keywords beside it. Returns the shape and
/// `false`, because null is never valid in addition.
pub(super) fn all_of<'n>(
    reader: &mut NodeReader<'n>,
    cursor: &Cursor<'n>,
    list: &Cursor<'n>,
) -> Option<(Shape, bool)> {
    let items = reader.items(list);
    let closed = match reader.child(cursor, "unevaluatedProperties") {
        None => false,
        Some(Cursor { node: Node { value: Value::Bool(allowed), .. }, .. }) => !allowed,
        Some(other) => {
            reader.wrong_type(other.node, "`false`");
            false
        }
    };
    reject_in_members(reader, &items, "allOf");
    let mut parts = Vec::new();
    for item in &items {
        let schema = schema::read(reader, item)?;
        match (schema.shape, schema.nullable) {
            (Shape::Reference(name), _) => parts.push(ObjectPart::Base(name)),
            (Shape::Object(object), false) => {
                if object.closed {
                    let help = "write `unevaluatedProperties: false` next to `allOf` instead";
                    let message = "a member of `allOf` rejects the properties of the others";
                    reader.error(Code::UnsupportedKeyword, item.name_span, message, help);
                }
                parts.extend(object.parts);
            }
            _ => {
                let help =
                    "list references to objects, and objects; move other keywords into the referenced schema";
                let message = "`allOf` supports only objects";
                reader.error(Code::UnsupportedKeyword, item.name_span, message, help);
                return None;
            }
        }
    }
    match &parts[..] {
        [] => {
            reader.error(
                Code::UnsupportedKeyword,
                list.name_span,
                "`allOf` is empty",
                "list the objects to extend",
            );
            None
        }
        [ObjectPart::Base(name)] if !closed => Some((Shape::Reference(name.clone()), false)),
        _ => Some((Shape::Object(ObjectShape { parts, closed }), false)),
    }
}
