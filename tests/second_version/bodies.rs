//! Request and response bodies: objects, maps, lists, formats, defaults, absent and null values, text and bytes.

use contract_runtime::scalar::{Base64, Date, Uuid};
use reqwest::Method;
use serde_json::json;

use crate::generated::schemas::{Kind, NewThingLevel, NewThingSize, NewThingSizeString};
use crate::server::{TestServer, execute};

#[tokio::test]
async fn a_minimal_body_gets_the_defaults() {
    let server = TestServer::start().await;
    let created = server.send(Method::POST, "/things", json!({ "labels": { "a": "b" } })).await;
    assert_eq!(created.json(), json!({ "id": 7, "name": "none", "weight": 3, "theme": "dark" }));
    assert_eq!((created.status, &*created.headers["location"]), (201, "/api/v2/things/big/7"));
    let body = server.service.last_create_request().body;
    assert_eq!((body.level, body.count, body.name.as_deref()), (NewThingLevel::Value2, 3, Some("none")));
    assert_eq!((body.grid, body.extra, body.address), (vec![], None, None));
}

#[tokio::test]
async fn each_format_is_parsed_to_its_type() {
    let server = TestServer::start().await;
    let body = json!({
        "labels": { "a": "b" }, "kind": "small", "level": 1, "count": 2.0, "name": null, "day": "2026-02-14",
        "key": "0198C2D4-6c1f-7a10-9d3b-5b1e6f0a2c44", "seal": "AP8=", "email": "a@example.com",
        "address": "127.0.0.1", "size": 1.5, "grid": [[1, 2], []], "extra": { "any": [null] },
    });
    assert_eq!(server.send(Method::POST, "/things", body).await.status, 201);
    let body = server.service.last_create_request().body;
    assert_eq!(
        (body.kind, body.level, body.count, body.name),
        (Some(Kind::Small), NewThingLevel::Value1, 2, None)
    );
    assert_eq!(body.day, Some(Date("2026-02-14".parse().expect("a day"))));
    let key: uuid::Uuid = "0198c2d4-6c1f-7a10-9d3b-5b1e6f0a2c44".parse().expect("a UUID");
    assert_eq!((body.key, body.seal), (Some(Uuid(key)), Some(Base64(vec![0, 255]))));
    assert_eq!((body.size, body.grid), (Some(NewThingSize::Number(1.5)), vec![vec![1, 2], vec![]]));
    assert_eq!(body.extra, Some(json!({ "any": [null] })));
    let any = server.send(Method::POST, "/things", json!({ "labels": { "a": "b" }, "size": "any" })).await;
    assert_eq!(any.status, 201);
    assert_eq!(
        server.service.last_create_request().body.size,
        Some(NewThingSize::String(NewThingSizeString::Any))
    );
}

#[tokio::test]
async fn each_invalid_body_field_is_reported() {
    let server = TestServer::start().await;
    for (field, value, error) in [
        ("labels", json!({}), "body /labels: must have at least 1 field"),
        ("labels", json!({ "a": "B" }), "body /labels/a: must match the pattern `^[a-z]+$`"),
        (
            "labels",
            json!({ "abcdef": "b" }),
            "body /labels/abcdef: has an invalid name: it must be at most 5 characters long",
        ),
        ("kind", json!("huge"), "body /kind: must be one of `big`, `small`"),
        ("level", json!(4), "body /level: must be one of 1, 2, 3"),
        ("level", json!("1"), "body /level: must be an integer"),
        ("count", json!(3_000_000_000_u32), "body /count: must be at most 2147483647"),
        ("count", json!(1.5), "body /count: must be an integer"),
        ("count", json!(null), "body /count: must be an integer"),
        ("name", json!("0123456789"), "body /name: must be at most 9 characters long"),
        ("day", json!("2026-02-30"), "body /day: must be a date, such as `2026-02-14`"),
        ("key", json!("1"), "body /key: must be a UUID, such as `0198c2d4-6c1f-7a10-9d3b-5b1e6f0a2c44`"),
        ("seal", json!("AP8"), "body /seal: must be base64, padded with `=`"),
        ("email", json!("a"), "body /email: must be an email address"),
        ("grid", json!([[1, 2, 3]]), "body /grid/0: must have at most 2 items"),
        ("color", json!("red"), "body /color: is not a field of this body"),
    ] {
        let mut body = json!({ "labels": { "a": "b" } });
        body[field] = value.clone();
        let mut errors = server.send(Method::POST, "/things", body).await.errors();
        if field == "level" && value == json!("1") {
            // A string also matches none of the enumerated values.
            errors.retain(|error| error.contains("integer"));
        }
        assert_eq!(errors, [error], "{field}: {value}");
    }
}

