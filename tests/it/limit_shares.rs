//! While a limit store does not answer, three servers admit no more than the limit together: each decides from its share.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};

use crate::support::limit_servers::{admitted_by_minute, assert_exact_minute, get_at_once, start_server};
use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{DelayingRelay, RedisServer, TestKey, skip, wait_until};

const COURSES: &str = "/api/v1/courses";
const UNAVAILABLE: &str = "the limit store is not available";
const AVAILABLE: &str = "the limit store is available again";

/// Three servers on PostgreSQL that know each other and count in Redis, through a relay.
struct Fleet {
    program: TestProgram,
    relay: DelayingRelay,
    _redis: RedisServer,
    servers: Vec<ServerProcess>,
    /// Keys of 60 requests per minute.
    keys: Vec<TestKey>,
}

impl Fleet {
    /// Starts the servers. Returns `None` without PostgreSQL, whose heartbeats they need to know each other, or without Redis.
    async fn start(keys: usize) -> Option<Self> {
        let redis = RedisServer::start().await?;
        let program = TestProgram::new().await;
        if !program.app.uses_postgres() {
            skip("PostgreSQL only");
            return None;
        }
        let workspace = program.app.workspace("acme").await;
        let mut fleet_keys = Vec::new();
        for _ in 0..keys {
            fleet_keys.push(workspace.key_with_default_quota("read:courses").await);
        }
        let relay = DelayingRelay::start(redis.address()).await;
        let mut servers = Vec::new();
        for _ in 0..3 {
            servers.push(start_server(&program, &format!("redis://{}", relay.address()), &[]).await);
        }
        wait_for_heartbeats(&program, servers.len()).await;
        Some(Self { program, relay, _redis: redis, servers, keys: fleet_keys })
    }

    /// Sends a request to each server, so that it notices the state of the store, and waits until it has.
    async fn wait_for_log(&mut self, key: &TestKey, text: &str) {
        for server in &mut self.servers {
            server.key(&self.program.app, &key.secret).get(COURSES).await;
            server.wait_for_log(text).await;
        }
    }
}

/// Waits until each server has sent a heartbeat after all of them had started.
async fn wait_for_heartbeats(program: &TestProgram, servers: usize) {
    let pool = sea_orm::Database::connect(program.app.database_url()).await.expect("a connection");
    let now = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let started_at = number(&pool, now).await;
    let sent = format!("SELECT count(*) FROM processes WHERE serves AND heartbeat_at > {started_at}");
    wait_until("all servers send heartbeats", async || {
        number(&pool, &sent).await == i64::try_from(servers).expect("a small number")
    })
    .await;
}

async fn number(pool: &DatabaseConnection, query: &str) -> i64 {
    let query = Statement::from_string(DbBackend::Postgres, query);
    let row = pool.query_one_raw(query).await.expect("the query succeeds").expect("a row");
    row.try_get_by_index(0).expect("a number")
}

#[tokio::test]
async fn three_servers_with_a_slow_store_admit_the_limit_together() {
    let Some(mut fleet) = Fleet::start(2).await else { return };
    let (first, key) = (fleet.keys.remove(0), fleet.keys.remove(0));
    fleet.relay.delay(Duration::from_millis(500));
    fleet.wait_for_log(&first, UNAVAILABLE).await;
    let mut responses = get_at_once(&fleet.servers, &fleet.program, &key, 200).await;
    assert_exact_minute(&admitted_by_minute(&responses));
    for response in responses.iter().filter(|response| response.status == 200) {
        let remaining: u32 = response.header("x-ratelimit-remaining").parse().expect("a number");
        assert!(remaining < 20, "{remaining} remaining, but the share of a server is 20");
    }

    // What the servers have admitted is added to the store.
    fleet.relay.delay(Duration::ZERO);
    fleet.wait_for_log(&first, AVAILABLE).await;
    responses.extend(get_at_once(&fleet.servers, &fleet.program, &key, 200).await);
    let admitted = admitted_by_minute(&responses);
    assert!(admitted.values().all(|count| *count <= 60), "{admitted:?}");
}

#[tokio::test]
async fn in_the_minute_in_which_the_store_stops_three_servers_admit_at_most_five_thirds_of_the_limit() {
    let Some(fleet) = Fleet::start(1).await else { return };
    // One server uses the limit up, which the others do not know.
    let mut responses = get_at_once(&fleet.servers[..1], &fleet.program, &fleet.keys[0], 100).await;
    fleet.relay.stop();
    responses.extend(get_at_once(&fleet.servers, &fleet.program, &fleet.keys[0], 200).await);
    let admitted = admitted_by_minute(&responses);
    assert!(admitted.values().all(|count| *count <= 100), "{admitted:?}");
}
