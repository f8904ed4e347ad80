//! The state of the connection pools, for metrics.

use sea_orm::{DatabaseConnection, DbBackend};

use super::Database;

/// The connections of this process to the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStatus {
    /// Connections that execute a call, or belong to a transaction.
    pub in_use: usize,
    /// Open connections that are free.
    pub idle: usize,
    /// Maximum number of connections.
    pub max: usize,
}

impl PoolStatus {
    fn new(open: u32, idle: usize, max: u32) -> Self {
        let open = usize::try_from(open).unwrap_or(usize::MAX);
        Self { in_use: open.saturating_sub(idle), idle, max: usize::try_from(max).unwrap_or(usize::MAX) }
    }

    fn of(connection: &DatabaseConnection) -> Self {
        match connection.get_database_backend() {
            DbBackend::Postgres => {
                let pool = connection.get_postgres_connection_pool();
                Self::new(pool.size(), pool.num_idle(), pool.options().get_max_connections())
            }
            _ => {
                let pool = connection.get_sqlite_connection_pool();
                Self::new(pool.size(), pool.num_idle(), pool.options().get_max_connections())
            }
        }
    }
}

impl Database {
    /// Returns the state of the connection pools. Connections outside of them, such as that of the limit store, are not counted.
    pub fn pool_status(&self) -> PoolStatus {
        let reader = PoolStatus::of(self.reader.pool());
        if self.backend() == DbBackend::Postgres {
            // Reads and writes share one pool.
            return reader;
        }
        let writer = PoolStatus::of(self.writer.pool());
        PoolStatus {
            in_use: reader.in_use + writer.in_use,
            idle: reader.idle + writer.idle,
            max: reader.max + writer.max,
        }
    }
}
