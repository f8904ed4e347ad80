//! Tests of a contract that does not follow the rules of this server (`codegen --profile open`).
//!
//! `cargo xtask codegen` generates `generated/` from `contract.yaml`. The tests call the operations through
//! `contract_runtime` alone.

#![allow(unreachable_pub, reason = "generated code uses `pub`, and a test binary exports nothing")]

#[allow(dead_code, reason = "the tests do not use all generated code")]
mod generated;
mod lines;
mod service;
mod startup;

use poem::http::{Method, StatusCode};
use poem::{Endpoint, Request};
use serde_json::{Value, json};

/// A response with its whole body.
struct HttpResponse {
    status: StatusCode,
    content_type: Option<String>,
    header: Option<String>,
    challenge: Vec<String>,
    body: Vec<u8>,
}

impl HttpResponse {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// Sends a request. A header is `name: value`.
async fn send(method: Method, path: &str, headers: &[&str], body: impl Into<poem::Body>) -> HttpResponse {
    let mut request = Request::builder().method(method).uri_str(path);
    for header in headers {
        let (name, value) = header.split_once(": ").expect("a header has a name and a value");
        request = request.header(name, value);
    }
    let mut response = service::endpoint().get_response(request.body(body.into())).await;
    let header =
        |name: &str| Some(response.headers().get(name)?.to_str().expect("a header is ASCII").to_owned());
    let (content_type, header) = (header("content-type"), header("x-total"));
    let challenges = response.headers().get_all("www-authenticate").iter();
    let challenge = challenges.map(|value| value.to_str().expect("a header is ASCII").to_owned()).collect();
    let body = response.take_body().into_vec().await.expect("the body is complete");
    HttpResponse { status: response.status(), content_type, header, challenge, body }
}

const TOKEN: &str = "authorization: Bearer read write admin";
const JSON: &str = "content-type: application/json";

#[tokio::test]
async fn a_public_operation_needs_no_credential_and_responds_with_bytes() {
    let status = send(Method::GET, "/status", &[], ()).await;
    assert_eq!((status.status, status.content_type.as_deref()), (StatusCode::OK, Some("text/csv")));
    assert_eq!(status.body, b"state\nopen\n");
}

#[tokio::test]
async fn the_security_of_the_document_applies_to_an_operation_without_its_own() {
    let without = send(Method::GET, "/Tools", &[], ()).await;
    assert_eq!(without.status, StatusCode::UNAUTHORIZED);
    assert_eq!(without.content_type.as_deref(), Some("application/problem+json"));
    assert_eq!(without.json(), json!({ "title": "oauth [read] or keyInQuery []" }));
    assert_eq!(without.challenge, ["Bearer", "ApiKey"]);
    // Each alternative is sufficient. A key in the query is not an unknown parameter.
    assert_eq!(send(Method::GET, "/Tools", &[TOKEN], ()).await.status, StatusCode::OK);
    assert_eq!(send(Method::GET, "/Tools?api_key=k", &[], ()).await.status, StatusCode::OK);
    let revoked = send(Method::GET, "/Tools?api_key=revoked", &[], ()).await;
    assert_eq!(revoked.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_scopes_of_an_operation_are_required() {
    let weak = send(Method::GET, "/Tools", &["authorization: Bearer write"], ()).await;
    assert_eq!(
        (weak.status, weak.json()),
        (StatusCode::FORBIDDEN, json!({ "title": "oauth [read] or keyInQuery []" }))
    );
    // The other alternative is sufficient.
    let both = send(Method::GET, "/Tools?api_key=k", &["authorization: Bearer write"], ()).await;
    assert_eq!(both.status, StatusCode::OK);
}

#[tokio::test]
async fn a_key_in_the_query_can_be_a_declared_parameter() {
    let order = async |query: &str| send(Method::GET, &format!("/orders{query}"), &[], ()).await;
    let orders = order("?api_key=k-1&client=c").await;
    assert_eq!((orders.status, orders.json()), (StatusCode::OK, json!(["k-1", "c"])));
    assert_eq!(order("?client=c").await.status, StatusCode::UNAUTHORIZED);
    // The schema of the parameter applies to the key.
    assert_eq!(order("?api_key=k&client=c").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_read_only_property_is_not_required_in_requests() {
    let replace = async |body: Value| send(Method::PUT, "/orders", &[JSON], body.to_string()).await;
    let replaced = replace(json!({ "secret": "s", "client": "c" })).await;
    // The property that only clients send is not required in the response.
    assert_eq!((replaced.status, replaced.json()), (StatusCode::OK, json!({ "id": "s", "client": "c" })));
    let sent = replace(json!({ "id": "i", "secret": "s", "client": "c" })).await;
    assert_eq!((sent.status, sent.json()), (StatusCode::OK, json!({ "id": "i", "client": "c" })));
    let without = replace(json!({ "id": "i" })).await;
    let title = "/secret is required; /client is required";
    assert_eq!((without.status, without.json()), (StatusCode::BAD_REQUEST, json!({ "title": title })));
}

#[tokio::test]
async fn any_http_scheme_can_be_required() {
    let digest = "authorization: Digest username=\"ada\", response=\"0\"";
    let journal = send(Method::GET, "/journal", &[digest], ()).await;
    assert_eq!((journal.status, &*journal.body), (StatusCode::OK, &b"username=\"ada\", response=\"0\""[..]));
    assert_eq!(send(Method::GET, "/journal", &[TOKEN], ()).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn all_schemes_of_an_alternative_are_required() {
    let body = json!({ "name": "saw", "shape": { "width": 1 } });
    let create =
        async |headers: &[&str]| send(Method::POST, "/Tools", headers, body.to_string()).await.status;
    assert_eq!(create(&[JSON, TOKEN]).await, StatusCode::UNAUTHORIZED);
    assert_eq!(create(&[JSON, TOKEN, "x-device: d"]).await, StatusCode::CREATED);
}

#[tokio::test]
async fn names_formats_and_media_types_can_be_of_any_kind() {
    let tools = send(Method::GET, "/Tools?pageSize=3&colorCode=RED", &[TOKEN], ()).await;
    assert_eq!(tools.status, StatusCode::OK);
    assert_eq!(tools.content_type.as_deref(), Some("application/vnd.workshop+json"));
    assert_eq!(tools.header.as_deref(), Some("3"));
    let part = json!({ "id": "p" });
    let tool = json!({ "id": "RED", "links": ["https://a.example"], "bought": "2026-02-14", "parts": [part], "x-extra": true });
    assert_eq!(tools.json(), json!([tool]));
    // The generated type is a string, but the contract lists the values.
    let invalid = send(Method::GET, "/Tools?colorCode=blue&pageSize=0", &[TOKEN], ()).await;
    let title = "colorCode must be one of `red`, `RED`; pageSize must be at least 1";
    assert_eq!((invalid.status, invalid.json()), (StatusCode::BAD_REQUEST, json!({ "title": title })));
}

#[tokio::test]
async fn a_parameter_is_never_null_and_some_headers_are_ignored() {
    let list = async |query: &str| send(Method::GET, &format!("/Tools?{query}"), &[TOKEN], ()).await;
    // Neither the required header `Accept` nor `content-type` is a parameter.
    let tools = list("minRating=2&shade=dark&makers=Ada&makers=Bob").await;
    let details = json!({ "rating": 2, "shade": "dark", "makers": ["Ada", "Bob"] });
    assert_eq!((tools.status, tools.json()[0]["details"].clone()), (StatusCode::OK, details));
    for (name, query) in [("minRating", "minRating=null"), ("shade", "shade=null"), ("makers", "makers=")] {
        let invalid = list(query).await;
        let title = invalid.json()["title"].to_string();
        assert_eq!(invalid.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(title.starts_with(&format!("\"{name} ")), "{query}: {title}");
    }
}

#[tokio::test]
async fn a_delete_request_can_have_a_body() {
    let delete = async |body: &'static str| send(Method::DELETE, "/journal", &[JSON], body).await;
    let deleted = delete(r#"{"page": 7}"#).await;
    assert_eq!((deleted.status, deleted.json()), (StatusCode::OK, json!(7)));
    assert_eq!(delete("{}").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn ranges_and_default_responses_carry_their_status() {
    let teapot = send(Method::GET, "/Tools?pageSize=418", &[TOKEN], ()).await;
    assert_eq!(teapot.status, StatusCode::IM_A_TEAPOT);
    assert_eq!(
        (teapot.content_type.as_deref(), teapot.json()),
        (Some("application/problem+json"), json!({ "status": 418 }))
    );
    let unavailable = send(Method::GET, "/Tools?pageSize=503", &[TOKEN], ()).await;
    assert_eq!((unavailable.status, unavailable.body.len()), (StatusCode::SERVICE_UNAVAILABLE, 0));
    // An error of the service becomes the response of its range.
    let conflict = send(Method::GET, "/Tools?pageSize=409", &[TOKEN], ()).await;
    assert_eq!((conflict.status, conflict.json()), (StatusCode::CONFLICT, json!({ "title": "failed" })));
}

#[tokio::test]
async fn an_error_without_a_documented_status_is_sent_as_it_is() {
    let body = json!({ "name": "missing", "shape": { "radius": 1 } });
    let missing = send(Method::POST, "/Tools", &[JSON, TOKEN, "x-device: d"], body.to_string()).await;
    assert_eq!((missing.status, missing.json()), (StatusCode::NOT_FOUND, json!({ "title": "failed" })));
    assert_eq!(missing.content_type.as_deref(), Some("application/problem+json"));
}

#[tokio::test]
async fn a_value_without_a_rust_type_is_validated_and_passed_as_json() {
    let create = async |body: Value| {
        send(Method::POST, "/Tools", &[JSON, TOKEN, "x-device: d"], body.to_string()).await
    };
    let created =
        create(json!({ "name": "saw", "shape": { "radius": 2.5 }, "pair": ["a", 1], "either": 7 })).await;
    assert_eq!(
        (created.status, created.json()["details"].clone()),
        (StatusCode::CREATED, json!({ "radius": 2.5 }))
    );
    for (field, value) in [
        ("shape", json!({ "width": 1, "radius": 1 })),
        ("pair", json!([1, "a"])),
        ("either", json!(true)),
        ("rating", json!(3)),
        ("color", json!("red")),
    ] {
        let mut body = json!({ "name": "saw", "shape": { "width": 1 } });
        body[field] = value;
        let invalid = create(body).await;
        assert_eq!(invalid.status, StatusCode::BAD_REQUEST, "{field}");
        assert!(invalid.json()["title"].to_string().contains(field), "{}", invalid.json());
    }
}

#[tokio::test]
async fn a_body_can_be_optional() {
    let note = async |headers: &[&str], body: &'static str| {
        let response = send(Method::POST, "/Tools/7/notes", headers, body).await;
        (response.status, response.json())
    };
    assert_eq!(note(&[JSON], r#"{"text": "dull"}"#).await, (StatusCode::OK, json!({ "7": "dull" })));
    assert_eq!(note(&[], "").await, (StatusCode::OK, json!({ "7": null })));
    assert_eq!(note(&[JSON], "{}").await.0, StatusCode::BAD_REQUEST);
    assert_eq!(note(&["content-type: text/plain"], "a").await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);

    let attach = async |headers: &[&str], body: &'static [u8]| {
        send(Method::PUT, "/Tools/7/notes", &[&[TOKEN], headers].concat(), body).await
    };
    let image = attach(&["content-type: image/webp"], &[0, 255]).await;
    // The response has the media type that the request had.
    assert_eq!((image.status, image.content_type.as_deref()), (StatusCode::OK, Some("image/webp")));
    assert_eq!(image.body, [255, 0]);
    assert_eq!(attach(&[], &[]).await.status, StatusCode::NO_CONTENT);
    assert_eq!(attach(&["content-type: text/html"], b"<p>").await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn media_types_can_have_parameters() {
    let journal = async |method: Method, content_type: &str, body: &'static str| {
        let header = format!("content-type: {content_type}");
        let response = send(method, "/journal", &[&header], body).await;
        (
            response.status.as_u16(),
            response.content_type.unwrap_or_default(),
            String::from_utf8(response.body),
        )
    };
    let ok = |content_type: &str, body: &str| (200, content_type.to_owned(), Ok(body.to_owned()));
    let text = "text/plain; charset=utf-8";
    for sent in ["text/plain", "TEXT/plain;charset=\"UTF-8\"", "text/plain; format=flowed"] {
        assert_eq!(journal(Method::PUT, sent, "{é").await, ok(text, "{é"), "{sent}");
    }
    assert_eq!(journal(Method::PUT, text, "1234567890").await.0, 400);
    for rejected in ["text/plain; charset=latin1", "text/html", "application/json"] {
        assert_eq!(journal(Method::PUT, rejected, "a").await.0, 415, "{rejected}");
    }
    let json = "application/json; charset=utf-8";
    for sent in ["application/json", "application/json; charset=UTF-8"] {
        let (status, content_type, body) = journal(Method::POST, sent, r#"{"page": 7}"#).await;
        assert_eq!((status, content_type.to_lowercase(), body), ok(json, "7"), "{sent}");
    }
    assert_eq!(journal(Method::POST, json, "{}").await.0, 400);
    assert_eq!(journal(Method::POST, "application/problem+json", "{}").await.0, 415);
}

#[tokio::test]
async fn a_body_without_a_schema_is_any_value() {
    let edit = async |body: &'static str| send(Method::PATCH, "/journal", &[JSON], body).await;
    let edited = edit(r#"{"any": [1, null]}"#).await;
    assert_eq!((edited.status, edited.json()), (StatusCode::OK, json!({ "any": [1, null] })));
    assert_eq!(edit("{").await.status, StatusCode::BAD_REQUEST);
}

#[test]
fn events_have_types() {
    let event = generated::events::Event::ToolBroken(service::tool("t"));
    assert_eq!(event.event_type(), "toolBroken");
    assert_eq!(serde_json::to_value(&event).expect("JSON")["id"], "t");
}
