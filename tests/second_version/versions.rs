//! Two versions of the API on one server share API keys and rate limits. Each has its own contract.

use reqwest::Method;

use crate::generated::document;
use crate::server::{TestServer, execute};

#[tokio::test]
async fn both_versions_accept_one_key_and_share_one_limit() {
    let server = TestServer::start().await;
    let first = server.request(Method::GET, "/api/v1/courses").bearer_auth(&server.secret);
    let first = execute(first).await;
    let second = execute(server.call(Method::GET, "/things")).await;
    assert_eq!((first.status, second.status), (200, 200));
    let remaining = |headers: &std::collections::BTreeMap<String, String>| -> u32 {
        headers["x-ratelimit-remaining"].parse().expect("a number")
    };
    assert_eq!(remaining(&first.headers) - remaining(&second.headers), 1);
}

#[tokio::test]
async fn the_key_is_read_from_the_header_that_the_contract_defines() {
    let server = TestServer::start().await;
    let with_bearer =
        execute(server.request(Method::GET, "/api/v2/things").bearer_auth(&server.secret)).await;
    assert_eq!((with_bearer.status, &*with_bearer.headers["www-authenticate"]), (401, "ApiKey"));
    let with_header = server.request(Method::GET, "/api/v1/courses").header("x-api-key", &server.secret);
    let with_header = execute(with_header).await;
    assert_eq!((with_header.status, &*with_header.headers["www-authenticate"]), (401, "Bearer"));
    // `call` already sends the key, so the request has the header twice.
    let key_sent_twice = server.call(Method::GET, "/things").header("x-api-key", &server.secret);
    assert_eq!(execute(key_sent_twice).await.status, 401);
}

#[tokio::test]
async fn each_version_serves_its_own_contract_and_paths() {
    let server = TestServer::start().await;
    for (file, text) in [
        ("v2.yaml", document::YAML),
        ("v2.json", document::JSON),
        ("v2.openapi-3.0.json", document::OPENAPI_3_0_JSON),
        ("v2.clients.json", document::CLIENTS_JSON),
    ] {
        let served = execute(server.request(Method::GET, &format!("/openapi/{file}"))).await;
        assert_eq!((served.status, &*String::from_utf8_lossy(&served.body)), (200, text), "{file}");
    }
    assert_eq!(execute(server.request(Method::GET, "/openapi/v1.json")).await.status, 200);
    for path in ["/docs/v2/operations", "/docs/v2/objects", "/docs/reference/v2"] {
        assert_eq!(execute(server.request(Method::GET, path)).await.status, 200, "{path}");
    }
    assert_eq!(execute(server.call(Method::GET, "/courses")).await.status, 404);
    let wrong_method = execute(server.call(Method::POST, "/files")).await;
    assert_eq!((wrong_method.status, &*wrong_method.headers["allow"]), (405, "PUT"));
}
