//! Documents that are rejected: invalid or unsupported content could not be compared.

use contract::diagnostic::Code;
use contract::source::Source;
use serde_json::{Value, json};

use super::super::document;
use super::behavior::answering;
use super::{read, yaml};

#[test]
fn circular_references_are_rejected() {
    let circles = |schemas: Value| {
        let refused = document::read(Source::new("a.json", answering(&schemas))).expect_err("a circle");
        assert!(refused.diagnostics.iter().all(|finding| finding.code == Code::CyclicRef));
        refused.diagnostics.len()
    };
    let to = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    assert_eq!(circles(json!({"A": to("A")})), 1);
    assert_eq!(circles(json!({"A": to("B"), "B": to("A")})), 1);
    assert_eq!(circles(json!({"A": {"allOf": [to("A")]}})), 1);
    let object = json!({"type": "object"});
    assert_eq!(circles(json!({"A": {"allOf": [to("B"), object]}, "B": {"allOf": [object, to("A")]}})), 1);
    // Properties can refer back, and a variant can refer to the union that contains it.
    read("a.json", &answering(&json!({"A": {"properties": {"$ref": to("A"), "allOf": to("A")}}})));
    read("a.json", &answering(&json!({"A": {"oneOf": [to("B")]}, "B": {"allOf": [to("A"), object]}})));
    let mut chain = json!({"A": to("S0")});
    for at in 0..5_000 {
        chain[format!("S{at}")] = to(&format!("S{}", at + 1));
    }
    chain["S5000"] = to("S0");
    assert_eq!(circles(chain), 1);
}

#[test]
fn values_of_the_wrong_type_are_rejected() {
    let refused = |text: &str| {
        let refused = document::read(Source::new("a.yaml", text)).expect_err(text);
        refused.diagnostics.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    let nothing = "the document is empty: it has neither `paths` nor `webhooks` nor `components`";
    assert_eq!(refused("openapi: 3.1.0"), nothing);
    let under = |line: &str| refused(&format!("openapi: 3.1.0\n{line}\n"));
    assert_eq!(under("paths: [1]"), "expected a mapping, got a list");
    assert_eq!(under("paths: {/a: }"), "expected a mapping, got null");
    for path in ["a", "''", "'{id}'"] {
        assert!(under(&format!("paths: {{{path}: {{}}}}")).ends_with("is not a path: paths begin with `/`"));
    }
    let operation = |text: &str| under(&format!("paths: {{/a: {{get: {{{text}}}}}}}"));
    assert_eq!(operation("parameters: {a: 1}"), "expected a list, got a mapping");
    assert_eq!(operation("parameters: [{name: a}]"), "parameter without `in`");
    assert_eq!(operation("responses: []"), "expected a mapping, got a list");
    assert_eq!(operation("security: {key: []}"), "expected a list, got a mapping");
    let schema = |text: &str| under(&format!("components: {{schemas: {{A: {text}}}}}"));
    assert_eq!(schema("{type: strng}"), "`strng` is not a type");
    assert_eq!(schema("{type: [string, null]}"), "expected the name of a type, got null");
    assert_eq!(schema("{properties: [a]}"), "expected a mapping, got a list");
    assert_eq!(schema("{required: true}"), "expected a list of strings, got a boolean");
    assert_eq!(schema(""), "expected a mapping or a boolean, got null");
    assert_eq!(schema("{properties: {x-a: 1}}"), "expected a mapping or a boolean, got an integer");
    assert_eq!(
        operation("responses: {'200': {headers: {x-total: 1}}}"),
        "expected a mapping, got an integer"
    );
    let sound =
        "openapi: 3.1.0\npaths:\n  x-a: 1\n  /a: {get: {responses: {x-b: 1, '200': {description: D}}}}";
    document::read(Source::new("a.yaml", sound)).expect("extensions can have any type");
    assert_eq!(
        under("components: {responses: {x-a: 1}}"),
        "expected a mapping, got an integer",
        "a shared response can have such a name"
    );
}

#[test]
fn keywords_of_schemas_and_security_schemes_are_validated() {
    let refused = |components: &str| {
        let text = format!("openapi: 3.1.0\ncomponents: {{{components}}}\n");
        let refused = document::read(Source::new("a.yaml", text)).expect_err(components);
        refused.diagnostics.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
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
        assert_eq!(refused(&format!("schemas: {{A: {{{schema}}}}}")), message, "{schema}");
    }
    let scopes = |scopes: &str| {
        refused(&format!(
            "securitySchemes: {{a: {{type: oauth2, flows: {{implicit: {{scopes: {scopes}}}}}}}}}"
        ))
    };
    assert_eq!(scopes("[r]"), "expected a mapping, got a list");
    let sound = "{exclusiveMinimum: 1, exclusiveMaximum: true, maximum: 3, minContains: 1, discriminator: \
                 {propertyName: a, mapping: {a: A}, x-a: 1}, dependentRequired: {a: [b]}}";
    let sound = json!({"components": {
        "schemas": {"A": yaml(sound)},
        "securitySchemes": {"a": {"type": "oauth2", "flows": {"implicit": {"scopes": {"r": null}}}}},
    }, "openapi": "3.1.0"});
    read("a.json", &sound.to_string());
}

#[test]
fn keywords_next_to_a_reference_and_in_its_target_are_rejected() {
    let read = |beside: Value, shared: Value| {
        let mut item = beside;
        item["$ref"] = json!("#/components/pathItems/A");
        let components = json!({"pathItems": {"A": {"$ref": "#/components/pathItems/B"}, "B": shared}});
        let text = json!({"openapi": "3.1.0", "webhooks": {"a": item}, "components": components}).to_string();
        let findings = document::read(Source::new("a.json", text)).err().map(|refused| refused.diagnostics);
        findings.unwrap_or_default().into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        read(json!({"get": {}}), json!({"get": {}})),
        "`get` is defined next to the reference and in its target; which of them applies is undefined"
    );
    assert_eq!(read(json!({"get": {}, "summary": "S", "x-a": 1}), json!({"summary": "T", "x-a": 2})), "");
}
