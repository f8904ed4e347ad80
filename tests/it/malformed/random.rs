//! Random bytes: each response is valid and has a request id. An incomplete request may get no response.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::TestApp;

const VALID: &[u8] = b"POST /api/v1/students?a=b HTTP/1.1\r\nHost: api.test:80\r\nContent-Type: application/json\r\n\
      Transfer-Encoding: chunked\r\nX-Request-Id: mine\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /docs/ HTTP/1.1\r\nHost: api\r\n\
      Content-Length: 3\r\n\r\nabcGET /healthz HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n";

/// Generates bytes, often those with a meaning in HTTP.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![proptest::sample::select(b"\r\n \t:;,/#?\0\x0b-_0159aF\"\\\x7f\xff".to_vec()), any::<u8>()]
}

/// Generates a valid sequence of requests with one to three bytes replaced, removed or inserted.
fn mutated_requests() -> impl Strategy<Value = Vec<u8>> {
    let edit = (0..VALID.len(), 0_u8..3, byte());
    proptest::collection::vec(edit, 1..4).prop_map(|edits| {
        let mut bytes = VALID.to_vec();
        for (index, edit, byte) in edits {
            let index = index.min(bytes.len() - 1);
            match edit {
                0 => bytes[index] = byte,
                1 => drop(bytes.remove(index)),
                _ => bytes.insert(index, byte),
            }
        }
        bytes
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn any_bytes_get_valid_responses_with_a_request_id() {
    let app = TestApp::start_with(&[("default_per_minute", "1000000"), ("default_per_day", "1000000")]).await;
    let random = proptest::collection::vec(byte(), 1..200);
    let strategy = prop_oneof![3 => mutated_requests(), 1 => random];
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let handle = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        runner.run(&strategy, |bytes| {
            let received = handle.block_on(app.exchange(&bytes, true));
            prop_assert!(received.is_closed);
            for response in &received.responses {
                prop_assert!(
                    (200..600).contains(&response.status) && response.status != 500,
                    "{:?}",
                    response
                );
                prop_assert_eq!(response.headers.get_all("x-request-id").iter().count(), 1, "{:?}", response);
            }
            Ok(())
        })
    })
    .expect("every response is valid");
    app.get("/healthz").await.assert_status(200);
}
