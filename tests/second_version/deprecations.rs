//! Requests that use deprecated parts of a contract are told so, and counted.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::deprecations::{self, UsedDeprecation};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{HttpResponse, TestServer, execute};

/// Returns the headers about deprecation: `Deprecation`, `Sunset`, and `X-SVC-Deprecated`.
fn announced(response: &HttpResponse) -> [Option<&str>; 3] {
    let header = |name: &str| response.headers.get(name).map(String::as_str);
    let link = header("link").is_some_and(|link| link.contains("/docs/changelog>; rel=\"deprecation\""));
    let announced = ["deprecation", "sunset", "x-svc-deprecated"].map(header);
    assert_eq!(link, announced.iter().any(Option::is_some), "{:?}", response.headers);
    announced
}

#[tokio::test]
async fn the_response_names_what_the_request_uses() {
    let server = TestServer::start().await;
    // `listThings` is deprecated since 2026-02-01.
    let (since, sunset) = (Some("@1769904000"), Some("Sun, 31 Jan 2027 00:00:00 GMT"));
    let list = async |query: &str| execute(server.call(Method::GET, &format!("/things{query}"))).await;
    assert_eq!(announced(&list("").await), [since, sunset, None]);
    let with_parameter = list("?label=a").await;
    assert_eq!(announced(&with_parameter), [since, sunset, Some("label; sunset=2027-01-31")]);
    assert_eq!(list("?limit=7").await.status, 422);
    assert_eq!(announced(&list("?limit=7").await), [since, sunset, None], "errors too");

    let label = async |body| server.send(Method::PUT, "/things/big/7", body).await;
    for body in [json!({"labels": {"a": "b"}}), json!({"labels": {"a": "b"}, "color": "red"})] {
        assert_eq!(announced(&label(body).await), [None; 3]);
    }
    let green = label(json!({"labels": {"a": "b"}, "color": "green"})).await;
    assert_eq!(
        (green.status, announced(&green)),
        (204, [None, None, Some("/color=green; sunset=2026-03-31")])
    );

    let create = async |body| server.send(Method::POST, "/things", body).await;
    assert_eq!(announced(&create(json!({"labels": {"a": "b"}})).await), [None; 3]);
    let counted = create(json!({"labels": {"a": "b"}, "count": 3})).await;
    assert_eq!((counted.status, announced(&counted)), (201, [None, None, Some("/count; sunset=2026-03-08")]));
    let malformed = server.call(Method::POST, "/things").header("content-type", "application/json").body("{");
    assert_eq!(announced(&execute(malformed).await), [None; 3]);
    let first = server.request(Method::GET, "/api/v1/courses").bearer_auth(&server.secret);
    assert_eq!(announced(&execute(first).await), [None; 3]);
}

#[tokio::test]
async fn accepted_requests_are_counted_by_what_they_use() {
    let server = TestServer::start().await;
    for query in ["", "?label=a", "?label=b", "?limit=7"] {
        execute(server.call(Method::GET, &format!("/things{query}"))).await;
    }
    let body = json!({"labels": {"a": "b"}, "color": "green"});
    let last = server.send(Method::PUT, "/things/big/7", body).await;
    deprecations::flush(&server.app).await.expect("the uses are written");
    let used = deprecations::recent(&server.app, None).await.expect("the uses can be read");
    let counts: BTreeMap<&str, u64> =
        used.iter().map(|used| (&*used.part.name, used.keys[0].requests)).collect();
    assert_eq!(counts, BTreeMap::from([("", 3), ("label", 2), ("/color=green", 1)]));
    let UsedDeprecation { part, announcement, keys } = &used[0];
    assert_eq!(part.describe(), "The value green of the field /color of labelThing");
    assert_eq!(
        announcement.describe("2026-03-01".parse().expect("a date")),
        "is deprecated and can stop working on 2026-03-31. Use red."
    );
    assert_eq!((part.contract.as_str(), keys[0].workspace_key.as_str()), ("v2", "acme"));
    assert_eq!(keys[0].request_id.as_ref(), last.headers.get("x-request-id"));
}

#[tokio::test]
async fn a_removed_operation_works_only_for_keys_with_an_extension() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let server = TestServer::start().await;
    let list = async || execute(server.call(Method::GET, "/things")).await;
    assert_eq!(list().await.status, 200);

    // A brownout, a day after the start.
    server.app.clock.advance(24 * HOUR);
    let rejected = list().await;
    assert_eq!(
        (rejected.status, rejected.headers.get("retry-after").map(String::as_str)),
        (410, Some("3600"))
    );
    let error: Value = serde_json::from_slice(&rejected.body).expect("JSON");
    assert_eq!(error["error"]["code"], "invalid_request");
    insta::assert_snapshot!(error["error"]["message"].as_str().expect("a message"), @"The operation listThings is removed on 2027-01-31. Until 2026-03-02T11:00:00Z, it is switched off as a rehearsal; see the changelog for its replacement.");
    assert_eq!(announced(&rejected)[1], Some("Sun, 31 Jan 2027 00:00:00 GMT"));
    let first = server.request(Method::GET, "/api/v1/courses").bearer_auth(&server.secret);
    assert_eq!(execute(first).await.status, 200, "other operations work");
    server.app.clock.advance(HOUR);
    assert_eq!(list().await.status, 200);

    // The sunset.
    server.app.clock.set("2027-01-31T00:00:00Z".parse().expect("a time"));
    let removed = list().await;
    assert_eq!((removed.status, removed.headers.get("retry-after")), (410, None));
    let error: Value = serde_json::from_slice(&removed.body).expect("JSON");
    insta::assert_snapshot!(error["error"]["message"].as_str().expect("a message"), @"The operation listThings was removed on 2027-01-31; see the changelog for its replacement.");
    deprecations::flush(&server.app).await.expect("the uses are written");
    let used = deprecations::recent(&server.app, None).await.expect("the uses can be read");
    assert_eq!(used[0].keys[0].requests, 1, "the straggler is named");

    // The operator extends it for the key.
    let key =
        domain::keys::authenticate(&server.app, &server.secret).await.expect("a query").expect("a key").key;
    let extend = async |until: Option<&str>| {
        let mut write = server.app.begin_write().await.expect("a transaction");
        let until = until.map(|until| until.parse().expect("a time"));
        let outcome = domain::keys::extend_sunset(&server.app, &mut write, key, until).await;
        write.commit().await.expect("a commit");
        outcome.map(|outcome| outcome.changed)
    };
    assert_eq!(extend(Some("2027-03-01T00:00:00Z")).await.ok(), Some(true));
    let extended = list().await;
    assert_eq!((extended.status, announced(&extended)[1]), (200, Some("Mon, 01 Mar 2027 00:00:00 GMT")));
    server.app.clock.set("2027-03-01T00:00:00Z".parse().expect("a time"));
    assert_eq!(list().await.status, 410);
    assert!(extend(Some("2027-03-01T00:00:00Z")).await.is_err(), "not in the future");
    assert_eq!(extend(None).await.ok(), Some(true));
}
