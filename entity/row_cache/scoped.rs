//! Reads and writes cached rows of one workspace.

use sea_orm::{ModelTrait, Value};

use super::rows::LookupValue;
use super::{Connection, RowLock, TableRows, read};
use crate::{InWorkspace, WorkspaceTable};

impl<E: WorkspaceTable> InWorkspace<E> {
    /// Keeps rows in the cache of the transaction, if it is active. The transaction must hold the table's
    /// [lock](CachedTable::LOCK) on them. `complete` are columns with values of which `rows` contains all rows.
    pub(crate) fn remember<C: Connection>(
        self,
        conn: &C,
        rows: Vec<E::Model>,
        complete: Vec<(E::Column, LookupValue)>,
    ) {
        self.cached(conn, |cached| {
            cached.remember(self.workspace(), rows, complete);
            Some(())
        });
    }

    /// Reads the cached rows of the table. Returns `None` if the transaction has no active cache or the function returns it.
    pub(crate) fn cached<C: Connection, T>(
        &self,
        conn: &C,
        lookup: impl FnOnce(&mut TableRows<E>) -> Option<T>,
    ) -> Option<T> {
        read(conn, |tables| lookup(E::cached_rows(tables)?))
    }

    /// Like [`cached`](Self::cached), but returns `None` if the transaction does not hold exclusive locks on the rows.
    pub(crate) fn locked_cached<C: Connection, T>(
        &self,
        conn: &C,
        lookup: impl FnOnce(&mut TableRows<E>) -> Option<T>,
    ) -> Option<T> {
        if E::LOCK == RowLock::Exclusive { self.cached(conn, lookup) } else { None }
    }

    /// Adds a new row to the cache. Returns false if a cached row has one of its unique values, and `None` if the
    /// transaction has no active cache or the table has no cached rows.
    pub(crate) fn insert_cached<C: Connection>(&self, conn: &C, model: &E::Model) -> Option<bool> {
        read(conn, |tables| {
            let mut row = model.clone();
            row.set(E::WORKSPACE, self.workspace().into());
            let Value::Uuid(Some(id)) = row.get(E::ID) else { return None };
            let is_inserted = E::cached_rows(tables)?.insert(self.workspace(), row);
            if is_inserted {
                E::set_childless(tables, self.workspace(), id);
            }
            Some(is_inserted)
        })
    }
}
