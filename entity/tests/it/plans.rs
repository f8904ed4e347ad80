//! Plans of the statements that workers and maintenance jobs repeat, on PostgreSQL with stale statistics: they were
//! gathered before the rows that the statements work on were written, or when all of those rows still had work to do.
//!
//! What a statement reads is asserted in pages, which do not depend on the speed of the machine.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use entity::webhook_deliveries::hold;
use entity::webhook_deliveries::queue::{self, Claim, Next, Settlement, Share};
use entity::webhook_deliveries::{Column, Dead};
use entity::webhook_subscriptions::State as Standing;
use entity::{
    Keyset, events, idempotency_records, mails, webhook_attempts, webhook_deliveries, webhook_replays,
};
use sea_orm::entity::prelude::async_trait::async_trait;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    Statement, TransactionTrait,
};
use uuid::Uuid;

use crate::support::{OURS, databases, id};

/// The present moment of all statements: everything pending is due, and everything settled is older than the log is kept.
const NOW: i64 = 1_000_000;

/// Subscriptions that have deliveries.
const SUBSCRIPTIONS: u32 = 20;

/// A transaction that explains each statement before it runs it.
struct Explained {
    transaction: DatabaseTransaction,
    /// Pages read by the statement that read most, and all plans.
    seen: Mutex<(u64, String)>,
}

impl Explained {
    /// Explains a statement, and takes back what it did: with a plan for its values, and with a generic plan where
    /// PostgreSQL would use that in time, since it does not seem to cost more.
    async fn explain(&self, statement: &Statement) -> Result<(), DbErr> {
        let values = statement.values.as_ref().map(|values| values.0.clone()).unwrap_or_default();
        let literal = |value| Statement::from_sql_and_values(DbBackend::Postgres, "$1", [value]).to_string();
        let values = values.into_iter().map(literal).collect::<Vec<_>>().join(", ");
        let values = if values.is_empty() { values } else { format!("({values})") };
        let mut cheapest = f64::INFINITY;
        for mode in ["force_custom_plan", "force_generic_plan"] {
            let begin = format!("SAVEPOINT explained; SET LOCAL plan_cache_mode = {mode}");
            self.transaction.execute_unprepared(&begin).await?;
            self.transaction.execute_unprepared(&format!("PREPARE explained AS {}", statement.sql)).await?;
            let estimate = self.plan(&format!("EXPLAIN EXECUTE explained{values}")).await?;
            let cost = cost(&estimate[0]);
            if cost <= cheapest + PLANNING {
                cheapest = cheapest.min(cost);
                let explain = format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE explained{values}");
                let plan = self.plan(&explain).await?;
                let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                // The first figures are those of the whole statement.
                let read = plan.iter().find(|line| line.contains("Buffers:")).map_or(0, |line| pages(line));
                seen.0 = seen.0.max(read);
                write!(seen.1, "{mode}\n{}\n", plan.join("\n")).unwrap();
            }
            self.transaction.execute_unprepared("ROLLBACK TO explained; DEALLOCATE explained").await?;
        }
        Ok(())
    }

    async fn plan(&self, explain: &str) -> Result<Vec<String>, DbErr> {
        let explain = Statement::from_string(DbBackend::Postgres, explain);
        self.transaction.query_all_raw(explain).await?.iter().map(|row| row.try_get_by_index(0)).collect()
    }
}

/// What PostgreSQL adds to the cost of plans that it makes again each time, and a little more.
const PLANNING: f64 = 50.0;

/// The estimate of `Limit  (cost=0.42..8.44 rows=1 width=16)`.
fn cost(line: &str) -> f64 {
    let (_, estimate) = line.split_once("cost=").unwrap();
    let (_, total) = estimate.split_once("..").unwrap();
    total.split_whitespace().next().unwrap().parse().unwrap()
}

/// The pages of `Buffers: shared hit=5 read=2 dirtied=1`.
fn pages(line: &str) -> u64 {
    let figure = |name: &str| {
        let figure = line.split_whitespace().find_map(|word| word.strip_prefix(name));
        figure.map_or(0, |figure| figure.trim_end_matches(',').parse::<u64>().unwrap())
    };
    figure("hit=") + figure("read=")
}

