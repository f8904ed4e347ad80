//! Connections whose calls have a timeout, since a connection that breaks silently never responds.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::errors::{failure_reason, is_storage_failure};
use entity::Connection;
use futures_util::future::Either;
use sea_orm::prelude::async_trait::async_trait;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    RuntimeErr, Statement, TransactionOptions, TransactionTrait,
};

use super::primary::PrimaryHosts;
use super::transaction_limits::TransactionLimits;

/// How long a commit may take even if the request has waited too long before.
pub(super) const MIN_COMMIT_TIMEOUT: Duration = Duration::from_millis(300);

/// A pool of connections whose calls have a timeout.
pub type BoundedConnection = Bounded<DatabaseConnection>;

/// A transaction whose calls have a timeout. Dropping it rolls it back.
pub type BoundedTransaction = Bounded<DatabaseTransaction>;

/// Adds a timeout to each call of a connection. The timeout includes the wait for a free connection of a pool.
///
/// A call that times out is canceled. Its connection is tested, and replaced if it does not respond. Queries of SQLite have no
/// timeout, since a local file responds.
#[derive(Clone, Debug)]
pub struct Bounded<C> {
    connection: C,
    timeout: Option<Duration>,
    pool: Arc<PoolContext>,
}

/// What the connections of a pool share.
#[derive(Debug, Default)]
pub(super) struct PoolContext {
    pub(super) cancellations: Cancellations,
    /// The hosts of the database URL, if there are several.
    pub(super) hosts: Option<Arc<PrimaryHosts>>,
    /// When a call last failed because of the disk, since the last successful test, see [`is_writable`](super::dialect::is_writable). SQLite only.
    pub(super) storage_failed_at: Mutex<Option<Instant>>,
}

impl<C: ConnectionTrait> Bounded<C> {
    /// Adds the timeout to the calls of a connection, unless it is a SQLite connection.
    pub(super) fn new(connection: C, timeout: Duration, pool: Arc<PoolContext>) -> Self {
        let is_server = connection.get_database_backend() == DbBackend::Postgres;
        Self { connection, timeout: is_server.then_some(timeout), pool }
    }

    /// Returns the timeout of the next call; `None` on SQLite.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout.map(|timeout| wait_budget_left().map_or(timeout, |left| timeout.min(left)))
    }

    async fn call<T>(&self, call: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        within(self.timeout(), &self.pool, call).await
    }
}

impl BoundedConnection {
    /// Begins a transaction with the same timeout.
    pub(super) async fn begin(&self, options: TransactionOptions) -> Result<BoundedTransaction, DbErr> {
        let connection = self.call(self.connection.begin_with_options(options)).await?;
        Ok(Bounded { connection, timeout: self.timeout, pool: Arc::clone(&self.pool) })
    }

    /// Begins a read transaction in which all queries see the same snapshot.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn snapshot(&self) -> Result<BoundedTransaction, DbErr> {
        let transaction = self.begin(TransactionOptions::default()).await?;
        // On SQLite, a transaction sees one snapshot, and its duration is limited already.
        if let Some(timeout) = transaction.timeout() {
            transaction.execute_unprepared(&TransactionLimits::new(timeout).snapshot_settings()).await?;
        }
        Ok(transaction)
    }

    /// Returns the same connections with another timeout.
    pub(super) fn with_timeout(&self, timeout: Duration) -> Self {
        Self::new(self.connection.clone(), timeout, Arc::clone(&self.pool))
    }

    /// Returns the pool, whose calls have no timeout.
    pub(super) fn pool(&self) -> &DatabaseConnection {
        &self.connection
    }
}

impl BoundedTransaction {
    /// Commits the transaction.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the commit fails. If it timed out, the changes may have been committed.
    pub async fn commit(self) -> Result<(), DbErr> {
        // With less time, a commit would often be canceled although it takes effect.
        let timeout = self.timeout().map(|timeout| timeout.max(MIN_COMMIT_TIMEOUT));
        within(timeout, &self.pool, self.connection.commit()).await
    }

