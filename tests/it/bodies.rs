//! Invalid request bodies: each is rejected with the location of the error, and nothing is written.

use futures_util::stream;
use insta::assert_json_snapshot;
use reqwest::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::conformance::assert_error;
use crate::support::{TestApp, TestKey, TestResponse, send};

const STUDENTS: &str = "/api/v1/students";
const POSTS: [&str; 2] = [STUDENTS, "/api/v1/enrollments"];
/// The maximum size of a body in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Asserts that no request so far has created a student or an event.
async fn assert_nothing_written(app: &TestApp, key: &TestKey) {
    assert_eq!(key.get(STUDENTS).await.assert_status(200).ids(), [""; 0]);
    assert_eq!(app.events().await.len(), 0);
}

/// Posts a body with these headers.
async fn post(key: &TestKey, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> TestResponse {
    let request = key.request(Method::POST, path).body(body);
    send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test]
async fn a_body_that_is_not_one_json_object_is_rejected_with_the_location() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let ada = r#""email": "ada@example.com""#;
    let bodies: [(&str, Vec<u8>); 28] = [
        ("empty", b"".into()),
        ("blank", b" \r\n\t".into()),
        ("an array", b"[]".into()),
        ("an array of one", format!("[{{{ada}}}]").into()),
        ("null", b"null".into()),
        ("a number", b"7".into()),
        ("a string", br#""ada@example.com""#.into()),
        ("cut in a string", br#"{"email": "ada@exa"#.into()),
        ("cut after a name", br#"{"email""#.into()),
        ("cut before its end", format!("{{{ada}").into()),
        ("followed by text", format!("{{{ada}}} x").into()),
        ("two objects", format!("{{{ada}}}{{{ada}}}").into()),
        ("a trailing comma", format!("{{{ada},}}").into()),
        ("single quotes", b"{'email': 'ada@example.com'}".into()),
        ("a comment", format!("{{{ada} /* the first */}}").into()),
        ("a byte order mark", format!("\u{feff}{{{ada}}}").into()),
        ("invalid UTF-8", b"{\"email\": \"ada@example.com\", \"name\": \"\xff\"}".into()),
        ("UTF-16", "{\"email\": \"a@b\"}".encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("a raw NUL", format!("{{{ada}, \"name\": \"a\0b\"}}").into()),
        ("a NUL", format!(r#"{{{ada}, "name": "a\u0000b", "metadata": {{"k\u0000": "\u0000"}}}}"#).into()),
        ("the first half of a surrogate pair", format!(r#"{{{ada}, "name": "\ud83c"}}"#).into()),
        ("the second half of a surrogate pair", format!(r#"{{{ada}, "name": "\udf93 Ada"}}"#).into()),
        ("a raw line break", format!("{{{ada}, \"name\": \"a\nb\"}}").into()),
        ("a bad escape", format!(r#"{{{ada}, "name": "\x41"}}"#).into()),
        ("a huge number", format!(r#"{{{ada}, "name": 1e999}}"#).into()),
        ("not a number", format!(r#"{{{ada}, "name": NaN}}"#).into()),
        (
            "the same name twice",
            format!(r#"{{{ada}, "name": "a", "metadata": {{"k": "1", "k": "1"}}, {ada}}}"#).into(),
        ),
        ("form data", b"email=ada%40example.com".into()),
    ];
    let mut messages = Vec::new();
    for (name, body) in bodies {
        for path in POSTS {
            let response = key.post_bytes(path, body.clone()).await;
            let message = assert_error(&response, 422, "invalid_request");
            assert!(
                response.error_locations().iter().all(|location| location.starts_with("body ")),
                "{name}: {:?}",
                response.errors()
            );
            if path == STUDENTS {
                messages.push(json!({"body": name, "message": message, "errors": response.errors()}));
            }
        }
    }
    assert_json_snapshot!(messages);
    assert_nothing_written(&app, &key).await;
}

#[tokio::test]
async fn a_body_nested_ten_thousand_levels_deep_is_rejected() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for body in [open.repeat(10_000), format!("{}1{}", open.repeat(10_000), close.repeat(10_000))] {
            let nested = format!(r#"{{"email": "ada@example.com", "metadata": {body}}}"#);
            for body in [body, nested] {
                let response = key.post_bytes(STUDENTS, body).await;
                assert_error(&response, 422, "invalid_request");
                let errors = response.errors();
                assert_eq!(errors.len(), 1, "{errors:?}");
                assert!(errors[0].ends_with("is nested deeper than 64 levels"), "{errors:?}");
                // The location of a deeply nested error does not inflate the response.
                assert!(response.body.len() < 2_000, "{} bytes", response.body.len());
            }
        }
    }
    assert_nothing_written(&app, &key).await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_rejected_before_other_checks() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let padded_to = |length: usize| {
        let ada = r#"{"email": "ada@example.com"}"#;
        format!("{ada}{}", " ".repeat(length - ada.len())).into_bytes()
    };

    for path in POSTS {
        for length in [MAX_BODY_BYTES + 1, 300 * 1024] {
            let response = key.post_bytes(path, padded_to(length)).await;
            let message = assert_error(&response, 413, "invalid_request");
            assert_eq!(message, "The request body is larger than 262144 bytes.");
        }
    }
    // A chunked body has no declared length.
    let pieces = padded_to(300 * 1024)
        .chunks(10_000)
        .map(|piece| Ok::<_, std::io::Error>(piece.to_vec()))
        .collect::<Vec<_>>();
    let chunked = key.post_bytes(STUDENTS, reqwest::Body::wrap_stream(stream::iter(pieces))).await;
    assert_error(&chunked, 413, "invalid_request");
    // The length is checked before the key, the scope and the media type.
    let without_key = send(app.request(Method::POST, STUDENTS).body(padded_to(MAX_BODY_BYTES + 1))).await;
    assert_error(&without_key, 413, "invalid_request");
    let without_scope = app.workspace("acme").await.key("read:courses").await;
    assert_error(
        &post(&without_scope, STUDENTS, &[("content-type", "text/plain")], padded_to(MAX_BODY_BYTES + 1))
            .await,
        413,
        "invalid_request",
    );
    assert_nothing_written(&app, &key).await;

    key.post_bytes(STUDENTS, padded_to(MAX_BODY_BYTES)).await.assert_status(201);
}

#[tokio::test]
async fn a_declared_length_over_the_limit_is_rejected_without_the_body() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let head = |length: &str, headers: &str| {
        format!(
            "POST {STUDENTS} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{headers}\r\n",
            key.secret
        )
    };
    // The server responds without the rest of the body, which never arrives.
    for (length, headers, body) in [
        ("1000000000", "Expect: 100-continue\r\nConnection: close\r\n", ""),
        ("262145", "Connection: close\r\n", ""),
        ("262145", "", "{"),
        ("18446744073709551613", "", "{"),
        ("18446744073709551615", "", ""),
    ] {
        let received = app.exchange((head(length, headers) + body).as_bytes(), false).await;
        assert!(received.is_closed, "{length}");
        assert_error(&received.responses[0], 413, "invalid_request");
        assert_eq!(received.responses[0].header("connection"), "close");
    }
    // A client that sends the whole body before it reads gets the response as well.
    let request = head("900000", "") + &"x".repeat(900_000);
    let received = app.exchange(request.as_bytes(), false).await;
    assert!(received.is_closed, "the connection is not reset");
    assert_error(&received.responses[0], 413, "invalid_request");
    assert_nothing_written(&app, &key).await;
}

#[tokio::test]
async fn only_uncompressed_json_is_accepted() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let body = || br#"{"email": "ada@example.com"}"#.to_vec();

    for media_type in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/vnd.api+json",
        "application/jsonp",
        "text/json",
        "application/*",
        "json",
        "",
        "application/json, text/plain",
        "application/json; charset=iso-8859-1",
    ] {
        for path in POSTS {
            let response = post(&key, path, &[("content-type", media_type)], body()).await;
            assert_error(&response, 415, "invalid_request");
            assert_eq!(response.error_locations(), ["header Content-Type"], "{media_type}");
        }
    }
    let without_media_type = post(&key, STUDENTS, &[], body()).await;
    assert_error(&without_media_type, 415, "invalid_request");

    for coding in ["gzip", "br", "zstd", "deflate", "GZIP", "gzip, gzip", "nonsense"] {
        let headers = [("content-type", "application/json"), ("content-encoding", coding)];
        let response = post(&key, STUDENTS, &headers, body()).await;
        assert_error(&response, 415, "invalid_request");
        assert_eq!(response.error_locations(), ["header Content-Encoding"], "{coding}");
    }
    assert_nothing_written(&app, &key).await;

    let accepted =
        ["application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\"", "application/json"];
    for (number, media_type) in accepted.into_iter().enumerate() {
        let body = json!({"email": format!("s{number}@example.com")}).to_string().into_bytes();
        post(&key, STUDENTS, &[("content-type", media_type)], body).await.assert_status(201);
    }
    let identity = [("content-type", "application/json"), ("content-encoding", "identity")];
    post(&key, STUDENTS, &identity, body()).await.assert_status(201);
}

#[tokio::test]
async fn an_incomplete_body_writes_nothing() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let head = format!(
        "POST {STUDENTS} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\nConnection: close\r\n\r\n{{\"email\": \"ada@example.com\"}}",
        key.secret
    );
    // The client sends fewer than the declared 100 bytes and disconnects, without reading a response.
    let mut stream = TcpStream::connect(app.base_url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    drop(stream);
    assert_nothing_written(&app, &key).await;
}

#[tokio::test]
async fn a_body_of_a_get_request_is_ignored() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    for body in ["{}", "nonsense"] {
        let request = key.request(Method::GET, STUDENTS).header("content-type", "text/plain").body(body);
        send(request).await.assert_status(200);
    }
}
