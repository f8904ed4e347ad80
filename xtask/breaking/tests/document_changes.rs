//! Changes outside of schemas: which ones break clients, and which ones are harmless.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::behavior::operating;
use super::{differences, ids_and_levels};

#[test]
fn case_matters_except_in_header_names() {
    let scheme = |scheme: Value| {
        let components = json!({"securitySchemes": {"key": scheme}});
        operating(&json!({"components": components, "security": [{"key": []}]}), &json!({}))
    };
    let key = |place: &str, name: &str| scheme(json!({"type": "apiKey", "in": place, "name": name}));
    let changed = "api-security-component-type-changed".to_owned();
    for place in ["query", "cookie"] {
        let found = ids_and_levels(&differences(&key(place, "api_key"), &key(place, "API_KEY")));
        assert!(found.contains(&(changed.clone(), Level::Error)), "{place}: {found:?}");
    }
    assert_eq!(ids_and_levels(&differences(&key("header", "x-key"), &key("header", "X-Key"))), []);
    let open_id = |path: &str| {
        scheme(json!({"type": "openIdConnect", "openIdConnectUrl": format!("https://a.example{path}")}))
    };
    assert!(ids_and_levels(&differences(&open_id("/A"), &open_id("/a"))).contains(&(changed, Level::Error)));
}

#[test]
fn a_sunset_that_is_added_later_is_reported_and_must_be_far_enough_in_the_future() {
    let ending = |sunset: Option<&str>| {
        let mut operation = json!({"deprecated": true});
        if let Some(day) = sunset {
            operation["x-sunset"] = json!(day);
        }
        operating(&json!({}), &operation)
    };
    let found = |before, after| ids_and_levels(&differences(&ending(before), &ending(after)));
    let too_small = ("api-sunset-date-too-small".to_owned(), Level::Error);
    let announced = ("endpoint-deprecated-with-sunset".to_owned(), Level::Info);
    assert_eq!(found(None, Some("2026-03-05")), std::slice::from_ref(&too_small));
    assert_eq!(found(Some("soon"), Some("2026-03-05")), [too_small]);
    assert_eq!(found(None, Some("2026-12-01")), std::slice::from_ref(&announced));
    assert_eq!(found(Some("2026-12-01"), Some("2027-01-01")), [announced]);
}

