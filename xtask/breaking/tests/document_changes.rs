//! Changes outside of schemas: which ones break clients, and which ones are harmless.

use serde_json::{Value, json};

use super::super::config::Settings;
use super::super::document::OpenApiDocument;
use super::super::find_changes;
use super::super::rule::Level;
use super::behavior::document_with_operation;
use super::{TODAY, differences, ids_and_levels, read};

#[test]
fn case_matters_except_in_header_names() {
    let scheme = |scheme: Value| {
        let components = json!({"securitySchemes": {"key": scheme}});
        document_with_operation(&json!({"components": components, "security": [{"key": []}]}), &json!({}))
    };
    let key = |location: &str, name: &str| scheme(json!({"type": "apiKey", "in": location, "name": name}));
    let changed = "api-security-component-type-changed".to_owned();
    for location in ["query", "cookie"] {
        let reported = ids_and_levels(&differences(&key(location, "api_key"), &key(location, "API_KEY")));
        assert!(reported.contains(&(changed.clone(), Level::Error)), "{location}: {reported:?}");
    }
    assert_eq!(ids_and_levels(&differences(&key("header", "x-key"), &key("header", "X-Key"))), []);
    let open_id = |path: &str| {
        scheme(json!({"type": "openIdConnect", "openIdConnectUrl": format!("https://a.example{path}")}))
    };
    assert!(ids_and_levels(&differences(&open_id("/A"), &open_id("/a"))).contains(&(changed, Level::Error)));
}

#[test]
fn a_sunset_that_is_added_later_is_reported_and_must_be_far_enough_in_the_future() {
    let deprecated = |sunset: Option<&str>| {
        let mut operation = json!({"deprecated": true});
        if let Some(date) = sunset {
            operation["x-sunset"] = json!(date);
        }
        document_with_operation(&json!({}), &operation)
    };
    let reported = |before, after| ids_and_levels(&differences(&deprecated(before), &deprecated(after)));
    let too_soon = ("api-sunset-date-too-small".to_owned(), Level::Error);
    let announced = ("endpoint-deprecated-with-sunset".to_owned(), Level::Info);
    assert_eq!(reported(None, Some("2026-03-05")), std::slice::from_ref(&too_soon));
    assert_eq!(reported(Some("soon"), Some("2026-03-05")), [too_soon]);
    assert_eq!(reported(None, Some("2026-12-01")), std::slice::from_ref(&announced));
    assert_eq!(reported(Some("2026-12-01"), Some("2027-01-01")), [announced]);
}

