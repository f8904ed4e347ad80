//! Documents that are rejected because their content is invalid or unsupported and cannot be compared.

use contract::diagnostic::Code;
use contract::source::Source;
use serde_json::{Value, json};

use super::super::document;
use super::behavior::document_with_response_schemas;
use super::{read, yaml};

#[test]
fn circular_references_are_rejected() {
    let cycle_count = |schemas: Value| {
        let document = Source::new("a.json", document_with_response_schemas(&schemas));
        let invalid = document::read(document).expect_err("circular references must be rejected");
        assert!(invalid.diagnostics.iter().all(|diagnostic| diagnostic.code == Code::CyclicRef));
        invalid.diagnostics.len()
    };
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    assert_eq!(cycle_count(json!({"A": reference("A")})), 1);
    assert_eq!(cycle_count(json!({"A": reference("B"), "B": reference("A")})), 1);
    assert_eq!(cycle_count(json!({"A": {"allOf": [reference("A")]}})), 1);
    let object = json!({"type": "object"});
    assert_eq!(
        cycle_count(
            json!({"A": {"allOf": [reference("B"), object]}, "B": {"allOf": [object, reference("A")]}})
        ),
        1
    );
    // Properties can refer back, and an alternative can refer to the schema that contains it.
    read(
        "a.json",
        &document_with_response_schemas(
            &json!({"A": {"properties": {"$ref": reference("A"), "allOf": reference("A")}}}),
        ),
    );
    read(
        "a.json",
        &document_with_response_schemas(
            &json!({"A": {"oneOf": [reference("B")]}, "B": {"allOf": [reference("A"), object]}}),
        ),
    );
    let mut chain = json!({"A": reference("S0")});
    for index in 0..5_000 {
        chain[format!("S{index}")] = reference(&format!("S{}", index + 1));
    }
    chain["S5000"] = reference("S0");
    assert_eq!(cycle_count(chain), 1);
}

#[test]
fn values_of_the_wrong_type_are_rejected() {
    let messages = |text: &str| {
        let invalid = document::read(Source::new("a.yaml", text)).expect_err(text);
        invalid.diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect::<Vec<_>>().join("; ")
    };
    let empty_document = "the document is empty: it has neither `paths` nor `webhooks` nor `components`";
    assert_eq!(messages("openapi: 3.1.0"), empty_document);
    let document = |line: &str| messages(&format!("openapi: 3.1.0\n{line}\n"));
    assert_eq!(document("paths: [1]"), "expected a mapping, got a list");
    assert_eq!(document("paths: {/a: }"), "expected a mapping, got null");
    let parameter =
        "paths: {/a: {parameters: [{$ref: '#/x-parameters/0'}]}}\nx-parameters: [{name: a, in: query}]";
    for (components, message) in
        [("[]", "expected a mapping, got a list"), ("{parameters: 1}", "expected a mapping, got an integer")]
    {
        assert!(document(&format!("{parameter}\ncomponents: {components}")).starts_with(message));
    }
    for path in ["a", "''", "'{id}'"] {
        assert!(
            document(&format!("paths: {{{path}: {{}}}}")).ends_with("is not a path: paths begin with `/`")
        );
    }
    let operation = |text: &str| document(&format!("paths: {{/a: {{get: {{{text}}}}}}}"));
    assert_eq!(operation("parameters: {a: 1}"), "expected a list, got a mapping");
    assert_eq!(operation("parameters: [{name: a}]"), "parameter without `in`");
    assert_eq!(operation("responses: []"), "expected a mapping, got a list");
    assert_eq!(operation("security: {key: []}"), "expected a list, got a mapping");
    let schema = |text: &str| document(&format!("components: {{schemas: {{A: {text}}}}}"));
    assert_eq!(schema("{type: strng}"), "`strng` is not a type");
    assert_eq!(schema("{type: [string, null]}"), "expected the name of a type, got null");
    assert_eq!(schema("{properties: [a]}"), "expected a mapping, got a list");
    assert_eq!(schema("{required: a}"), "expected a list of strings, got a string");
    assert_eq!(schema(""), "expected a mapping or a boolean, got null");
    assert_eq!(schema("{properties: {x-a: 1}}"), "expected a mapping or a boolean, got an integer");
    assert_eq!(
        operation("responses: {'200': {headers: {x-total: 1}}}"),
        "expected a mapping, got an integer"
    );
    let valid =
        "openapi: 3.1.0\npaths:\n  x-a: 1\n  /a: {get: {responses: {x-b: 1, '200': {description: D}}}}";
    document::read(Source::new("a.yaml", valid)).expect("extensions can have any type");
    assert_eq!(
        document("components: {responses: {x-a: 1}}"),
        "expected a mapping, got an integer",
        "the name of a shared response can begin with `x-`, so its value is validated"
    );
}

