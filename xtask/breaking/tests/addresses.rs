//! Verdicts about addresses of operations: servers, paths and their placeholders.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::differences;
use super::verdicts::reported;

#[test]
fn servers_and_paths_are_compared_as_addresses() {
    let document = |servers: Value, path: &str| {
        let mut document = json!({"openapi": "3.1.0", "paths": {path: {"get": {"operationId": "getA"}}}});
        if !servers.is_null() {
            document["servers"] = servers;
        }
        document.to_string()
    };
    let (short, long) = (json!([{"url": "https://a.example"}]), json!([{"url": "https://a.example/v1/"}]));
    for (base, revision) in [
        // The first servers.
        (document(Value::Null, "/a"), document(short.clone(), "/a")),
        (document(json!([]), "/a"), document(long.clone(), "/a")),
        // A prefix moves between the servers and the paths.
        (document(long.clone(), "/a/{id}"), document(short.clone(), "/v1/a/{key}")),
        (document(short.clone(), "/v1/a"), document(long.clone(), "/a")),
        // A prefix moves between the default server and the paths.
        (document(Value::Null, "/v1/a"), document(json!([{"url": "/v1"}]), "/a")),
        (document(json!([{"url": "/v1/"}]), "/a/{id}"), document(json!([]), "/v1/a/{key}")),
        (document(Value::Null, "/v1/a"), document(long.clone(), "/a")),
    ] {
        assert_eq!(reported(&base, &revision), [] as [&str; 0], "{base} {revision}");
    }
    for (base, revision) in [
        (document(json!([{"url": "/"}]), "/a"), document(short.clone(), "/a")),
        (document(long.clone(), "/a"), document(short.clone(), "/a")),
        (document(long, "/a"), document(short.clone(), "/v2/a")),
        (document(short, "/a"), document(Value::Null, "/a")),
        (document(json!([{"url": "/v1"}]), "/a"), document(Value::Null, "/a")),
        (document(json!([{"url": "/v1"}]), "/a"), document(Value::Null, "/v2/a")),
    ] {
        assert!(!reported(&base, &revision).is_empty(), "{base} {revision}");
    }
}

#[test]
fn server_urls_are_compared_by_meaning() {
    let document = |url: &str, path: &str| {
        let paths = json!({path: {"get": {"operationId": "getA"}}});
        json!({"openapi": "3.1.0", "servers": [{"url": url}], "paths": paths}).to_string()
    };
    for (before, after) in [
        ("https://api.example/v1", "HTTPS://API.example/v1"),
        ("https://api.example/v1", "https://api.example:443/v1"),
        ("http://api.example:80", "http://api.example/"),
        ("http://api.example", "http://api.example:"),
        ("wss://api.example:443/v1", "wss://api.example/v1"),
        ("https://me@api.example:443/", "https://me@API.example"),
        ("https://[::1]:443/v1", "https://[::1]/v1"),
        ("//API.example/v1", "//api.example/v1"),
        ("https://{Site}.API.example:443/{Base}", "https://{Site}.api.example/{Base}"),
    ] {
        for (before, after) in [(before, after), (after, before)] {
            assert_eq!(
                reported(&document(before, "/a"), &document(after, "/a")),
                [""; 0],
                "{before} {after}"
            );
        }
    }
    for (before, after) in [
        ("https://api.example/v1", "https://api.example/V1"),
        ("https://api.example/v1", "http://api.example/v1"),
        ("https://api.example/v1", "https://api.example:80/v1"),
        ("https://api.example:8443/v1", "https://api.example:443/v1"),
        ("https://me@api.example", "https://ME@api.example"),
        ("//api.example:443/v1", "//api.example/v1"),
        ("/v1", "/V1"),
        ("/to/HTTPS://a.example", "/to/https://a.example"),
    ] {
        let ids = reported(&document(before, "/a"), &document(after, "/a"));
        assert_eq!(ids, [format!("api-server-removed: the server `{before}` was removed")], "{after}");
    }
    // A prefix moves between the server and the path, and the host is written differently.
    let (before, after) =
        (document("https://api.example/v1", "/a"), document("https://API.example:443", "/v1/a"));
    assert_eq!(reported(&before, &after), [""; 0]);
}

#[test]
fn servers_with_the_same_url_are_matched_by_their_variables() {
    let document = |servers: Value| {
        let get = json!({"operationId": "getA"});
        json!({"openapi": "3.1.0", "servers": servers, "paths": {"/a": {"get": get}}}).to_string()
    };
    let server = |variable: Value| json!({"url": "https://{site}.example", "variables": {"site": variable}});
    let (any, one) = (server(json!({"default": "a"})), server(json!({"default": "a", "enum": ["a"]})));
    let two = server(json!({"default": "a", "enum": ["a", "b"]}));
    let (any_one, one_any) = (document(json!([any, one])), document(json!([one, any])));
    let other = server(json!({"default": "b", "enum": ["b"]}));
    for (base, revision) in [
        (&any_one, &any_one),
        (&any_one, &one_any),
        (&document(json!([any])), &one_any),
        // The values of the removed server are among those of the other one.
        (&any_one, &document(json!([any]))),
        (&document(json!([one, other])), &document(json!([other, two]))),
    ] {
        assert_eq!(reported(base, revision), [] as [&str; 0], "{base} {revision}");
    }
    for revision in [json!([one]), json!([one, two])] {
        let changed =
            "api-server-variables-changed: the variables of the server `https://{site}.example` changed";
        assert_eq!(reported(&any_one, &document(revision)), [changed]);
    }
}

#[test]
fn the_first_servers_leave_paths_matched_by_name() {
    let document = |servers: Value| {
        let paths = json!({"/a": {"get": {"operationId": "a"}}, "/v1/a": {"get": {"operationId": "b"}}});
        json!({"openapi": "3.1.0", "servers": servers, "paths": paths}).to_string()
    };
    let (none, prefix) = (document(json!([])), document(json!([{"url": "/v1"}])));
    assert_eq!(reported(&none, &prefix), [] as [&str; 0]);
}

#[test]
fn declaring_a_placeholder_of_a_path_changes_no_address() {
    let document = |schema: Value| {
        let mut operation = json!({"operationId": "getA"});
        if !schema.is_null() {
            operation["parameters"] =
                json!([{"name": "id", "in": "path", "required": true, "schema": schema}]);
        }
        json!({"openapi": "3.1.0", "paths": {"/a/{id}": {"get": operation}}}).to_string()
    };
    let (undeclared, text, integer) =
        (document(Value::Null), document(json!({"type": "string"})), document(json!({"type": "integer"})));
    for (base, revision) in [(&undeclared, &text), (&text, &undeclared), (&integer, &undeclared)] {
        assert_eq!(reported(base, revision), [] as [&str; 0], "{base} {revision}");
    }
    let narrowed = "request-parameter-type-changed: the type changed from any to integer";
    assert_eq!(reported(&undeclared, &integer), [narrowed]);
    let findings = differences(&undeclared, &document(json!({"type": "string", "maxLength": 3})));
    assert!(findings.iter().any(|finding| finding.level == Level::Error), "{findings:?}");
    assert!(findings.iter().all(|finding| !finding.message.contains("required")), "{findings:?}");
}
