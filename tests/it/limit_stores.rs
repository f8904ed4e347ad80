//! Rate limits that several processes share: exact counts, and stores that fail.

use std::time::{Duration, Instant};

use domain::workspaces::Quota;
use sea_orm::{ConnectionTrait, TransactionTrait};

use crate::support::limit_servers::{admitted_by_minute, assert_exact_minute, get_at_once, start_server};
use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Browser, DelayingRelay, RedisServer, TestApp, skip, wait_until};

const COURSES: &str = "/api/v1/courses";

/// Long enough that a busy machine does not make a server decide from its share.
const LONG_STORE_TIMEOUT: (&str, &str) = ("CREATOR_API_LIMIT_STORE_TIMEOUT_MS", "20000");

/// Starts three servers that count in the same store.
async fn start_three_servers(program: &TestProgram, store: &str) -> Vec<ServerProcess> {
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(start_server(program, store, &[LONG_STORE_TIMEOUT]).await);
    }
    servers
}

/// Asserts that three servers with this store admit exactly the limits of a key.
async fn assert_exact(program: &TestProgram, store: &str) {
    // Keys first: a running server accepts a new key only after up to two seconds.
    let workspace = program.app.workspace("acme").await;
    let mut keys = Vec::new();
    for _ in 0..3 {
        keys.push(workspace.key_with_default_quota("read:courses").await);
    }
    let quota = Quota { per_minute: Some(10_000), per_day: Some(100) };
    let key_of_day = workspace.key_with_quota("read:courses", quota, None).await;
    let servers = start_three_servers(program, store).await;
    for key in keys {
        assert_exact_minute(&admitted_by_minute(&get_at_once(&servers, program, &key, 200).await));
    }
    let responses = get_at_once(&servers, program, &key_of_day, 400).await;
    assert_eq!(admitted_by_minute(&responses).values().sum::<usize>(), 100);
    let mut left: Vec<u32> = responses
        .iter()
        .filter(|response| response.status == 200)
        .map(|response| response.header("x-ratelimit-daily-remaining").parse().expect("a number"))
        .collect();
    left.sort_unstable();
    assert_eq!(
        left,
        (0..100).collect::<Vec<u32>>(),
        "each admitted request reports its own remaining requests"
    );
    for server in servers {
        assert_eq!(server.stop().await, Some(0));
    }
}

/// Asserts that three servers with this store admit no more than a high limit, and nearly as many: of a high limit, they reserve
/// requests in advance.
async fn assert_nearly_exact(program: &TestProgram, store: &str) {
    let quota = Quota { per_minute: Some(1_000), per_day: Some(2_000) };
    let key = program.app.workspace("acme").await.key_with_quota("read:courses", quota, None).await;
    let servers = start_three_servers(program, store).await;
    let mut responses = Vec::new();
    // One at a time for each server, so that requests do not share a round trip.
    for _ in 0..400 {
        responses.extend(get_at_once(&servers, program, &key, servers.len()).await);
    }
    let mut round_trips = 0;
    for server in servers {
        let metrics = program.app.http.get(format!("{}/metrics", server.base_url)).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        let count =
            metrics.lines().find_map(|line| line.strip_prefix("rate_limit_store_duration_seconds_count "));
        round_trips += count.expect("the store is used").parse::<usize>().unwrap();
        assert_eq!(server.stop().await, Some(0));
    }
    assert!(round_trips < 700, "{round_trips}");
    let admitted = admitted_by_minute(&responses);
    assert!(admitted.values().all(|count| *count <= 1_000), "{admitted:?}");
    if admitted.len() == 1 {
        assert!(admitted.values().sum::<usize>() >= 950, "{admitted:?}");
    }
}

#[tokio::test]
async fn three_servers_share_exact_limits_in_the_database() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    assert_exact(&program, "database").await;
}

#[tokio::test]
async fn three_servers_share_exact_limits_in_redis() {
    let Some(redis) = RedisServer::start().await else { return };
    assert_exact(&TestProgram::new().await, &redis.url()).await;
}

#[tokio::test]
async fn three_servers_admit_no_more_than_a_high_limit() {
    let program = TestProgram::new().await;
    if program.app.uses_postgres() {
        assert_nearly_exact(&program, "database").await;
    }
    if let Some(redis) = RedisServer::start().await {
        assert_nearly_exact(&TestProgram::new().await, &redis.url()).await;
    }
}

#[tokio::test]
async fn the_limits_of_a_day_survive_the_loss_of_the_store() {
    let Some(mut redis) = RedisServer::start().await else { return };
    let program = TestProgram::new().await;
    let quota = Quota { per_minute: Some(10_000), per_day: Some(100) };
    let key = program.app.workspace("acme").await.key_with_quota("read:courses", quota, None).await;
    let servers = start_three_servers(&program, &redis.url()).await;
    let admitted = admitted_by_minute(&get_at_once(&servers, &program, &key, 60).await);
    assert_eq!(admitted.values().sum::<usize>(), 60);
    // All processes have written their counts.
    let stored = async || {
        let used =
            entity::rate_usage::of_subjects(program.app.app.db.read(), vec![key.id.clone()], today_ms())
                .await;
        used.expect("the query succeeds").iter().map(|row| row.used).sum::<i64>() == 60
    };
    wait_until("the counts are stored", stored).await;

    redis.kill().await;
    redis.restart().await;
    for server in servers {
        assert_eq!(server.stop().await, Some(0));
    }
    let servers = start_three_servers(&program, &redis.url()).await;
    let admitted = admitted_by_minute(&get_at_once(&servers, &program, &key, 300).await);
    assert_eq!(admitted.values().sum::<usize>(), 40, "the rest of the limit: {admitted:?}");
}

