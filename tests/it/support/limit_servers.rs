//! Servers that share a limit store, and what they admit.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;

use super::program::{ServerProcess, TestProgram};
use super::{TestKey, TestResponse};

const COURSES: &str = "/api/v1/courses";
/// How many requests wait for a response at a time. With more, a busy machine does not process the last ones within the time
/// that a request may wait.
const CONCURRENT: usize = 60;

/// Starts a server that counts in this store.
pub async fn start_server(program: &TestProgram, store: &str, variables: &[(&str, &str)]) -> ServerProcess {
    let mut command = program.command(&["serve", "--no-worker", "--limit-store", store]);
    // Nothing reads the access log.
    command
        .env("CREATOR_API_LISTEN", "127.0.0.1:0")
        .env("CREATOR_API_LOG_FILTER", "rate_limit=info,warn")
        .envs(variables.iter().copied());
    program.start_server(command).await
}

/// Sends this number of requests with one key as fast as possible, distributed over the servers.
pub async fn get_at_once(
    servers: &[ServerProcess],
    program: &TestProgram,
    key: &TestKey,
    count: usize,
) -> Vec<TestResponse> {
    let keys: Vec<TestKey> = servers.iter().map(|server| server.key(&program.app, &key.secret)).collect();
    let requests = (0..count).map(|number| {
        let key = &keys[number % keys.len()];
        async move { key.get(COURSES).await }
    });
    futures_util::stream::iter(requests).buffered(CONCURRENT).collect().await
}

/// Returns the number of admitted requests by the minute in which they counted. Every other request must be a 429.
pub fn admitted_by_minute(responses: &[TestResponse]) -> BTreeMap<String, usize> {
    let mut admitted = BTreeMap::new();
    for response in responses {
        match response.status {
            200 => *admitted.entry(response.header("x-ratelimit-reset").to_owned()).or_default() += 1,
            429 => {
                assert_eq!(response.header("retry-after").parse::<i64>().map(|seconds| seconds > 0), Ok(true))
            }
            status => panic!("{status}: {response:?}"),
        }
    }
    admitted
}

/// Asserts that exactly 60 of more requests were admitted, or at most 60 in each minute if a minute began meanwhile.
pub fn assert_exact_minute(admitted: &BTreeMap<String, usize>) {
    match admitted.len() {
        1 => assert_eq!(admitted.values().sum::<usize>(), 60, "{admitted:?}"),
        _ => assert!(admitted.values().all(|count| *count <= 60), "{admitted:?}"),
    }
}