#[async_trait]
impl ConnectionTrait for Explained {
    fn get_database_backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.explain(&statement).await?;
        self.transaction.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.transaction.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.explain(&statement).await?;
        self.transaction.query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.explain(&statement).await?;
        self.transaction.query_all_raw(statement).await
    }
}

/// What reads more pages than it may, with its plans.
#[derive(Default)]
struct Wasteful(Vec<String>);

impl Wasteful {
    /// Runs statements and takes back what they did; each may read so many pages.
    async fn check<T>(
        &mut self,
        database: &DatabaseConnection,
        (name, most): (&str, u64),
        work: impl AsyncFnOnce(&Explained) -> Result<T, DbErr>,
    ) -> T {
        let transaction = database.begin().await.unwrap();
        let explained = Explained { transaction, seen: Mutex::default() };
        let outcome = work(&explained).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (read, plans) = explained.seen.into_inner().unwrap();
        explained.transaction.rollback().await.unwrap();
        assert!(!plans.is_empty(), "{name} ran no statement");
        if read > most {
            self.0.push(format!(
                "{name} read {read} pages, more than {most}
{plans}"
            ));
        }
        outcome
    }
}

fn claim() -> Claim<'static> {
    Claim {
        now: NOW,
        lease_until: NOW + 30,
        lease_token: id(0xaa),
        cap_per_subscription: 8,
        per_workspace: 100,
        shares: &[],
        batch: 10,
        after: None,
    }
}

async fn run(database: &DatabaseConnection, sql: &str) {
    database.execute_unprepared(sql).await.unwrap();
}

/// An id of a series, as SQL: its rows are numbered by `n`.
fn numbered(series: u32, number: &str) -> String {
    format!("('00000000-0000-0000-{series:04}-' || lpad(to_hex({number}), 12, '0'))::uuid")
}

/// Writes deliveries of a series in this state, one after the other of each subscription.
async fn fill(database: &DatabaseConnection, series: u32, many: u32, state: webhook_deliveries::State) {
    use webhook_deliveries::State;
    let number = match state {
        State::Pending => 0,
        State::Delivered => 1,
        State::Dead => 2,
        State::Held => 3,
    };
    let due = if state == State::Pending { "n" } else { "NULL" };
    let settled = if matches!(state, State::Delivered | State::Dead) { "n" } else { "NULL" };
    let (delivery, event) = (numbered(series, "n"), numbered(1, "1 + n % 1000"));
    let subscription = numbered(0, &format!("1 + n % {SUBSCRIPTIONS}"));
    // Without the look-ups of foreign keys, which are most of the work.
    let sql = format!(
        "SET session_replication_role = replica;
        INSERT INTO webhook_deliveries (id, workspace_id, subscription_id, event_id, event_type, origin, state, attempts,
            next_attempt_at, created_at, settled_at)
        SELECT {delivery}, {workspace}, {subscription}, {event}, 'order.paid', 0, {number}, 0, {due}, n, {settled}
        FROM generate_series(1, {many}) AS n;
        SET session_replication_role = DEFAULT",
        workspace = numbered(0, "1"),
    );
    run(database, &sql).await;
}

/// The subscriptions, events and a long history, and statistics of these alone.
async fn history(database: &DatabaseConnection) {
    let (workspace, subscription, event) = (numbered(0, "1"), numbered(0, "n"), numbered(1, "n"));
    let tables = ["webhook_deliveries", "webhook_attempts", "events", "mails", "idempotency_records"];
    for table in tables {
        run(database, &format!("ALTER TABLE {table} SET (autovacuum_enabled = off)")).await;
    }
    let sql = format!(
        "INSERT INTO webhook_subscriptions (id, workspace_id, url, event_types, state, created_at, updated_at)
        SELECT {subscription}, {workspace}, 'https://example.com', '[\"order.paid\"]', 0, 1, 1
        FROM generate_series(1, {SUBSCRIPTIONS}) AS n;
        INSERT INTO events (id, workspace_id, type, created_at, body)
        SELECT {event}, {workspace}, 'order.paid', n, '{{}}' FROM generate_series(1, 1000) AS n"
    );
    run(database, &sql).await;
    fill(database, 2, 200_000, webhook_deliveries::State::Delivered).await;
    run(database, &mail(3, 20_000, "NULL", 1)).await;
}

