//! Two versions on one server: one key, one limit, a contract each.

use reqwest::Method;

use crate::generated::document;
use crate::server::{Both, answer};

#[tokio::test]
async fn both_versions_answer_one_key_and_draw_on_one_limit() {
    let both = Both::start().await;
    let first = both.request(Method::GET, "/api/v1/courses").bearer_auth(&both.secret);
    let first = answer(first).await;
    let second = answer(both.call(Method::GET, "/things")).await;
    assert_eq!((first.status, second.status), (200, 200));
    let left = |headers: &std::collections::BTreeMap<String, String>| -> u32 {
        headers["x-ratelimit-remaining"].parse().expect("a number")
    };
    assert_eq!(left(&first.headers) - left(&second.headers), 1);
}

#[tokio::test]
async fn a_key_is_looked_for_where_the_contract_says() {
    let both = Both::start().await;
    let bearer = answer(both.request(Method::GET, "/api/v2/things").bearer_auth(&both.secret)).await;
    assert_eq!((bearer.status, &*bearer.headers["www-authenticate"]), (401, "ApiKey"));
    let header = both.request(Method::GET, "/api/v1/courses").header("x-api-key", &both.secret);
    let header = answer(header).await;
    assert_eq!((header.status, &*header.headers["www-authenticate"]), (401, "Bearer"));
    let twice = both.call(Method::GET, "/things").header("x-api-key", &both.secret);
    assert_eq!(answer(twice).await.status, 401);
}

#[tokio::test]
async fn each_version_serves_its_own_contract_and_paths() {
    let both = Both::start().await;
    for (file, text) in [
        ("v2.yaml", document::YAML),
        ("v2.json", document::JSON),
        ("v2.openapi-3.0.json", document::OPENAPI_3_0_JSON),
    ] {
        let served = answer(both.request(Method::GET, &format!("/openapi/{file}"))).await;
        assert_eq!((served.status, &*String::from_utf8_lossy(&served.body)), (200, text), "{file}");
    }
    assert_eq!(answer(both.request(Method::GET, "/openapi/v1.json")).await.status, 200);
    let page = answer(both.request(Method::GET, "/docs/swagger-initializer.js")).await;
    let page = String::from_utf8_lossy(&page.body).into_owned();
    assert!(page.contains("/openapi/v1.json") && page.contains("/openapi/v2.json"), "{page}");
    assert_eq!(answer(both.call(Method::GET, "/courses")).await.status, 404);
    let wrong = answer(both.call(Method::POST, "/files")).await;
    assert_eq!((wrong.status, &*wrong.headers["allow"]), (405, "PUT"));
}
