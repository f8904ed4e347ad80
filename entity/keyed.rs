//! Finds and locks records of one workspace by their keys.

use sea_orm::{ColumnTrait, DbErr, QueryFilter, QueryOrder, QuerySelect, sea_query::LockType};
use uuid::Uuid;

use crate::row_cache::{Connection, LookupValue, RowLock};
use crate::scope::locked;
use crate::{InWorkspace, Keyed, statement};

impl<E: Keyed> InWorkspace<E> {
    /// Returns the row with this key.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_key<C: Connection>(self, conn: &C, key: &str) -> Result<Option<E::Model>, DbErr> {
        if let Some(row) = self.cached(conn, |rows| rows.one_with(self.workspace(), E::KEY, key)) {
            return Ok(row);
        }
        statement::one(conn, self.select().filter(E::KEY.eq(key))).await
    }

    /// Returns the rows with these keys, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_keys<C: Connection>(self, conn: &C, keys: &[&str]) -> Result<Vec<E::Model>, DbErr> {
        statement::all(conn, self.select().filter(E::KEY.is_in(keys.iter().copied()))).await
    }

    /// Locks the rows with these ids or keys in the order of their ids, with the table's [lock](CachedTable::LOCK), and keeps them in the
    /// cache of the transaction, if it is active. Returns them. SQLite has no row locks.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock_and_remember<C: Connection>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
    ) -> Result<Vec<E::Model>, DbErr> {
        let ids = self.ids_by_ids_or_keys(conn, ids, keys).await?;
        if ids.is_empty() && keys.is_empty() {
            return Ok(Vec::new());
        }
        let lock = match E::LOCK {
            RowLock::Shared => LockType::Share,
            RowLock::Exclusive => LockType::NoKeyUpdate,
        };
        let rows = match ids.is_empty() {
            true => Vec::new(),
            false => {
                let rows = self.select_workspace_unindexed().filter(E::ID.is_in(statement::padded(&ids)));
                statement::all(conn, rows.order_by_asc(E::ID).lock(lock)).await?
            }
        };
        let complete = keys.iter().map(|key| (E::KEY, LookupValue::from(*key))).collect();
        self.remember(conn, rows.clone(), complete);
        Ok(rows)
    }

    /// Returns these ids, and the ids of the rows with these keys.
    pub(crate) async fn ids_by_ids_or_keys<C: Connection>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
    ) -> Result<Vec<Uuid>, DbErr> {
        let with_keys = self.ids_with_texts(conn, E::KEY, keys).await?;
        Ok(ids.iter().copied().chain(with_keys.into_iter().map(|(id, _)| id)).collect())
    }

    /// Locks and returns the row with this key, as [`lock`](Self::lock) does.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock_by_key<C: Connection>(self, conn: &C, key: &str) -> Result<Option<E::Model>, DbErr> {
        if let Some(row) = self.locked_cached(conn, |rows| rows.one_with(self.workspace(), E::KEY, key)) {
            return Ok(row);
        }
        statement::one(conn, locked(self.select().filter(E::KEY.eq(key)))).await
    }

    /// Locks and returns the row with this key, as [`lock_shared`](Self::lock_shared) does.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock_shared_by_key<C: Connection>(
        &self,
        conn: &C,
        key: &str,
    ) -> Result<Option<E::Model>, DbErr> {
        if let Some(row) = self.cached(conn, |rows| rows.one_with(self.workspace(), E::KEY, key)) {
            return Ok(row);
        }
        statement::one(conn, self.select().filter(E::KEY.eq(key)).lock(LockType::Share)).await
    }
}