fn mail(series: u32, many: u32, due: &str, state: u8) -> String {
    let (mail, workspace) = (numbered(series, "n"), numbered(0, "1"));
    let sent = if state == 1 { "n" } else { "NULL" };
    format!(
        "INSERT INTO mails (id, workspace_id, kind, recipient, subject, text_body, html_body, state, attempts,
            due_at, created_at, sent_at)
        SELECT {mail}, {workspace}, 'warning', 'ada@example.com', 'Hello', '', '', {state}, 0, {due}, n, {sent}
        FROM generate_series(1, {many}) AS n"
    )
}

/// The rows that came since: each table now has work that its statistics know nothing of.
async fn burst(database: &DatabaseConnection) {
    use webhook_deliveries::State;
    fill(database, 4, 100_000, State::Pending).await;
    fill(database, 5, 20_000, State::Held).await;
    fill(database, 6, 20_000, State::Dead).await;
    run(database, &mail(7, 10_000, "n", 0)).await;
    run(database, &records(20_000)).await;
    run(database, &attempts(8, 20_000)).await;
}

/// Records under idempotency keys whose time is over.
fn records(many: u32) -> String {
    let key = numbered(0, "1");
    format!(
        "SET session_replication_role = replica;
        INSERT INTO idempotency_records (api_key_id, idempotency_key, fingerprint, state, claim_token, claimed_until,
            created_at, expires_at)
        SELECT {key}, 'key-' || n, decode(repeat('00', 32), 'hex'), 'running', {key}, n, n, n
        FROM generate_series(1, {many}) AS n;
        SET session_replication_role = DEFAULT"
    )
}

/// Attempts at deliveries that are held.
fn attempts(series: u32, many: u32) -> String {
    let (attempt, workspace, delivery) = (numbered(series, "n"), numbered(0, "1"), numbered(5, "n"));
    format!(
        "INSERT INTO webhook_attempts (id, workspace_id, delivery_id, number, started_at, ended_at, status, request_headers)
        SELECT {attempt}, {workspace}, {delivery}, 1, n, n, 500, '{{}}' FROM generate_series(1, {many}) AS n"
    )
}

/// The id with this number in a series.
fn of(series: u128, number: u128) -> Uuid {
    Uuid::from_u128((bcd(series) << 48) | number)
}

/// A number whose hexadecimal digits read like the decimal ones of this one.
const fn bcd(number: u128) -> u128 {
    if number < 10 { number } else { (bcd(number / 10) << 4) | (number % 10) }
}

/// What a worker repeats.
async fn check_worker(database: &DatabaseConnection, wasteful: &mut Wasteful) {
    let taken = wasteful.check(database, ("claim", 800), async |conn| claim().take(conn).await).await;
    assert_eq!(taken.len(), 10);
    // A workspace that may take nothing costs a step, whatever its subscriptions have due.
    let full = [Share { workspace: OURS, room: 0, after: None }];
    let nothing = Claim { shares: &full, ..claim() };
    wasteful.check(database, ("claim of nothing", 50), async |conn| nothing.take(conn).await).await;
    wasteful
        .check(database, ("oldest due of none", 50), async |conn| queue::oldest_due(conn, NOW, &[OURS]).await)
        .await;
    wasteful.check(database, ("oldest due", 500), async |conn| queue::oldest_due(conn, NOW, &[]).await).await;
    let settled = (1..=100).map(|number| Settlement {
        id: of(4, number),
        lease_token: id(0xaa),
        next: Next::Delivered,
        at: NOW,
        status: Some(200),
        error: None,
    });
    let settled: Vec<Settlement> = settled.collect();
    wasteful.check(database, ("settle", 2_000), async |conn| queue::settle(conn, &settled).await).await;
    let taken: Vec<(Uuid, Uuid)> = settled.iter().map(|one| (one.id, one.lease_token)).collect();
    wasteful
        .check(database, ("give back", 2_000), async |conn| queue::give_back_some(conn, &taken).await)
        .await;
    wasteful.check(database, ("due mail", 50), async |conn| mails::any_due(conn, NOW).await).await;
    let lease = mails::Lease { token: id(1), until: NOW + 30 };
    wasteful.check(database, ("mail", 1_000), async |conn| mails::claim(conn, NOW, lease, 20).await).await;
}