#[test]
fn media_type_and_deprecation_of_response_headers_are_compared() {
    let sending = |header: Value| {
        let response = json!({"description": "D", "headers": {"X-A": header}});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let found = |before: Value, after: Value| ids_and_levels(&differences(&sending(before), &sending(after)));
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
        ids_and_levels(&differences(
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
fn harmless_changes_outside_of_schemas() {
    let root = |root: Value| operating(&root, &json!({}));
    let own = |operation: Value| operating(&json!({}), &operation);
    let variable = |variable: Value| {
        root(json!({"servers": [{"url": "https://{v}.example", "variables": {"v": variable}}]}))
    };
    let request = |content: Value| own(json!({"requestBody": {"content": content}}));
    let response = |status: &str| {
        let body = json!({"application/json": {"schema": {"type": "string"}}});
        own(json!({"responses": {status: {"description": "D", "content": body}}}))
    };
    let beside_failures = |status: &str| {
        let body = |kind: &str| json!({"application/json": {"schema": {"type": kind}}});
        own(json!({"responses": {
            status: {"description": "D", "content": body("string")},
            "default": {"description": "D", "content": body("object")},
        }}))
    };
    let linked =
        |link: Value| own(json!({"responses": {"200": {"description": "D", "links": {"next": link}}}}));
    let body = json!({"schema": {"type": "string"}});
    let (a, ab) = (json!({"default": "a", "enum": ["a"]}), json!({"default": "a", "enum": ["a", "b"]}));
    let accept = json!([{"name": "accept", "in": "header", "schema": {"type": "string"}}]);
    let key = |name: &str| json!({"type": "apiKey", "in": "query", "name": name});
    let schemes = |schemes: Value| root(json!({"components": {"securitySchemes": schemes}}));
    for (name, before, after) in [
        (
            "a server variable gets a description",
            variable(a.clone()),
            variable(json!({"default": "a", "enum": ["a"], "description": "D"})),
        ),
        ("a server variable accepts one more value", variable(a), variable(ab)),
        (
            "a body accepts any media type",
            request(json!({"application/json": body})),
            request(json!({"*/*": body})),
        ),
        (
            "a body declares its charset",
            request(json!({"application/json": body})),
            request(json!({"application/json; charset=utf-8": body})),
        ),
        ("one status of a success range remains", response("2XX"), response("200")),
        (
            "one status of a success range remains next to default",
            beside_failures("2XX"),
            beside_failures("200"),
        ),
        ("a parameter that OpenAPI ignores is removed", own(json!({"parameters": accept})), own(json!({}))),
        ("an unused scheme is removed", schemes(json!({"key": key("a")})), schemes(json!({}))),
        ("an unused scheme changes", schemes(json!({"key": key("a")})), schemes(json!({"key": key("b")}))),
        (
            "a link gets a description",
            linked(json!({"operationId": "a"})),
            linked(json!({"operationId": "a", "description": "D"})),
        ),
    ] {
        let found = ids_and_levels(&differences(&before, &after));
        assert!(found.iter().all(|(_, level)| *level == Level::Info), "{name}: {found:?}");
    }
}

#[test]
fn breaking_changes_outside_of_schemas() {
    let own = |operation: Value| operating(&json!({}), &operation);
    let variable = |values: Value| {
        let variables = json!({"v": {"default": "a", "enum": values}});
        operating(&json!({"servers": [{"url": "https://{v}.example", "variables": variables}]}), &json!({}))
    };
    let request = |content: Value| own(json!({"requestBody": {"content": content}}));
    let body = json!({"schema": {"type": "string"}});
    let response = json!({"description": "D", "content": {"application/json": body}});
    for (name, before, after) in [
        ("a server variable loses a value", variable(json!(["a", "b"])), variable(json!(["a"]))),
        (
            "a body accepts only JSON",
            request(json!({"*/*": body})),
            request(json!({"application/json": body})),
        ),
        (
            "a body has another media type parameter",
            request(json!({"a/b; version=1": body})),
            request(json!({"a/b; version=2": body})),
        ),
        (
            "a body accepts only text",
            request(json!({"application/json": body})),
            request(json!({"text/*": body})),
        ),
        (
            "a success status is replaced",
            own(json!({"responses": {"200": response}})),
            own(json!({"responses": {"202": {"description": "D"}}})),
        ),
    ] {
        let found = ids_and_levels(&differences(&before, &after));
        assert!(found.iter().any(|(_, level)| *level == Level::Error), "{name}: {found:?}");
    }
}

#[test]
fn a_new_request_media_type_is_compared_with_the_range_that_covered_it() {
    let request = |content: Value| operating(&json!({}), &json!({"requestBody": {"content": content}}));
    let found = |before: Value, after: Value| ids_and_levels(&differences(&request(before), &request(after)));
    let needs = |names: Value| json!({"schema": {"type": "object", "required": names}});
    let added = ("request-body-media-type-added".to_owned(), Level::Info);
    assert_eq!(
        found(json!({"*/*": {}}), json!({"*/*": {}, "application/json": needs(json!(["a"]))})),
        [added.clone(), ("request-body-media-type-schema-added".to_owned(), Level::Error)]
    );
    let loose = json!({"*/*": needs(json!([]))});
    let strict = json!({"*/*": needs(json!([])), "application/json": needs(json!(["a"]))});
    assert!(found(loose.clone(), strict).iter().any(|(_, level)| *level == Level::Error));
    let same = json!({"*/*": needs(json!([])), "application/json": needs(json!([]))});
    assert_eq!(found(loose, same), std::slice::from_ref(&added));
    // The most specific range is used.
    let both = |json: Value| {
        let mut content = json!({"*/*": {}, "application/*": needs(json!(["a"]))});
        if !json.is_null() {
            content["application/json"] = json;
        }
        content
    };
    assert_eq!(found(both(Value::Null), both(needs(json!(["a"])))), std::slice::from_ref(&added));
    assert_eq!(found(json!({"text/*": {}}), json!({"text/*": {}, "a/b": needs(json!(["a"]))})), [added]);
}

#[test]
fn a_new_response_media_type_is_compared_with_the_range_that_covered_it() {
    let response = |content: Value| {
        let response = json!({"description": "D", "content": content});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let found =
        |before: Value, after: Value| ids_and_levels(&differences(&response(before), &response(after)));
    let of = |kind: &str| json!({"schema": {"type": kind}});
    let added = ("response-media-type-added".to_owned(), Level::Info);
    let changed = ("response-body-type-changed".to_owned(), Level::Error);
    let (any, named) = (json!({"*/*": of("object")}), json!({"*/*": of("object"), "a/json": of("array")}));
    assert_eq!(found(any.clone(), named.clone()), [added.clone(), changed.clone()]);
    assert_eq!(found(any.clone(), json!({"*/*": of("object"), "a/json": of("object")})), [added]);
    // The removal of the specific type is reported only once.
    assert_eq!(found(named, any), [("response-media-type-removed".to_owned(), Level::Error)]);
    // If several types replace a range, each is compared.
    let several = found(json!({"*/*": of("object")}), json!({"a/json": of("object"), "a/csv": of("string")}));
    assert!(several.contains(&changed), "{several:?}");
}

#[test]
fn references_to_links_are_resolved() {
    let linked = |shared: Value, link: Value| {
        let response = json!({"description": "D", "links": {"next": link}});
        operating(&json!({"components": {"links": {"L": shared}}}), &json!({"responses": {"200": response}}))
    };
    let to = || json!({"$ref": "#/components/links/L"});
    let (a, b) = (json!({"operationId": "a"}), json!({"operationId": "b"}));
    let changed = ("response-link-changed".to_owned(), Level::Warning);
    let found = |before: String, after: String| ids_and_levels(&differences(&before, &after));
    assert_eq!(found(linked(a.clone(), to()), linked(b.clone(), to())), std::slice::from_ref(&changed));
    assert_eq!(found(linked(a.clone(), a.clone()), linked(b, to())), [changed]);
    assert_eq!(found(linked(a.clone(), a.clone()), linked(a, to())), []);
}

#[test]
fn media_type_parameters_except_charset_are_part_of_the_name() {
    let body = json!({"schema": {"type": "string"}});
    let response = |name: &str| {
        let response = json!({"description": "D", "content": {name: body}});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let query_parameter = |name: &str| {
        let parameter = json!({"name": "q", "in": "query", "content": {name: body}});
        operating(&json!({}), &json!({"parameters": [parameter]}))
    };
    let request = |name: &str| operating(&json!({}), &json!({"requestBody": {"content": {name: body}}}));
    let one = |id: &str, level| vec![(id.to_owned(), level)];
    for (before, after, expected) in [
        ("a/b; v=1", "a/b; v=2", {
            let added = ("response-media-type-added".to_owned(), Level::Info);
            vec![("response-media-type-removed".to_owned(), Level::Error), added]
        }),
        (
            "a/b; v=1; w=2",
            "a/b; W=2; V=1; charset=utf-8",
            one("response-media-type-name-changed", Level::Info),
        ),
        ("a/b", "a/b; charset=utf-8", one("response-media-type-name-changed", Level::Info)),
        ("a/b", "a/b; v=1", one("response-media-type-name-specialized", Level::Info)),
        ("a/b; v=1", "a/b", one("response-media-type-name-generalized", Level::Error)),
        ("a/json; v=1", "a/c+json; v=1", one("response-media-type-name-specialized", Level::Info)),
    ] {
        let mut found = ids_and_levels(&differences(&response(before), &response(after)));
        let mut expected = expected;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{before} to {after}");
    }
    let found = ids_and_levels(&differences(&request("a/b; v=1; w=2"), &request("a/b; w=2; v=1")));
    assert_eq!(found, one("request-body-media-type-name-changed", Level::Info));
    assert_eq!(
        ids_and_levels(&differences(&query_parameter("a/json"), &query_parameter("a/json; charset=utf-8"))),
        []
    );
    assert_eq!(
        ids_and_levels(&differences(&query_parameter("a/b; v=1"), &query_parameter("a/b; v=2"))),
        one("request-parameter-serialization-changed", Level::Error)
    );
}

#[test]
fn a_content_type_header_is_ignored() {
    let sending = |headers: Value| {
        let response = json!({"description": "D", "headers": headers});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let typed = |kind: &str| json!({"content-Type": {"required": true, "schema": {"type": kind}}});
    let (before, none) = (sending(typed("string")), sending(json!({})));
    for after in [none.clone(), sending(typed("integer"))] {
        assert_eq!(ids_and_levels(&differences(&before, &after)), []);
    }
    assert_eq!(ids_and_levels(&differences(&none, &before)), []);
}

#[test]
fn a_numeric_version_is_compared() {
    let info = |version: Value| operating(&json!({"info": {"version": version}}), &json!({}));
    let more = |version: Value| operating(&json!({"info": {"version": version}}), &json!({"tags": ["t"]}));
    let version_message = |before: Value, after: Value| {
        let findings = differences(&info(before), &more(after));
        findings
            .into_iter()
            .find(|finding| finding.id.starts_with("api-version"))
            .map(|finding| finding.message)
    };
    assert_eq!(version_message(json!(1.5), json!(1.5)).as_deref(), Some("version 1.5 was not increased"));
    assert_eq!(
        version_message(json!(2), json!("1.9")).as_deref(),
        Some("the version decreased from 2 to 1.9")
    );
    assert_eq!(version_message(json!(1), json!(2)), None);
}

#[test]
fn unknown_keywords_at_the_root_are_reported() {
    let found = |root: Value| {
        ids_and_levels(&differences(&operating(&json!({}), &json!({})), &operating(&root, &json!({}))))
    };
    let unknown = ("unclassified-change".to_owned(), Level::Error);
    assert_eq!(found(json!({"path": {"/b": {}}})), std::slice::from_ref(&unknown));
    assert_eq!(found(json!({"components": {"schema": {"A": {"type": "string"}}}})), [unknown]);
    assert_eq!(found(json!({"x-a": 1, "tags": [{"name": "t"}], "components": {"x-b": 2}})), []);
}

#[test]
fn a_path_item_is_merged_with_the_target_of_its_reference() {
    let document = |beside: Value, shared: Value| {
        let mut item = beside;
        item["$ref"] = json!("#/components/pathItems/A");
        json!({"openapi": "3.1.0", "paths": {"/a": item}, "components": {"pathItems": {"A": shared}}})
            .to_string()
    };
    let one = |id: &str, level| vec![(id.to_owned(), level)];
    let asking = |required: bool| json!({"parameters": [{"name": "q", "in": "query", "required": required, "schema": {"type": "string"}}]});
    let served = |url: &str| json!({"servers": [{"url": url}]});
    let (get, post) = (json!({"get": {}}), json!({"post": {}}));
    for (before, after, expected) in [
        (post.clone(), json!({}), one("api-removed-without-deprecation", Level::Error)),
        (asking(false), asking(true), one("request-parameter-became-required", Level::Error)),
        (served("/v1"), served("/v1"), vec![]),
        (json!({"x-a": 1, "summary": "S"}), json!({}), vec![]),
        (json!({"tracing": true}), json!({}), one("unclassified-change", Level::Error)),
    ] {
        let found = ids_and_levels(&differences(
            &document(before.clone(), get.clone()),
            &document(after, get.clone()),
        ));
        assert_eq!(found, expected, "{before}");
    }
    let found = ids_and_levels(&differences(
        &document(served("/v1"), get.clone()),
        &document(served("/v2"), get.clone()),
    ));
    assert!(found.contains(&("api-server-removed".to_owned(), Level::Error)), "{found:?}");
    // It does not matter which of the two defines a keyword.
    let (beside, shared) = (document(post.clone(), get.clone()), document(get, post));
    assert_eq!(ids_and_levels(&differences(&beside, &shared)), []);
}
