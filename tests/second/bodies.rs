//! Bodies and answers: objects, maps, lists, formats, defaults, what is absent and what is null, texts and bytes.

use contract_runtime::scalar::{Base64, Date, Uuid};
use reqwest::Method;
use serde_json::json;

use crate::generated::schemas::{Kind, NewThingLevel, NewThingSize, NewThingSizeString};
use crate::server::{Both, answer};

#[tokio::test]
async fn the_least_body_gets_its_defaults() {
    let both = Both::start().await;
    let made = both.send(Method::POST, "/things", json!({ "labels": { "a": "b" } })).await;
    assert_eq!(made.json(), json!({ "id": 7, "name": "none", "weight": 3, "theme": "dark" }));
    assert_eq!((made.status, &*made.headers["location"]), (201, "/api/v2/things/big/7"));
    let body = both.library.made().body;
    assert_eq!((body.level, body.count, body.name.as_deref()), (NewThingLevel::Value2, 3, Some("none")));
    assert_eq!((body.grid, body.extra, body.address), (vec![], None, None));
}

#[tokio::test]
async fn each_format_arrives_as_its_type() {
    let both = Both::start().await;
    let body = json!({
        "labels": { "a": "b" }, "kind": "small", "level": 1, "count": 2.0, "name": null, "day": "2026-02-14",
        "key": "0198C2D4-6c1f-7a10-9d3b-5b1e6f0a2c44", "seal": "AP8=", "email": "a@example.com",
        "address": "127.0.0.1", "size": 1.5, "grid": [[1, 2], []], "extra": { "any": [null] },
    });
    assert_eq!(both.send(Method::POST, "/things", body).await.status, 201);
    let body = both.library.made().body;
    assert_eq!(
        (body.kind, body.level, body.count, body.name),
        (Some(Kind::Small), NewThingLevel::Value1, 2, None)
    );
    assert_eq!(body.day, Some(Date("2026-02-14".parse().expect("a day"))));
    let key: uuid::Uuid = "0198c2d4-6c1f-7a10-9d3b-5b1e6f0a2c44".parse().expect("a UUID");
    assert_eq!((body.key, body.seal), (Some(Uuid(key)), Some(Base64(vec![0, 255]))));
    assert_eq!((body.size, body.grid), (Some(NewThingSize::Number(1.5)), vec![vec![1, 2], vec![]]));
    assert_eq!(body.extra, Some(json!({ "any": [null] })));
    let any = both.send(Method::POST, "/things", json!({ "labels": { "a": "b" }, "size": "any" })).await;
    assert_eq!(any.status, 201);
    assert_eq!(both.library.made().body.size, Some(NewThingSize::String(NewThingSizeString::Any)));
}

#[tokio::test]
async fn each_fault_of_a_body_is_told() {
    let both = Both::start().await;
    for (field, value, fault) in [
        ("labels", json!({}), "body /labels: must hold at least 1 field"),
        ("labels", json!({ "a": "B" }), "body /labels/a: must match the pattern `^[a-z]+$`"),
        (
            "labels",
            json!({ "abcdef": "b" }),
            "body /labels/abcdef: has a name that cannot be taken: it must be at most 5 characters long",
        ),
        ("kind", json!("huge"), "body /kind: must be one of `big`, `small`"),
        ("level", json!(4), "body /level: must be one of 1, 2, 3"),
        ("level", json!("1"), "body /level: must be a whole number"),
        ("count", json!(3_000_000_000_u32), "body /count: must be at most 2147483647"),
        ("count", json!(1.5), "body /count: must be a whole number"),
        ("count", json!(null), "body /count: must be a whole number"),
        ("name", json!("0123456789"), "body /name: must be at most 9 characters long"),
        ("day", json!("2026-02-30"), "body /day: must be a day of the calendar, such as `2026-02-14`"),
        ("key", json!("1"), "body /key: must be a UUID, such as `0198c2d4-6c1f-7a10-9d3b-5b1e6f0a2c44`"),
        ("seal", json!("AP8"), "body /seal: must be bytes in base64, padded with `=`"),
        ("email", json!("a"), "body /email: must be an email address"),
        ("grid", json!([[1, 2, 3]]), "body /grid/0: must hold at most 2 items"),
        ("colour", json!("red"), "body /colour: is not a field of this body"),
    ] {
        let mut body = json!({ "labels": { "a": "b" } });
        body[field] = value.clone();
        let mut faults = both.send(Method::POST, "/things", body).await.faults();
        if field == "level" && value == json!("1") {
            // A text is none of the values either.
            faults.retain(|fault| fault.contains("whole"));
        }
        assert_eq!(faults, [fault], "{field}: {value}");
    }
}