/// Returns the start of the current UTC day, in milliseconds since the epoch.
fn today_ms() -> i64 {
    let now_ms = foundation::clock::Clock::system().now_ms();
    now_ms - now_ms % 86_400_000
}

#[tokio::test]
async fn a_killed_redis_server_fails_no_request_and_limits_are_exact_again_within_two_seconds() {
    let Some(mut redis) = RedisServer::start().await else { return };
    let program = TestProgram::new().await;
    let workspace = program.app.workspace("acme").await;
    let key = workspace.key_with_default_quota("read:courses").await;
    let second_key = workspace.key_with_default_quota("read:courses").await;
    let servers = [
        start_server(&program, &redis.url(), &[("CREATOR_API_LIMIT_STORE_TIMEOUT_MS", "2000")]).await,
        start_server(&program, &redis.url(), &[("CREATOR_API_LIMIT_STORE_TIMEOUT_MS", "2000")]).await,
    ];
    assert_eq!(
        get_at_once(&servers, &program, &key, 2)
            .await
            .iter()
            .filter(|response| response.status == 200)
            .count(),
        2
    );

    redis.kill().await;
    let alone = admitted_by_minute(&get_at_once(&servers, &program, &key, 200).await);
    // On SQLite, servers do not know each other, so the share of each is the limit.
    assert!(alone.values().all(|count| *count <= 120), "{alone:?}");
    assert!(alone.values().sum::<usize>() >= 58, "{alone:?}");

    redis.restart().await;
    tokio::time::sleep_until((Instant::now() + Duration::from_secs(2)).into()).await;
    assert_exact_minute(&admitted_by_minute(&get_at_once(&servers, &program, &second_key, 200).await));
}

#[tokio::test]
async fn a_locked_limit_table_fails_and_delays_no_request() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let key = program.app.workspace("acme").await.key("read:courses").await;
    let mut server =
        start_server(&program, "database", &[("CREATOR_API_LIMIT_STORE_TIMEOUT_MS", "300")]).await;
    let key = server.key(&program.app, &key.secret);
    key.get(COURSES).await.assert_status(200);

    let pool = sea_orm::Database::connect(program.app.database_url()).await.expect("a connection");
    let lock = pool.begin().await.expect("a transaction");
    lock.execute_unprepared("LOCK TABLE rate_windows IN ACCESS EXCLUSIVE MODE")
        .await
        .expect("the table is locked");
    let started = Instant::now();
    key.get(COURSES).await.assert_status(200);
    server.wait_for_log("the limit store is not available").await;
    for _ in 0..50 {
        key.get(COURSES).await.assert_status(200);
    }
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "requests wait for the table: {:?}",
        started.elapsed()
    );
    // The lock stays for two tests of the store, which occupy no further connections.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waiting = sea_orm::Statement::from_string(sea_orm::DbBackend::Postgres, waiting);
    let row = pool.query_one_raw(waiting).await.expect("the query succeeds").expect("a row");
    assert!(
        row.try_get_by_index::<i64>(0).expect("a count") <= 2,
        "statements that wait for the lock accumulate"
    );

    lock.rollback().await.expect("the lock is released");
    server.wait_for_log("the limit store is available again").await;
    key.get(COURSES).await.assert_status(200);
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_slow_redis_server_delays_no_request() {
    let Some(redis) = RedisServer::start().await else { return };
    let relay = DelayingRelay::start(redis.address()).await;
    relay.delay(Duration::from_millis(400));
    let program = TestProgram::new().await;
    let key = program.app.workspace("acme").await.key_with_default_quota("read:courses").await;
    let mut server = start_server(&program, &format!("redis://{}", relay.address()), &[]).await;
    server.wait_for_log("the limit store is not available").await;
    let key = server.key(&program.app, &key.secret);
    let started = Instant::now();
    for _ in 0..60 {
        key.get(COURSES).await.assert_status(200);
    }
    // Each request would wait for 300 ms.
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
}

#[tokio::test]
async fn sign_in_attempts_count_over_all_servers() {
    let Some(redis) = RedisServer::start().await else { return };
    let program = TestProgram::new().await;
    let servers = [
        start_server(&program, &redis.url(), &[LONG_STORE_TIMEOUT]).await,
        start_server(&program, &redis.url(), &[LONG_STORE_TIMEOUT]).await,
    ];
    for number in 0..10 {
        let server = &servers[number % 2];
        assert_eq!(sign_in(&program.app, &server.base_url).await, 422, "attempt {number}");
    }
    for server in &servers {
        assert_eq!(sign_in(&program.app, &server.base_url).await, 429);
    }
}

/// Signs in with a wrong password as a new browser.
async fn sign_in(app: &TestApp, server: &str) -> u16 {
    let browser = Browser::at(app, server);
    browser.sign_in("ada@example.com", "a wrong password").await.status
}