#[test]
fn a_sunset_that_is_too_soon_is_explained_by_the_policy() {
    let operation = |operation: Value| read("a.yaml", &document_with_operation(&json!({}), &operation));
    let deprecated = |sunset: &str| operation(json!({"deprecated": true, "x-sunset": sunset}));
    let messages = |base: &OpenApiDocument, revision: &OpenApiDocument, days: i32| {
        let settings = Settings::parse("a.toml", &format!("[policies]\nsunset-days = {days}")).unwrap();
        let findings = find_changes(base, revision, &settings, TODAY).expect("the documents can be compared");
        for finding in &findings {
            // The text of a rule is the same for each policy.
            assert!(!finding.remedy.contains(|letter: char| letter.is_ascii_digit()), "{finding:?}");
        }
        findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    let supported = operation(json!({}));
    for (base, revision, days, message) in [
        (
            &supported,
            &deprecated("2026-02-01"),
            0,
            "the sunset on 2026-02-01 was 28 days ago; it must not be in the past",
        ),
        (
            &supported,
            &deprecated("2026-02-28"),
            1,
            "the sunset on 2026-02-28 was yesterday; it must be at least 1 day away",
        ),
        (
            &supported,
            &deprecated("2026-03-01"),
            30,
            "the sunset on 2026-03-01 is today; it must be at least 30 days away",
        ),
        (&supported, &deprecated("2026-03-01"), 0, "deprecated with sunset on 2026-03-01"),
        (
            &supported,
            &operation(json!({"deprecated": true})),
            30,
            "deprecated without `x-sunset`, which must be at least 30 days away",
        ),
        (&supported, &operation(json!({"deprecated": true})), 0, "deprecated"),
        (
            &deprecated("2027-01-01"),
            &deprecated("2026-02-01"),
            0,
            "the sunset changed from 2027-01-01 to 2026-02-01, which was 28 days ago; it must not be in the past",
        ),
    ] {
        assert_eq!(messages(base, revision, days), [message]);
    }
}

#[test]
fn reserved_characters_can_be_allowed_but_not_refused() {
    let levels = |location: &str, before: bool, after: bool| {
        let document = |allowed: bool| {
            let parameter =
                json!({"name": "q", "in": location, "schema": {"type": "string"}, "allowReserved": allowed});
            document_with_operation(&json!({}), &json!({"parameters": [parameter]}))
        };
        let found = ids_and_levels(&differences(&document(before), &document(after)));
        found.into_iter().map(|(_, level)| level).collect::<Vec<_>>()
    };
    assert_eq!(levels("query", false, true), [Level::Info]);
    assert_eq!(levels("query", true, false), [Level::Error]);
    assert_eq!(levels("header", true, false), []);
}

#[test]
fn deprecated_values_of_an_enum_are_compared() {
    let document = |values: Value| {
        let schema = json!({"type": "string", "enum": ["paid", "void"], "x-deprecated-values": values});
        let parameter = json!({"name": "status", "in": "query", "schema": schema});
        document_with_operation(&json!({}), &json!({"parameters": [parameter]}))
    };
    let reported = |before: Value, after: Value| {
        let found = differences(&document(before), &document(after));
        found.iter().map(|finding| format!("{} {}", finding.id, finding.message)).collect::<Vec<_>>()
    };
    let sunset = |date: &str| json!({"void": {"x-sunset": date}});
    assert_eq!(
        reported(json!({}), sunset("2026-12-01")),
        ["request-parameter-deprecated-with-sunset the value `void`: deprecated with sunset on 2026-12-01"]
    );
    assert_eq!(
        reported(sunset("2026-12-01"), json!({"void": {"x-sunset": "2026-12-01", "x-replaced-by": "P"}})),
        [""; 0]
    );
    assert_eq!(
        reported(sunset("2026-12-01"), json!({})),
        ["request-parameter-reactivated the value `void`: the deprecation was withdrawn"]
    );
    assert_eq!(
        reported(json!({}), json!({"void": {}})),
        [
            "request-parameter-deprecated-sunset-missing the value `void`: deprecated without `x-sunset`, which must be at least 180 days away"
        ]
    );
}

#[test]
fn media_type_and_deprecation_of_response_headers_are_compared() {
    let document = |header: Value| {
        let response = json!({"description": "D", "headers": {"X-A": header}});
        document_with_operation(&json!({}), &json!({"responses": {"200": response}}))
    };
    let reported =
        |before: Value, after: Value| ids_and_levels(&differences(&document(before), &document(after)));
    let with_media_type = |media_type: &str| json!({"content": {media_type: {"schema": {"type": "string"}}}});
    let serialization_changed = ("response-header-serialization-changed".to_owned(), Level::Error);
    assert_eq!(
        reported(with_media_type("application/json"), with_media_type("text/plain")),
        std::slice::from_ref(&serialization_changed)
    );
    assert_eq!(
        reported(with_media_type("application/json"), json!({"schema": {"type": "string"}})),
        [serialization_changed]
    );
    assert_eq!(
        reported(json!({}), json!({"deprecated": true})),
        [("response-header-deprecated-sunset-missing".to_owned(), Level::Error)]
    );
    assert_eq!(
        reported(json!({}), json!({"deprecated": true, "x-sunset": "2026-12-01"})),
        [("response-header-deprecated-with-sunset".to_owned(), Level::Info)]
    );
    assert_eq!(
        reported(json!({}), json!({"style": "other"})),
        [("unclassified-change".to_owned(), Level::Error)]
    );
    let reported_removal = |header: Value| {
        ids_and_levels(&differences(
            &document(header),
            &document_with_operation(
                &json!({}),
                &json!({
                    "responses": {"200": {"description": "D"}}
                }),
            ),
        ))
    };
    let id = "required-response-header-removed".to_owned();
    assert_eq!(reported_removal(json!({"required": true})), [(id.clone(), Level::Error)]);
    let after_sunset = json!({"required": true, "deprecated": true, "x-sunset": "2026-02-01"});
    assert_eq!(reported_removal(after_sunset), [(id, Level::Info)]);
}

#[test]
fn harmless_changes_outside_of_schemas_are_not_reported_above_level_info() {
    let root = |root: Value| document_with_operation(&root, &json!({}));
    let operation = |operation: Value| document_with_operation(&json!({}), &operation);
    let variable = |variable: Value| {
        root(json!({"servers": [{"url": "https://{v}.example", "variables": {"v": variable}}]}))
    };
    let request = |content: Value| operation(json!({"requestBody": {"content": content}}));
    let response = |status: &str| {
        let body = json!({"application/json": {"schema": {"type": "string"}}});
        operation(json!({"responses": {status: {"description": "D", "content": body}}}))
    };
    let response_with_default = |status: &str| {
        let body = |kind: &str| json!({"application/json": {"schema": {"type": kind}}});
        operation(json!({"responses": {
            status: {"description": "D", "content": body("string")},
            "default": {"description": "D", "content": body("object")},
        }}))
    };
    let linked =
        |link: Value| operation(json!({"responses": {"200": {"description": "D", "links": {"next": link}}}}));
    let body = json!({"schema": {"type": "string"}});
    let (one_value, two_values) =
        (json!({"default": "a", "enum": ["a"]}), json!({"default": "a", "enum": ["a", "b"]}));
    let accept_header = json!([{"name": "accept", "in": "header", "schema": {"type": "string"}}]);
    let key = |name: &str| json!({"type": "apiKey", "in": "query", "name": name});
    let schemes = |schemes: Value| root(json!({"components": {"securitySchemes": schemes}}));
    for (name, before, after) in [
        (
            "a server variable gets a description",
            variable(one_value.clone()),
            variable(json!({"default": "a", "enum": ["a"], "description": "D"})),
        ),
        ("a server variable accepts one more value", variable(one_value), variable(two_values)),
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
            response_with_default("2XX"),
            response_with_default("200"),
        ),
        (
            "a parameter that OpenAPI ignores is removed",
            operation(json!({"parameters": accept_header})),
            operation(json!({})),
        ),
        ("an unused scheme is removed", schemes(json!({"key": key("a")})), schemes(json!({}))),
        ("an unused scheme changes", schemes(json!({"key": key("a")})), schemes(json!({"key": key("b")}))),
        (
            "a link gets a description",
            linked(json!({"operationId": "a"})),
            linked(json!({"operationId": "a", "description": "D"})),
        ),
    ] {
        let reported = ids_and_levels(&differences(&before, &after));
        assert!(reported.iter().all(|(_, level)| *level == Level::Info), "{name}: {reported:?}");
    }
}