    /// Rolls back and waits until that is done.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the connection fails.
    pub async fn rollback(self) -> Result<(), DbErr> {
        within(self.timeout(), &self.pool, self.connection.rollback()).await
    }
}

/// Runs a call. Fails if it takes longer than the timeout. Records when it times out or is canceled, before its
/// connection is released.
async fn within<T>(
    timeout: Option<Duration>,
    pool: &PoolContext,
    call: impl Future<Output = Result<T, DbErr>>,
) -> Result<T, DbErr> {
    let started = Instant::now();
    let result = match timeout {
        None => call.await,
        Some(timeout) => within_timeout(timeout, pool, call).await,
    };
    metrics::histogram!("database_call_duration_seconds").record(started.elapsed());
    if let Err(error) = &result {
        // Calls of SQLite have no timeout.
        if timeout.is_none() && is_storage_failure(error) {
            *pool.storage_failed_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        metrics::counter!("database_failed_calls_total", "reason" => failure_reason(error)).increment(1);
    }
    result
}

/// Like [`within`], without metrics.
async fn within_timeout<T>(
    timeout: Duration,
    pool: &PoolContext,
    call: impl Future<Output = Result<T, DbErr>>,
) -> Result<T, DbErr> {
    if timeout.is_zero() {
        // Polling the call could send it.
        let message = "the request has waited too long for the database".to_owned();
        return Err(DbErr::Conn(RuntimeErr::Internal(message)));
    }
    let _in_progress = CallInProgress::start();
    let call = pin!(async {
        match &pool.hosts {
            Some(hosts) => hosts.observe(call).await,
            None => call.await,
        }
    });
    // Dropped before the call, which releases the connection.
    let mut guard = CancellationGuard { cancellations: &pool.cancellations, has_completed: false };
    match tokio::time::timeout(timeout, call).await {
        Ok(result) => {
            guard.has_completed = true;
            result
        }
        Err(_) => {
            let message = format!("the database did not respond within {} ms", timeout.as_millis());
            Err(DbErr::Conn(RuntimeErr::Internal(message)))
        }
    }
}

/// The time that the calls of one request may still wait for the database together.
#[derive(Debug)]
struct WaitBudget(Mutex<WaitBudgetState>);

#[derive(Debug)]
struct WaitBudgetState {
    /// The time left when no call was in progress most recently.
    left: Duration,
    /// The number of calls in progress. Their time counts once.
    calls: u32,
    /// When the first of them started.
    since: Instant,
}

tokio::task_local! {
    static WAIT_BUDGET: Arc<WaitBudget>;
}

impl WaitBudget {
    fn new(left: Duration) -> Self {
        Self(Mutex::new(WaitBudgetState { left, calls: 0, since: Instant::now() }))
    }

    fn state(&self) -> MutexGuard<'_, WaitBudgetState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitBudgetState {
    fn left(&self) -> Duration {
        let spent = if self.calls > 0 { self.since.elapsed() } else { Duration::ZERO };
        self.left.saturating_sub(spent)
    }
}

/// A call in progress. Dropping it deducts its time from the budget, if there is one.
struct CallInProgress(Option<Arc<WaitBudget>>);

impl CallInProgress {
    fn start() -> Self {
        let budget = WAIT_BUDGET.try_with(Arc::clone).ok();
        if let Some(budget) = &budget {
            let mut state = budget.state();
            if state.calls == 0 {
                state.since = Instant::now();
            }
            state.calls += 1;
        }
        Self(budget)
    }
}

impl Drop for CallInProgress {
    fn drop(&mut self) {
        if let Some(budget) = &self.0 {
            let mut state = budget.state();
            let left = state.left();
            state.calls -= 1;
            if state.calls == 0 {
                state.left = left;
            }
        }
    }
}

/// Runs a request whose calls together wait for PostgreSQL for at most this long. Calls beyond that fail at once, except that a
/// commit always has [`MIN_COMMIT_TIMEOUT`].
pub fn with_wait_budget<F: Future>(budget: Duration, request: F) -> impl Future<Output = F::Output> {
    // An async function would store the request twice: as its argument and in the future that it awaits.
    WAIT_BUDGET.scope(Arc::new(WaitBudget::new(budget)), request)
}

/// Makes a future that another task runs share the budget of the current task.
pub fn inherit_wait_budget<F: Future>(future: F) -> impl Future<Output = F::Output> {
    match WAIT_BUDGET.try_with(Arc::clone) {
        Ok(budget) => Either::Left(WAIT_BUDGET.scope(budget, future)),
        Err(_) => Either::Right(future),
    }
}

/// Returns how long the calls of the current request may still wait. Returns `None` without a budget.
pub fn wait_budget_left() -> Option<Duration> {
    WAIT_BUDGET.try_with(|budget| budget.state().left()).ok()
}

/// Records a cancellation when it is dropped before the call has completed.
struct CancellationGuard<'a> {
    cancellations: &'a Cancellations,
    has_completed: bool,
}

