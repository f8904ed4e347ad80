//! Helpers for tests: a running server, its workspaces and API keys, HTTP requests, webhook endpoints, and a mail
//! server.

mod app;
pub mod browser;
pub mod crawl;
mod database;
mod delaying_relay;
mod endpoint;
mod key;
pub mod mail;
mod otlp;
mod postgres_pair;
mod raw;
mod receiver;
mod redis;
mod response;
mod rows;
mod smtp_server;
mod subscription;
mod webhook;
mod workspace;

use std::time::Duration;

pub use app::{TestApp, client_builder};
pub use browser::Browser;
pub use delaying_relay::DelayingRelay;
pub use endpoint::Endpoint;
pub use key::{TestKey, send, well_formed_unknown_key, well_formed_unknown_secret};
pub use otlp::{OtlpReceiver, ReceivedSpan, tree};
pub use postgres_pair::PostgresPair;
pub use raw::RawExchange;
pub use receiver::{Receiver, read_request};
pub use redis::RedisServer;
pub use response::TestResponse;
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
