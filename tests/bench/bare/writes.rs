//! Runs the statements of `createStudent` on the bare database, as the server does, each student in a transaction.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use foundation::clock::Clock;
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait, Value,
};
use uuid::Uuid;

use super::{BareClient, BareDatabase, run_clients};
use crate::compare::MeasuredSide;
use crate::keys::id;
use crate::measurement::Measurement;

/// Takes the lock by which the server makes a running write visible to other processes. The server's statement also sets
/// timeouts and reads the clock of PostgreSQL. PostgreSQL only.
const ANNOUNCE_LOCK: &str = "SELECT pg_advisory_xact_lock_shared($1)";

/// The upper 16 bits of the lock that announces a write. The other bits are the time in milliseconds.
const WRITE_LOCK_CLASS: i64 = 0x5357;

/// Inserts the student.
const STUDENT: &str = "INSERT INTO students
    (id, workspace_id, key, email, email_folded, name, external_id, tags, metadata, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

/// Inserts the student's tags.
const TAGS: &str =
    "INSERT INTO student_tags (student_id, workspace_id, tag) VALUES ($1, $2, $3), ($4, $5, $6)";

/// Inserts the student's event.
const EVENT: &str =
    "INSERT INTO events (id, workspace_id, type, created_at, body) VALUES ($1, $2, $3, $4, $5)";

/// Adds the student to the activity rollups (sums) of the day and of the quarter-hour. The parameters are the
/// workspace, the course (nil for all courses), the start of the day, the shard, and the start of the quarter-hour.
const ROLLUPS: &str = "INSERT INTO activity_rollups
    (workspace_id, course_id, grain, starts_at, shard, students_new, enrollments_created, enrollments_revoked,
     enrollments_active, cohort_completed, cohort_percent_sum, certificates_issued)
    VALUES ($1, $2, 'day', $3, $4, 1, 0, 0, 0, 0, 0, 0), ($1, $2, 'quarter', $5, $4, 1, 0, 0, 0, 0, 0, 0)
    ON CONFLICT (workspace_id, course_id, grain, starts_at, shard) DO UPDATE SET
        students_new = activity_rollups.students_new + excluded.students_new,
        enrollments_created = activity_rollups.enrollments_created + excluded.enrollments_created,
        enrollments_revoked = activity_rollups.enrollments_revoked + excluded.enrollments_revoked,
        enrollments_active = activity_rollups.enrollments_active + excluded.enrollments_active,
        cohort_completed = activity_rollups.cohort_completed + excluded.cohort_completed,
        cohort_percent_sum = activity_rollups.cohort_percent_sum + excluded.cohort_percent_sum,
        certificates_issued = activity_rollups.certificates_issued + excluded.certificates_issued";

/// The length of an event's body in bytes, similar to that of a real one.
const BODY_BYTES: usize = 520;

const DAY_MS: i64 = 86_400_000;
const QUARTER_HOUR_MS: i64 = 900_000;

/// Clients that create students.
pub struct BareWrites(Arc<WriteContext>);

struct WriteContext {
    connection: DatabaseConnection,
    workspace: Uuid,
    /// The number of shards of a rollup: rows that add up to the sum, so that concurrent writers rarely wait for each
    /// other.
    shards: i64,
    clock: Clock,
}

impl BareWrites {
    /// Creates clients that write to this workspace.
    pub fn new(bare: BareDatabase, workspace: Uuid) -> Self {
        let connection = bare.writer;
        let shards = if connection.get_database_backend() == DbBackend::Postgres { 16 } else { 1 };
        Self(Arc::new(WriteContext { connection, workspace, shards, clock: Clock::system() }))
    }
}

impl MeasuredSide for BareWrites {
    async fn measure(&mut self, round: u32, warm_up: Duration, window: Duration) -> Result<Measurement> {
        run_clients(warm_up, window, |number| WriteClient {
            context: self.0.clone(),
            random: SmallRng::seed_from_u64(u64::from(round) << 32 | number as u64),
        })
        .await
    }
}

struct WriteClient {
    context: Arc<WriteContext>,
    random: SmallRng,
}

impl BareClient for WriteClient {
    async fn run_once(&mut self) -> Result<()> {
        let WriteContext { connection, workspace, shards, clock } = &*self.context;
        let backend = connection.get_database_backend();
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let now_ms = clock.now_ms();
        let shard = self.random.random_range(0..*shards);
        let transaction = connection.begin_with_options(options).await?;
        if backend == DbBackend::Postgres {
            let lock_id = (WRITE_LOCK_CLASS << 48) | now_ms;
            let lock = Statement::from_sql_and_values(backend, ANNOUNCE_LOCK, [lock_id.into()]);
            transaction.execute_raw(lock).await?;
        }
        for (text, values) in self.statements(*workspace, now_ms, shard) {
            transaction.execute_raw(Statement::from_sql_and_values(backend, text, values)).await?;
        }
        Ok(transaction.commit().await?)
    }
}

impl WriteClient {
    /// Returns the statements for one student, with their values.
    fn statements(&mut self, workspace: Uuid, now_ms: i64, shard: i64) -> [(&'static str, Vec<Value>); 4] {
        let student = id(&mut self.random, now_ms);
        let event = id(&mut self.random, now_ms);
        let email = format!("{}@example.com", student.simple());
        let none = Value::String(None);
        let student_values = vec![
            student.into(),
            workspace.into(),
            none.clone(),
            email.clone().into(),
            email.into(),
            "A Student".into(),
            none,
            r#"["newsletter","spring"]"#.into(),
            "{}".into(),
            now_ms.into(),
            now_ms.into(),
        ];
        let tag = |name: &str| [student.into(), workspace.into(), name.into()];
        let tags = [tag("newsletter"), tag("spring")].concat();
        let body = vec![b'x'; BODY_BYTES];
        let event =
            vec![event.into(), workspace.into(), "student.created".into(), now_ms.into(), body.into()];
        let (day, quarter) = (now_ms - now_ms % DAY_MS, now_ms - now_ms % QUARTER_HOUR_MS);
        let shard = i16::try_from(shard).unwrap_or_default();
        let rollups = vec![workspace.into(), Uuid::nil().into(), day.into(), shard.into(), quarter.into()];
        [(STUDENT, student_values), (TAGS, tags), (EVENT, event), (ROLLUPS, rollups)]
    }
}
