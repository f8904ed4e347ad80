//! Requests that use deprecated parts of a contract are told so, and counted.

use std::collections::BTreeMap;

use domain::deprecations::{self, UsedDeprecation};
use reqwest::Method;
use serde_json::json;

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
    assert_eq!(announcement.describe(), "is deprecated and can stop working on 2026-03-31. Use red.");
    assert_eq!((part.contract.as_str(), keys[0].workspace_key.as_str()), ("v2", "acme"));
    assert_eq!(keys[0].request_id.as_ref(), last.headers.get("x-request-id"));
}
