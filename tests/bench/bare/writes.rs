//! The statements of `createStudent`, in a transaction of their own each time.

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

use super::{Bare, Client, crowd};
use crate::compare::Side;
use crate::keys::id;
use crate::measured::Measured;

/// Makes the running write known to readers of other processes; PostgreSQL only.
const ANNOUNCE: &str = "SELECT pg_advisory_xact_lock_shared($1)";

/// The student.
const STUDENT: &str = "INSERT INTO students
    (id, workspace_id, key, email, email_folded, name, external_id, tags, metadata, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

/// Its tags.
const TAGS: &str =
    "INSERT INTO student_tags (student_id, workspace_id, tag) VALUES ($1, $2, $3), ($4, $5, $6)";

/// Its event.
const EVENT: &str =
    "INSERT INTO events (id, workspace_id, type, created_at, body) VALUES ($1, $2, $3, $4, $5)";

/// The sums it is counted in: a day's and a quarter of an hour's.
const SUMS: &str = "INSERT INTO activity_rollups
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

/// An event's body, as long as a real one.
const BODY: usize = 520;

const DAY_MS: i64 = 86_400_000;
const QUARTER_MS: i64 = 900_000;

/// Writers that create students.
pub struct Writes(Arc<Shared>);

struct Shared {
    connection: DatabaseConnection,
    workspace: Uuid,
    /// How many rows a sum is spread over.
    shards: i64,
    clock: Clock,
}

impl Writes {
    /// Writers into this workspace.
    pub fn new(bare: Bare, workspace: Uuid) -> Self {
        let connection = bare.writer;
        let shards = if connection.get_database_backend() == DbBackend::Postgres { 16 } else { 1 };
        Self(Arc::new(Shared { connection, workspace, shards, clock: Clock::system() }))
    }
}

impl Side for Writes {
    async fn turn(&mut self, turn: u32, warm_up: Duration, window: Duration) -> Result<Measured> {
        crowd(warm_up, window, |number| Writer {
            shared: self.0.clone(),
            random: SmallRng::seed_from_u64(u64::from(turn) << 32 | number as u64),
        })
        .await
    }
}

struct Writer {
    shared: Arc<Shared>,
    random: SmallRng,
}

impl Client for Writer {
    async fn once(&mut self) -> Result<()> {
        let Shared { connection, workspace, shards, clock } = &*self.shared;
        let backend = connection.get_database_backend();
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        let now = clock.now_ms();
        let shard = self.random.random_range(0..*shards);
        let transaction = connection.begin_with_options(options).await?;
        if backend == DbBackend::Postgres {
            let lock = Statement::from_sql_and_values(backend, ANNOUNCE, [((0x5357 << 48) | now).into()]);
            transaction.execute_raw(lock).await?;
        }
        for (text, values) in self.statements(*workspace, now, shard) {
            transaction.execute_raw(Statement::from_sql_and_values(backend, text, values)).await?;
        }
        Ok(transaction.commit().await?)
    }
}

impl Writer {
    /// The statements of one student, with their values.
    fn statements(&mut self, workspace: Uuid, now: i64, shard: i64) -> [(&'static str, Vec<Value>); 4] {
        let student = id(&mut self.random, now);
        let event = id(&mut self.random, now);
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
            now.into(),
            now.into(),
        ];
        let tag = |name: &str| [student.into(), workspace.into(), name.into()];
        let tags = [tag("newsletter"), tag("spring")].concat();
        let body = vec![b'x'; BODY];
        let event = vec![event.into(), workspace.into(), "student.created".into(), now.into(), body.into()];
        let (day, quarter) = (now - now % DAY_MS, now - now % QUARTER_MS);
        let shard = i16::try_from(shard).unwrap_or_default();
        let sums = vec![workspace.into(), Uuid::nil().into(), day.into(), shard.into(), quarter.into()];
        [(STUDENT, student_values), (TAGS, tags), (EVENT, event), (SUMS, sums)]
    }
}
