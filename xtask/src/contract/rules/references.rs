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
            targets.extend(&object.base);
            object.properties.iter().for_each(|property| references(&property.schema, targets));
        }
        Shape::Map(map) => references(&map.values, targets),
        Shape::Array(array) => references(&array.items, targets),
        Shape::String(_) | Shape::Enum(_) | Shape::Integer(_) | Shape::Number(_) | Shape::Boolean => {}
    }
}

fn base(document: &Document, schema: &Schema, findings: &mut Vec<Diagnostic>) {
    let Shape::Object(object) = &schema.shape else { return };
    let Some(name) = &object.base else { return };
    let target = document.schema(name).map(|base| &base.shape);
    if !matches!(target, Some(Shape::Object(_)) | None) {
        findings.push(Diagnostic::error(
            Code::UnsupportedKeyword,
            name.span,
            format!("`{}` is extended and is not an object with properties", name.text),
            "extend an object, written with `properties` or with `allOf`",
        ));
    }
}
