//! Query plans of the statements that workers and maintenance jobs repeat, on PostgreSQL with stale statistics: the
//! statistics were collected before the pending, held and dead deliveries and the expired rows were written. A held
//! delivery waits because its subscription is paused or disabled.
//!
//! The tests limit the number of pages read, which does not depend on the speed of the machine.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use entity::webhook_deliveries::hold;
use entity::webhook_deliveries::queue::{
    self, ClaimQuery, DeliveryTransition, Settlement, WorkspaceAllowance,
};
use entity::webhook_deliveries::{Column, DeadRowFilter};
use entity::webhook_subscriptions::StoredSubscriptionState;
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

/// The current time of all statements, in milliseconds since the epoch. Everything pending is due, and everything
/// settled is older than the retention period.
const NOW: i64 = 1_000_000;

/// The number of subscriptions with deliveries.
const SUBSCRIPTIONS: u32 = 20;

/// The number of subscriptions: a plan that reads all of them exceeds the limits.
const ALL_SUBSCRIPTIONS: u32 = 5_000;

/// A transaction that runs `EXPLAIN ANALYZE` for each statement, and then the statement.
struct ExplainingTransaction {
    transaction: DatabaseTransaction,
    /// The largest number of pages read by one statement, and all plans.
    explained: Mutex<(u64, String)>,
}

