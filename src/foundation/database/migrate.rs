//! Applies migrations: transactions, locks and retries.

use std::fmt;
use std::time::{Duration, Instant};

use migration::{Migration, MigrationStatus, Phase, StepOutcome};
use sea_orm::{DbBackend, DbErr, TransactionTrait};

use super::{Database, MigrateError, dialect, indexes, is_retryable};

/// Maximum number of tries of a migration that has to wait for locks.
const MIGRATION_TRIES: u32 = 30;

/// The pause before the next try, in which the statements that waited behind the migration run.
const MIGRATION_PAUSE: Duration = Duration::from_millis(500);

/// The migrations in the database compared with those of this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// All migrations of the expand phase are applied, so this version can run. A newer version may have applied others on
    /// which this version can run.
    Current,
    /// This number of migrations of the expand phase is pending.
    Behind(usize),
    /// This version cannot run on the database, because it does not contain this migration.
    Ahead(String),
    /// A development version before the first release applied this migration, so no version can run on the database.
    Unreleased(String),
}

/// The migrations that [`Database::migrate_phase`] applied, and those that are pending after it. Displayed as sentences for
/// users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationReport {
    /// The names of the migrations that this call applied.
    pub applied: Vec<&'static str>,
    /// The number of pending migrations of the expand phase.
    pub pending_expand: usize,
    /// The number of pending migrations of the contract phase.
    pub pending_contract: usize,
}

impl fmt::Display for MigrationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.applied {
            [] => write!(f, "no migrations to apply")?,
            applied => write!(f, "applied {}: {}", format_migrations(applied.len()), applied.join(", "))?,
        }
        let pending = |count| if count == 1 { "is pending" } else { "are pending" };
        if self.pending_expand > 0 {
            let (migrations, pending) =
                (format_migrations(self.pending_expand), pending(self.pending_expand));
            let remedy = "run `creator-api migrate --phase expand` before you start servers of this version";
            write!(f, "\n{migrations} of the expand phase {pending}; {remedy}")?;
        }
        if self.pending_contract > 0 {
            let (migrations, pending) =
                (format_migrations(self.pending_contract), pending(self.pending_contract));
            let remedy = "run `creator-api migrate --phase contract` when no older server or worker runs";
            write!(f, "\n{migrations} of the contract phase {pending}; {remedy}")?;
        }
        Ok(())
    }
}

/// Formats a number of migrations, such as `1 migration`.
pub fn format_migrations(migrations: usize) -> String {
    if migrations == 1 { "1 migration".to_owned() } else { format!("{migrations} migrations") }
}

/// What one transaction of [`Database::migrate_phase`] did.
enum Progress {
    /// It applied the migration with this name.
    Applied(&'static str),
    /// It applied a batch of a backfill in this time.
    Batch(Duration),
    /// No migration of the phase is pending.
    Complete,
}

impl Database {
    /// Compares the migrations in the database with those of this version.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn schema_state(&self) -> Result<SchemaState, DbErr> {
        Ok(match self.inner.migrator.status(&self.reader).await? {
            MigrationStatus::Current => SchemaState::Current,
            MigrationStatus::Behind(pending) => SchemaState::Behind(pending.len()),
            MigrationStatus::Ahead(name) => SchemaState::Ahead(name),
            MigrationStatus::Unreleased(name) => SchemaState::Unreleased(name),
        })
    }

