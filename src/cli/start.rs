//! Opens the database and the master key, and builds the shared [`App`] from the configuration.

use std::time::{Duration, Instant};

use sea_orm::DbBackend;

use api::events::{encode, example, read_fields};
use domain::app::{App, AppParts};
use domain::keys::PrincipalCache;
use domain::processes::{self, Roles};
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::data_folder::{FolderError, folder_of};
use foundation::database::{Database, DatabaseOptions, DatabaseSource, MigrateError, SchemaState};
use foundation::id::Ids;

use super::outcome::CommandError;

/// Whether a command may create the data folder with an empty database and a master key. Only few commands may, since a
/// mistyped folder would otherwise become a second, empty installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataFolder {
    /// The command creates what is missing.
    MayBeCreated,
    /// The command creates everything, and deletes it at its end. Commits do not wait for the disk.
    Temporary,
    /// The command fails if there is no database, or no master key that it needs.
    MustExist,
}

/// Connects to the database without applying migrations.
pub(super) async fn connect(config: &Config, folder: DataFolder) -> Result<Database, CommandError> {
    let source = match folder {
        DataFolder::MayBeCreated | DataFolder::Temporary => source(config)?,
        DataFolder::MustExist => existing_source(config)?,
    };
    let max_connections = config.database.database_max_connections.get();
    let read_url = config.database.database_read_url.as_ref().map(|url| url.expose().to_owned());
    let is_durable = folder != DataFolder::Temporary;
    let options = DatabaseOptions { max_connections, read_url, is_durable, ..DatabaseOptions::new(source) };
    Ok(Database::connect(options).await?)
}

/// Connects to an existing database for a command that changes nothing.
pub(super) async fn connect_read_only(config: &Config) -> Result<Database, CommandError> {
    let source = existing_source(config)?;
    let options = DatabaseOptions { max_connections: 2, read_only: true, ..DatabaseOptions::new(source) };
    Ok(Database::connect(options).await?)
}

/// Returns the location of the database of the configuration.
pub(super) fn source(config: &Config) -> Result<DatabaseSource, CommandError> {
    let url = config.database.database_url.as_ref().map(|url| url.expose());
    Ok(DatabaseSource::new(url, &config.storage.data_dir)?)
}

/// Like [`source`], but returns an error if it is an SQLite file that does not exist, or whose folder cannot be read.
fn existing_source(config: &Config) -> Result<DatabaseSource, CommandError> {
    let source = source(config)?;
    if let DatabaseSource::Sqlite { path } = &source
        && !path.try_exists().map_err(|cause| FolderError::new(folder_of(path), cause))?
    {
        let flag = if config.database.database_url.is_some() { "--database-url" } else { "--data-dir" };
        return Err(CommandError::new(format!(
            "there is no database at {}; correct {flag}, or create a database there with `creator-api serve` or \
             `creator-api demo`",
            path.display()
        )));
    }
    Ok(source)
}

/// How often a process that waits for migrations checks whether some are pending.
const MIGRATION_POLL: Duration = Duration::from_secs(1);

/// Like [`open_app`], but on PostgreSQL it first waits while migrations are pending.
pub(super) async fn open_app_when_migrated(config: Config, folder: DataFolder) -> Result<App, CommandError> {
    let db = connect(&config, folder).await?;
    let mut last_message = String::new();
    while db.backend() == DbBackend::Postgres {
        let message = match db.schema_state().await {
            Ok(SchemaState::Behind(count)) => {
                format!("waiting until `creator-api migrate` has applied {}", pending_migrations(count))
            }
            Ok(_) => break,
            Err(error) => format!("waiting for the database: {error}"),
        };
        if message != last_message {
            tracing::info!("{message}");
            last_message = message;
        }
        tokio::time::sleep(MIGRATION_POLL).await;
    }
    open(config, db, Clock::system()).await
}

/// Opens the database and builds the [`App`].
///
/// Applies pending migrations to SQLite. On PostgreSQL, which other processes may use, pending migrations are an error. Clients may
/// advance the clock of an app with a temporary folder.
pub(super) async fn open_app(config: Config, folder: DataFolder) -> Result<App, CommandError> {
    let db = connect(&config, folder).await?;
    let clock = match folder {
        // Its only users are the tests of a client.
        DataFolder::Temporary => Clock::system().adjustable(),
        DataFolder::MayBeCreated | DataFolder::MustExist => Clock::system(),
    };
    open(config, db, clock).await
}