impl ExplainingTransaction {
    /// Explains a statement with a custom plan, and then with a generic plan. The generic plan is skipped if its
    /// estimated cost is higher, because PostgreSQL would not choose it. Rolls back the effects of the statement.
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
            if cost <= cheapest + PLANNING_COST {
                cheapest = cheapest.min(cost);
                let explain = format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE explained{values}");
                let plan = self.plan(&explain).await?;
                let mut explained = self.explained.lock().unwrap_or_else(PoisonError::into_inner);
                // The first line is for the whole statement.
                let read = plan.iter().find(|line| line.contains("Buffers:")).map_or(0, |line| pages(line));
                explained.0 = explained.0.max(read);
                write!(explained.1, "{mode}\n{}\n", plan.join("\n")).unwrap();
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

/// The cost that PostgreSQL adds to custom plans for planning, plus a margin.
const PLANNING_COST: f64 = 50.0;

/// Parses the total cost of `Limit  (cost=0.42..8.44 rows=1 width=16)`.
fn cost(line: &str) -> f64 {
    let (_, estimate) = line.split_once("cost=").unwrap();
    let (_, total) = estimate.split_once("..").unwrap();
    total.split_whitespace().next().unwrap().parse().unwrap()
}

/// Parses the number of pages of `Buffers: shared hit=5 read=2 dirtied=1`.
fn pages(line: &str) -> u64 {
    let counter = |name: &str| {
        let counter = line.split_whitespace().find_map(|word| word.strip_prefix(name));
        counter.map_or(0, |counter| counter.trim_end_matches(',').parse::<u64>().unwrap())
    };
    counter("hit=") + counter("read=")
}

impl entity::Connection for ExplainingTransaction {}

#[async_trait]
impl ConnectionTrait for ExplainingTransaction {
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

/// Statements that read more pages than allowed, with their plans.
#[derive(Default)]
struct PlanViolations(Vec<String>);

impl PlanViolations {
    /// Runs statements and rolls back their effects. Each may read up to `max_pages` pages. `name` describes them in
    /// the report.
    async fn check<T>(
        &mut self,
        database: &DatabaseConnection,
        (name, max_pages): (&str, u64),
        statements: impl AsyncFnOnce(&ExplainingTransaction) -> Result<T, DbErr>,
    ) -> T {
        let transaction = database.begin().await.unwrap();
        let explaining = ExplainingTransaction { transaction, explained: Mutex::default() };
        let outcome = statements(&explaining).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (read, plans) = explaining.explained.into_inner().unwrap();
        explaining.transaction.rollback().await.unwrap();
        assert!(!plans.is_empty(), "{name} ran no statement");
        if read > max_pages {
            self.0.push(format!(
                "{name} read {read} pages, more than {max_pages}
{plans}"
            ));
        }
        outcome
    }
}

fn claim() -> ClaimQuery<'static> {
    ClaimQuery {
        now: NOW,
        lease_until: NOW + 30,
        lease_token: id(0xaa),
        max_in_flight_per_subscription: 8,
        per_workspace: 100,
        allowances: &[],
        limit: 10,
        last_workspace: None,
    }
}

async fn run(database: &DatabaseConnection, sql: &str) {
    database.execute_unprepared(sql).await.unwrap();
}

/// Returns an SQL expression for the id of row `number` in a series, a group of rows. Series 0 contains the workspace
/// and the subscriptions, and series 1 the events.
fn series_id_sql(series: u32, number: &str) -> String {
    format!("('00000000-0000-0000-{series:04}-' || lpad(to_hex({number}), 12, '0'))::uuid")
}

/// Inserts deliveries of a series in this state, distributed over the subscriptions.
async fn insert_deliveries(
    database: &DatabaseConnection,
    series: u32,
    row_count: u32,
    state: webhook_deliveries::StoredDeliveryState,
) {
    use webhook_deliveries::StoredDeliveryState;
    let state_number = match state {
        StoredDeliveryState::Pending => 0,
        StoredDeliveryState::Delivered => 1,
        StoredDeliveryState::Dead => 2,
        StoredDeliveryState::Held => 3,
    };
    let due = if state == StoredDeliveryState::Pending { "n" } else { "NULL" };
    let settled = if matches!(state, StoredDeliveryState::Delivered | StoredDeliveryState::Dead) {
        "n"
    } else {
        "NULL"
    };
    let (delivery, event) = (series_id_sql(series, "n"), series_id_sql(1, "1 + n % 1000"));
    let subscription = series_id_sql(0, &format!("1 + n % {SUBSCRIPTIONS}"));
    // Without foreign key checks, which take most of the time.
    let sql = format!(
        "SET session_replication_role = replica;
        INSERT INTO webhook_deliveries (id, workspace_id, subscription_id, event_id, event_type, origin, state, attempts,
            next_attempt_at, created_at, settled_at)
        SELECT {delivery}, {workspace}, {subscription}, {event}, 'order.paid', 0, {state_number}, 0, {due}, n, {settled}
        FROM generate_series(1, {row_count}) AS n;
        SET session_replication_role = DEFAULT",
        workspace = series_id_sql(0, "1"),
    );
    run(database, &sql).await;
}

/// Inserts the subscriptions, the events, and many delivered deliveries and sent mails.
async fn insert_history(database: &DatabaseConnection) {
    let (workspace, subscription, event) =
        (series_id_sql(0, "1"), series_id_sql(0, "n"), series_id_sql(1, "n"));
    // The first partition contains all attempts of the test.
    let tables = ["webhook_deliveries", "webhook_attempts_history", "events", "mails", "idempotency_records"];
    for table in tables {
        run(database, &format!("ALTER TABLE {table} SET (autovacuum_enabled = off)")).await;
    }
    // Every other subscription has a rate. Most rates belong to subscriptions without deliveries.
    let sql = format!(
        "INSERT INTO webhook_subscriptions (id, workspace_id, url, event_types, state, created_at, updated_at, rate)
        SELECT {subscription}, {workspace}, 'https://example.com', '[\"order.paid\"]', 0, 1, 1, CASE n % 2 WHEN 0 THEN 1000 END
        FROM generate_series(1, {ALL_SUBSCRIPTIONS}) AS n;
        SET session_replication_role = replica;
        INSERT INTO webhook_rates (subscription_id, interval_us, burst, next_at_us)
        SELECT {subscription}, 1000, 100, 0 FROM generate_series(1, 20000) AS n WHERE n % 2 = 0;
        SET session_replication_role = DEFAULT;
        INSERT INTO events (id, workspace_id, type, created_at, body)
        SELECT {event}, {workspace}, 'order.paid', n, '{{}}' FROM generate_series(1, 1000) AS n"
    );
    run(database, &sql).await;
    insert_deliveries(database, 2, 200_000, webhook_deliveries::StoredDeliveryState::Delivered).await;
    run(database, &mails_sql(3, 20_000, "NULL", 1)).await;
}

/// Returns the SQL that inserts mails of a series with this due time (an SQL expression) and state: 0 is pending, and
/// 1 is sent.
fn mails_sql(series: u32, row_count: u32, due: &str, state: u8) -> String {
    let (mail, workspace) = (series_id_sql(series, "n"), series_id_sql(0, "1"));
    let sent = if state == 1 { "n" } else { "NULL" };
    format!(
        "INSERT INTO mails (id, workspace_id, kind, recipient, subject, text_body, html_body, state, attempts,
            due_at, created_at, sent_at)
        SELECT {mail}, {workspace}, 'warning', 'ada@example.com', 'Hello', '', '', {state}, 0, {due}, n, {sent}
        FROM generate_series(1, {row_count}) AS n"
    )
}

/// Inserts the rows that workers and maintenance jobs process: pending, held and dead deliveries, pending mails,
/// expired idempotency records, and attempts. The statistics do not include them.
async fn insert_rows_after_statistics(database: &DatabaseConnection) {
    use webhook_deliveries::StoredDeliveryState;
    insert_deliveries(database, 4, 100_000, StoredDeliveryState::Pending).await;
    insert_deliveries(database, 5, 20_000, StoredDeliveryState::Held).await;
    insert_deliveries(database, 6, 20_000, StoredDeliveryState::Dead).await;
    run(database, &mails_sql(7, 10_000, "n", 0)).await;
    run(database, &expired_records_sql(20_000)).await;
    run(database, &attempts_sql(8, 20_000)).await;
}

/// Returns the SQL that inserts expired idempotency records.
fn expired_records_sql(row_count: u32) -> String {
    let key = series_id_sql(0, "1");
    format!(
        "SET session_replication_role = replica;
        INSERT INTO idempotency_records (api_key_id, idempotency_key, fingerprint, state, claim_token, claimed_until,
            created_at, expires_at)
        SELECT {key}, 'key-' || n, decode(repeat('00', 32), 'hex'), 'running', {key}, n, n, n
        FROM generate_series(1, {row_count}) AS n;
        SET session_replication_role = DEFAULT"
    )
}

/// Returns the SQL that inserts attempts at held deliveries.
fn attempts_sql(series: u32, row_count: u32) -> String {
    let (attempt, workspace, delivery) =
        (series_id_sql(series, "n"), series_id_sql(0, "1"), series_id_sql(5, "n"));
    format!(
        "INSERT INTO webhook_attempts (id, workspace_id, delivery_id, number, started_at, ended_at, status, request_headers)
        SELECT {attempt}, {workspace}, {delivery}, 1, n, n, 500, '{{}}' FROM generate_series(1, {row_count}) AS n"
    )
}

/// Returns the id of row `number` in a series.
fn series_id(series: u128, number: u128) -> Uuid {
    Uuid::from_u128((bcd(series) << 48) | number)
}

/// Returns the number whose hexadecimal digits are the decimal digits of this number (binary-coded decimal).
const fn bcd(number: u128) -> u128 {
    if number < 10 { number } else { (bcd(number / 10) << 4) | (number % 10) }
}

/// Checks the statements that a worker repeats.
async fn check_worker(database: &DatabaseConnection, violations: &mut PlanViolations) {
    let claimed = violations.check(database, ("claim", 800), async |conn| claim().run(conn).await).await;
    assert_eq!(claimed.len(), 10);
    // An allowance is the number of deliveries that a claim may lease in one workspace. A workspace with an allowance
    // of 0 costs one step of the recursive query, regardless of its number of due deliveries.
    let no_allowance = [WorkspaceAllowance { workspace: OURS, limit: 0, last_subscription: None }];
    let empty_claim = ClaimQuery { allowances: &no_allowance, ..claim() };
    violations
        .check(database, ("claim with an allowance of 0", 50), async |conn| empty_claim.run(conn).await)
        .await;
    violations
        .check(database, ("earliest due time, workspace excluded", 50), async |conn| {
            queue::earliest_due_at(conn, NOW, &[OURS]).await
        })
        .await;
    violations
        .check(database, ("earliest due time", 500), async |conn| {
            queue::earliest_due_at(conn, NOW, &[]).await
        })
        .await;
    let settlements = (1..=100).map(|number| Settlement {
        id: series_id(4, number),
        lease_token: id(0xaa),
        transition: DeliveryTransition::Delivered,
        ended_at: NOW,
        status: Some(200),
        error: None,
    });
    let settlements: Vec<Settlement> = settlements.collect();
    // The deliveries have no lease with this token, so the statements find them by id and change none.
    violations
        .check(database, ("settle deliveries whose leases were lost", 2_000), async |conn| {
            queue::settle(conn, &settlements).await
        })
        .await;
    let lost_leases: Vec<(Uuid, Uuid)> =
        settlements.iter().map(|settlement| (settlement.id, settlement.lease_token)).collect();
    violations
        .check(database, ("release lost leases", 2_000), async |conn| {
            queue::release_deliveries(conn, &lost_leases).await
        })
        .await;
    violations.check(database, ("due mail", 50), async |conn| mails::any_due(conn, NOW).await).await;
    let lease = mails::MailLease { token: id(1), expires_at: NOW + 30 };
    violations
        .check(database, ("claim mail", 1_000), async |conn| mails::claim(conn, NOW, lease, 20).await)
        .await;
}

/// Checks the statements that maintenance jobs repeat.
async fn check_maintenance(database: &DatabaseConnection, violations: &mut PlanViolations) {
    // For a statement that changes up to 100 rows, including their index entries.
    const MAX_PAGES_PER_BATCH: u64 = 6_000;
    violations
        .check(database, ("subscriptions with deliveries in the wrong state", 1_000), async |conn| {
            hold::mismatched_subscriptions(conn).await
        })
        .await;
    let (subscription, paused) = (id(2), StoredSubscriptionState::Paused);
    violations
        .check(database, ("hold", MAX_PAGES_PER_BATCH), async |conn| {
            hold::hold(conn, subscription, paused, NOW, 100).await
        })
        .await;
    violations
        .check(database, ("release held deliveries", MAX_PAGES_PER_BATCH), async |conn| {
            hold::release(conn, subscription, NOW, 100).await
        })
        .await;
    violations
        .check(database, ("discard held deliveries", MAX_PAGES_PER_BATCH), async |conn| {
            hold::discard(conn, subscription, NOW, 100).await
        })
        .await;
    // State 1 is paused.
    run(
        database,
        "UPDATE webhook_subscriptions SET state = 1 WHERE id = '00000000-0000-0000-0000-000000000003'",
    )
    .await;
    let discard = async |conn: &ExplainingTransaction| hold::discard(conn, id(3), NOW, 1_100).await;
    violations
        .check(database, ("discard held and pending deliveries", 11 * MAX_PAGES_PER_BATCH), discard)
        .await;
    let delete_batch =
        async |conn: &ExplainingTransaction| webhook_deliveries::delete_batch(conn, subscription, 100).await;
    violations.check(database, ("delete a batch", MAX_PAGES_PER_BATCH), delete_batch).await;
    let prune = async |conn: &ExplainingTransaction| webhook_deliveries::prune(conn, NOW, 100).await;
    violations.check(database, ("prune deliveries", MAX_PAGES_PER_BATCH), prune).await;
    let prune = async |conn: &ExplainingTransaction| {
        webhook_attempts::prune(conn, id(u128::MAX), i64::MAX, 100).await
    };
    violations.check(database, ("prune attempts", MAX_PAGES_PER_BATCH), prune).await;
    let prune = async |conn: &ExplainingTransaction| events::prune(conn, id(u128::MAX), None, 100).await;
    violations.check(database, ("prune events", MAX_PAGES_PER_BATCH), prune).await;
    let prune = async |conn: &ExplainingTransaction| mails::delete_settled(conn, NOW, 100).await;
    violations.check(database, ("prune mail", MAX_PAGES_PER_BATCH), prune).await;
    let prune =
        async |conn: &ExplainingTransaction| idempotency_records::delete_expired(conn, NOW, 100).await;
    violations.check(database, ("prune idempotency records", MAX_PAGES_PER_BATCH), prune).await;
    violations
        .check(database, ("running replays", 50), async |conn| webhook_replays::running(conn, 100).await)
        .await;
    let keyset = Keyset {
        column: Column::CreatedAt,
        descending: false,
        after: None,
        to: None,
        limit: 100,
        updated_before: None,
    };
    let filter = DeadRowFilter {
        subscription: Some(subscription),
        not_created_by_replay: Some(id(9)),
        ..DeadRowFilter::default()
    };
    let dead_page = async |conn: &ExplainingTransaction| {
        webhook_deliveries::in_workspace(OURS).dead(conn, &filter, keyset).await
    };
    violations.check(database, ("dead deliveries", 1_000), dead_page).await;
}

#[tokio::test]
async fn repeated_statements_read_few_pages_even_with_stale_statistics() {
    for database in databases().await {
        if database.get_database_backend() != DbBackend::Postgres {
            continue; // On SQLite, no statistics are collected, so they cannot be stale.
        }
        let mut violations = PlanViolations::default();
        insert_history(&database).await;
        run(&database, "VACUUM ANALYZE").await;
        insert_rows_after_statistics(&database).await;
        check_worker(&database, &mut violations).await;
        check_maintenance(&database, &mut violations).await;
        assert!(violations.0.is_empty(), "{}", violations.0.join("\n"));
    }
}
