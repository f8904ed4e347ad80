//! What is no contract, or says nothing, is refused: what was passed over in silence could not be compared.

use contract::diagnostic::Code;
use contract::source::Source;
use serde_json::{Value, json};

use super::super::document;
use super::stories::answering;
use super::{read, yaml};

#[test]
fn what_is_made_of_itself_is_refused() {
    let circles = |schemas: Value| {
        let refused = document::read(Source::new("a.json", answering(&schemas))).expect_err("a circle");
        assert!(refused.findings.iter().all(|finding| finding.code == Code::CyclicRef));
        refused.findings.len()
    };
    let to = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    assert_eq!(circles(json!({"A": to("A")})), 1);
    assert_eq!(circles(json!({"A": to("B"), "B": to("A")})), 1);
    assert_eq!(circles(json!({"A": {"allOf": [to("A")]}})), 1);
    let object = json!({"type": "object"});
    assert_eq!(circles(json!({"A": {"allOf": [to("B"), object]}, "B": {"allOf": [object, to("A")]}})), 1);
    // Within a property it may, and a variant may name its union.
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
fn what_has_another_shape_is_refused_and_not_read_as_absent() {
    let refused = |text: &str| {
        let refused = document::read(Source::new("a.yaml", text)).expect_err(text);
        refused.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    let nothing = "the document promises nothing: it has neither `paths` nor `webhooks` nor `components`";
    assert_eq!(refused("openapi: 3.1.0"), nothing);
    let under = |line: &str| refused(&format!("openapi: 3.1.0\n{line}\n"));
    assert_eq!(under("paths: [1]"), "a mapping must stand here, this is a list");
    assert_eq!(under("paths: {/a: }"), "a mapping must stand here, this is null");
    for path in ["a", "''", "'{id}'"] {
        assert!(under(&format!("paths: {{{path}: {{}}}}")).ends_with("is no path: a path begins with `/`"));
    }
    let operation = |text: &str| under(&format!("paths: {{/a: {{get: {{{text}}}}}}}"));
    assert_eq!(operation("parameters: {a: 1}"), "a list must stand here, this is a mapping");
    assert_eq!(operation("parameters: [{name: a}]"), "a parameter without `in` cannot be told from others");
    assert_eq!(operation("responses: []"), "a mapping must stand here, this is a list");
    assert_eq!(operation("security: {key: []}"), "a list must stand here, this is a mapping");
    let schema = |text: &str| under(&format!("components: {{schemas: {{A: {text}}}}}"));
    assert_eq!(schema("{type: strng}"), "`strng` is no type");
    assert_eq!(schema("{type: [string, null]}"), "the name of a type must stand here, this is null");
    assert_eq!(schema("{properties: [a]}"), "a mapping must stand here, this is a list");
    assert_eq!(schema("{required: true}"), "a list of strings must stand here, this is a boolean");
    assert_eq!(schema(""), "a mapping or a boolean must stand here, this is null");
    assert_eq!(
        schema("{properties: {x-a: 1}}"),
        "a mapping or a boolean must stand here, this is an integer"
    );
    assert_eq!(
        operation("responses: {'200': {headers: {x-total: 1}}}"),
        "a mapping must stand here, this is an integer"
    );
    let sound =
        "openapi: 3.1.0\npaths:\n  x-a: 1\n  /a: {get: {responses: {x-b: 1, '200': {description: D}}}}";
    document::read(Source::new("a.yaml", sound)).expect("extensions are free");
    assert_eq!(
        under("components: {responses: {x-a: 1}}"),
        "a mapping must stand here, this is an integer",
        "a shared response may be called so"
    );
}

#[test]
fn a_keyword_of_a_schema_or_scheme_with_another_shape_is_refused() {
    let refused = |components: &str| {
        let text = format!("openapi: 3.1.0\ncomponents: {{{components}}}\n");
        let refused = document::read(Source::new("a.yaml", text)).expect_err(components);
        refused.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    for (schema, message) in [
        ("discriminator: kind", "a mapping must stand here, this is a string"),
        ("discriminator: {propertyName: [kind]}", "a string must stand here, this is a list"),
        ("discriminator: {mapping: [a]}", "a mapping of strings must stand here, this is a list"),
        ("discriminator: {mapping: {a: 1}}", "a string must stand here, this is an integer"),
        ("dependentRequired: [a]", "a mapping must stand here, this is a list"),
        ("dependentRequired: {a: b}", "a list of strings must stand here, this is a string"),
        ("dependentRequired: {x-a: [1]}", "a string must stand here, this is an integer"),
        ("minContains: '1'", "a number must stand here, this is a string"),
        ("maxContains: [1]", "a number must stand here, this is a list"),
        ("exclusiveMinimum: '1'", "a number or a boolean must stand here, this is a string"),
        ("exclusiveMaximum: [1]", "a number or a boolean must stand here, this is a list"),
    ] {
        assert_eq!(refused(&format!("schemas: {{A: {{{schema}}}}}")), message, "{schema}");
    }
    let scopes = |scopes: &str| {
        refused(&format!(
            "securitySchemes: {{a: {{type: oauth2, flows: {{implicit: {{scopes: {scopes}}}}}}}}}"
        ))
    };
    assert_eq!(scopes("[r]"), "a mapping must stand here, this is a list");
    let sound = "{exclusiveMinimum: 1, exclusiveMaximum: true, maximum: 3, minContains: 1, discriminator: \
                 {propertyName: a, mapping: {a: A}, x-a: 1}, dependentRequired: {a: [b]}}";
    let sound = json!({"components": {
        "schemas": {"A": yaml(sound)},
        "securitySchemes": {"a": {"type": "oauth2", "flows": {"implicit": {"scopes": {"r": null}}}}},
    }, "openapi": "3.1.0"});
    read("a.json", &sound.to_string());
}

#[test]
fn what_a_path_says_beside_its_reference_and_where_that_leads_is_refused() {
    let read = |beside: Value, shared: Value| {
        let mut item = beside;
        item["$ref"] = json!("#/components/pathItems/A");
        let components = json!({"pathItems": {"A": {"$ref": "#/components/pathItems/B"}, "B": shared}});
        let text = json!({"openapi": "3.1.0", "webhooks": {"a": item}, "components": components}).to_string();
        let findings = document::read(Source::new("a.json", text)).err().map(|refused| refused.findings);
        findings.unwrap_or_default().into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        read(json!({"get": {}}), json!({"get": {}})),
        "`get` stands beside the reference and where it leads; which of them counts is open"
    );
    assert_eq!(read(json!({"get": {}, "summary": "S", "x-a": 1}), json!({"summary": "T", "x-a": 2})), "");
}