#[tokio::test]
async fn a_patch_distinguishes_absent_from_null() {
    let server = TestServer::start().await;
    for (body, set, cleared) in [
        (json!({ "name": null, "place": null }), json!([]), json!(["name", "place"])),
        (json!({ "name": "n", "count": 2 }), json!(["name=n", "count=2"]), json!([])),
        (json!({ "place": { "name": "here" } }), json!(["place=here"]), json!([])),
    ] {
        let response = server.send(Method::PATCH, "/things/big/1", body).await;
        assert_eq!(response.json(), json!({ "set": set, "cleared": cleared }));
    }
    let errors = server.send(Method::PATCH, "/things/big/1", json!({ "count": null })).await.errors();
    assert_eq!(errors, ["body /count: must be an integer"]);
    let errors = server.send(Method::PATCH, "/things/big/1", json!({})).await.errors();
    assert_eq!(errors, ["body : must have at least 1 field"]);
}

#[tokio::test]
async fn a_thing_is_serialized_as_its_contract_defines() {
    let server = TestServer::start().await;
    let things = execute(server.call(Method::GET, "/things")).await.json();
    insta::assert_json_snapshot!(things);
}

#[tokio::test]
async fn a_response_can_have_no_body() {
    let server = TestServer::start().await;
    let body = json!({ "labels": { "a": "b", "c": "d" }, "color": "red" });
    let labeled = server.send(Method::PUT, "/things/big/9", body.clone()).await;
    assert_eq!((labeled.status, &*labeled.headers["location"], labeled.body.len()), (204, "big/9/b-d", 0));
    let deleted = execute(server.call(Method::DELETE, "/things/big/9")).await;
    assert_eq!((deleted.status, deleted.body.len()), (202, 0));
    let missing = server.send(Method::PUT, "/things/big/404", body).await;
    assert_eq!((missing.status, missing.json()["error"]["code"].as_str()), (404, Some("not_found")));
}

#[tokio::test]
async fn bodies_can_be_text_or_bytes() {
    let server = TestServer::start().await;
    let note_request = |text: &'static str| {
        server.call(Method::POST, "/notes").header("content-type", "text/plain").body(text)
    };
    let note = execute(note_request("grüße")).await;
    assert_eq!((note.status, &*note.headers["content-type"]), (200, "text/plain; charset=utf-8"));
    assert_eq!(String::from_utf8_lossy(&note.body), "GRÜSSE");
    let long = execute(note_request("123456789012345678901")).await;
    assert_eq!(long.errors(), ["body : must be at most 20 characters long"]);
    let json = execute(server.call(Method::POST, "/notes").json(&json!("a"))).await;
    assert_eq!(
        (json.status, json.json()["error"]["details"][0]["message"].as_str()),
        (415, Some("must be text/plain"))
    );

    let bytes = server.call(Method::PUT, "/files").header("content-type", "application/octet-stream");
    let reversed = execute(bytes.body(vec![0_u8, 1, 255])).await;
    assert_eq!((reversed.status, &*reversed.headers["content-type"]), (200, "application/octet-stream"));
    assert_eq!(reversed.body, [255, 1, 0]);
}
