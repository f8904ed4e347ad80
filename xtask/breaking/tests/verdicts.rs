//! Changes outside of schemas whose verdict needs more than a comparison of their notation: security requirements as
//! implications, flows, versions, sunset dates and references.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::behavior::document_with_operation;
use super::{differences, ids_and_levels};

/// Returns the messages of the findings that are not at level info.
pub(super) fn reported(base: &str, revision: &str) -> Vec<String> {
    let findings = differences(base, revision);
    let reported = findings.into_iter().filter(|finding| finding.level > Level::Info);
    reported.map(|finding| format!("{}: {}", finding.id, finding.message)).collect()
}

#[test]
fn security_requirements_are_compared_as_implications() {
    let schemes =
        json!({"a": {"type": "http", "scheme": "basic"}, "b": {"type": "http", "scheme": "bearer"}});
    let document = |security: Value| {
        document_with_operation(
            &json!({"components": {"securitySchemes": schemes}}),
            &json!({"security": security}),
        )
    };
    let (a, b, both) = (json!({"a": []}), json!({"b": []}), json!({"a": [], "b": []}));
    for (before, after, expected) in [
        // Fewer credentials are required: no request is rejected, but access is looser.
        (
            json!([both]),
            json!([a]),
            vec!["api-security-loosened: `b` is no longer required in addition to `a`: access is looser"],
        ),
        (
            json!([{"a": ["x"], "b": []}]),
            json!([{"a": []}]),
            vec![
                "api-security-loosened: `b` is no longer required in addition to `a`: access is looser",
                "api-security-scope-removed: `a` no longer requires the scope `x`",
            ],
        ),
        // More credentials are required.
        (json!([a]), json!([both]), vec!["api-security-added: `b` is now required in addition to `a`"]),
        (
            json!([a, b]),
            json!([both]),
            vec![
                "api-security-removed: b no longer grants access",
                "api-security-added: `b` is now required in addition to `a`",
            ],
        ),
        // Alternatives are matched by implication before they are matched by name.
        (
            json!([{"a": ["read", "write"]}]),
            json!([{"a": ["admin"]}, {"a": ["write"]}]),
            vec!["api-security-scope-removed: `a` no longer requires the scope `read`"],
        ),
        (
            json!([{"a": ["read"]}, {"a": ["read", "write"]}]),
            json!([{"a": ["read"]}, {"a": ["admin"]}]),
            vec![],
        ),
        (
            json!([{"a": ["read"]}]),
            json!([{"a": ["admin"]}, {"a": ["read", "write"]}]),
            vec!["api-security-scope-added: `a` now requires the scope `write`"],
        ),
        // An alternative that another one implies has no effect.
        (json!([a, both]), json!([a]), vec![]),
        (json!([b]), json!([b, both]), vec![]),
    ] {
        assert_eq!(
            reported(&document(before.clone()), &document(after.clone())),
            expected,
            "{before} {after}"
        );
    }
}

#[test]
fn renaming_a_security_scheme_changes_no_requirement() {
    let document = |name: &str, kind: &str| {
        let schemes = json!({name: {"type": "http", "scheme": kind, "description": name}});
        let operation = json!({"security": [{name: []}]});
        document_with_operation(&json!({"components": {"securitySchemes": schemes}}), &operation)
    };
    assert_eq!(reported(&document("a", "bearer"), &document("b", "bearer")), [] as [&str; 0]);
    assert!(!reported(&document("a", "bearer"), &document("b", "basic")).is_empty());
}

