//! What the comparison as a whole owes: recursion ends, a shared change is told once, spellings do not count, what cannot be
//! compared is refused.

use serde_json::{Value, json};

use super::super::document;
use super::super::finding::Finding;
use super::super::rule::Level;
use super::{differences, read, told};
use crate::contract::source::Source;
use crate::diagnostic::Code;

fn ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.id.as_str()).filter(|id| !id.starts_with("api-")).collect()
}

/// A document whose one operation answers with `A`.
fn answering(schemas: &Value) -> String {
    let answer =
        json!({"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}});
    let paths = json!({"/a": {"get": {"operationId": "getA", "responses": answer}}});
    json!({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}).to_string()
}

#[test]
fn recursion_ends_and_the_shortest_way_is_told() {
    let tree = |kind: &str| {
        let node = json!({"type": "object", "properties": {
            "value": {"type": kind}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/A"}},
        }});
        answering(&json!({"A": node}))
    };
    let findings = differences(&tree("string"), &tree("integer"));
    assert_eq!(ids(&findings), ["response-property-type-changed"]);
    assert_eq!(findings[0].reach[0].path, "getA 200 -> value");
}

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
fn a_chain_of_a_thousand_schemas_costs_no_stack() {
    let chain = |last: &str| {
        let mut schemas = json!({"A": {"properties": {"p": {"$ref": "#/components/schemas/S0"}}}});
        for at in 0..5_000 {
            let next = json!({"$ref": format!("#/components/schemas/S{}", at + 1)});
            schemas[format!("S{at}")] =
                if at % 2 == 0 { json!({"allOf": [next]}) } else { json!({"properties": {"p": next}}) };
        }
        schemas["S5000"] = json!({"type": last});
        answering(&schemas)
    };
    assert_eq!(ids(&differences(&chain("string"), &chain("integer"))), ["response-property-type-changed"]);
}

#[test]
fn a_shared_change_is_told_once_with_all_who_reach_it() {
    let document = |length: u32| {
        let answer =
            json!({"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}});
        let operation = |id: &str| json!({"get": {"operationId": id, "responses": answer}});
        let a = json!({"properties": {"p": {"type": "string", "maxLength": length}}});
        json!({"openapi": "3.1.0", "paths": {"/a": operation("getA"), "/b": operation("getB")}, "components": {"schemas": {"A": a}}})
            .to_string()
    };
    let findings = differences(&document(1), &document(2));
    let found: Vec<&Finding> = findings.iter().filter(|finding| finding.level == Level::Error).collect();
    assert_eq!(found.len(), 1);
    let ways: Vec<&str> = found[0].reach.iter().map(|reach| reach.path.as_str()).collect();
    assert_eq!(ways, ["getA 200 -> p", "getB 200 -> p"]);
}

#[test]
fn a_fingerprint_does_not_know_the_line() {
    let document = |length: u32, more: &str| {
        format!(
            "openapi: 3.1.0\n{more}paths:\n  /a:\n    get:\n      operationId: getA\n      parameters:\n        - name: q\n          \
             in: query\n          schema: {{type: string, maxLength: {length}}}\n"
        )
    };
    let one = differences(&document(9, ""), &document(8, ""));
    let other = differences(&document(9, "# a\n\n"), &document(8, "info: {title: T}\n# b\n"));
    assert_eq!(one[0].fingerprint, other[0].fingerprint);
    assert_ne!(one[0].fingerprint, differences(&document(9, ""), &document(7, ""))[0].fingerprint);
}

#[test]
fn the_spellings_of_3_0_are_those_of_3_1() {
    let document = |version: &str, schema: Value| {
        let body = json!({"content": {"application/json": {"schema": schema}}});
        json!({"openapi": version, "paths": {"/a": {"post": {"requestBody": body}}}}).to_string()
    };
    let old = document(
        "3.0.3",
        json!({"type": "integer", "nullable": true, "minimum": 0, "exclusiveMinimum": true, "example": 1}),
    );
    let new = document("3.1.0", json!({"type": ["null", "integer"], "exclusiveMinimum": 0}));
    assert_eq!(told(&differences(&old, &new)), []);
    assert_eq!(told(&differences(&new, &old)), []);
}

#[test]
fn alternatives_are_matched_whatever_their_order() {
    let of = |names: [&str; 3]| {
        let members: Vec<Value> =
            names.iter().map(|name| json!({"$ref": format!("#/components/schemas/{name}")})).collect();
        let kind = |name: &str| json!({"type": "object", "properties": {"kind": {"const": name}, (name): {"type": "string"}}});
        answering(&json!({"A": {"oneOf": members}, "X": kind("x"), "Y": kind("y"), "Z": kind("z")}))
    };
    assert!(differences(&of(["X", "Y", "Z"]), &of(["Z", "X", "Y"])).is_empty());
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_sentence() {
    let refused = |text: &str| {
        let refused = document::read(Source::new("a.yaml", text)).expect_err("it cannot be compared");
        refused.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    };
    let head = "openapi: 3.1.0\ncomponents:\n  schemas:\n    A:\n";
    assert_eq!(
        refused(&format!("{head}      $ref: '#/components/schemas/B'")),
        "`#/components/schemas/B` leads nowhere"
    );
    assert_eq!(refused(&format!("{head}      $ref: b.yaml")), "`b.yaml` leads into another document");
    assert!(refused(&format!("{head}      $dynamicRef: '#a'")).starts_with("`$dynamicRef` depends"));
    assert!(refused(&format!("{head}      $schema: https://example.com")).starts_with("the dialect"));
    assert_eq!(refused(""), "the file is empty");
    assert!(refused("openapi: 3.2.0").contains("3.0.x and 3.1.x can be compared"));
}

#[test]
fn a_name_in_braces_does_not_count() {
    let document = |name: &str| {
        let parameter = json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        let path = format!("/a/{{{name}}}");
        json!({"openapi": "3.1.0", "paths": {path: {"parameters": [parameter], "get": {"operationId": "getA"}}}}).to_string()
    };
    let findings = differences(&document("id"), &document("key"));
    assert_eq!(told(&findings), [("request-path-parameter-renamed".to_owned(), Level::Info)]);
}

/// A document with one operation, and what else is said of both.
fn operating(root: &Value, operation: &Value) -> String {
    let mut document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": operation}}});
    for (key, value) in root.as_object().expect("keys") {
        document[key] = value.clone();
    }
    document.to_string()
}

#[test]
fn what_is_said_for_all_may_be_said_for_each() {
    let security = json!([{"key": ["read"]}]);
    let servers = json!([{"url": "https://a.example"}]);
    let parameter = json!([{"name": "q", "in": "query", "schema": {"type": "string"}}]);
    let shared = json!({"security": security, "servers": servers, "paths": {"/a": {"parameters": parameter, "get": {}}}});
    let own = json!({"security": security, "servers": servers, "parameters": parameter});
    assert_eq!(told(&differences(&operating(&shared, &json!({})), &operating(&json!({}), &own))), []);
    assert_eq!(told(&differences(&operating(&json!({}), &own), &operating(&shared, &json!({})))), []);
}

#[test]
fn a_key_that_was_optional_and_is_asked_for_breaks() {
    let asking = |security: Value| operating(&json!({}), &json!({"security": security}));
    let found = |was: Value, now: Value| {
        let findings = differences(&asking(was), &asking(now));
        ids_of_security(&findings)
    };
    assert_eq!(found(json!([{}, {"key": []}]), json!([{"key": []}])), ["api-security-added"]);
    assert_eq!(found(json!([{"key": []}]), json!([{}, {"key": []}])), ["api-security-removed"]);
    assert_eq!(found(json!([{"a": []}, {"b": []}]), json!([{"b": []}])), ["api-security-removed"]);
    assert_eq!(
        found(json!([{"a": []}]), json!([{"a": [], "b": []}])),
        ["api-security-added", "api-security-removed"]
    );
    assert_eq!(found(json!([{"a": ["x"]}, {"a": ["y"]}]), json!([{"a": ["y"]}])), ["api-security-removed"]);
}

fn ids_of_security(findings: &[Finding]) -> Vec<String> {
    let mut ids: Vec<String> = findings.iter().map(|finding| finding.id.clone()).collect();
    ids.retain(|id| id.starts_with("api-security"));
    ids.sort();
    ids
}

#[test]
fn a_change_of_a_shared_thing_has_one_place_whatever_lacked_it() {
    let document = |pattern: bool| {
        let schema =
            if pattern { json!({"type": "string", "pattern": "^a"}) } else { json!({"type": "string"}) };
        let body = |name: &str| {
            let schema = json!({"properties": {name: {"$ref": "#/components/schemas/S"}}});
            json!({"post": {"operationId": name, "requestBody": {"content": {"application/json": {"schema": schema}}}}})
        };
        json!({"openapi": "3.1.0", "paths": {"/a": body("a"), "/b": body("b")}, "components": {"schemas": {"S": schema}}})
            .to_string()
    };
    let findings = differences(&document(false), &document(true));
    assert_eq!(ids(&findings), ["request-property-pattern-added"]);
    let reached: Vec<&str> =
        findings.iter().flat_map(|finding| &finding.reach).map(|reach| reach.operation.as_str()).collect();
    assert_eq!(reached, ["a", "b"]);
}

#[test]
fn a_success_is_not_covered_by_the_default() {
    let answering = |status: &str| {
        operating(
            &json!({}),
            &json!({"responses": {status: {"description": "D"}, "default": {"description": "D"}}}),
        )
    };
    let removed = |was, now| {
        ids(&differences(&answering(was), &answering(now))).contains(&"response-success-status-removed")
    };
    assert!(removed("200", "202"));
    assert!(!removed("200", "2XX"));
}

#[test]
fn upper_and_lower_case_are_two_where_a_server_tells_them_apart() {
    let scheme = |scheme: Value| {
        let components = json!({"securitySchemes": {"key": scheme}});
        operating(&json!({"components": components, "security": [{"key": []}]}), &json!({}))
    };
    let key = |place: &str, name: &str| scheme(json!({"type": "apiKey", "in": place, "name": name}));
    let changed = "api-security-component-type-changed".to_owned();
    for place in ["query", "cookie"] {
        let found = told(&differences(&key(place, "api_key"), &key(place, "API_KEY")));
        assert!(found.contains(&(changed.clone(), Level::Error)), "{place}: {found:?}");
    }
    assert_eq!(told(&differences(&key("header", "x-key"), &key("header", "X-Key"))), []);
    let open_id = |path: &str| {
        scheme(json!({"type": "openIdConnect", "openIdConnectUrl": format!("https://a.example{path}")}))
    };
    assert!(told(&differences(&open_id("/A"), &open_id("/a"))).contains(&(changed, Level::Error)));
}

#[test]
fn a_sunset_that_comes_after_the_deprecation_is_told_and_must_leave_time() {
    let ending = |sunset: Option<&str>| {
        let mut operation = json!({"deprecated": true});
        if let Some(day) = sunset {
            operation["x-sunset"] = json!(day);
        }
        operating(&json!({}), &operation)
    };
    let found = |was, now| told(&differences(&ending(was), &ending(now)));
    let too_small = ("api-sunset-date-too-small".to_owned(), Level::Error);
    let announced = ("endpoint-deprecated-with-sunset".to_owned(), Level::Info);
    assert_eq!(found(None, Some("2026-03-05")), std::slice::from_ref(&too_small));
    assert_eq!(found(Some("soon"), Some("2026-03-05")), [too_small]);
    assert_eq!(found(None, Some("2026-12-01")), std::slice::from_ref(&announced));
    assert_eq!(found(Some("2026-12-01"), Some("2027-01-01")), [announced]);
}

#[test]
fn a_header_of_a_response_has_a_media_type_and_a_life() {
    let sending = |header: Value| {
        let response = json!({"description": "D", "headers": {"X-A": header}});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let found = |was: Value, now: Value| told(&differences(&sending(was), &sending(now)));
    let of = |content: &str| json!({"content": {content: {"schema": {"type": "string"}}}});
    let written = ("response-header-serialization-changed".to_owned(), Level::Error);
    assert_eq!(found(of("application/json"), of("text/plain")), std::slice::from_ref(&written));
    assert_eq!(found(of("application/json"), json!({"schema": {"type": "string"}})), [written]);
    assert_eq!(
        found(json!({}), json!({"deprecated": true})),
        [("response-header-deprecated-sunset-missing".to_owned(), Level::Error)]
    );
    assert_eq!(
        found(json!({}), json!({"deprecated": true, "x-sunset": "2026-12-01"})),
        [("response-header-deprecated-with-sunset".to_owned(), Level::Info)]
    );
    assert_eq!(
        found(json!({}), json!({"style": "other"})),
        [("unclassified-change".to_owned(), Level::Error)]
    );
    let removed = |header: Value| {
        told(&differences(
            &sending(header),
            &operating(
                &json!({}),
                &json!({
                    "responses": {"200": {"description": "D"}}
                }),
            ),
        ))
    };
    let id = "required-response-header-removed".to_owned();
    assert_eq!(removed(json!({"required": true})), [(id.clone(), Level::Error)]);
    let over = json!({"required": true, "deprecated": true, "x-sunset": "2026-02-01"});
    assert_eq!(removed(over), [(id, Level::Info)]);
}

#[test]
fn what_takes_nothing_from_a_client_is_no_break() {
    let root = |root: Value| operating(&root, &json!({}));
    let own = |operation: Value| operating(&json!({}), &operation);
    let variable = |variable: Value| {
        root(json!({"servers": [{"url": "https://{v}.example", "variables": {"v": variable}}]}))
    };
    let sent = |content: Value| own(json!({"requestBody": {"content": content}}));
    let answered = |status: &str| {
        let body = json!({"application/json": {"schema": {"type": "string"}}});
        own(json!({"responses": {status: {"description": "D", "content": body}}}))
    };
    let linked =
        |link: Value| own(json!({"responses": {"200": {"description": "D", "links": {"next": link}}}}));
    let body = json!({"schema": {"type": "string"}});
    let (a, ab) = (json!({"default": "a", "enum": ["a"]}), json!({"default": "a", "enum": ["a", "b"]}));
    let accept = json!([{"name": "accept", "in": "header", "schema": {"type": "string"}}]);
    let key = |name: &str| json!({"type": "apiKey", "in": "query", "name": name});
    let schemes = |schemes: Value| root(json!({"components": {"securitySchemes": schemes}}));
    for (name, was, now) in [
        (
            "a variable of a server is explained",
            variable(a.clone()),
            variable(json!({"default": "a", "enum": ["a"], "description": "D"})),
        ),
        ("a variable of a server takes one more value", variable(a.clone()), variable(ab.clone())),
        ("a body may be anything", sent(json!({"application/json": body})), sent(json!({"*/*": body}))),
        (
            "a body names its characters",
            sent(json!({"application/json": body})),
            sent(json!({"application/json; charset=utf-8": body})),
        ),
        ("one of the successes is left", answered("2XX"), answered("200")),
        ("a parameter that OpenAPI ignores", own(json!({"parameters": accept})), own(json!({}))),
        ("a scheme that nothing asks for", schemes(json!({"key": key("a")})), schemes(json!({}))),
        (
            "a scheme that nothing asks for is another",
            schemes(json!({"key": key("a")})),
            schemes(json!({"key": key("b")})),
        ),
        (
            "a link is explained",
            linked(json!({"operationId": "a"})),
            linked(json!({"operationId": "a", "description": "D"})),
        ),
    ] {
        let found = told(&differences(&was, &now));
        assert!(found.iter().all(|(_, level)| *level == Level::Info), "{name}: {found:?}");
    }
    for (name, was, now) in [
        ("a variable of a server loses a value", variable(ab), variable(a)),
        ("a body must be JSON", sent(json!({"*/*": body})), sent(json!({"application/json": body}))),
        (
            "a body is of another version",
            sent(json!({"a/b; version=1": body})),
            sent(json!({"a/b; version=2": body})),
        ),
        ("a body may be any text", sent(json!({"application/json": body})), sent(json!({"text/*": body}))),
        ("any success may come", answered("200"), own(json!({"responses": {"202": {"description": "D"}}}))),
    ] {
        let found = told(&differences(&was, &now));
        assert!(found.iter().any(|(_, level)| *level == Level::Error), "{name}: {found:?}");
    }
}

#[test]
fn a_version_that_is_a_number_is_shown() {
    let info = |version: Value| operating(&json!({"info": {"version": version}}), &json!({}));
    let more = |version: Value| operating(&json!({"info": {"version": version}}), &json!({"tags": ["t"]}));
    let said = |was: Value, now: Value| {
        let findings = differences(&info(was), &more(now));
        findings
            .into_iter()
            .find(|finding| finding.id.starts_with("api-version"))
            .map(|finding| finding.message)
    };
    assert_eq!(said(json!(1.5), json!(1.5)).as_deref(), Some("the version is still 1.5"));
    assert_eq!(said(json!(2), json!("1.9")).as_deref(), Some("the version went from 2 back to 1.9"));
    assert_eq!(said(json!(1), json!(2)), None);
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
    let sound =
        "openapi: 3.1.0\npaths:\n  x-a: 1\n  /a: {get: {responses: {x-b: 1, '200': {description: D}}}}";
    document::read(Source::new("a.yaml", sound)).expect("extensions are free");
}

#[test]
fn what_openapi_does_not_know_is_seen_at_the_top_too() {
    let found =
        |root: Value| told(&differences(&operating(&json!({}), &json!({})), &operating(&root, &json!({}))));
    let unknown = ("unclassified-change".to_owned(), Level::Error);
    assert_eq!(found(json!({"path": {"/b": {}}})), std::slice::from_ref(&unknown));
    assert_eq!(found(json!({"components": {"schema": {"A": {"type": "string"}}}})), [unknown]);
    assert_eq!(found(json!({"x-a": 1, "tags": [{"name": "t"}], "components": {"x-b": 2}})), []);
}