/// What maintenance jobs repeat. Each changes at most 100 rows, with all that this takes of their indexes.
async fn check_maintenance(database: &DatabaseConnection, wasteful: &mut Wasteful) {
    const MOVED: u64 = 6_000;
    wasteful.check(database, ("misplaced", 1_000), async |conn| hold::misplaced(conn).await).await;
    let (one, paused) = (id(2), Standing::Paused);
    wasteful
        .check(database, ("hold", MOVED), async |conn| hold::hold(conn, one, paused, NOW, 100).await)
        .await;
    wasteful.check(database, ("release", MOVED), async |conn| hold::release(conn, one, NOW, 100).await).await;
    wasteful
        .check(database, ("discard held", MOVED), async |conn| hold::discard(conn, one, NOW, 100).await)
        .await;
    run(
        database,
        "UPDATE webhook_subscriptions SET state = 1 WHERE id = '00000000-0000-0000-0000-000000000003'",
    )
    .await;
    let all = async |conn: &Explained| hold::discard(conn, id(3), NOW, 1_100).await;
    wasteful.check(database, ("discard", 11 * MOVED), all).await;
    let erase = async |conn: &Explained| webhook_deliveries::erase(conn, one, 100).await;
    wasteful.check(database, ("erase", MOVED), erase).await;
    let prune = async |conn: &Explained| webhook_deliveries::prune(conn, NOW, 100).await;
    wasteful.check(database, ("prune deliveries", MOVED), prune).await;
    let prune = async |conn: &Explained| webhook_attempts::prune(conn, id(u128::MAX), 100).await;
    wasteful.check(database, ("prune attempts", MOVED), prune).await;
    let prune = async |conn: &Explained| events::prune(conn, id(u128::MAX), None, 100).await;
    wasteful.check(database, ("prune events", MOVED), prune).await;
    let prune = async |conn: &Explained| mails::delete_settled(conn, NOW, 100).await;
    wasteful.check(database, ("prune mail", MOVED), prune).await;
    let prune = async |conn: &Explained| idempotency_records::delete_expired(conn, NOW, 100).await;
    wasteful.check(database, ("prune records", MOVED), prune).await;
    wasteful.check(database, ("replays", 50), async |conn| webhook_replays::running(conn, 100).await).await;
    let page = Keyset {
        column: Column::CreatedAt,
        descending: false,
        after: None,
        to: None,
        limit: 100,
        below_updated_at: None,
    };
    let dead = Dead { subscription: Some(one), not_of_job: Some(id(9)), ..Dead::default() };
    let batch = async |conn: &Explained| webhook_deliveries::in_workspace(OURS).dead(conn, &dead, page).await;
    wasteful.check(database, ("dead", 1_000), batch).await;
}

#[tokio::test]
async fn repeated_statements_read_little_however_stale_the_statistics_are() {
    for database in databases().await {
        if database.get_database_backend() != DbBackend::Postgres {
            continue; // SQLite chooses plans without statistics.
        }
        let mut wasteful = Wasteful::default();
        history(&database).await;
        run(&database, "VACUUM ANALYZE").await;
        burst(&database).await;
        check_worker(&database, &mut wasteful).await;
        check_maintenance(&database, &mut wasteful).await;
        assert!(wasteful.0.is_empty(), "{}", wasteful.0.join("\n"));
    }
}