#[test]
fn keywords_of_oauth_flows_are_compared() {
    let document = |flows: Value| {
        let components = json!({"securitySchemes": {"a": {"type": "oauth2", "flows": flows}}});
        let root = json!({"openapi": "3.2.0", "components": components, "security": [{"a": []}]});
        document_with_operation(&root, &json!({}))
    };
    let device = |url: &str| json!({"deviceAuthorization": {"deviceAuthorizationUrl": url, "tokenUrl": "https://a.example/token", "scopes": {}}});
    let (first, second) = (device("https://a.example/1"), device("https://a.example/2"));
    let password =
        |key: &str| json!({"password": {"tokenUrl": "https://a.example/token", "scopes": {}, key: 1}});
    for (before, after, expected) in [
        (
            first.clone(),
            second,
            vec![
                "api-security-component-oauth-url-changed: `deviceAuthorizationUrl` changed from `https://a.example/1` to `https://a.example/2`",
            ],
        ),
        (
            first.clone(),
            json!({}),
            vec!["api-security-component-removed: the flow `deviceAuthorization` of `a` was removed"],
        ),
        (
            json!({"password": {"scopes": {}}, "other": {}}),
            json!({"password": {"scopes": {}}}),
            vec!["unclassified-change: `other` changed, and no rule covers this keyword"],
        ),
        (
            password("x-a"),
            password("other"),
            vec!["unclassified-change: `other` changed, and no rule covers this keyword"],
        ),
        (password("x-a"), password("x-b"), vec![]),
    ] {
        assert_eq!(
            reported(&document(before.clone()), &document(after.clone())),
            expected,
            "{before} {after}"
        );
    }
}

#[test]
fn urls_of_security_schemes_are_compared_by_meaning() {
    let document = |scheme: Value| {
        let root = json!({"components": {"securitySchemes": {"a": scheme}}, "security": [{"a": []}]});
        document_with_operation(&root, &json!({}))
    };
    let flow = |flow: &str, keyword: &str, url: &str| {
        let mut keywords = json!({"scopes": {}, "tokenUrl": "https://a.example/token"});
        keywords[keyword] = json!(url);
        document(json!({"type": "oauth2", "flows": {flow: keywords}}))
    };
    let open_id = |url: &str| document(json!({"type": "openIdConnect", "openIdConnectUrl": url}));
    let documents = |url: &str| {
        [
            flow("authorizationCode", "authorizationUrl", url),
            flow("implicit", "authorizationUrl", url),
            flow("password", "tokenUrl", url),
            flow("clientCredentials", "refreshUrl", url),
            flow("deviceAuthorization", "deviceAuthorizationUrl", url),
            open_id(url),
        ]
    };
    for (before, after) in
        [("https://a.example/x", "HTTPS://A.example:443/x"), ("http://a.example:80", "http://a.example/")]
    {
        for (base, revision) in documents(before).iter().zip(&documents(after)) {
            assert_eq!(ids_and_levels(&differences(base, revision)), [], "{base} {revision}");
        }
    }
    for after in ["https://a.example/X", "http://a.example/x", "https://a.example/x/"] {
        for (base, revision) in documents("https://a.example/x").iter().zip(&documents(after)) {
            assert_eq!(reported(base, revision).len(), 1, "{base} {revision}");
        }
    }
    // The message has the URLs of the documents.
    assert_eq!(
        reported(&open_id("https://A.example/x"), &open_id("https://A.example/y")),
        [
            "api-security-component-type-changed: the security scheme `a` changed: openIdConnectUrl https://A.example/x to https://A.example/y"
        ]
    );
}

#[test]
fn an_added_refresh_url_breaks_no_client() {
    let document = |refresh_url: Option<&str>| {
        let mut flow = json!({"tokenUrl": "https://a.example/token", "scopes": {}});
        if let Some(url) = refresh_url {
            flow["refreshUrl"] = json!(url);
        }
        let schemes = json!({"a": {"type": "oauth2", "flows": {"password": flow}}});
        let root = json!({"components": {"securitySchemes": schemes}, "security": [{"a": []}]});
        document_with_operation(&root, &json!({}))
    };
    let changed = |level| [("api-security-component-oauth-token-url-changed".to_owned(), level)];
    let (none, token, other) = (
        document(None),
        document(Some("https://a.example/token")),
        document(Some("https://a.example/other")),
    );
    for after in [&token, &other] {
        let findings = differences(&none, after);
        assert_eq!(ids_and_levels(&findings), changed(Level::Info));
        assert!(findings[0].message.ends_with("was added"), "{findings:?}");
        assert_eq!(ids_and_levels(&differences(after, &none)), changed(Level::Error));
    }
    assert_eq!(ids_and_levels(&differences(&token, &other)), changed(Level::Error));
}

