//! Tests objects: `allOf`, declarations of the same property, and properties that one side does not send.

use super::{CONVENTIONS, contract, read_contract, tested};
use crate::diagnostic::DiagnosticFormat;
use crate::model::{Document, ObjectShape, Schema, Shape};
use crate::read;
use crate::source::Source;

#[test]
fn all_of_becomes_one_object() {
    let other = "{ $ref: '#/components/schemas/Other' }";
    for (schema, expected) in [
        (format!("{{ allOf: [{other}, {{ properties: {{ a: {{ type: string }} }} }}] }}"), "id a"),
        (format!("{{ type: object, allOf: [{other}], properties: {{ b: true }}, required: [id] }}"), "id! b"),
        (
            format!("{{ allOf: [{other}, {{ properties: {{ id: {{ type: string, format: uuid }} }} }}] }}"),
            "id",
        ),
        (format!("{{ allOf: [{{ allOf: [{other}] }}, {{ required: [id] }}] }}"), "id!"),
    ] {
        let contract = contract("3.1.0", &schema);
        let Shape::Object(object) = tested(&contract.document) else { panic!("{schema} is not an object") };
        assert_eq!(properties(&contract.document, object), expected, "{schema}");
    }
}

#[test]
fn declarations_of_the_same_property_are_merged() {
    let wide = "{ type: object, properties: { a: { type: string }, deep: { type: object, properties: { x: true } } } }";
    for (first, second, expected) in [
        // Objects have the properties of both, at any depth.
        (
            wide,
            "{ properties: { b: { type: string }, deep: { type: object, properties: { y: true } } } }",
            "{a: string, deep: {x: any, y: any}, b: string}",
        ),
        ("{ $ref: '#/components/schemas/Other' }", wide, "{id: string, a: string, deep: {x: any}}"),
        ("{ $ref: '#/components/schemas/Other' }", "{ $ref: '#/components/schemas/Other' }", "Other"),
        ("{ $ref: '#/components/schemas/Other' }", "{ $ref: '#/components/schemas/Derived' }", "Derived"),
        ("{ $ref: '#/components/schemas/Derived' }", "{ $ref: '#/components/schemas/Other' }", "Derived"),
        (
            "{ type: array, items: { properties: { a: { type: string } } } }",
            "{ type: array, items: { properties: { b: { type: string } } } }",
            "[{a: string, b: string}]",
        ),
        // The last declaration that is more than a type.
        ("{ type: object }", wide, "{a: string, deep: {x: any}}"),
        (wide, "{ type: object, description: A. }", "{a: string, deep: {x: any}}"),
        ("{ type: array, items: { type: object } }", "{ type: array, items: { type: string } }", "[string]"),
        ("{ type: string, minLength: 1 }", "{ type: [string, 'null'], enum: [a, null] }", "enum"),
        ("{ type: number }", "{ type: integer }", "integer"),
        ("{ description: A. }", "{ type: string }", "string"),
        // The scalar type, if only one declaration has a type.
        ("{ type: string, enum: [cat, dog] }", "{ const: dog }", "enum"),
        ("{ const: dog }", "{ type: string, enum: [cat, dog] }", "enum"),
        ("{ type: string, pattern: '^a' }", "{ format: email }", "string"),
        ("{ format: email }", "{ type: string }", "string"),
        // No Rust type: a note explains it.
        ("{ type: string }", "{ type: integer }", "any"),
        (wide, "{ oneOf: [{ type: string }, { type: integer }] }", "any"),
        (wide, "{ type: object, additionalProperties: { type: string } }", "any"),
    ] {
        let schema = format!(
            "{{ allOf: [{{ properties: {{ p: {first} }} }}, {{ properties: {{ p: {second} }} }}] }}\n    \
             Derived: {{ allOf: [{{ $ref: '#/components/schemas/Other' }}, {{ properties: {{ d: true }} }}] }}"
        );
        let contract = contract("3.1.0", &schema);
        let document = &contract.document;
        assert_eq!(shape(document, tested(document)), format!("{{p: {expected}}}"), "{first} and {second}");
        assert_eq!(contract.notes.is_empty(), expected != "any", "{:?}", contract.notes);
    }
}

#[test]
fn arrays_that_contain_themselves_are_merged() {
    let reference = |name: &str| format!("{{ $ref: '#/components/schemas/{name}' }}");
    let property = |name: &str| format!("{{ properties: {{ p: {} }} }}", reference(name));
    let schema = format!(
        "{{ allOf: [{}, {}] }}\n    A: {{ type: array, items: {} }}\n    B: {{ type: array, items: {} }}",
        property("A"),
        property("B"),
        reference("A"),
        reference("B")
    );
    // A type that contains only itself may be rejected later, but the search for it ends.
    let _ = read_contract("3.1.0", &schema, "");
}

