//! Unions: each value matches exactly one member, so that the generated enum and the contract agree.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Schema, Shape, UnionMember, UnionShape};

/// Checks every union in `components.schemas` and in bodies. Parameters and headers cannot be unions.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    for named in &document.schemas {
        check_schema(document, &named.schema, diagnostics);
    }
    let bodies = document.operations.iter().filter_map(|operation| operation.body.as_ref());
    let responses = document.operations.iter().flat_map(|operation| &operation.responses);
    let contents = bodies.map(|body| &body.content);
    let contents = contents.chain(responses.filter_map(|response| response.content.as_ref()));
    for content in contents.chain(document.webhooks.iter().map(|webhook| &webhook.content)) {
        check_schema(document, &content.schema, diagnostics);
    }
}

fn check_schema(document: &Document, schema: &Schema, diagnostics: &mut Vec<Diagnostic>) {
    match &schema.shape {
        Shape::Union(union) => {
            match &union.discriminator {
                Some(property) => {
                    union
                        .members
                        .iter()
                        .for_each(|member| check_member(document, property, member, diagnostics));
                }
                None => check_json_types(document, union, diagnostics),
            }
            union.members.iter().for_each(|member| check_schema(document, &member.schema, diagnostics));
        }
        Shape::Object(object) => {
            object
                .own_properties()
                .for_each(|property| check_schema(document, &property.schema, diagnostics));
        }
        Shape::Array(array) => check_schema(document, &array.items, diagnostics),
        Shape::Map(map) => check_schema(document, &map.values, diagnostics),
        _ => {}
    }
}

/// Checks that a member restricts the discriminator to its own value. Otherwise a value could match another member,
/// too.
fn check_member(
    document: &Document,
    property: &str,
    member: &UnionMember,
    diagnostics: &mut Vec<Diagnostic>,
) {
    // An invalid member was already reported.
    let Some(target) = document.resolve(&member.schema) else { return };
    let discriminator = match &target.shape {
        Shape::Object(object) => document
            .properties(object)
            .into_iter()
            .find(|candidate| candidate.name.text == *property && candidate.required),
        _ => None,
    };
    let nullable_and_shape = discriminator.map(|discriminator| {
        (document.is_nullable(&discriminator.schema), document.shape(&discriminator.schema))
    });
    if let Some((false, Some(Shape::Enum(list)))) = nullable_and_shape
        && matches!(&list.values[..], [only] if only.text == member.name.text)
    {
        return;
    }
    let message = format!("the member does not require `{property}` to be `{}`", member.name.text);
    let help =
        format!("use an object that requires `{property}: {{type: string, const: {}}}`", member.name.text);
    diagnostics.push(
        Diagnostic::error(Code::DiscriminatorMapping, member.schema.span, message, help)
            .with_related(target.span, "declared here"),
    );
}

/// Checks that the members have different JSON types.
fn check_json_types(document: &Document, union: &UnionShape, diagnostics: &mut Vec<Diagnostic>) {
    let mut first_members: Vec<(&str, &UnionMember)> = Vec::new();
    for member in &union.members {
        let Some(target) = document.resolve(&member.schema) else { continue };
        let Some(kind) = kind(&target.shape).filter(|_| !document.is_nullable(&member.schema)) else {
            let message = "the union member does not have exactly one JSON type";
            let help = "use members with one type each, and a separate member for null";
            diagnostics.push(Diagnostic::error(Code::UnsupportedKeyword, member.schema.span, message, help));
            continue;
        };
        let Some((_, first)) = first_members.iter().find(|(first_kind, _)| *first_kind == kind) else {
            first_members.push((kind, member));
            continue;
        };
        let help = if kind == "an object" {
            "add a `discriminator` with `propertyName` and `mapping`"
        } else {
            "merge them into one schema, or wrap each in an object"
        };
        diagnostics.push(
            Diagnostic::error(
                Code::DiscriminatorMapping,
                member.schema.span,
                format!("two members of the union have the same JSON type: {kind}"),
                help,
            )
            .with_related(first.schema.span, "first member with this type"),
        );
    }
}

/// Returns the JSON type of a shape, if it has exactly one.
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
