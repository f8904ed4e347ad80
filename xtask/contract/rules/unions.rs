//! Unions: no value has two shapes, so that Rust and the contract agree on which one it has.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Member, Schema, Shape, UnionShape};

/// Judges every union of `components.schemas`, and those written at operations and webhooks.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    for named in &document.schemas {
        schema(document, &named.schema, findings);
    }
    let bodies = document.operations.iter().filter_map(|operation| operation.body.as_ref());
    let responses = document.operations.iter().flat_map(|operation| &operation.responses);
    let contents = bodies.map(|body| &body.content);
    let contents = contents.chain(responses.filter_map(|response| response.content.as_ref()));
    for content in contents.chain(document.webhooks.iter().map(|webhook| &webhook.content)) {
        schema(document, &content.schema, findings);
    }
}

fn schema(document: &Document, at: &Schema, findings: &mut Vec<Diagnostic>) {
    match &at.shape {
        Shape::Union(union) => {
            match &union.discriminator {
                Some(property) => {
                    union.members.iter().for_each(|member| told(document, property, member, findings));
                }
                None => kinds(document, union, findings),
            }
            union.members.iter().for_each(|member| schema(document, &member.schema, findings));
        }
        Shape::Object(object) => {
            object.own().for_each(|property| schema(document, &property.schema, findings));
        }
        Shape::Array(array) => schema(document, &array.items, findings),
        Shape::Map(map) => schema(document, &map.values, findings),
        _ => {}
    }
}

/// A member must hold the discriminator to its own value, or else a value could have another member's shape too.
fn told(document: &Document, property: &str, member: &Member, findings: &mut Vec<Diagnostic>) {
    // One that was refused is reported where it stands.
    let Some(target) = document.resolve(&member.schema) else { return };
    let value = match &target.shape {
        Shape::Object(object) => {
            document.properties(object).into_iter().find(|own| own.name.text == *property && own.required)
        }
        _ => None,
    };
    let shape = value.map(|own| (own.schema.nullable, document.shape(&own.schema)));
    if let Some((false, Some(Shape::Enum(list)))) = shape
        && matches!(&list.values[..], [only] if only.text == member.name.text)
    {
        return;
    }
    let message = format!("nothing holds `{property}` to `{}` in this shape", member.name.text);
    let help = format!(
        "make it an object that requires `{property}: {{type: string, const: {}}}`",
        member.name.text
    );
    findings.push(
        Diagnostic::error(Code::DiscriminatorMapping, member.schema.span, message, help)
            .related(target.span, "this shape"),
    );
}

/// Without a discriminator, the kind of value tells.
fn kinds(document: &Document, union: &UnionShape, findings: &mut Vec<Diagnostic>) {
    let mut known: Vec<(&str, &Member)> = Vec::new();
    for member in &union.members {
        let Some(target) = document.resolve(&member.schema) else { continue };
        let Some(kind) = kind(&target.shape).filter(|_| !target.nullable) else {
            let message = "this shape of the union is not of one kind";
            let help = "list shapes of one type each, and null as a shape of its own";
            findings.push(Diagnostic::error(Code::UnsupportedKeyword, member.schema.span, message, help));
            continue;
        };
        let Some((_, other)) = known.iter().find(|(other, _)| *other == kind) else {
            known.push((kind, member));
            continue;
        };
        let help = if kind == "an object" {
            "add `discriminator` with `propertyName` and `mapping`"
        } else {
            "make them one schema, or put each into an object"
        };
        findings.push(
            Diagnostic::error(
                Code::DiscriminatorMapping,
                member.schema.span,
                format!("two shapes of the union are {kind} each, and nothing tells them apart"),
                help,
            )
            .related(other.schema.span, "the other one"),
        );
    }
}

/// The kind of JSON value that a shape is, where it is one kind.
fn kind(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Object(_) | Shape::Map(_) => Some("an object"),
        Shape::Array(_) => Some("a list"),
        Shape::String(_) | Shape::Enum(_) => Some("a string"),
        Shape::Integer(_) | Shape::Number(_) | Shape::IntegerEnum(_) => Some("a number"),
        Shape::Boolean => Some("a boolean"),
        Shape::Any | Shape::Union(_) | Shape::Reference(_) => None,
    }
}
