//! Restricts queries to one workspace.

use std::marker::PhantomData;

use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, IdenStatic,
    IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
    sea_query::{Expr, LockType, OnConflict},
};
use uuid::Uuid;

use crate::row_cache::{CachedTable, Connection};
use crate::{Row, statement};

/// A table whose rows belong to a workspace and have an id.
pub trait WorkspaceTable:
    EntityTrait<Model: Row + IntoActiveModel<Self::ActiveModel>, ActiveModel: Send> + CachedTable
{
    /// The workspace column.
    const WORKSPACE: Self::Column;
    /// The id column.
    const ID: Self::Column;
}

/// A [`WorkspaceTable`] with a key column. The platform whose changes are imported assigns the keys, which are unique
/// in the workspace.
pub trait Keyed: WorkspaceTable {
    /// The key column.
    const KEY: Self::Column;
}

/// Implements [`WorkspaceTable`] for a table and adds the function `in_workspace`. With the argument `keyed`, also
/// implements [`Keyed`]. Without the argument `cached`, also implements [`CachedTable`] for a table without cached rows.
macro_rules! workspace_table {
    () => {
        $crate::scope::workspace_table!(cached);

        impl $crate::row_cache::CachedTable for Entity {}
    };
    (keyed) => {
        $crate::scope::workspace_table!(keyed, cached);

        impl $crate::row_cache::CachedTable for Entity {}
    };
    (cached) => {
        impl $crate::WorkspaceTable for Entity {
            const WORKSPACE: Column = Column::WorkspaceId;
            const ID: Column = Column::Id;
        }

        /// Returns the rows of one workspace.
        pub const fn in_workspace(workspace: uuid::Uuid) -> $crate::InWorkspace<Entity> {
            $crate::InWorkspace::new(workspace)
        }
    };
    (keyed, cached) => {
        $crate::scope::workspace_table!(cached);

        impl $crate::Keyed for Entity {
            const KEY: Column = Column::Key;
        }
    };
}
pub(crate) use workspace_table;

/// The rows of a table that belong to one workspace. All reads and writes through it are restricted to that workspace.
#[derive(Clone, Copy, Debug)]
pub struct InWorkspace<E> {
    workspace: Uuid,
    table: PhantomData<fn() -> E>,
}

impl<E> InWorkspace<E> {
    /// Restricts the table to a workspace. Prefer the table's function `in_workspace`.
    pub const fn new(workspace: Uuid) -> Self {
        Self { workspace, table: PhantomData }
    }

    /// Returns the workspace's id.
    pub const fn workspace(&self) -> Uuid {
        self.workspace
    }
}

impl<E: WorkspaceTable> InWorkspace<E> {
    /// Selects the workspace's rows.
    pub(crate) fn select(&self) -> Select<E> {
        E::find().filter(E::WORKSPACE.eq(self.workspace))
    }

    /// Selects the workspace's rows, for queries in which an index on another condition finds the rows and the
    /// workspace is only checked.
    ///
    /// Only the condition on the workspace cannot use an index, the other conditions can. Otherwise SQLite, which has
    /// no statistics, would read the whole workspace from an index instead of looking up a list of ids.
    pub(crate) fn select_workspace_unindexed(&self) -> Select<E> {
        E::find().filter(self.is_in_workspace())
    }

    /// Returns the condition for rows of the workspace. The database cannot use an index for this condition, see
    /// [`select_workspace_unindexed`](Self::select_workspace_unindexed).
    pub(crate) fn is_in_workspace(&self) -> Expr {
        statement::unindexed(E::WORKSPACE.eq(self.workspace))
    }

    /// Selects the row with this id.
    pub(crate) fn select_by_id(&self, id: Uuid) -> Select<E> {
        self.select().filter(E::ID.eq(id))
    }

