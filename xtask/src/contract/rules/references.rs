//! References among schemas: no circles, and `allOf` begins with an object.

use crate::contract::model::{Document, Schema, Shape};
use crate::contract::node::Text;
use crate::diagnostic::{Code, Diagnostic};

/// Judges every schema of `components.schemas`.
pub fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    for named in &document.schemas {
        let mut way = vec![&named.name];
        circle(document, &named.schema, &mut way, findings);
        base(document, &named.schema, findings);
    }
}

/// Follows every reference that a schema leads to, and reports the one that closes a circle through the schema itself.
fn circle<'a>(
    document: &'a Document,
    schema: &'a Schema,
    way: &mut Vec<&'a Text>,
    findings: &mut Vec<Diagnostic>,
) {
    let mut targets = Vec::new();
    references(schema, &mut targets);
    for target in targets {
        if target.text == way[0].text {
            let names: Vec<_> = way.iter().map(|name| &*name.text).chain([&*target.text]).collect();
            // The circle is reported once, at the schema of it that comes first in the alphabet.
            if names.iter().min() == Some(&&*way[0].text) {
                findings.push(
                    Diagnostic::error(
                        Code::CyclicRef,
                        target.span,
                        format!("the schema contains itself: {}", names.join(" -> ")),
                        "cut the circle: name the inner thing by its id, and let clients fetch it",
                    )
                    .related(way[0].span, "this schema"),
                );
            }
        } else if !way.iter().any(|known| known.text == target.text)
            && let Some(next) = document.schema(target)
        {
            way.push(target);
            circle(document, next, way, findings);
            way.pop();
        }
    }
}

fn references<'a>(schema: &'a Schema, targets: &mut Vec<&'a Text>) {
    match &schema.shape {
        Shape::Reference(name) => targets.push(name),
        Shape::Object(object) => {
            targets.extend(object.bases());
            object.own().for_each(|property| references(&property.schema, targets));
        }
        Shape::Union(union) => union.members.iter().for_each(|member| references(&member.schema, targets)),
        Shape::Map(map) => references(&map.values, targets),
        Shape::Array(array) => references(&array.items, targets),
        Shape::Any
        | Shape::String(_)
        | Shape::Enum(_)
        | Shape::IntegerEnum(_)
        | Shape::Integer(_)
        | Shape::Number(_)
        | Shape::Boolean => {}
    }
}

/// What an `allOf` of schemas extends: objects that are open, since a closed one refuses what the others add.
fn base(document: &Document, schema: &Schema, findings: &mut Vec<Diagnostic>) {
    match &schema.shape {
        Shape::Object(object) => {
            object.bases().for_each(|name| extended(document, name, findings));
            object.own().for_each(|property| base(document, &property.schema, findings));
        }
        Shape::Array(array) => base(document, &array.items, findings),
        Shape::Map(map) => base(document, &map.values, findings),
        Shape::Union(union) => {
            union.members.iter().for_each(|member| base(document, &member.schema, findings));
        }
        _ => {}
    }
}

fn extended(document: &Document, name: &Text, findings: &mut Vec<Diagnostic>) {
    let Some(target) = document.schema(name) else { return };
    let (message, help) = match &target.shape {
        Shape::Object(object) if !object.closed && !target.nullable => return,
        Shape::Object(object) if object.closed => (
            format!("`{}` is extended and refuses other properties", name.text),
            "leave its `additionalProperties: false` out, and write `unevaluatedProperties: false` beside `allOf`",
        ),
        _ => (
            format!("`{}` is extended and is not an object with properties", name.text),
            "extend an object, written with `properties` or with `allOf`",
        ),
    };
    findings.push(Diagnostic::error(Code::UnsupportedKeyword, name.span, message, help));
}
