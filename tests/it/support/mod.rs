//! Helpers for tests: a running server, its workspaces and API keys, HTTP requests, commands, webhook endpoints, and a
//! mail server.

mod app;
pub mod browser;
pub mod conformance;
pub mod crawl;
mod database;
mod delaying_relay;
mod endpoint;
pub mod events;
mod key;
pub mod limit_servers;
pub mod mail;
pub mod masked_ids;
pub mod members;
mod otlp;
pub mod outage;
pub mod platform;
mod postgres_pair;
pub mod program;
pub mod provider;
mod raw;
mod receiver;
mod redis;
mod response;
mod rows;
pub mod sandbox;
pub mod second_factor;
mod skip;
mod smtp_server;
mod subscription;
pub mod time_zone;
mod webhook;
mod workspace;

use std::time::Duration;

use domain::{Error, Result};
use jiff::Timestamp;
use serde_json::Value;

pub use app::{TestApp, client_builder};
pub use browser::Browser;
pub use delaying_relay::DelayingRelay;
pub use endpoint::{Endpoint, ReceivedRequest};
pub use key::{TestKey, send, well_formed_unknown_key, well_formed_unknown_secret};
pub use otlp::{OtlpReceiver, ReceivedSpan, tree};
pub use postgres_pair::PostgresPair;
pub use raw::RawExchange;
pub use receiver::{Receiver, read_request};
pub use redis::RedisServer;
pub use response::TestResponse;
pub(crate) use skip::skip;
pub use smtp_server::{SmtpReaction, SmtpSecurity, SmtpServer};
pub use subscription::in_transaction;
pub use webhook::TestSubscription;
pub use workspace::{TestWorkspace, course_data};

/// The time at which every test starts.
pub const START: &str = "2026-03-02T10:00:30Z";

/// Waits until `is_true` returns true, at most 60 seconds. `condition` describes it for the panic message.
pub async fn wait_until(condition: &str, mut is_true: impl AsyncFnMut() -> bool) {
    let result = tokio::time::timeout(Duration::from_secs(60), async {
        while !is_true().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    result.await.unwrap_or_else(|_| panic!("timed out: {condition}"));
}

/// Parses a time of a response.
pub fn time(value: &Value) -> Timestamp {
    value.as_str().expect("a time is a string").parse().expect("a time is RFC 3339")
}

/// Returns the message of the error. Panics if the operation succeeded or failed with an internal error.
pub fn error_message<T>(outcome: Result<T>) -> String {
    match outcome {
        Err(Error::Internal(cause)) => panic!("{cause:#}"),
        Err(error) => error.to_string(),
        Ok(_) => panic!("the operation was not rejected"),
    }
}

/// Returns the code sample with this name from a guide.
pub fn sample(html: &str, name: &str) -> String {
    let opening = format!("<pre id=\"{name}\" ");
    let (_, after_opening) = html.split_once(&opening).unwrap_or_else(|| panic!("no sample {name}"));
    let (_, after_opening) = after_opening.split_once("<code class=\"").expect("the code has a language");
    let (_, after_opening) = after_opening.split_once("\">").expect("the code begins");
    let (text, _) = after_opening.split_once("</code></pre>").expect("a sample ends");
    assert!(!text.contains(['<', '>', '"']), "the sample {name} is not escaped");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
