//! Tests contracts that do not follow the rules of this server: what is converted, noted and rejected.

mod objects;
mod security;

use crate::diagnostic::DiagnosticFormat;
use crate::model::{Document, ResponseStatus, Shape};
use crate::source::{Source, Span};
use crate::{Contract, Conventions, InvalidContract, Profile, read};

const CONVENTIONS: Conventions<'static> =
    Conventions { path_prefix: "/", spelling_exceptions: &[], profile: Profile::Open, has_rate_limits: true };

/// Reads a contract with one operation whose response has the schema `Tested`. `rest` is appended to the paths.
fn read_contract(version: &str, schema: &str, rest: &str) -> Result<Contract, Box<InvalidContract>> {
    let reference = "{ $ref: '#/components/schemas/Tested' }";
    let text = format!(
        "openapi: {version}\ninfo: {{ title: T, version: '1' }}\npaths:\n  /things:\n    get:\n      operationId: list\n\
         \x20     responses: {{ '200': {{ description: A., content: {{ application/json: {{ schema: {reference} }} }} }} }}\n\
         {rest}components:\n  schemas:\n    Tested: {schema}\n    Other: {{ type: object, properties: {{ id: {{ type: string }} }} }}\n"
    );
    read(Source::new("things.yaml", text), &CONVENTIONS)
}

fn contract(version: &str, schema: &str) -> Contract {
    read_contract(version, schema, "")
        .unwrap_or_else(|invalid| panic!("{}", invalid.render(DiagnosticFormat::Text)))
}

fn tested(document: &Document) -> &Shape {
    document.shape(document.schema("Tested").expect("the schema exists")).expect("the schema has a shape")
}

/// Returns the JSON of the schema as the server validates it.
fn validated(version: &str, schema: &str) -> String {
    let contract = contract(version, schema);
    let node = contract.root.pointer("/components/schemas/Tested").expect("the schema exists");
    serde_json::to_string(node).expect("JSON")
}

/// Returns the notes about a schema.
fn notes(schema: &str) -> Vec<String> {
    contract("3.1.0", schema).notes.into_iter().map(|note| note.message).collect()
}

/// Returns the errors about a contract with these paths, each with its line.
fn errors(schema: &str, rest: &str) -> Vec<String> {
    let invalid = read_contract("3.1.0", schema, rest).expect_err("the contract is rejected");
    let line = |span| invalid.source.position(span).line;
    invalid.diagnostics.iter().map(|error| format!("{}: {}", line(error.span), error.message)).collect()
}

