//! Connections whose calls have a timeout, since a connection that breaks silently never responds.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sea_orm::prelude::async_trait::async_trait;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult,
    RuntimeErr, Statement, TransactionOptions, TransactionTrait,
};

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
    cancellations: Arc<Cancellations>,
}

impl<C: ConnectionTrait> Bounded<C> {
    /// Adds the timeout to the calls of a connection, unless it is a SQLite connection.
    pub(super) fn new(connection: C, timeout: Duration, cancellations: Arc<Cancellations>) -> Self {
        let is_server = connection.get_database_backend() == DbBackend::Postgres;
        Self { connection, timeout: is_server.then_some(timeout), cancellations }
    }

    /// Returns the timeout of the next call; `None` on SQLite.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let left = WAIT_BUDGET.try_with(|budget| budget.get().left()).unwrap_or(Duration::MAX);
        self.timeout.map(|timeout| timeout.min(left))
    }

    async fn call<T>(&self, call: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        within(self.timeout(), &self.cancellations, call).await
    }
}

impl BoundedConnection {
    /// Begins a transaction with the same timeout.
    pub(super) async fn begin(&self, options: TransactionOptions) -> Result<BoundedTransaction, DbErr> {
        let connection = self.call(self.connection.begin_with_options(options)).await?;
        Ok(Bounded { connection, timeout: self.timeout, cancellations: Arc::clone(&self.cancellations) })
    }

    /// Returns the same connections with another timeout.
    pub(super) fn with_timeout(&self, timeout: Duration) -> Self {
        Self::new(self.connection.clone(), timeout, Arc::clone(&self.cancellations))
    }

    /// Returns the pool, whose calls have no timeout.
    pub(super) fn pool(&self) -> &DatabaseConnection {
        &self.connection
    }
}

impl BoundedTransaction {
    pub(super) async fn commit(self) -> Result<(), DbErr> {
        within(self.timeout(), &self.cancellations, self.connection.commit()).await
    }

    /// Rolls back and waits until that is done.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the connection fails.
    pub async fn rollback(self) -> Result<(), DbErr> {
        within(self.timeout(), &self.cancellations, self.connection.rollback()).await
    }
}

/// Runs a call that fails after the timeout. Records when it times out or is canceled, before its connection is released.
async fn within<T>(
    timeout: Option<Duration>,
    cancellations: &Cancellations,
    call: impl Future<Output = Result<T, DbErr>>,
) -> Result<T, DbErr> {
    let Some(timeout) = timeout else { return call.await };
    let _waiting = Waiting::start();
    let call = pin!(call);
    // Dropped before the call, which releases the connection.
    let mut guard = CancellationGuard { cancellations, has_completed: false };
    match tokio::time::timeout(timeout, call).await {
        Ok(result) => {
            guard.has_completed = true;
            result
        }
        Err(_) => {
            let message = if timeout.is_zero() {
                "the request has waited too long for the database".to_owned()
            } else {
                format!("the database did not respond within {} ms", timeout.as_millis())
            };
            Err(DbErr::Conn(RuntimeErr::Internal(message)))
        }
    }
}

/// The time that the calls of one request may still wait for the database together.
#[derive(Clone, Copy, Debug)]
struct WaitBudget {
    /// The time left when no call was in progress most recently.
    left: Duration,
    /// The number of calls in progress. Their time counts once.
    calls: u32,
    /// When the first of them started.
    since: Instant,
}

tokio::task_local! {
    static WAIT_BUDGET: Cell<WaitBudget>;
}

impl WaitBudget {
    fn new(left: Duration) -> Self {
        Self { left, calls: 0, since: Instant::now() }
    }

    fn left(self) -> Duration {
        let spent = if self.calls > 0 { self.since.elapsed() } else { Duration::ZERO };
        self.left.saturating_sub(spent)
    }
}

/// A call in progress. Dropping it deducts its time from the budget, if there is one.
struct Waiting;

impl Waiting {
    fn start() -> Self {
        let _ = WAIT_BUDGET.try_with(|budget| {
            let WaitBudget { left, calls, since } = budget.get();
            let since = if calls == 0 { Instant::now() } else { since };
            budget.set(WaitBudget { left, calls: calls + 1, since });
        });
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = WAIT_BUDGET.try_with(|budget| {
            let before = budget.get();
            let calls = before.calls.saturating_sub(1);
            let left = if calls == 0 { before.left() } else { before.left };
            budget.set(WaitBudget { left, calls, ..before });
        });
    }
}

/// Runs a request whose calls together wait for PostgreSQL for at most this long. Calls beyond that fail at once.
pub async fn with_wait_budget<F: Future>(budget: Duration, request: F) -> F::Output {
    WAIT_BUDGET.scope(Cell::new(WaitBudget::new(budget)), request).await
}

/// Makes a future that another task runs use what is left of the budget of the current task. The current task must wait for it
/// without calls of its own.
pub fn inherit_wait_budget<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let left = WAIT_BUDGET.try_with(|budget| budget.get().left()).ok();
    async move {
        match left {
            Some(left) => with_wait_budget(left, future).await,
            None => future.await,
        }
    }
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