#[test]
fn breaking_changes_outside_of_schemas_are_reported_as_errors() {
    let operation = |operation: Value| document_with_operation(&json!({}), &operation);
    let variable = |values: Value| {
        let variables = json!({"v": {"default": "a", "enum": values}});
        document_with_operation(
            &json!({"servers": [{"url": "https://{v}.example", "variables": variables}]}),
            &json!({}),
        )
    };
    let request = |content: Value| operation(json!({"requestBody": {"content": content}}));
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
            operation(json!({"responses": {"200": response}})),
            operation(json!({"responses": {"202": {"description": "D"}}})),
        ),
    ] {
        let reported = ids_and_levels(&differences(&before, &after));
        assert!(reported.iter().any(|(_, level)| *level == Level::Error), "{name}: {reported:?}");
    }
}

#[test]
fn references_to_links_are_resolved() {
    let linked = |shared: Value, link: Value| {
        let response = json!({"description": "D", "links": {"next": link}});
        document_with_operation(
            &json!({"components": {"links": {"L": shared}}}),
            &json!({"responses": {"200": response}}),
        )
    };
    let reference = || json!({"$ref": "#/components/links/L"});
    let (a, b) = (json!({"operationId": "a"}), json!({"operationId": "b"}));
    let changed = ("response-link-changed".to_owned(), Level::Warning);
    let reported = |before: String, after: String| ids_and_levels(&differences(&before, &after));
    assert_eq!(
        reported(linked(a.clone(), reference()), linked(b.clone(), reference())),
        std::slice::from_ref(&changed)
    );
    assert_eq!(reported(linked(a.clone(), a.clone()), linked(b, reference())), [changed]);
    assert_eq!(reported(linked(a.clone(), a.clone()), linked(a, reference())), []);
}