#[test]
fn keywords_of_schemas_and_security_schemes_are_validated() {
    let messages = |components: &str| {
        let text = format!("openapi: 3.1.0\ncomponents: {{{components}}}\n");
        let invalid = document::read(Source::new("a.yaml", text)).expect_err(components);
        invalid.diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect::<Vec<_>>().join("; ")
    };
    for (schema, message) in [
        ("discriminator: kind", "expected a mapping, got a string"),
        ("discriminator: {propertyName: [kind]}", "expected a string, got a list"),
        ("discriminator: {mapping: [a]}", "expected a mapping of strings, got a list"),
        ("discriminator: {mapping: {a: 1}}", "expected a string, got an integer"),
        ("dependentRequired: [a]", "expected a mapping, got a list"),
        ("dependentRequired: {a: b}", "expected a list of strings, got a string"),
        ("dependentRequired: {x-a: [1]}", "expected a string, got an integer"),
        ("minContains: '1'", "expected a number, got a string"),
        ("maxContains: [1]", "expected a number, got a list"),
        ("exclusiveMinimum: '1'", "expected a number or a boolean, got a string"),
        ("exclusiveMaximum: [1]", "expected a number or a boolean, got a list"),
    ] {
        assert_eq!(messages(&format!("schemas: {{A: {{{schema}}}}}")), message, "{schema}");
    }
    let scopes = |scopes: &str| {
        messages(&format!(
            "securitySchemes: {{a: {{type: oauth2, flows: {{implicit: {{scopes: {scopes}}}}}}}}}"
        ))
    };
    assert_eq!(scopes("[r]"), "expected a mapping, got a list");
    let valid_schema = "{exclusiveMinimum: 1, exclusiveMaximum: true, maximum: 3, minContains: 1, discriminator: \
                 {propertyName: a, mapping: {a: A}, x-a: 1}, dependentRequired: {a: [b]}}";
    let valid = json!({"components": {
        "schemas": {"A": yaml(valid_schema)},
        "securitySchemes": {"a": {"type": "oauth2", "flows": {"implicit": {"scopes": {"r": null}}}}},
    }, "openapi": "3.1.0"});
    read("a.json", &valid.to_string());
}

#[test]
fn keywords_both_next_to_a_reference_and_in_its_target_are_rejected() {
    let messages = |own_keywords: Value, shared: Value| {
        let mut item = own_keywords;
        item["$ref"] = json!("#/components/pathItems/A");
        let components = json!({"pathItems": {"A": {"$ref": "#/components/pathItems/B"}, "B": shared}});
        let text = json!({"openapi": "3.1.0", "webhooks": {"a": item}, "components": components}).to_string();
        let diagnostics =
            document::read(Source::new("a.json", text)).err().map(|invalid| invalid.diagnostics);
        diagnostics
            .unwrap_or_default()
            .into_iter()
            .map(|diagnostic| diagnostic.message)
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(
        messages(json!({"get": {}}), json!({"get": {}})),
        "`get` is defined next to the reference and in its target; which of them applies is undefined"
    );
    assert_eq!(messages(json!({"get": {}, "summary": "S", "x-a": 1}), json!({"summary": "T", "x-a": 2})), "");
}
