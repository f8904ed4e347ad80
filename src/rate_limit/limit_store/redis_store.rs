//! Counts requests in Valkey or Redis, with one script call for each subject. The calls of a batch are pipelined.
//!
//! Each subject is a hash with the starts and counts of its two windows, which expires when its counts no longer matter.

use anyhow::Context;
use entity::rate_windows::{SubjectCounts, SubjectRequests, SubjectResult};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, Client, Pipeline, RedisResult, Script};

use foundation::config::RedisUrl;

/// The prefix of all keys.
const PREFIX: &str = "creator-api:limit:";

/// Admits and counts requests, with the same rules as the statement of `entity::rate_windows`.
const ADMIT: &str = include_str!("admit.lua");

/// Adds requests that were already admitted, with the same rules as the statement of `entity::rate_windows`.
const ADD: &str = include_str!("add.lua");

/// A server and the connection to it.
pub(super) struct RedisStore {
    client: Client,
    admit: Script,
    add: Script,
    /// `None` until connected.
    connection: Option<MultiplexedConnection>,
}

impl RedisStore {
    /// # Errors
    /// Returns an error if the URL is invalid.
    pub(super) fn new(url: &RedisUrl) -> anyhow::Result<Self> {
        // The error could contain the password.
        let client =
            Client::open(url.expose()).ok().context("`limit_store` is not a valid URL of a Redis server")?;
        Ok(Self { client, admit: Script::new(ADMIT), add: Script::new(ADD), connection: None })
    }

    pub(super) async fn connect(&mut self) -> anyhow::Result<()> {
        // The task limits the time of each call.
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let mut connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        self.admit.load_async(&mut connection).await?;
        self.add.load_async(&mut connection).await?;
        self.connection = Some(connection);
        Ok(())
    }

    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    pub(super) async fn admit(
        &mut self,
        requests: &[SubjectRequests],
        now: Option<i64>,
    ) -> anyhow::Result<Vec<SubjectResult>> {
        let connection = self.connection.as_mut().context("the limit store is not connected")?;
        let mut pipeline = Pipeline::with_capacity(requests.len());
        for request in requests {
            let now = now.map_or_else(String::new, |now| now.to_string());
            let mut call = self.admit.key(format!("{PREFIX}{}", request.subject));
            call.arg(now).arg(request.requested);
            call.arg(request.short_limit).arg(request.short_length).arg(request.short_alignment);
            call.arg(request.short_known_start).arg(request.short_known);
            call.arg(request.day_limit).arg(request.day_known_start).arg(request.day_known);
            pipeline.invoke_script(&call);
        }
        let replies: Vec<(i64, i64, i64, i64, i64, i64)> = pipeline.query_async(connection).await?;
        let result = |(request, reply): (&SubjectRequests, (i64, i64, i64, i64, i64, i64))| {
            let (admitted, short_start, short_used, day_start, day_used, now) = reply;
            let subject = request.subject.clone();
            SubjectResult { subject, admitted, short_start, short_used, day_start, day_used, now }
        };
        Ok(requests.iter().zip(replies).map(result).collect())
    }

    pub(super) async fn add(&mut self, counts: &[SubjectCounts], now_ms: i64) -> anyhow::Result<()> {
        let connection = self.connection.as_mut().context("the limit store is not connected")?;
        let mut pipeline = Pipeline::with_capacity(counts.len());
        for counts in counts {
            let mut call = self.add.key(format!("{PREFIX}{}", counts.subject));
            call.arg(now_ms).arg(counts.short_length).arg(counts.short_start).arg(counts.short_count);
            call.arg(counts.day_limit).arg(counts.day_start).arg(counts.day_count);
            pipeline.invoke_script(&call).ignore();
        }
        Ok(pipeline.exec_async(connection).await?)
    }

    pub(super) async fn reset(&mut self, subjects: &[String]) -> anyhow::Result<()> {
        let connection = self.connection.as_mut().context("the limit store is not connected")?;
        let keys: Vec<String> = subjects.iter().map(|subject| format!("{PREFIX}{subject}")).collect();
        let removed: RedisResult<()> = connection.del(keys).await;
        Ok(removed?)
    }
}