#[test]
fn a_version_with_fewer_numbers_is_not_a_decrease() {
    let document = |version: &str, summary: &str| {
        document_with_operation(&json!({"info": {"version": version}}), &json!({"tags": [summary]}))
    };
    let is_decrease = |before: &str, after: &str| {
        let findings = differences(&document(before, "a"), &document(after, "b"));
        findings.iter().any(|finding| finding.id == "api-version-decreased")
    };
    assert!(!is_decrease("1.0.0", "1.0") && !is_decrease("1", "1.0.1"));
    assert!(is_decrease("1.1.0", "1.0.9") && is_decrease("1.0.1", "1.0"));
}

#[test]
fn only_semantic_versions_are_expected_to_increase() {
    let reported = |before: &str, after: &str| {
        let document = |version: &str, id: &str| {
            document_with_operation(&json!({"info": {"version": version}}), &json!({"operationId": id}))
        };
        // The changed `operationId` is a breaking change.
        let base = document(before, "a");
        let revision = document(after, "b");
        let findings =
            differences(&base, &revision).into_iter().filter(|finding| finding.id.contains("version"));
        findings.map(|finding| format!("{}: {}", finding.id, finding.message)).collect::<Vec<_>>()
    };
    let same_major = "api-major-version-not-bumped: breaking changes, but";
    for (before, after, expected) in [
        ("1.0.0", "2.0.0", vec![]),
        ("v1.2.3", "v2.0.0", vec![]),
        ("1", "v2", vec![]),
        ("1.0", "v1", vec![format!("{same_major} v1 has the same major version as 1.0")]),
        ("v1.2.3", "1.3.0", vec![format!("{same_major} 1.3.0 has the same major version as v1.2.3")]),
        // Below 1.0.0, the minor version counts as the major one.
        ("0.1.0", "0.2.0", vec![]),
        ("0.9.0", "1.0.0", vec![]),
        ("0.1.0", "0.1.1", vec![format!("{same_major} 0.1.1 has the same minor version as 0.1.0")]),
        (
            "1.0.0",
            "1.0.0-rc.1",
            vec![
                format!("{same_major} 1.0.0-rc.1 has the same major version as 1.0.0"),
                "api-version-decreased: the version decreased from 1.0.0 to 1.0.0-rc.1".to_owned(),
            ],
        ),
        ("1.0.0+2", "2.0.0+1", vec![]),
        ("1.0.0+2", "1.0.0+1", vec![format!("{same_major} 1.0.0+1 has the same major version as 1.0.0+2")]),
        // Other versions are not ordered.
        ("2026-06-01", "2026-06-02", vec![]),
        ("2026-06-02", "2026-06-01", vec![]),
        ("2026-06-01", "2026-06-01", vec![]),
        ("2026-06-01", "1.0.0", vec![]),
        ("1.0.0", "latest", vec![]),
        ("", "", vec![]),
    ] {
        assert_eq!(reported(before, after), expected, "{before} {after}");
    }
}

