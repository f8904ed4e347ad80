//! Creates indexes of existing tables on PostgreSQL while servers write to the tables.

use std::time::Duration;

use migration::index_and_table;
use sea_orm::{
    ConnectOptions, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, Statement,
    TransactionTrait,
};

use super::MigrateError;
use super::errors::is_canceled;
use super::postgres_url::with_server_options;

/// How often the transaction that holds the lock executes a statement, so that no proxy closes its idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Executes `CREATE INDEX` statements concurrently, on a connection of its own to the server of this URL, while the transaction holds the lock of the
/// migrations. Skips valid indexes, and first drops an invalid one, which remains when creating it failed.
pub(super) async fn create(
    url: &str,
    statements: &[&str],
    lock: &DatabaseTransaction,
) -> Result<(), MigrateError> {
    let session = connect(url).await?;
    let create_all = async {
        for create in statements {
            create_one(&session, create).await?;
        }
        Ok(())
    };
    let result = tokio::select! {
        result = create_all => result,
        error = keep_alive(lock) => Err(error),
    };
    // After a failure, dropping the connection closes it.
    result.map_err(|error| match is_canceled(&error) {
        true => MigrateError::IndexCanceled(error),
        false => MigrateError::Failed(error),
    })?;
    Ok(session.close().await?)
}

/// Connects without timeouts. pgbouncer rejects their settings: then those of the role apply, since a `SET` through pgbouncer
/// would change the connection of another client.
async fn connect(url: &str) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false).map_sqlx_postgres_opts(with_server_options);
    let mut without_timeouts = options.clone();
    without_timeouts.map_sqlx_postgres_opts(|server| {
        with_server_options(server).options([
            ("statement_timeout", "0"),
            ("lock_timeout", "0"),
            ("idle_session_timeout", "0"),
        ])
    });
    match sea_orm::Database::connect(without_timeouts).await {
        Ok(session) => Ok(session),
        Err(_) => sea_orm::Database::connect(options).await,
    }
}

async fn create_one(session: &DatabaseConnection, create: &str) -> Result<(), DbErr> {
    let (index, table) = index_and_table(create);
    match is_valid(session, index, table).await? {
        Some(true) => return Ok(()),
        Some(false) => {
            session.execute_unprepared(&format!("DROP INDEX CONCURRENTLY {index}")).await?;
        }
        None => {}
    }
    let create = create.replacen("INDEX ", "INDEX CONCURRENTLY ", 1);
    session.execute_unprepared(&create).await.map(drop)
}

/// Returns whether the index is valid; `None` if it does not exist. Waits until no index is being created on the table:
/// PostgreSQL continues a statement whose process was killed.
async fn is_valid(session: &DatabaseConnection, index: &str, table: &str) -> Result<Option<bool>, DbErr> {
    let transaction = session.begin().await?;
    // Conflicts with creating indexes, but not with reads and writes.
    let lock = format!("LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE");
    transaction.execute_unprepared(&lock).await?;
    let query = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)";
    let query = Statement::from_sql_and_values(DbBackend::Postgres, query, [index.into()]);
    let row = transaction.query_one_raw(query).await?;
    transaction.commit().await?;
    row.map(|row| row.try_get_by_index(0)).transpose()
}

/// Executes a statement repeatedly until one fails, and returns the error.
async fn keep_alive(transaction: &DatabaseTransaction) -> DbErr {
    loop {
        tokio::time::sleep(KEEP_ALIVE).await;
        if let Err(error) = transaction.execute_unprepared("SELECT 1").await {
            return error;
        }
    }
}