    /// Returns the row with this id.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_id<C: Connection>(self, conn: &C, id: Uuid) -> Result<Option<E::Model>, DbErr> {
        if let Some(row) = self.cached(conn, |rows| rows.by_id(self.workspace, id).cloned()) {
            return Ok(Some(row));
        }
        statement::one(conn, self.select_by_id(id)).await
    }

    /// Returns the rows with these ids, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_ids<C: Connection>(self, conn: &C, ids: &[Uuid]) -> Result<Vec<E::Model>, DbErr> {
        self.with_ids_in(conn, E::ID, ids).await
    }

    /// Locks the row with this id until the transaction ends, and returns it. Other transactions cannot change or
    /// delete it.
    ///
    /// SQLite has no row locks: a write transaction there is exclusive.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock<C: Connection>(self, conn: &C, id: Uuid) -> Result<Option<E::Model>, DbErr> {
        if let Some(row) = self.locked_cached(conn, |rows| rows.by_id(self.workspace, id).cloned()) {
            return Ok(Some(row));
        }
        statement::one(conn, locked(self.select_by_id(id))).await
    }

    /// Locks the rows with these ids in the order of their ids, as [`lock`](Self::lock) does, and returns them.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock_many<C: Connection>(self, conn: &C, ids: &[Uuid]) -> Result<Vec<E::Model>, DbErr> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(rows) = self.locked_cached(conn, |rows| rows.all_with_ids(self.workspace, E::ID, ids)) {
            return Ok(rows);
        }
        let rows =
            self.select_workspace_unindexed().filter(E::ID.is_in(statement::padded(ids))).order_by_asc(E::ID);
        statement::all(conn, locked(rows)).await
    }

    /// Locks the row with this id against changes until the transaction ends, and returns it. Other transactions can
    /// take the same lock. Like [`lock`](Self::lock), it locks nothing on SQLite.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock_shared<C: Connection>(self, conn: &C, id: Uuid) -> Result<Option<E::Model>, DbErr> {
        if let Some(row) = self.cached(conn, |rows| rows.by_id(self.workspace, id).cloned()) {
            return Ok(Some(row));
        }
        statement::one(conn, self.select_by_id(id).lock(LockType::Share)).await
    }

    /// Inserts a row into this workspace, regardless of the workspace in the model.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails, also when it violates a unique constraint.
    pub async fn insert<C: Connection>(self, conn: &C, model: E::Model) -> Result<(), DbErr> {
        if self.insert_cached(conn, &model) == Some(true) {
            return Ok(());
        }
        statement::insert(conn, self.scoped_row(model)).await
    }

    /// Inserts a row into this workspace unless another row has one of its unique values. Returns whether it was
    /// inserted.
    ///
    /// On PostgreSQL, waits for a running transaction that inserts the same value. Unlike a failed
    /// [`insert`](Self::insert), a result of `false` leaves the transaction usable.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn insert_unless_taken<C: Connection>(self, conn: &C, model: E::Model) -> Result<bool, DbErr> {
        if let Some(is_inserted) = self.insert_cached(conn, &model) {
            return Ok(is_inserted);
        }
        let on_conflict = OnConflict::new().do_nothing().to_owned();
        statement::insert_on_conflict(conn, self.scoped_row(model), on_conflict).await
    }

    /// Inserts rows into this workspace, in batches.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails, also when it violates a unique constraint.
    pub async fn insert_many<C: Connection>(self, conn: &C, models: Vec<E::Model>) -> Result<(), DbErr> {
        let others = models.into_iter().filter(|model| self.insert_cached(conn, model) != Some(true));
        let others = others.map(|model| self.scoped_row(model)).collect();
        statement::insert_many::<_, E::ActiveModel, _>(conn, others).await
    }

    /// Updates the columns that are `Set` in `changes`. Returns `false` when the workspace has no row with this id, or
    /// when no column is `Set`.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails, also when it violates a unique constraint.
    pub async fn update<C: Connection>(
        self,
        conn: &C,
        id: Uuid,
        changes: E::ActiveModel,
    ) -> Result<bool, DbErr> {
        if let Some(updated) = self.cached(conn, |rows| rows.update(self.workspace, id, &changes)) {
            return updated;
        }
        let update =
            E::update_many().set(changes).filter(E::WORKSPACE.eq(self.workspace)).filter(E::ID.eq(id));
        Ok(update.exec(conn).await?.rows_affected > 0)
    }

    /// Deletes a row. Returns `false` when the workspace has no row with this id.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn delete<C: Connection>(self, conn: &C, id: Uuid) -> Result<bool, DbErr> {
        Ok(self.delete_many(conn, &[id]).await? > 0)
    }

    /// Deletes the rows with these ids and returns the number of rows deleted.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn delete_many<C: Connection>(self, conn: &C, ids: &[Uuid]) -> Result<u64, DbErr> {
        if ids.is_empty() {
            return Ok(0);
        }
        let ids = statement::padded(ids);
        let delete = E::delete_many().filter(self.is_in_workspace()).filter(E::ID.is_in(ids));
        Ok(delete.exec(conn).await?.rows_affected)
    }

    /// Counts the rows of the workspace. Reads all of them.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn count<C: Connection>(self, conn: &C) -> Result<u64, DbErr> {
        statement::count(conn, self.select()).await
    }

    /// Returns the rows whose column contains one of these ids, in no particular order.
    pub(crate) async fn with_ids_in<C: Connection>(
        self,
        conn: &C,
        column: E::Column,
        ids: &[Uuid],
    ) -> Result<Vec<E::Model>, DbErr> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(rows) = self.cached(conn, |rows| rows.all_with_ids(self.workspace, column, ids)) {
            return Ok(rows);
        }
        statement::all(conn, self.select_workspace_unindexed().filter(column.is_in(statement::padded(ids))))
            .await
    }

    /// Returns the ids of the rows with one of these values in a column, each with its value. The workspace and the column
    /// must have a unique index.
    ///
    /// On PostgreSQL, looks up each value in the index. With a list of values, the planner would read all rows of the
    /// workspace while the table has no statistics.
    pub(crate) async fn ids_with_texts<C: Connection>(
        self,
        conn: &C,
        column: E::Column,
        texts: &[&str],
    ) -> Result<Vec<(Uuid, String)>, DbErr> {
        // PostgreSQL cannot store a NUL character, and fails when it reads one.
        let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.contains('\0')).collect();
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (table, column) = (E::default().table_name().to_owned(), column.as_str());
        let sql = match conn.get_database_backend() {
            DbBackend::Postgres => format!(
                "SELECT found.* FROM json_array_elements_text($2::json) AS texts(text) CROSS JOIN LATERAL
                 (SELECT id, {column} FROM {table} WHERE workspace_id = $1 AND {column} = texts.text LIMIT 1) AS found"
            ),
            _ => format!(
                "SELECT id, {column} FROM {table}
                 WHERE workspace_id = $1 AND {column} IN (SELECT value FROM json_each($2))"
            ),
        };
        let values = [self.workspace.into(), serde_json::json!(texts).to_string().into()];
        let rows = conn.query_all_raw(statement::raw(conn, &sql, values)).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
    }

    /// Converts the model to a row of this workspace.
    pub(crate) fn scoped_row(&self, model: E::Model) -> E::ActiveModel {
        let mut row = model.into_active_model();
        row.set(E::WORKSPACE, self.workspace.into());
        row
    }
}