async fn open(config: Config, db: Database, clock: Clock) -> Result<App, CommandError> {
    match db.schema_state().await? {
        SchemaState::Ahead(migration) => return Err(MigrateError::Newer(migration).into()),
        SchemaState::Unreleased(migration) => return Err(MigrateError::Unreleased(migration).into()),
        // Both phases.
        _ if db.backend() == DbBackend::Sqlite => db.migrate().await?,
        SchemaState::Current => {}
        SchemaState::Behind(count) => {
            return Err(CommandError::new(format!(
                "the database at {} has {}; run `creator-api migrate` first",
                db.location(),
                pending_migrations(count)
            )));
        }
    }
    Ok(build_app_with_clock(config, db, clock))
}

/// Returns the number of pending migrations with its noun, such as `2 pending migrations`.
fn pending_migrations(count: usize) -> String {
    if count == 1 { "1 pending migration".to_owned() } else { format!("{count} pending migrations") }
}

/// Opens or creates the database, applies pending migrations on either database, and builds the [`App`].
pub(super) async fn open_migrated_app(config: Config) -> Result<App, CommandError> {
    let db = connect(&config, DataFolder::MayBeCreated).await?;
    db.migrate().await?;
    Ok(build_app(config, db))
}

/// Checks that PostgreSQL is set up for a process with these roles, and logs a warning if it does not limit the duration of single
/// statements. Call it before this process is registered. Does nothing on SQLite.
///
/// # Errors
/// Returns an error when the role of the database does not own its partitioned tables, when PostgreSQL allows too few
/// connections, or when a query fails.
pub(super) async fn check_database(app: &App, roles: Roles) -> Result<(), CommandError> {
    warn_without_statement_timeout(app).await?;
    check_ownership(app).await?;
    check_connections(app, roles).await
}

/// Logs a warning when PostgreSQL does not limit the duration of single statements.
async fn warn_without_statement_timeout(app: &App) -> Result<(), CommandError> {
    if let Some(role) = app.db.role_without_statement_timeout().await? {
        tracing::warn!(
            "the PostgreSQL role {role} has no statement_timeout, so a query can run without a limit; set one with \
             `ALTER ROLE {role} SET statement_timeout = '10s'`"
        );
    }
    Ok(())
}

/// Checks that the PostgreSQL role can create and drop the partitions of each day, which requires the privileges of their owner.
///
/// # Errors
/// Returns an error that contains the role and the table if it cannot.
async fn check_ownership(app: &App) -> Result<(), CommandError> {
    let Some((role, table)) = app.db.role_without_ownership().await? else { return Ok(()) };
    Err(CommandError::new(format!(
        "the PostgreSQL role {role} does not own the table {table}, so it can neither create nor drop its partitions; use the role \
         that runs `creator-api migrate`, or grant {role} membership in it"
    )))
}

/// How long a starting process waits for connections: longer than those of a killed process are counted.
const CONNECTIONS_TIMEOUT: Duration = Duration::from_secs(12);

/// Checks that PostgreSQL allows the connections of this process in addition to those of the running ones. The
/// connections of a killed process are counted for 10 seconds, so it waits before it fails. Does nothing if a proxy such as
/// pgbouncer is used.
///
/// # Errors
/// Returns an error that contains the numbers of connections if there are too few.
async fn check_connections(app: &App, roles: Roles) -> Result<(), CommandError> {
    let Some(limit) = app.db.connection_limit().await? else { return Ok(()) };
    let own = u64::from(processes::max_connections(app, roles));
    let started = Instant::now();
    let (processes, used) = loop {
        let (processes, used) = processes::connections(app).await?;
        if used + own <= limit {
            return Ok(());
        }
        if own > limit || started.elapsed() > CONNECTIONS_TIMEOUT {
            break (processes, used);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    Err(CommandError::new(format!(
        "PostgreSQL at {} allows {limit} connections; the running processes ({processes}) use up to {used}, and this one would \
         use up to {own}; lower --database-max-connections of the processes, or raise max_connections of PostgreSQL",
        app.db.location()
    )))
}

pub(super) fn build_app(config: Config, db: Database) -> App {
    build_app_with_clock(config, db, Clock::system())
}

fn build_app_with_clock(config: Config, db: Database, clock: Clock) -> App {
    let parts = AppParts {
        config,
        clock,
        ids: Ids::default(),
        encode,
        example,
        read_fields,
        seed: |app, workspace, key| Box::pin(feed::demo::seed(app, workspace, key)),
        principals: PrincipalCache::default(),
    };
    App::new(db, parts)
}