#[tokio::test]
async fn a_patch_knows_what_is_absent_from_what_is_null() {
    let both = Both::start().await;
    for (body, set, cleared) in [
        (json!({ "name": null, "place": null }), json!([]), json!(["name", "place"])),
        (json!({ "name": "n", "count": 2 }), json!(["name=n", "count=2"]), json!([])),
        (json!({ "place": { "name": "here" } }), json!(["place=here"]), json!([])),
    ] {
        let changed = both.send(Method::PATCH, "/things/big/1", body).await;
        assert_eq!(changed.json(), json!({ "set": set, "cleared": cleared }));
    }
    let faults = both.send(Method::PATCH, "/things/big/1", json!({ "count": null })).await.faults();
    assert_eq!(faults, ["body /count: must be a whole number"]);
    let faults = both.send(Method::PATCH, "/things/big/1", json!({})).await.faults();
    assert_eq!(faults, ["body : must hold at least 1 field"]);
}

#[tokio::test]
async fn a_thing_is_written_as_its_contract_says() {
    let both = Both::start().await;
    let listed = answer(both.call(Method::GET, "/things")).await.json();
    insta::assert_json_snapshot!(listed);
}

#[tokio::test]
async fn an_answer_may_have_no_body() {
    let both = Both::start().await;
    let body = json!({ "labels": { "a": "b", "c": "d" }, "colour": "red" });
    let done = both.send(Method::PUT, "/things/big/9", body.clone()).await;
    assert_eq!((done.status, &*done.headers["location"], done.body.len()), (204, "big/9/b-d", 0));
    let gone = answer(both.call(Method::DELETE, "/things/big/9")).await;
    assert_eq!((gone.status, gone.body.len()), (202, 0));
    let lost = both.send(Method::PUT, "/things/big/404", body).await;
    assert_eq!((lost.status, lost.json()["error"]["code"].as_str()), (404, Some("not_found")));
}

#[tokio::test]
async fn texts_and_bytes_are_bodies_too() {
    let both = Both::start().await;
    let text = |text: &'static str| {
        both.call(Method::POST, "/notes").header("content-type", "text/plain").body(text)
    };
    let note = answer(text("grüße")).await;
    assert_eq!((note.status, &*note.headers["content-type"]), (200, "text/plain; charset=utf-8"));
    assert_eq!(String::from_utf8_lossy(&note.body), "GRÜSSE");
    let long = answer(text("123456789012345678901")).await;
    assert_eq!(long.faults(), ["body : must be at most 20 characters long"]);
    let json = answer(both.call(Method::POST, "/notes").json(&json!("a"))).await;
    assert_eq!(
        (json.status, json.json()["error"]["details"][0]["message"].as_str()),
        (415, Some("must be text/plain"))
    );

    let bytes = both.call(Method::PUT, "/files").header("content-type", "application/octet-stream");
    let turned = answer(bytes.body(vec![0_u8, 1, 255])).await;
    assert_eq!((turned.status, &*turned.headers["content-type"]), (200, "application/octet-stream"));
    assert_eq!(turned.body, [255, 1, 0]);
}