#[test]
fn a_content_type_header_is_ignored() {
    let document = |headers: Value| {
        let response = json!({"description": "D", "headers": headers});
        document_with_operation(&json!({}), &json!({"responses": {"200": response}}))
    };
    let content_type = |kind: &str| json!({"content-Type": {"required": true, "schema": {"type": kind}}});
    let (before, none) = (document(content_type("string")), document(json!({})));
    for after in [none.clone(), document(content_type("integer"))] {
        assert_eq!(ids_and_levels(&differences(&before, &after)), []);
    }
    assert_eq!(ids_and_levels(&differences(&none, &before)), []);
}

#[test]
fn a_numeric_version_is_compared() {
    let info = |version: Value| document_with_operation(&json!({"info": {"version": version}}), &json!({}));
    // The tag is another change: an unchanged version is reported only next to one.
    let info_and_tag = |version: Value| {
        document_with_operation(&json!({"info": {"version": version}}), &json!({"tags": ["t"]}))
    };
    let version_message = |before: Value, after: Value| {
        let findings = differences(&info(before), &info_and_tag(after));
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
    let reported = |root: Value| {
        ids_and_levels(&differences(
            &document_with_operation(&json!({}), &json!({})),
            &document_with_operation(&root, &json!({})),
        ))
    };
    let unknown = ("unclassified-change".to_owned(), Level::Error);
    assert_eq!(reported(json!({"path": {"/b": {}}})), std::slice::from_ref(&unknown));
    assert_eq!(reported(json!({"components": {"schema": {"A": {"type": "string"}}}})), [unknown]);
    assert_eq!(reported(json!({"x-a": 1, "tags": [{"name": "t"}], "components": {"x-b": 2}})), []);
}

#[test]
fn a_path_item_is_merged_with_the_target_of_its_reference() {
    let document = |own_keywords: Value, shared: Value| {
        let mut item = own_keywords;
        item["$ref"] = json!("#/components/pathItems/A");
        json!({"openapi": "3.1.0", "paths": {"/a": item}, "components": {"pathItems": {"A": shared}}})
            .to_string()
    };
    let single = |id: &str, level| vec![(id.to_owned(), level)];
    let with_parameter = |required: bool| json!({"parameters": [{"name": "q", "in": "query", "required": required, "schema": {"type": "string"}}]});
    let with_server = |url: &str| json!({"servers": [{"url": url}]});
    let (get, post) = (json!({"get": {}}), json!({"post": {}}));
    for (before, after, expected) in [
        (post.clone(), json!({}), single("api-removed-without-deprecation", Level::Error)),
        (
            with_parameter(false),
            with_parameter(true),
            single("request-parameter-became-required", Level::Error),
        ),
        (with_server("/v1"), with_server("/v1"), vec![]),
        (json!({"x-a": 1, "summary": "S"}), json!({}), vec![]),
        (json!({"tracing": true}), json!({}), single("unclassified-change", Level::Error)),
    ] {
        let reported = ids_and_levels(&differences(
            &document(before.clone(), get.clone()),
            &document(after, get.clone()),
        ));
        assert_eq!(reported, expected, "{before}");
    }
    let reported = ids_and_levels(&differences(
        &document(with_server("/v1"), get.clone()),
        &document(with_server("/v2"), get.clone()),
    ));
    assert!(reported.contains(&("api-server-removed".to_owned(), Level::Error)), "{reported:?}");
    // It does not matter which of the two defines a keyword.
    let (in_item, in_target) = (document(post.clone(), get.clone()), document(get, post));
    assert_eq!(ids_and_levels(&differences(&in_item, &in_target)), []);
}