#[test]
fn a_base_that_is_inherited_in_many_ways_is_read_once() {
    let level = |index: usize| {
        let base = format!("{{ $ref: '#/components/schemas/L{}' }}", index + 1);
        format!("\n    L{index}: {{ allOf: [{}] }}", [base.as_str(); 6].join(", "))
    };
    let levels: String = (0..24).map(level).collect();
    let last = "\n    L24: { properties: { a: { type: string, readOnly: true } } }";
    let first = "{ $ref: '#/components/schemas/L0' }";
    // The second declaration of `p` restricts the first one, which is one of its bases.
    let schema = format!(
        "{{ required: [p], allOf: [{{ properties: {{ p: {{ $ref: '#/components/schemas/Other' }} }} }}, \
         {{ properties: {{ p: {first} }} }}] }}{levels}{last}"
    );
    let contract = contract("3.1.0", &schema);
    let Shape::Object(object) = tested(&contract.document) else { panic!("{schema} is not an object") };
    assert_eq!(properties(&contract.document, object), "p!");
}

/// Returns a short form of a shape.
fn shape(document: &Document, shape: &Shape) -> String {
    let schema_shape = |schema: &Schema| self::shape(document, &schema.shape);
    match shape {
        Shape::Object(object) => {
            let properties = document.properties(object).into_iter();
            let properties = properties
                .map(|property| format!("{}: {}", property.name.text, schema_shape(&property.schema)));
            format!("{{{}}}", properties.collect::<Vec<_>>().join(", "))
        }
        Shape::Array(array) => format!("[{}]", schema_shape(&array.items)),
        Shape::Reference(name) => name.text.clone(),
        Shape::String(_) => "string".to_owned(),
        Shape::Integer(_) => "integer".to_owned(),
        Shape::Enum(_) => "enum".to_owned(),
        Shape::Any => "any".to_owned(),
        other => panic!("unexpected shape {other:?}"),
    }
}

#[test]
fn a_property_is_optional_where_one_side_does_not_send_it() {
    let object =
        "{ required: [r, w, b], properties: { r: { readOnly: true }, w: { writeOnly: true }, b: true } }";
    let base = "{ required: [r], properties: { r: { type: string, readOnly: true } } }";
    let part = "{ allOf: [{ type: string }, { allOf: [{ readOnly: true }] }] }";
    let response = "'200': { description: A., content: { application/json: { schema: SCHEMA } } }";
    let body = "requestBody: { content: { application/json: { schema: SCHEMA } } }, responses: ";
    for (rest, schema, expected) in [
        (format!("{body}{{ '204': {{ description: A. }} }}"), object.to_owned(), "r w! b!"),
        (format!("responses: {{ {response} }}"), object.to_owned(), "r! w b!"),
        (format!("{body}{{ {response} }}"), object.to_owned(), "r w b!"),
        (format!("{body}{{ {response} }}"), format!("{{ allOf: [{base}, {{ required: [r] }}] }}"), "r"),
        (format!("responses: {{ {response} }}"), format!("{{ allOf: [{base}, {{ required: [r] }}] }}"), "r!"),
        // Only a part of the property, or another declaration of it, is read-only.
        (format!("{body}{{ {response} }}"), format!("{{ required: [r], properties: {{ r: {part} }} }}"), "r"),
        (
            format!("{body}{{ {response} }}"),
            "{ allOf: [{ required: [r], properties: { r: true } }, { properties: { r: { readOnly: true } } }] }"
                .to_owned(),
            "r",
        ),
    ] {
        let operation = rest.replace("SCHEMA", "{ $ref: '#/components/schemas/Sent' }");
        let text = format!(
            "openapi: 3.1.0\ninfo: {{ title: T, version: '1' }}\npaths:\n  /a:\n    post: {{ {operation} }}\n\
             components: {{ schemas: {{ Sent: {schema} }} }}\n"
        );
        let contract = read(Source::new("a.yaml", text), &CONVENTIONS)
            .unwrap_or_else(|invalid| panic!("{}", invalid.render(DiagnosticFormat::Text)));
        let document = &contract.document;
        let Some(Shape::Object(object)) = document.schema("Sent").and_then(|schema| document.shape(schema))
        else {
            panic!("{schema} is not an object")
        };
        assert_eq!(properties(document, object), expected, "{schema} in {operation}");
    }
}

/// Returns the names of properties. A required one has an exclamation mark.
fn properties(document: &Document, object: &ObjectShape) -> String {
    let names = document.properties(object).into_iter();
    let names = names.map(|property| property.name.text.clone() + if property.required { "!" } else { "" });
    names.collect::<Vec<_>>().join(" ")
}