#[test]
fn a_callback_can_be_removed_after_its_sunset() {
    let document = |callbacks: Value| document_with_operation(&json!({}), &json!({"callbacks": callbacks}));
    let callback = |operation: Value| json!({"done": {"{$request.query.url}": {"post": operation}}});
    let removed = |operation: Value| reported(&document(callback(operation)), &document(json!({})));
    let removal = ["callback-removed: the callback `done` was removed"];
    assert_eq!(removed(json!({})), removal);
    assert_eq!(removed(json!({"deprecated": true, "x-sunset": "2026-03-02"})), removal);
    assert_eq!(removed(json!({"deprecated": true, "x-sunset": "2026-03-01"})), [] as [&str; 0]);
    let url_removed =
        |operation: Value| reported(&document(callback(operation)), &document(json!({"done": {}})));
    assert_eq!(
        url_removed(json!({})),
        ["callback-removed: the callback to `{$request.query.url}` was removed"]
    );
    assert_eq!(url_removed(json!({"deprecated": true})), [] as [&str; 0]);
    // Extensions of a callback are no URLs.
    let extended = json!({"done": {"x-owner": {"post": {}}}});
    assert_eq!(reported(&document(extended), &document(json!({"done": {"x-team": "a"}}))), [] as [&str; 0]);
}

#[test]
fn explode_of_webhook_parameters_depends_on_their_style() {
    let document = |parameter: Value| {
        let mut parameter = parameter;
        parameter["schema"] = json!({"type": "array", "items": {"type": "string"}});
        json!({"openapi": "3.1.0", "webhooks": {"w": {"post": {"parameters": [parameter]}}}}).to_string()
    };
    let query = |explode: Option<bool>| {
        document(json!({"name": "q", "in": "query", "explode": explode.unwrap_or(true)}))
    };
    let default = document(json!({"name": "q", "in": "query"}));
    assert_eq!(reported(&default, &query(Some(true))), [] as [&str; 0]);
    assert_eq!(reported(&default, &query(Some(false))).len(), 1);
}

#[test]
fn a_sunset_must_be_a_date_that_exists() {
    let document =
        |sunset: Value| document_with_operation(&json!({}), &json!({"deprecated": true, "x-sunset": sunset}));
    let base = document_with_operation(&json!({}), &json!({}));
    for (sunset, expected) in [
        (json!("2026-02-30"), "api-deprecated-sunset-parse: the sunset `2026-02-30` is not a date"),
        (
            json!("2027-01-01T25:00:00Z"),
            "api-deprecated-sunset-parse: the sunset `2027-01-01T25:00:00Z` is not a date",
        ),
        (json!(20270101), "api-deprecated-sunset-parse: the sunset `20270101` is not a date"),
        (
            json!("2026-02-01"),
            "api-sunset-date-too-small: the sunset on 2026-02-01 was 28 days ago; it must be at least 180 days away",
        ),
    ] {
        assert_eq!(reported(&base, &document(sunset)), [expected]);
    }
    assert_eq!(reported(&base, &document(json!("2027-01-01T12:00:00Z"))), [] as [&str; 0]);
}

#[test]
fn chains_of_references_have_no_maximum_length() {
    let document = |maximum: u32| {
        let mut schemas = json!({});
        let mut headers = json!({});
        for index in 0..100 {
            schemas[format!("S{index}")] = json!({"$ref": format!("#/components/schemas/S{}", index + 1)});
            headers[format!("H{index}")] = json!({"$ref": format!("#/components/headers/H{}", index + 1)});
        }
        schemas["S100"] = json!({"type": "null"});
        headers["H100"] = json!({"schema": {"type": "integer", "maximum": maximum}});
        let first = json!({"$ref": "#/components/headers/H0"});
        let union = json!({"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/S0"}]});
        let response = json!({"headers": {"H": first}, "content": {"application/json": {"schema": union}}});
        let components = json!({"schemas": schemas, "headers": headers});
        document_with_operation(&json!({"components": components}), &json!({"responses": {"200": response}}))
    };
    assert_eq!(
        reported(&document(1), &document(2)),
        ["response-header-max-increased: `maximum` changed from 1 to 2"]
    );
}