#[test]
fn keywords_of_openapi_3_0_are_converted() {
    for (schema, expected) in [
        ("{ type: string, nullable: true }", r#"{"type":["string","null"]}"#),
        ("{ type: string, nullable: true, enum: [a] }", r#"{"type":["string","null"],"enum":["a",null]}"#),
        ("{ type: string, nullable: false }", r#"{"type":"string"}"#),
        (
            "{ type: integer, minimum: 1, exclusiveMinimum: true }",
            r#"{"type":"integer","exclusiveMinimum":1}"#,
        ),
        ("{ type: integer, maximum: 9, exclusiveMaximum: false }", r#"{"type":"integer","maximum":9}"#),
        (
            "{ type: array, items: { $ref: '#/components/schemas/Other', nullable: true } }",
            r##"{"type":"array","items":{"$ref":"#/components/schemas/Other"}}"##,
        ),
        (
            "{ nullable: true, description: A., allOf: [{ $ref: '#/components/schemas/Other' }] }",
            r##"{"description":"A.","anyOf":[{"allOf":[{"$ref":"#/components/schemas/Other"}]},{"type":"null"}]}"##,
        ),
        (
            "{ type: object, nullable: true, allOf: [{ $ref: '#/components/schemas/Other' }] }",
            r##"{"anyOf":[{"type":"object","allOf":[{"$ref":"#/components/schemas/Other"}]},{"type":"null"}]}"##,
        ),
        (
            "{ nullable: true, oneOf: [{ type: string }, { type: integer }] }",
            r#"{"anyOf":[{"oneOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}"#,
        ),
    ] {
        assert_eq!(validated("3.0.3", schema), expected, "{schema}");
    }
}

#[test]
fn a_nullable_reference_is_an_optional_value() {
    let reference = "allOf: [{ $ref: '#/components/schemas/Other' }]";
    for (schema, is_nullable) in [
        (format!("{{ {reference} }}"), false),
        (format!("{{ nullable: true, {reference} }}"), true),
        (format!("{{ type: object, nullable: true, {reference} }}"), true),
        (format!("{{ anyOf: [{{ {reference} }}], nullable: true }}"), true),
    ] {
        let schema = format!("{{ type: object, properties: {{ p: {schema} }} }}");
        let contract = contract("3.0.3", &schema);
        let Shape::Object(object) = tested(&contract.document) else { panic!("{schema} is not an object") };
        let property = &contract.document.properties(object)[0].schema;
        assert_eq!(contract.document.is_nullable(property), is_nullable, "{schema}");
        assert_eq!(contract.notes.len(), 0, "{:?}", contract.notes);
    }
}

#[test]
fn the_type_that_keywords_imply_is_written() {
    for (schema, expected) in [
        ("{ properties: { a: true } }", r#"{"type":"object","properties":{"a":true}}"#),
        ("{ items: { enum: [a] } }", r#"{"type":"array","items":{"type":"string","enum":["a"]}}"#),
        ("{ enum: [a, 1] }", r#"{"enum":["a",1]}"#),
        ("{ not: { minLength: 1 } }", r#"{"not":{"minLength":1}}"#),
        ("{ if: { properties: { a: { minLength: 1 } } } }", r#"{"if":{"properties":{"a":{"minLength":1}}}}"#),
        ("{ anyOf: [{ minLength: 1 }] }", r#"{"anyOf":[{"type":"string","minLength":1}]}"#),
    ] {
        assert_eq!(validated("3.1.0", schema), expected, "{schema}");
    }
}

#[test]
fn a_schema_without_a_rust_type_is_any_value_with_a_note() {
    for (schema, note) in [
        ("{ type: [string, integer] }", "unsupported type"),
        (
            "{ oneOf: [{ type: string }, { type: string, maxLength: 1 }] }",
            "two members of the union have the same JSON type: a string",
        ),
        ("{ oneOf: [{ type: string }, { type: [integer, boolean] }] }", "unsupported type"),
        (
            "{ type: object, properties: {}, additionalProperties: { type: string } }",
            "an object has `properties` and a schema for `additionalProperties`",
        ),
        (
            "{ allOf: [{ type: string }, { maxLength: 2 }] }",
            "a member of `allOf` is not an object with properties",
        ),
        (
            "{ type: object, properties: { aB: true, a_b: true } }",
            "`a_b` and `aB` would both be named `a_b` in Rust (fields)",
        ),
    ] {
        assert!(matches!(tested(&contract("3.1.0", schema).document), Shape::Any), "{schema}");
        assert_eq!(notes(schema), [note], "{schema}");
    }
}

#[test]
fn a_restriction_without_a_rust_type_leaves_the_type() {
    for (schema, note) in [
        ("{ type: string, enum: [a, A] }", "`A` and `a` would both be named `A` in Rust (variants)"),
        ("{ type: string, format: shade-name }", "the format `shade-name` is ignored"),
        ("{ type: string, not: { const: a } }", "`not` does not change the generated types"),
        ("{ type: string, x-a: 1 }", "the extension `x-a` is ignored"),
    ] {
        assert!(matches!(tested(&contract("3.1.0", schema).document), Shape::String(_)), "{schema}");
        assert_eq!(notes(schema), [note], "{schema}");
    }
}

#[test]
fn names_of_the_generated_code_are_not_used_twice() {
    let schema = "{ type: object, properties: { at: { $ref: '#/components/schemas/Date' } } }\n    Date: { type: string, format: date }\n    date: { type: object, properties: { d: true } }";
    let contract = contract("3.1.0", schema);
    let names: Vec<_> = contract.document.schemas.iter().map(|schema| &*schema.name.text).collect();
    assert_eq!(names, ["Tested", "DateSchema", "DateSchema2", "Other"]);
}

#[test]
fn responses_can_have_ranges_and_a_default() {
    let rest = "  /a:\n    get:\n      responses:\n        2XX: { description: A. }\n        default: { description: B. }\n";
    let contract = read_contract("3.1.0", "true", rest).expect("the contract is valid");
    let operation = &contract.document.operations[1];
    let statuses: Vec<_> = operation.responses.iter().map(|response| response.status).collect();
    assert_eq!(statuses, [ResponseStatus::Range(2), ResponseStatus::Default]);
    assert_eq!((&*operation.id.text, &*operation.tag.text), ("GetA", "default"));
}

#[test]
fn defaults_and_servers_that_are_ignored_have_notes() {
    let ignored = "a default that has no Rust expression is ignored";
    for schema in [
        "{ type: object, properties: { a: { type: object, default: { b: 1 } } } }",
        "{ type: object, properties: { a: { type: string, format: date, default: '2026-01-01' } } }",
        "{ type: object, properties: { a: { $ref: '#/components/schemas/Other', default: {} } } }",
        "{ type: object, properties: { a: { default: 1 } } }",
        "{ allOf: [{ properties: { a: true } }], properties: { b: true }, default: {} }",
    ] {
        assert_eq!(notes(schema), [ignored], "{schema}");
    }
    assert_eq!(notes("{ type: object, properties: { a: { type: string, default: b } } }"), [""; 0]);
    let parameters =
        "parameters: [{ name: a, in: query, required: true, schema: { type: integer, default: 1 } }]";
    let rest = format!(
        "  /a:\n    get:\n      operationId: a\n      {parameters}\n      responses: {{ '204': {{ description: A. }} }}\nservers: [{{ url: /v1 }}]\n"
    );
    let contract = read_contract("3.1.0", "true", &rest).expect("the contract is valid");
    let notes: Vec<_> = contract.notes.iter().map(|note| &*note.message).collect();
    assert_eq!(notes, ["the default of a required parameter is ignored", "`servers` is ignored"]);
}

#[test]
fn a_shared_response_can_have_the_name_of_a_keyword() {
    let text = "openapi: 3.1.0\ninfo: { title: T, version: '1' }\npaths:\n  /a:\n    get:\n      responses:\n        \
                '200': { $ref: '#/components/responses/content' }\ncomponents:\n  responses:\n    \
                content: { description: A., content: { application/json: {} } }\n";
    let contract = read(Source::new("a.yaml", text), &CONVENTIONS)
        .unwrap_or_else(|invalid| panic!("{}", invalid.render(DiagnosticFormat::Text)));
    let content = contract.root.pointer("/components/responses/content").expect("the response exists");
    let expected = r#"{"description":"A.","content":{"application/json":{"schema":true}}}"#;
    assert_eq!(serde_json::to_string(content).expect("JSON"), expected);
}

#[test]
fn text_and_ranges_of_media_types_have_notes() {
    for (content, expected) in [
        (
            "text/plain: { schema: { type: integer } }",
            "the schema of a `text/plain` response is not a string",
        ),
        ("'*/*': {}", "the range of media types `*/*` is bytes"),
    ] {
        let response = format!("{{ '200': {{ description: A., content: {{ {content} }} }} }}");
        let rest = format!("  /a:\n    get:\n      operationId: a\n      responses: {response}\n");
        let contract = read_contract("3.1.0", "true", &rest).expect("the contract is valid");
        let notes: Vec<_> = contract.notes.iter().map(|note| &*note.message).collect();
        assert_eq!(notes, [expected]);
    }
}

#[test]
fn a_status_without_a_body_loses_its_content() {
    let content = "content: { application/json: { schema: true } }";
    let rest = format!("  /a:\n    get:\n      responses: {{ '204': {{ description: A., {content} }} }}\n");
    let contract = read_contract("3.1.0", "true", &rest).expect("the contract is valid");
    assert!(contract.document.operations[1].responses[0].content.is_none());
    let notes: Vec<_> = contract.notes.iter().map(|note| &*note.message).collect();
    assert!(notes.contains(&"the body of responses with status 204 is ignored"), "{notes:?}");
}

#[test]
fn constructs_without_a_substitute_are_rejected_with_their_place() {
    let operation = |keywords: &str| {
        format!("  /a:\n    get:\n      {keywords}\n      responses: {{ '200': {{ description: A. }} }}\n")
    };
    let parameter =
        |keywords: &str| operation(&format!("parameters: [{{ name: a, in: query, {keywords} }}]"));
    for (rest, expected) in [
        (parameter("schema: { type: object, properties: {} }"), "10: `a` is an object, but must be a scalar"),
        (
            parameter("style: deepObject, schema: { type: string }"),
            "10: the style `deepObject` is not supported for this parameter",
        ),
        (parameter("content: { text/csv: {} }"), "10: `content` in a parameter is not supported"),
        (operation("requestBody: { content: { text/csv: {} } }"), "10: a GET operation cannot have a body"),
        (
            parameter("style: deepObject, schema: { type: object, properties: { b: { type: string } } }"),
            "10: `a` is an object, but must be a scalar",
        ),
        (
            parameter("schema: { anyOf: [{ type: string }, { type: array, items: { type: string } }] }"),
            "10: `a` can have several types, but must be a scalar",
        ),
        (
            operation("requestBody: { content: { text/plain: { schema: { type: integer } } } }"),
            "10: the schema of a `text/plain` body must be a string",
        ),
        (
            operation("requestBody: { content: { text/plain; charset=latin1: {} } }"),
            "10: the charset `latin1` is not supported",
        ),
        (
            operation("requestBody: { content: { application/*+json: {} } }"),
            "10: `application/*+json` is neither a media type nor a range of media types",
        ),
        (
            operation("requestBody: { content: { json: {} } }"),
            "10: `json` is neither a media type nor a range of media types",
        ),
        (
            "  /a b:\n    get: { responses: { '200': { description: A. } } }\n".to_owned(),
            "8: invalid path segment `a b`",
        ),
        ("  /a: { $ref: '#/paths/~1things' }\n".to_owned(), "8: `$ref` in a path is not supported"),
    ] {
        assert!(
            errors("true", &rest).contains(&expected.to_owned()),
            "{expected}: {:?}",
            errors("true", &rest)
        );
    }
    for (schema, expected) in [
        (
            "{ type: string, pattern: '(?=a)' }",
            "10: invalid pattern for Rust's `regex` crate: look-around, including look-ahead and look-behind, is not supported",
        ),
        ("{ $ref: './a.yaml' }", "10: `./a.yaml` references another document"),
        ("{ $ref: '#/components/schemas/None' }", "10: unresolved reference `#/components/schemas/None`"),
    ] {
        assert_eq!(errors(schema, ""), [expected], "{schema}");
    }
}

#[test]
fn request_schemas_that_the_server_cannot_compile_are_rejected_with_their_place() {
    const UNSUPPORTED_PATTERN: &str = "invalid pattern for Rust's `regex` crate: look-around, including look-ahead and look-behind, is not supported";
    for (schema, place, expected) in [
        ("{ type: string, not: { pattern: '(?=a)' } }", "'(?=a)'", UNSUPPORTED_PATTERN),
        ("{ type: array, prefixItems: [{ pattern: '(?<=a)' }] }", "'(?<=a)'", UNSUPPORTED_PATTERN),
        ("{ type: object, patternProperties: { '(?!a)': true } }", "'(?!a)'", UNSUPPORTED_PATTERN),
        (
            "{ if: { properties: { a: { pattern: '(a)\\1' } } }, then: false }",
            "'(a)\\1'",
            "invalid pattern for Rust's `regex` crate: backreferences are not supported",
        ),
        (
            "{ type: object, properties: { a: { type: string, required: true } } }",
            "true",
            "`required` is not valid in a schema: true is not of type \"array\"",
        ),
        (
            "{ type: object, minProperties: many }",
            "many",
            "`minProperties` is not valid in a schema: \"many\" is not of type \"integer\"",
        ),
        ("{ not: { $ref: '#/none' } }", "'#/none'", "unresolved reference `#/none`"),
        ("{ not: { $ref: 'a.yaml' } }", "'a.yaml'", "`a.yaml` references another document"),
    ] {
        let content = "{ application/json: { schema: { $ref: '#/components/schemas/Tested' } } }";
        let rest = format!(
            "  /a:\n    post: {{ requestBody: {{ content: {content} }}, responses: {{ '204': {{ description: A. }} }} }}\n"
        );
        let invalid = read_contract("3.1.0", schema, &rest).expect_err("the contract is rejected");
        let text = |span: Span| invalid.source.text[span.start..span.end].trim_end().to_owned();
        let errors = invalid.diagnostics.iter().map(|error| (text(error.span), error.message.clone()));
        assert_eq!(errors.collect::<Vec<_>>(), [(place.to_owned(), expected.to_owned())], "{schema}");
    }
}

#[test]
fn other_versions_of_openapi_are_rejected() {
    for (version, expected) in [
        ("3.2.0", "expected OpenAPI 3.0.x or 3.1.x, found `3.2.0`"),
        ("4.0.0", "expected OpenAPI 3.0.x or 3.1.x, found `4.0.0`"),
    ] {
        let invalid = read_contract(version, "{ type: string }", "").expect_err("the contract is rejected");
        let messages: Vec<_> = invalid.diagnostics.iter().map(|error| &error.message).collect();
        assert_eq!(messages, [expected]);
    }
}