/// Makes a query lock its rows against other writers. No effect on SQLite.
///
/// Uses `FOR NO KEY UPDATE`, so that transactions can still insert rows that refer to a locked row.
pub(crate) fn locked<E: EntityTrait>(select: Select<E>) -> Select<E> {
    select.lock(LockType::NoKeyUpdate)
}

/// Deletes the rows that a query selects and returns the number of rows deleted.
pub(crate) async fn delete_selected<C: ConnectionTrait, E: WorkspaceTable>(
    conn: &C,
    rows: Select<E>,
) -> Result<u64, DbErr> {
    let ids = rows.select_only().column(E::ID).into_query();
    Ok(E::delete_many().filter(E::ID.in_subquery(ids)).exec(conn).await?.rows_affected)
}

/// Sets a time column of these rows to `at` (milliseconds since the epoch), except in rows that already have this or a
/// later time.
pub(crate) async fn touch<C: Connection, E: WorkspaceTable>(
    scope: InWorkspace<E>,
    conn: &C,
    column: E::Column,
    ids: &[Uuid],
    at: i64,
) -> Result<(), DbErr> {
    let workspace = scope.workspace();
    let others = scope.cached(conn, |rows| Some(rows.touch(workspace, column, ids, at)));
    let ids = others.as_deref().unwrap_or(ids);
    if ids.is_empty() {
        return Ok(());
    }
    let update = E::update_many()
        .col_expr(column, Expr::value(at))
        .filter(scope.is_in_workspace())
        .filter(E::ID.is_in(statement::padded(ids)))
        .filter(column.lt(at));
    update.exec(conn).await.map(drop)
}