    /// Returns the names of the migrations that were applied to the database, sorted.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn applied_migrations(&self) -> Result<Vec<String>, DbErr> {
        self.inner.migrator.applied_names(&self.reader).await
    }

    /// Applies all pending migrations. See [`Self::migrate_phase`].
    ///
    /// # Errors
    /// Returns [`MigrateError`] under the same conditions.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        self.migrate_phase(None).await.map(drop)
    }

    /// Applies all pending migrations, or only those of one phase, in their order. Concurrent processes wait for each other.
    ///
    /// Each migration is a transaction of its own, except that backfills run in batches, and that PostgreSQL creates indexes
    /// of existing tables outside of a transaction. If it is interrupted, a repeated call continues.
    ///
    /// On PostgreSQL, a migration waits for the locks of other transactions at most 2 seconds at a time, since the
    /// statements of other processes wait behind it. It is tried up to [`MIGRATION_TRIES`] times.
    ///
    /// # Errors
    /// Returns [`MigrateError::Newer`] or [`MigrateError::Unreleased`] when this version cannot run on the database, and
    /// [`MigrateError::ContractPending`] or [`MigrateError::ExpandPending`] when a migration of the other phase must be
    /// applied first.
    pub async fn migrate_phase(&self, phase: Option<Phase>) -> Result<MigrationReport, MigrateError> {
        let mut report = MigrationReport::default();
        // Without a transaction, so that a SQLite database without pending migrations is not locked.
        if self.next_migration(&self.reader, phase).await?.is_some() {
            self.apply_migrations(phase, &mut report.applied).await?;
        }
        for migration in self.inner.migrator.pending(&self.reader).await? {
            match migration.phase {
                Phase::Expand => report.pending_expand += 1,
                Phase::Contract => report.pending_contract += 1,
            }
        }
        Ok(report)
    }

    /// Applies the pending migrations of the phase, and adds their names to the list.
    async fn apply_migrations(
        &self,
        phase: Option<Phase>,
        applied: &mut Vec<&'static str>,
    ) -> Result<(), MigrateError> {
        let mut tries_left = MIGRATION_TRIES;
        loop {
            match self.migrate_next(phase).await {
                Ok(Progress::Applied(name)) => applied.push(name),
                // Servers run their writes in the pauses.
                Ok(Progress::Batch(duration)) => tokio::time::sleep(duration).await,
                Ok(Progress::Complete) => return Ok(()),
                // The contract phase of one release is complete, and the expand phase of the next one is pending.
                Err(MigrateError::ExpandPending(_)) if !applied.is_empty() => return Ok(()),
                Err(MigrateError::Failed(error))
                    if self.backend() == DbBackend::Postgres && is_retryable(&error) && tries_left > 1 =>
                {
                    tries_left -= 1;
                    tokio::time::sleep(MIGRATION_PAUSE).await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            tries_left = MIGRATION_TRIES;
        }
    }

    /// Applies the next pending migration of the phase, or a batch of its backfill.
    async fn migrate_next(&self, phase: Option<Phase>) -> Result<Progress, MigrateError> {
        let transaction = self.writer.pool().begin_with_options(dialect::write_options()).await?;
        dialect::wait_for_other_migrations(&transaction).await?;
        let Some(migration) = self.next_migration(&transaction, phase).await? else {
            return Ok(Progress::Complete);
        };
        let started = Instant::now();
        let server_url = self.inner.server_url().filter(|_| !migration.concurrent_indexes.is_empty());
        let outcome = if let Some(url) = server_url {
            // The transaction holds the lock meanwhile.
            indexes::create(url, migration.concurrent_indexes, &transaction).await?;
            migration::record(&transaction, migration).await?;
            StepOutcome::Applied
        } else {
            migration::apply_step(&transaction, migration).await?
        };
        transaction.commit().await?;
        Ok(match outcome {
            StepOutcome::Applied => Progress::Applied(migration.name),
            StepOutcome::Batch => Progress::Batch(started.elapsed()),
        })
    }

    /// Returns the next pending migration of the phase.
    async fn next_migration(
        &self,
        connection: &impl sea_orm::ConnectionTrait,
        phase: Option<Phase>,
    ) -> Result<Option<&'static Migration>, MigrateError> {
        match self.inner.migrator.status(connection).await? {
            MigrationStatus::Ahead(name) => return Err(MigrateError::Newer(name)),
            MigrationStatus::Unreleased(name) => return Err(MigrateError::Unreleased(name)),
            MigrationStatus::Current | MigrationStatus::Behind(_) => {}
        }
        let pending = self.inner.migrator.pending(connection).await?;
        migration::next(&pending, phase).map_err(|out_of_order| match phase {
            Some(Phase::Contract) => MigrateError::ExpandPending(out_of_order.first),
            _ => MigrateError::ContractPending(out_of_order.first),
        })
    }
}
