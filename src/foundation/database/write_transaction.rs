//! The transaction of a write, which can keep rows in memory.

use entity::Connection;
use entity::row_cache::RowCache;
use sea_orm::prelude::async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};

use super::BoundedTransaction;

/// The transaction of a write. While its [`RowCache`] is active, writes its new and changed rows before each statement, except in
/// [`query_without_flush`](Connection::query_without_flush).
#[derive(Debug)]
pub struct WriteTransaction {
    transaction: BoundedTransaction,
    cache: RowCache,
}

impl WriteTransaction {
    pub(super) fn new(transaction: BoundedTransaction) -> Self {
        Self { transaction, cache: RowCache::default() }
    }

    /// Begins to keep rows in memory, from empty. Write operations then need fewer statements, see [`RowCache`].
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn activate_cache(&self) -> Result<(), DbErr> {
        self.cache.flush(&self.transaction).await?;
        self.cache.activate();
        Ok(())
    }

    /// Writes the rows in memory, and keeps none anymore.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn deactivate_cache(&self) -> Result<(), DbErr> {
        self.cache.flush(&self.transaction).await?;
        self.cache.deactivate();
        Ok(())
    }

    pub(super) async fn commit(self) -> Result<(), DbErr> {
        self.cache.flush(&self.transaction).await?;
        self.transaction.commit().await
    }

    pub(super) async fn rollback(self) -> Result<(), DbErr> {
        self.transaction.rollback().await
    }
}

impl Connection for WriteTransaction {
    fn row_cache(&self) -> Option<&RowCache> {
        Some(&self.cache)
    }

    async fn query_without_flush(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.transaction.query_all_raw(statement).await
    }
}

#[async_trait]
impl ConnectionTrait for WriteTransaction {
    fn get_database_backend(&self) -> DbBackend {
        self.transaction.get_database_backend()
    }

    fn support_returning(&self) -> bool {
        self.transaction.support_returning()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.cache.flush(&self.transaction).await?;
        self.cache.forget_changed_by(&statement.sql);
        self.transaction.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.cache.flush(&self.transaction).await?;
        self.cache.forget_changed_by(sql);
        self.transaction.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.cache.flush(&self.transaction).await?;
        self.cache.forget_changed_by(&statement.sql);
        self.transaction.query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.cache.flush(&self.transaction).await?;
        self.cache.forget_changed_by(&statement.sql);
        self.transaction.query_all_raw(statement).await
    }
}
