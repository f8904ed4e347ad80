//! Compares the database with the migrations of this binary, and applies pending migrations.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr};

use crate::records::{applied, floor, record};
use crate::{MIGRATIONS, Migration, Phase, backfill};

/// The migrations of a database compared with those of a binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MigrationStatus {
    /// All migrations of the expand phase are applied, so this binary can run. A newer version may have applied others on
    /// which this binary can run.
    Current,
    /// These migrations of the expand phase are pending, oldest first. On an empty database, these are all migrations of
    /// the phase.
    Behind(Vec<&'static str>),
    /// This binary cannot run on the database, because it does not know this migration; most likely, a newer version applied
    /// it. Migrations of this binary can be pending as well.
    Ahead(String),
    /// This migration was applied by a development version before the first release. The database cannot be migrated.
    Unreleased(String),
}

/// A migration that must be applied before those of the requested phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfOrder {
    /// The migration that must be applied first. Its phase is not the requested one.
    pub first: &'static str,
}

/// Whether a migration is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// The migration is applied and recorded.
    Applied,
    /// One batch of a backfill is applied, and others are left.
    Batch,
}

/// The migrations of a binary, oldest first. The default are those of this program.
#[derive(Clone, Copy, Debug)]
pub struct Migrator {
    migrations: &'static [Migration],
}

impl Default for Migrator {
    fn default() -> Self {
        // A constant, so that the compiler checks the migrations.
        const PROGRAM: Migrator = Migrator::new(MIGRATIONS);
        PROGRAM
    }
}

impl Migrator {
    /// Creates a migrator for these migrations, oldest first.
    ///
    /// # Panics
    /// If the numbers of the migrations do not increase, or if a migration has several kinds of changes: a backfill and
    /// concurrent indexes, or one of these and other changes.
    pub const fn new(migrations: &'static [Migration]) -> Self {
        let (mut index, mut number) = (0, 0);
        while index < migrations.len() {
            assert!(migrations[index].number() > number, "the numbers of the migrations must increase");
            number = migrations[index].number();
            assert!(
                migrations[index].has_one_kind_of_change(),
                "a migration must have only a backfill, only concurrent indexes, or neither"
            );
            index += 1;
        }
        Self { migrations }
    }

    /// Returns the number of the newest migration.
    fn schema_number(&self) -> u32 {
        self.migrations.last().map_or(0, Migration::number)
    }

    /// Returns the migration status of the database. Only reads: an empty database stays empty.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn status(&self, connection: &impl ConnectionTrait) -> Result<MigrationStatus, DbErr> {
        let applied = applied(connection).await?;
        if let Some(name) = unreleased(&applied) {
            return Ok(MigrationStatus::Unreleased(name.to_owned()));
        }
        let is_known = |name: &str| self.migrations.iter().any(|migration| migration.name == name);
        if let Some(unknown) = applied.iter().rev().find(|name| !is_known(name))
            && floor(connection).await?.is_none_or(|floor| floor > self.schema_number())
        {
            return Ok(MigrationStatus::Ahead(unknown.clone()));
        }
        let pending = self.not_in(&applied).filter(|migration| migration.phase == Phase::Expand);
        let pending: Vec<&str> = pending.map(|migration| migration.name).collect();
        Ok(if pending.is_empty() { MigrationStatus::Current } else { MigrationStatus::Behind(pending) })
    }

    /// Returns the pending migrations, oldest first.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn pending(&self, connection: &impl ConnectionTrait) -> Result<Vec<&'static Migration>, DbErr> {
        let applied = applied(connection).await?;
        Ok(self.not_in(&applied).collect())
    }

    /// Returns the names of the migrations that were applied by this version or another one, sorted.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn applied_names(&self, connection: &impl ConnectionTrait) -> Result<Vec<String>, DbErr> {
        Ok(applied(connection).await?.into_iter().collect())
    }

    fn not_in(&self, applied: &BTreeSet<String>) -> impl Iterator<Item = &'static Migration> {
        self.migrations.iter().filter(|migration| !applied.contains(migration.name))
    }

    /// Applies all pending migrations in the transaction, which can take long on a database with data.
    ///
    /// No other transaction may apply migrations meanwhile: the caller must hold the write lock of SQLite, or an advisory
    /// lock on PostgreSQL.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails. The caller must then roll back.
    pub async fn apply(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        for migration in self.pending(transaction).await? {
            while apply_step(transaction, migration).await? == StepOutcome::Batch {}
        }
        Ok(())
    }
}

/// Returns the first of these applied migrations that is older than the initial schema of this program: one of a development version
/// before the first release.
pub fn unreleased<'a>(applied: impl IntoIterator<Item = &'a String>) -> Option<&'a str> {
    let initial = MIGRATIONS.first()?.name;
    applied.into_iter().map(String::as_str).find(|&name| name < initial)
}

/// Returns the pending migration that is applied next when this phase, or both phases, are applied. `None` if none is
/// pending.
///
/// Migrations are applied in their order, and the contract phase of a release precedes the expand phase of the next
/// one. The two phases of one release can therefore be applied one after the other. The expand phases of two pending
/// releases cannot be applied together: the contract migrations of the first release lie between them, and would break
/// servers of the release before it that are still running.
///
/// # Errors
/// Returns [`OutOfOrder`] when the next migration is of the other phase, or when the expand phases of two releases are pending.
pub fn next(
    pending: &[&'static Migration],
    phase: Option<Phase>,
) -> Result<Option<&'static Migration>, OutOfOrder> {
    let Some(phase) = phase else { return Ok(pending.first().copied()) };
    let Some(last) = pending.iter().rposition(|migration| migration.phase == phase) else { return Ok(None) };
    let blocking = match phase {
        Phase::Expand => pending[..last].iter().find(|migration| migration.phase == Phase::Contract),
        Phase::Contract => pending.first().filter(|migration| migration.phase == Phase::Expand),
    };
    match blocking {
        Some(migration) => Err(OutOfOrder { first: migration.name }),
        None => Ok(pending.first().copied()),
    }
}

/// Applies a pending migration in the transaction, or only the next batch of its backfill.
///
/// No other transaction may apply migrations meanwhile, as for [`Migrator::apply`].
///
/// # Errors
/// Returns [`DbErr`] when a statement fails. The caller must then roll back.
pub async fn apply_step(
    transaction: &DatabaseTransaction,
    migration: &Migration,
) -> Result<StepOutcome, DbErr> {
    migration.up(transaction).await?;
    if let Some(backfill) = &migration.backfill
        && !backfill::apply_batch(transaction, migration.name, backfill).await?
    {
        return Ok(StepOutcome::Batch);
    }
    record(transaction, migration).await?;
    Ok(StepOutcome::Applied)
}