/// Returns the documents' text at both positions of the finding about a property `a` that is no longer nullable, and the
/// end of the path of the finding.
fn removed_null(
    version: &str,
    (base, base_schemas): (Value, Value),
    (revision, revision_schemas): (Value, Value),
) -> (String, String, String) {
    let document = |property: &Value, schemas: &Value| {
        let schema = json!({"type": "object", "properties": {"a": property}});
        let body = json!({"content": {"application/json": {"schema": schema}}});
        document_with_operation(
            &json!({"openapi": version, "components": {"schemas": schemas}}),
            &json!({"requestBody": body}),
        )
    };
    let (base, revision) = (document(&base, &base_schemas), document(&revision, &revision_schemas));
    let findings = differences(&base, &revision);
    let is_searched = |id: &str| id.ends_with("-became-not-nullable");
    let mut searched = findings.iter().filter(|finding| is_searched(&finding.id));
    let finding = searched.next().unwrap_or_else(|| panic!("{findings:?}"));
    assert!(searched.next().is_none(), "{findings:?}");
    let path = finding.path.split('.').rev().take(2).collect::<Vec<_>>();
    let text = |document: &str, start: usize, end: usize| document[start..end].to_owned();
    (
        path.into_iter().rev().collect::<Vec<_>>().join("."),
        text(&base, finding.base.start, finding.base.end),
        text(&revision, finding.revision.start, finding.revision.end),
    )
}

#[test]
fn a_removed_null_is_reported_where_it_was_removed() {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let all_of = |name: &str, nullable: bool| {
        let mut schema = json!({"allOf": [reference(name)]});
        if nullable {
            schema["nullable"] = json!(true);
        }
        schema
    };
    let text = json!({"X": {"type": "string"}, "Y": {"type": ["string", "null"]}});
    let expected = |path: &str, base: &str, revision: &str| {
        let key = |key: &str| if key.starts_with('{') { key.to_owned() } else { format!("\"{key}\"") };
        (path.to_owned(), key(base), key(revision))
    };
    let nested = |nullable: bool| json!({"A": all_of("X", nullable), "X": {"type": "string"}});
    let or_null = json!({"anyOf": [reference("X"), {"type": "null"}]});
    let (nullable, plain) = (json!({"type": ["string", "null"]}), json!({"type": "string"}));
    let none = json!({});
    for (version, base, revision, expected) in [
        // At a use of a schema that did not change.
        (
            "3.0.3",
            (all_of("X", true), text.clone()),
            (all_of("X", false), text.clone()),
            expected("a.nullable", "nullable", "a"),
        ),
        (
            "3.0.3",
            (all_of("X", true), text.clone()),
            (reference("X"), text.clone()),
            expected("a.nullable", "nullable", "a"),
        ),
        (
            "3.1.0",
            (or_null.clone(), text.clone()),
            (reference("X"), text.clone()),
            expected("anyOf.*", "{\"type\":\"null\"}", "a"),
        ),
        (
            "3.1.0",
            (reference("Y"), text.clone()),
            (reference("X"), text.clone()),
            expected("properties.a", "a", "a"),
        ),
        // In a schema between the use and the schema that did not change.
        (
            "3.0.3",
            (reference("A"), nested(true)),
            (reference("A"), nested(false)),
            expected("A.nullable", "nullable", "A"),
        ),
        // In the schema that changed.
        (
            "3.1.0",
            (reference("A"), json!({"A": nullable})),
            (reference("A"), json!({"A": plain})),
            expected("A.type", "type", "type"),
        ),
        (
            "3.1.0",
            (nullable.clone(), none.clone()),
            (plain.clone(), none.clone()),
            expected("a.type", "type", "type"),
        ),
        (
            "3.1.0",
            (json!({"enum": ["b", null]}), none.clone()),
            (json!({"enum": ["b"]}), none.clone()),
            expected("a.enum", "enum", "enum"),
        ),
    ] {
        let description = format!("{version} {base:?} {revision:?}");
        assert_eq!(removed_null(version, base, revision), expected, "{description}");
    }
}
