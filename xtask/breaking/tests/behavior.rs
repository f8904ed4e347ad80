//! Behavior of the whole comparison: recursion ends, a shared change is reported once, equivalent notations are equal,
//! and documents that cannot be compared are rejected.

use std::time::{Duration, Instant};

use contract::source::Source;
use serde_json::{Map, Value, json};

use super::super::document;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::{differences, ids_and_levels};

/// Returns the ids of findings, except those that begin with `api-`.
fn ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.id.as_str()).filter(|id| !id.starts_with("api-")).collect()
}

/// Creates a document with the schemas, and one operation whose response body is the schema `A`.
pub(super) fn document_with_response_schemas(schemas: &Value) -> String {
    let responses =
        json!({"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}});
    let paths = json!({"/a": {"get": {"operationId": "getA", "responses": responses}}});
    json!({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}).to_string()
}

#[test]
fn recursion_ends_and_the_shortest_path_is_reported() {
    let tree = |kind: &str| {
        let node = json!({"type": "object", "properties": {
            "value": {"type": kind}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/A"}},
        }});
        document_with_response_schemas(&json!({"A": node}))
    };
    let findings = differences(&tree("string"), &tree("integer"));
    assert_eq!(ids(&findings), ["response-property-type-changed"]);
    assert_eq!(findings[0].operations[0].path, "getA 200 -> value");
}

#[test]
fn a_chain_of_five_thousand_schemas_does_not_overflow_the_stack() {
    let chain = |last_type: &str| {
        let mut schemas = json!({"A": {"properties": {"p": {"$ref": "#/components/schemas/S0"}}}});
        for index in 0..5_000 {
            let next = json!({"$ref": format!("#/components/schemas/S{}", index + 1)});
            schemas[format!("S{index}")] =
                if index % 2 == 0 { json!({"allOf": [next]}) } else { json!({"properties": {"p": next}}) };
        }
        schemas["S5000"] = json!({"type": last_type});
        document_with_response_schemas(&schemas)
    };
    assert_eq!(ids(&differences(&chain("string"), &chain("integer"))), ["response-property-type-changed"]);
}

#[test]
fn reordered_alternatives_that_refer_to_each_other_are_equal() {
    let document = |alternatives: [&str; 2]| {
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        // `again` is compared before `kind`, while the list of alternatives is in progress.
        let schema = |kind: &str| json!({"type": "object", "properties": {"again": reference("Next"), "kind": {"const": kind}}});
        let next = json!({"oneOf": alternatives.map(reference), "unevaluatedProperties": false});
        document_with_response_schemas(
            &json!({"A": reference("Next"), "Next": next, "X": schema("x"), "Y": schema("y")}),
        )
    };
    assert_eq!(ids(&differences(&document(["X", "Y"]), &document(["Y", "X"]))), [] as [&str; 0]);
}

#[test]
fn a_change_in_a_dense_graph_of_schemas_is_found_in_seconds() {
    const SCHEMAS: usize = 200;
    let document = |changed_length: u32| {
        let reference = |index: usize| json!({"$ref": format!("#/components/schemas/S{}", index % SCHEMAS)});
        let schema = |index: usize| {
            let mut properties = json!({
                "name": {"type": "string", "maxLength": if index == SCHEMAS / 2 { changed_length } else { 10 }},
                "itself": reference(index),
                "list": {"type": "array", "items": reference(index + 1)},
                "choice": {"oneOf": [reference(index * 17 + 5), {"type": "string"}]},
            });
            for link in 0..8 {
                properties[format!("link{link}")] = reference(index * 31 + link * 47 + link * link);
            }
            json!({"type": "object", "properties": properties})
        };
        let schemas: Map<String, Value> =
            (0..SCHEMAS).map(|index| (format!("S{index}"), schema(index))).collect();
        let operation = |index: usize| {
            let content = json!({"content": {"application/json": {"schema": reference(index)}}});
            let post = json!({"operationId": format!("op{index}"), "requestBody": content, "responses": {"200": content}});
            (format!("/s{index}"), json!({"post": post}))
        };
        let paths: Map<String, Value> = (0..SCHEMAS).map(operation).collect();
        json!({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}).to_string()
    };
    let started = Instant::now();
    let findings = differences(&document(10), &document(9));
    let breaking: Vec<&Finding> = findings.iter().filter(|finding| finding.level == Level::Error).collect();
    assert_eq!(breaking.len(), 1);
    assert_eq!(breaking[0].operations.len(), SCHEMAS);
    // Two to four seconds. It took minutes while each pair of schemas was compared with the whole graph behind it.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn steps_without_a_finite_common_multiple_are_compared() {
    let steps = |steps: Value| {
        let parts: Vec<Value> = steps
            .as_array()
            .expect("the steps are a list")
            .iter()
            .map(|step| json!({"type": "number", "multipleOf": step}))
            .collect();
        document_with_response_schemas(&json!({"A": {"allOf": parts}}))
    };
    let large = json!([1e308, 1.1e308, 3]);
    assert_eq!(ids(&differences(&steps(large.clone()), &steps(json!([3, 1.1e308, 1e308])))), [] as [&str; 0]);
    assert_eq!(
        ids(&differences(&steps(large), &steps(json!([5])))),
        ["response-body-multiple-of-generalized"]
    );
}

#[test]
fn a_shared_change_is_reported_once_with_all_affected_operations() {
    let document = |max_length: u32| {
        let responses =
            json!({"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}});
        let operation = |id: &str| json!({"get": {"operationId": id, "responses": responses}});
        let a = json!({"properties": {"p": {"type": "string", "maxLength": max_length}}});
        json!({"openapi": "3.1.0", "paths": {"/a": operation("getA"), "/b": operation("getB")}, "components": {"schemas": {"A": a}}})
            .to_string()
    };
    let findings = differences(&document(1), &document(2));
    let breaking: Vec<&Finding> = findings.iter().filter(|finding| finding.level == Level::Error).collect();
    assert_eq!(breaking.len(), 1);
    let paths: Vec<&str> = breaking[0].operations.iter().map(|affected| affected.path.as_str()).collect();
    assert_eq!(paths, ["getA 200 -> p", "getB 200 -> p"]);
}

#[test]
fn a_fingerprint_is_independent_of_line_numbers() {
    let document = |max_length: u32, additional_lines: &str| {
        format!(
            "openapi: 3.1.0\n{additional_lines}paths:\n  /a:\n    get:\n      operationId: getA\n      parameters:\n        - name: q\n          \
             in: query\n          schema: {{type: string, maxLength: {max_length}}}\n"
        )
    };
    let first = differences(&document(9, ""), &document(8, ""));
    let moved = differences(&document(9, "# a\n\n"), &document(8, "info: {title: T}\n# b\n"));
    assert_eq!(first[0].fingerprint, moved[0].fingerprint);
    assert_ne!(first[0].fingerprint, differences(&document(9, ""), &document(7, ""))[0].fingerprint);
}

#[test]
fn equivalent_notations_of_3_0_and_3_1_are_equal() {
    let document = |version: &str, schema: Value| {
        let body = json!({"content": {"application/json": {"schema": schema}}});
        json!({"openapi": version, "paths": {"/a": {"post": {"requestBody": body}}}}).to_string()
    };
    let old = document(
        "3.0.3",
        json!({"type": "integer", "nullable": true, "minimum": 0, "exclusiveMinimum": true, "example": 1}),
    );
    let new = document("3.1.0", json!({"type": ["null", "integer"], "exclusiveMinimum": 0}));
    assert_eq!(ids_and_levels(&differences(&old, &new)), []);
    assert_eq!(ids_and_levels(&differences(&new, &old)), []);
}

#[test]
fn alternatives_are_matched_regardless_of_their_order() {
    let document = |names: [&str; 3]| {
        let members: Vec<Value> =
            names.iter().map(|name| json!({"$ref": format!("#/components/schemas/{name}")})).collect();
        let kind = |name: &str| json!({"type": "object", "properties": {"kind": {"const": name}, (name): {"type": "string"}}});
        document_with_response_schemas(
            &json!({"A": {"oneOf": members}, "X": kind("x"), "Y": kind("y"), "Z": kind("z")}),
        )
    };
    assert!(differences(&document(["X", "Y", "Z"]), &document(["Z", "X", "Y"])).is_empty());
}

#[test]
fn documents_that_cannot_be_compared_are_rejected() {
    let messages = |text: &str| {
        let invalid = document::read(Source::new("a.yaml", text)).expect_err("the document must be rejected");
        invalid.diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect::<Vec<_>>().join("; ")
    };
    let head = "openapi: 3.1.0\ncomponents:\n  schemas:\n    A:\n";
    assert_eq!(
        messages(&format!("{head}      $ref: '#/components/schemas/B'")),
        "`#/components/schemas/B` does not exist"
    );
    assert_eq!(
        messages(&format!("{head}      $ref: b.yaml")),
        "`b.yaml` cannot be read: a document from standard input cannot refer to files"
    );
    assert_eq!(
        messages(&format!("{head}      $ref: https://example.com/b.yaml")),
        "`https://example.com/b.yaml` refers to a document that is not a file"
    );
    assert!(
        messages(&format!("{head}      $schema: https://example.com")).starts_with("unsupported dialect")
    );
    assert_eq!(messages(""), "the file is empty");
    assert!(messages("openapi: 3.3.0").contains("expected OpenAPI 3.0.x, 3.1.x or 3.2.x"));
}

#[test]
fn paths_match_regardless_of_parameter_names() {
    let document = |name: &str| {
        let parameter = json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        let path = format!("/a/{{{name}}}");
        json!({"openapi": "3.1.0", "paths": {path: {"parameters": [parameter], "get": {"operationId": "getA"}}}}).to_string()
    };
    let findings = differences(&document("id"), &document("key"));
    assert_eq!(ids_and_levels(&findings), [("request-path-parameter-renamed".to_owned(), Level::Info)]);
}

/// Creates a document with one operation and additional root keywords.
pub(super) fn document_with_operation(root: &Value, operation: &Value) -> String {
    let mut document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": operation}}});
    for (key, value) in root.as_object().expect("the root keywords are a mapping") {
        document[key] = value.clone();
    }
    document.to_string()
}

#[test]
fn shared_settings_can_be_moved_to_each_operation() {
    let security = json!([{"key": ["read"]}]);
    let servers = json!([{"url": "https://a.example"}]);
    let parameter = json!([{"name": "q", "in": "query", "schema": {"type": "string"}}]);
    let shared = json!({"security": security, "servers": servers, "paths": {"/a": {"parameters": parameter, "get": {}}}});
    let of_operation = json!({"security": security, "servers": servers, "parameters": parameter});
    assert_eq!(
        ids_and_levels(&differences(
            &document_with_operation(&shared, &json!({})),
            &document_with_operation(&json!({}), &of_operation)
        )),
        []
    );
    assert_eq!(
        ids_and_levels(&differences(
            &document_with_operation(&json!({}), &of_operation),
            &document_with_operation(&shared, &json!({}))
        )),
        []
    );
}

#[test]
fn requiring_an_optional_key_is_breaking() {
    let document = |security: Value| document_with_operation(&json!({}), &json!({"security": security}));
    let security_ids = |before: Value, after: Value| {
        let findings = differences(&document(before), &document(after));
        sorted_security_ids(&findings)
    };
    assert_eq!(security_ids(json!([{}, {"key": []}]), json!([{"key": []}])), ["api-security-added"]);
    assert_eq!(security_ids(json!([{"key": []}]), json!([{}, {"key": []}])), ["api-security-loosened"]);
    assert_eq!(security_ids(json!([{"a": []}, {"b": []}]), json!([{"b": []}])), ["api-security-removed"]);
    assert_eq!(security_ids(json!([{"a": []}]), json!([{"a": [], "b": []}])), ["api-security-added"]);
    assert_eq!(
        security_ids(json!([{"a": ["x"]}, {"a": ["y"]}]), json!([{"a": ["y"]}])),
        ["api-security-removed"]
    );
}

/// Returns the sorted ids of findings about security.
fn sorted_security_ids(findings: &[Finding]) -> Vec<String> {
    let mut ids: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    ids.retain(|id| id.starts_with("api-security"));
    ids.sort();
    ids
}

#[test]
fn an_added_keyword_of_a_shared_schema_is_reported_once() {
    let document = |has_pattern: bool| {
        let schema =
            if has_pattern { json!({"type": "string", "pattern": "^a"}) } else { json!({"type": "string"}) };
        let body = |name: &str| {
            let schema = json!({"properties": {name: {"$ref": "#/components/schemas/S"}}});
            json!({"post": {"operationId": name, "requestBody": {"content": {"application/json": {"schema": schema}}}}})
        };
        json!({"openapi": "3.1.0", "paths": {"/a": body("a"), "/b": body("b")}, "components": {"schemas": {"S": schema}}})
            .to_string()
    };
    let findings = differences(&document(false), &document(true));
    assert_eq!(ids(&findings), ["request-property-pattern-added"]);
    let affected_operations: Vec<&str> = findings
        .iter()
        .flat_map(|finding| &finding.operations)
        .map(|affected| affected.operation.as_str())
        .collect();
    assert_eq!(affected_operations, ["a", "b"]);
}

#[test]
fn a_default_response_does_not_cover_a_success_status() {
    let document = |status: &str| {
        document_with_operation(
            &json!({}),
            &json!({"responses": {status: {"description": "D"}, "default": {"description": "D"}}}),
        )
    };
    let reports_removal = |before, after| {
        ids(&differences(&document(before), &document(after))).contains(&"response-success-status-removed")
    };
    assert!(reports_removal("200", "202"));
    assert!(!reports_removal("200", "2XX"));
}

#[test]
fn recursive_alternatives_are_compared_in_bounded_time() {
    let document = |maximum: u32| {
        let reference = json!({"$ref": "#/components/schemas/A"});
        let constant = json!({"const": "a"});
        let members = json!([reference, reference, {"items": reference}, constant, {"maximum": maximum}]);
        document_with_response_schemas(&json!({"A": {"anyOf": members, "not": {"oneOf": members}}}))
    };
    assert!(!differences(&document(1), &document(2)).is_empty());
}