impl Drop for CancellationGuard<'_> {
    fn drop(&mut self) {
        if !self.has_completed {
            self.cancellations.record();
        }
    }
}

/// How long connections are tested after a canceled call.
const TEST_PERIOD: Duration = Duration::from_secs(60);

/// Whether a call was canceled recently, so that a connection may be broken. Testing a connection costs a round trip, so
/// released connections are tested only then.
#[derive(Debug)]
pub(super) struct Cancellations {
    started: Instant,
    /// The end of the tests, in milliseconds after `started`.
    test_until_ms: AtomicU64,
}

impl Default for Cancellations {
    fn default() -> Self {
        Self { started: Instant::now(), test_until_ms: AtomicU64::new(0) }
    }
}

impl Cancellations {
    fn record(&self) {
        self.test_until_ms.store(millis(self.started.elapsed() + TEST_PERIOD), Ordering::Relaxed);
    }

    /// Returns whether a call was canceled in the last minute.
    pub(super) fn is_recent(&self) -> bool {
        millis(self.started.elapsed()) < self.test_until_ms.load(Ordering::Relaxed)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl<C: ConnectionTrait> Connection for Bounded<C> {}

#[async_trait]
impl<C: ConnectionTrait> ConnectionTrait for Bounded<C> {
    fn get_database_backend(&self) -> DbBackend {
        self.connection.get_database_backend()
    }

    fn support_returning(&self) -> bool {
        self.connection.support_returning()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.call(self.connection.execute_raw(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.call(self.connection.execute_unprepared(sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.call(self.connection.query_one_raw(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.call(self.connection.query_all_raw(statement)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_secs(10);

    async fn wait(milliseconds: u64) {
        let _in_progress = CallInProgress::start();
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    /// Returns whether this time was spent. The machine may be slow.
    fn has_spent(milliseconds: u64) -> bool {
        let spent = BUDGET - wait_budget_left().expect("a budget");
        (milliseconds..milliseconds + 2_000).contains(&u64::try_from(spent.as_millis()).expect("a number"))
    }

    #[tokio::test]
    async fn calls_of_all_tasks_of_a_request_share_a_budget_and_overlapping_ones_count_once() {
        assert_eq!(wait_budget_left(), None);
        with_wait_budget(BUDGET, async {
            assert!(has_spent(0));
            wait(300).await;
            assert!(has_spent(300));
            tokio::spawn(inherit_wait_budget(wait(300))).await.expect("no panic");
            assert!(has_spent(600));
            tokio::join!(wait(2_000), wait(2_000), async {
                let canceled = tokio::time::timeout(Duration::from_millis(10), wait(9_000)).await;
                assert!(canceled.is_err());
            });
            assert!(has_spent(2_600), "{:?}", wait_budget_left());
        })
        .await;
    }

    #[tokio::test]
    async fn a_call_without_time_left_is_not_started() {
        let pool = PoolContext::default();
        let call = async { panic!("started") };
        let result: Result<(), DbErr> = within(Some(Duration::ZERO), &pool, call).await;
        assert!(result.is_err() && !pool.cancellations.is_recent());
    }
}
