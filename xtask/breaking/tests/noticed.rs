//! What a client notices outside of schemas, and what takes nothing from it.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::stories::operating;
use super::{differences, told};

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
        ("one is left beside the failures", beside_failures("2XX"), beside_failures("200")),
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
fn a_request_type_beside_a_wildcard_takes_what_the_wildcard_took() {
    let sent = |content: Value| operating(&json!({}), &json!({"requestBody": {"content": content}}));
    let found = |was: Value, now: Value| told(&differences(&sent(was), &sent(now)));
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
    // The nearest wildcard spoke for it.
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
fn a_response_type_beside_a_wildcard_is_read_as_the_wildcard_was() {
    let answered = |content: Value| {
        let response = json!({"description": "D", "content": content});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let found = |was: Value, now: Value| told(&differences(&answered(was), &answered(now)));
    let of = |kind: &str| json!({"schema": {"type": kind}});
    let added = ("response-media-type-added".to_owned(), Level::Info);
    let changed = ("response-body-type-changed".to_owned(), Level::Error);
    let (any, named) = (json!({"*/*": of("object")}), json!({"*/*": of("object"), "a/json": of("array")}));
    assert_eq!(found(any.clone(), named.clone()), [added.clone(), changed.clone()]);
    assert_eq!(found(any.clone(), json!({"*/*": of("object"), "a/json": of("object")})), [added]);
    // Whoever read the one that is gone is told of that alone.
    assert_eq!(found(named, any), [("response-media-type-removed".to_owned(), Level::Error)]);
    // Of several that come in the place of the wildcard, each is compared.
    let several = found(json!({"*/*": of("object")}), json!({"a/json": of("object"), "a/csv": of("string")}));
    assert!(several.contains(&changed), "{several:?}");
}

#[test]
fn a_shared_link_is_followed() {
    let linked = |shared: Value, link: Value| {
        let response = json!({"description": "D", "links": {"next": link}});
        operating(&json!({"components": {"links": {"L": shared}}}), &json!({"responses": {"200": response}}))
    };
    let to = || json!({"$ref": "#/components/links/L"});
    let (a, b) = (json!({"operationId": "a"}), json!({"operationId": "b"}));
    let changed = ("response-link-changed".to_owned(), Level::Warning);
    let found = |was: String, now: String| told(&differences(&was, &now));
    assert_eq!(found(linked(a.clone(), to()), linked(b.clone(), to())), std::slice::from_ref(&changed));
    assert_eq!(found(linked(a.clone(), a.clone()), linked(b, to())), [changed]);
    assert_eq!(found(linked(a.clone(), a.clone()), linked(a, to())), []);
}

#[test]
fn every_parameter_of_a_media_type_but_its_characters_is_part_of_the_name() {
    let body = json!({"schema": {"type": "string"}});
    let answered = |name: &str| {
        let response = json!({"description": "D", "content": {name: body}});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let asked = |name: &str| {
        let parameter = json!({"name": "q", "in": "query", "content": {name: body}});
        operating(&json!({}), &json!({"parameters": [parameter]}))
    };
    let sent = |name: &str| operating(&json!({}), &json!({"requestBody": {"content": {name: body}}}));
    let one = |id: &str, level| vec![(id.to_owned(), level)];
    for (was, now, expected) in [
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
        let mut found = told(&differences(&answered(was), &answered(now)));
        let mut expected = expected;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{was} to {now}");
    }
    let found = told(&differences(&sent("a/b; v=1; w=2"), &sent("a/b; w=2; v=1")));
    assert_eq!(found, one("request-body-media-type-name-changed", Level::Info));
    assert_eq!(told(&differences(&asked("a/json"), &asked("a/json; charset=utf-8"))), []);
    assert_eq!(
        told(&differences(&asked("a/b; v=1"), &asked("a/b; v=2"))),
        one("request-parameter-serialization-changed", Level::Error)
    );
}

#[test]
fn a_header_that_openapi_ignores_is_ignored() {
    let sending = |headers: Value| {
        let response = json!({"description": "D", "headers": headers});
        operating(&json!({}), &json!({"responses": {"200": response}}))
    };
    let typed = |kind: &str| json!({"content-Type": {"required": true, "schema": {"type": kind}}});
    let (was, none) = (sending(typed("string")), sending(json!({})));
    for now in [none.clone(), sending(typed("integer"))] {
        assert_eq!(told(&differences(&was, &now)), []);
    }
    assert_eq!(told(&differences(&none, &was)), []);
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
fn what_openapi_does_not_know_is_seen_at_the_top_too() {
    let found =
        |root: Value| told(&differences(&operating(&json!({}), &json!({})), &operating(&root, &json!({}))));
    let unknown = ("unclassified-change".to_owned(), Level::Error);
    assert_eq!(found(json!({"path": {"/b": {}}})), std::slice::from_ref(&unknown));
    assert_eq!(found(json!({"components": {"schema": {"A": {"type": "string"}}}})), [unknown]);
    assert_eq!(found(json!({"x-a": 1, "tags": [{"name": "t"}], "components": {"x-b": 2}})), []);
}

#[test]
fn what_stands_beside_the_reference_of_a_path_counts_with_what_it_leads_to() {
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
    for (was, now, expected) in [
        (post.clone(), json!({}), one("api-removed-without-deprecation", Level::Error)),
        (asking(false), asking(true), one("request-parameter-became-required", Level::Error)),
        (served("/v1"), served("/v1"), vec![]),
        (json!({"x-a": 1, "summary": "S"}), json!({}), vec![]),
        (json!({"tracing": true}), json!({}), one("unclassified-change", Level::Error)),
    ] {
        let found = told(&differences(&document(was.clone(), get.clone()), &document(now, get.clone())));
        assert_eq!(found, expected, "{was}");
    }
    let found =
        told(&differences(&document(served("/v1"), get.clone()), &document(served("/v2"), get.clone())));
    assert!(found.contains(&("api-server-removed".to_owned(), Level::Error)), "{found:?}");
    // Where it is written makes no difference.
    let (beside, shared) = (document(post.clone(), get.clone()), document(get, post));
    assert_eq!(told(&differences(&beside, &shared)), []);
}
