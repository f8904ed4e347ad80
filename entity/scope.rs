//! The workspace around every query.

use std::marker::PhantomData;

use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
    sea_query::{Expr, ExprTrait, LockType, OnConflict},
};
use uuid::Uuid;

use crate::{Row, statement};

/// A table whose rows belong to a workspace and have an id of their own.
pub trait Tenant: EntityTrait<Model: Row + IntoActiveModel<Self::ActiveModel>, ActiveModel: Send> {
    /// The column of the workspace.
    const WORKSPACE: Self::Column;
    /// The column of the id.
    const ID: Self::Column;
}

/// A table whose rows the platform names by a key of its own, unique in the workspace.
pub trait Keyed: Tenant {
    /// The column of the key.
    const KEY: Self::Column;
}

/// Names a table's workspace and id columns and gives it `in_workspace`.
macro_rules! tenant {
    () => {
        impl $crate::Tenant for Entity {
            const WORKSPACE: Column = Column::WorkspaceId;
            const ID: Column = Column::Id;
        }

        /// The rows of one workspace.
        pub const fn in_workspace(workspace: uuid::Uuid) -> $crate::InWorkspace<Entity> {
            $crate::InWorkspace::new(workspace)
        }
    };
    (keyed) => {
        $crate::scope::tenant!();

        impl $crate::Keyed for Entity {
            const KEY: Column = Column::Key;
        }
    };
}
pub(crate) use tenant;

/// The rows of a table that belong to one workspace: whatever is read or written through it stays inside.
#[derive(Clone, Copy, Debug)]
pub struct InWorkspace<E> {
    workspace: Uuid,
    table: PhantomData<fn() -> E>,
}

impl<E> InWorkspace<E> {
    /// The rows of this workspace; tables call it `in_workspace`.
    pub const fn new(workspace: Uuid) -> Self {
        Self { workspace, table: PhantomData }
    }

    /// The workspace.
    pub const fn workspace(&self) -> Uuid {
        self.workspace
    }
}

impl<E: Tenant> InWorkspace<E> {
    pub(crate) fn select(&self) -> Select<E> {
        E::find().filter(E::WORKSPACE.eq(self.workspace))
    }

    /// The workspace's rows where another condition finds them and this one only checks.
    ///
    /// Written so that no index can serve it: without statistics SQLite would sooner read the whole workspace by one
    /// of its many indexes than look up a list of ids.
    pub(crate) fn checked(&self) -> Select<E> {
        E::find().filter(self.inside())
    }

    /// True for the workspace's rows, without the help of an index; see [`checked`](Self::checked).
    pub(crate) fn inside(&self) -> Expr {
        statement::unindexed(E::WORKSPACE.eq(self.workspace))
    }

    pub(crate) fn identified(&self, id: Uuid) -> Select<E> {
        self.select().filter(E::ID.eq(id))
    }

    /// The row with this id.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_id<C: ConnectionTrait>(self, conn: &C, id: Uuid) -> Result<Option<E::Model>, DbErr> {
        statement::one(conn, self.identified(id)).await
    }

    /// The rows with these ids, in no particular order.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_ids<C: ConnectionTrait>(self, conn: &C, ids: &[Uuid]) -> Result<Vec<E::Model>, DbErr> {
        self.among(conn, E::ID, ids).await
    }

    /// The row with this id, locked until the transaction ends: nobody else changes or deletes it meanwhile.
    ///
    /// SQLite has no row locks and needs none, since a write transaction is alone there.
    ///
    /// # Errors
    /// When the database does.
    pub async fn lock<C: ConnectionTrait>(self, conn: &C, id: Uuid) -> Result<Option<E::Model>, DbErr> {
        statement::one(conn, locked(self.identified(id))).await
    }

    /// The rows with these ids in the order of the ids, each locked as by [`lock`](Self::lock).
    ///
    /// # Errors
    /// When the database does.
    pub async fn lock_many<C: ConnectionTrait>(self, conn: &C, ids: &[Uuid]) -> Result<Vec<E::Model>, DbErr> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.checked().filter(E::ID.is_in(statement::padded(ids))).order_by_asc(E::ID);
        statement::all(conn, locked(rows)).await
    }

    /// The row with this id, which stays as it is until the transaction ends; others may share it.
    ///
    /// # Errors
    /// When the database does.
    pub async fn share<C: ConnectionTrait>(self, conn: &C, id: Uuid) -> Result<Option<E::Model>, DbErr> {
        statement::one(conn, self.identified(id).lock(LockType::Share)).await
    }

    /// Writes a new row into this workspace, whatever workspace the model names.
    ///
    /// # Errors
    /// When the database does, a unique constraint included.
    pub async fn insert<C: ConnectionTrait>(self, conn: &C, model: E::Model) -> Result<(), DbErr> {
        statement::insert(conn, self.owned(model)).await
    }

    /// Writes a new row into this workspace unless another has one of its unique values. True when it was written.
    ///
    /// On PostgreSQL it waits for a running transaction that writes the same value. Unlike a refused
    /// [`insert`](Self::insert), a false leaves the transaction usable.
    ///
    /// # Errors
    /// When the database does.
    pub async fn insert_unless_taken<C: ConnectionTrait>(
        self,
        conn: &C,
        model: E::Model,
    ) -> Result<bool, DbErr> {
        let taken = OnConflict::new().do_nothing().to_owned();
        statement::insert_unless(conn, self.owned(model), taken).await
    }

    /// Writes new rows into this workspace, many a statement.
    ///
    /// # Errors
    /// When the database does, a unique constraint included.
    pub async fn insert_many<C: ConnectionTrait>(self, conn: &C, models: Vec<E::Model>) -> Result<(), DbErr> {
        let models = models.into_iter().map(|model| self.owned(model)).collect();
        statement::insert_many::<_, E::ActiveModel, _>(conn, models).await
    }

    /// Writes the columns that are `Set` in `changes`. False when the row is not there.
    ///
    /// # Errors
    /// When the database does, a unique constraint included.
    pub async fn update<C: ConnectionTrait>(
        self,
        conn: &C,
        id: Uuid,
        changes: E::ActiveModel,
    ) -> Result<bool, DbErr> {
        let update =
            E::update_many().set(changes).filter(E::WORKSPACE.eq(self.workspace)).filter(E::ID.eq(id));
        Ok(update.exec(conn).await?.rows_affected > 0)
    }

    /// Deletes the row. False when it is not there.
    ///
    /// # Errors
    /// When the database does.
    pub async fn delete<C: ConnectionTrait>(self, conn: &C, id: Uuid) -> Result<bool, DbErr> {
        Ok(self.delete_many(conn, &[id]).await? > 0)
    }

    /// Deletes the rows with these ids, and says how many there were.
    ///
    /// # Errors
    /// When the database does.
    pub async fn delete_many<C: ConnectionTrait>(self, conn: &C, ids: &[Uuid]) -> Result<u64, DbErr> {
        if ids.is_empty() {
            return Ok(0);
        }
        let ids = statement::padded(ids);
        let delete = E::delete_many().filter(self.inside()).filter(E::ID.is_in(ids));
        Ok(delete.exec(conn).await?.rows_affected)
    }

    /// How many rows the workspace has. Reads them all.
    ///
    /// # Errors
    /// When the database does.
    pub async fn count<C: ConnectionTrait>(self, conn: &C) -> Result<u64, DbErr> {
        statement::count(conn, self.select()).await
    }

    /// The rows whose column holds one of these ids.
    pub(crate) async fn among<C: ConnectionTrait>(
        self,
        conn: &C,
        column: E::Column,
        ids: &[Uuid],
    ) -> Result<Vec<E::Model>, DbErr> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        statement::all(conn, self.checked().filter(column.is_in(statement::padded(ids)))).await
    }

    /// The model as a row of this workspace.
    pub(crate) fn owned(&self, model: E::Model) -> E::ActiveModel {
        let mut row = model.into_active_model();
        row.set(E::WORKSPACE, self.workspace.into());
        row
    }
}

impl<E: Keyed> InWorkspace<E> {
    /// The row with this key of the platform's.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_key<C: ConnectionTrait>(self, conn: &C, key: &str) -> Result<Option<E::Model>, DbErr> {
        statement::one(conn, self.select().filter(E::KEY.eq(key))).await
    }

    /// The rows with these keys, in no particular order.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_keys<C: ConnectionTrait>(self, conn: &C, keys: &[&str]) -> Result<Vec<E::Model>, DbErr> {
        statement::all(conn, self.select().filter(E::KEY.is_in(keys.iter().copied()))).await
    }

    /// Locks the rows with these ids or keys in the order of their ids, each as by [`lock`](Self::lock). PostgreSQL only.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn lock_named<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
    ) -> Result<(), DbErr> {
        self.hold_named(conn, ids, keys, LockType::NoKeyUpdate).await
    }

    /// Locks the rows with these ids or keys in the order of their ids, each as by [`share`](Self::share). PostgreSQL only.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn share_named<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
    ) -> Result<(), DbErr> {
        self.hold_named(conn, ids, keys, LockType::Share).await
    }

    async fn hold_named<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
        lock: LockType,
    ) -> Result<(), DbErr> {
        if ids.is_empty() && keys.is_empty() {
            return Ok(());
        }
        let rows = self.named(ids, keys).order_by_asc(E::ID).lock(lock);
        conn.query_all(&rows.select_only().column(E::ID).into_query()).await.map(drop)
    }

    /// The rows with these ids or keys.
    pub(crate) fn named(&self, ids: &[Uuid], keys: &[&str]) -> Select<E> {
        let keyed = E::WORKSPACE.eq(self.workspace).and(E::KEY.is_in(statement::padded(keys)));
        self.checked().filter(Condition::any().add(E::ID.is_in(statement::padded(ids))).add(keyed))
    }

    /// The row with this key, locked as by [`lock`](Self::lock).
    ///
    /// # Errors
    /// When the database does.
    pub async fn lock_by_key<C: ConnectionTrait>(
        self,
        conn: &C,
        key: &str,
    ) -> Result<Option<E::Model>, DbErr> {
        statement::one(conn, locked(self.select().filter(E::KEY.eq(key)))).await
    }

    /// The row with this key, shared as by [`share`](Self::share).
    ///
    /// # Errors
    /// When the database does.
    pub async fn share_by_key<C: ConnectionTrait>(
        &self,
        conn: &C,
        key: &str,
    ) -> Result<Option<E::Model>, DbErr> {
        statement::one(conn, self.select().filter(E::KEY.eq(key)).lock(LockType::Share)).await
    }
}

/// The query's rows locked against other writers. PostgreSQL only: SQLite's statement is the same without it.
///
/// `FOR NO KEY UPDATE`, so that a row which merely refers to a locked one need not wait.
pub(crate) fn locked<E: EntityTrait>(select: Select<E>) -> Select<E> {
    select.lock(LockType::NoKeyUpdate)
}

/// Deletes the rows that a query finds, and says how many there were.
pub(crate) async fn delete_selected<C: ConnectionTrait, E: Tenant>(
    conn: &C,
    rows: Select<E>,
) -> Result<u64, DbErr> {
    let ids = rows.select_only().column(E::ID).into_query();
    Ok(E::delete_many().filter(E::ID.in_subquery(ids)).exec(conn).await?.rows_affected)
}

/// Moves a time of these rows forward to `at`, never back.
pub(crate) async fn touch<C: ConnectionTrait, E: Tenant>(
    scope: InWorkspace<E>,
    conn: &C,
    column: E::Column,
    ids: &[Uuid],
    at: i64,
) -> Result<(), DbErr> {
    if ids.is_empty() {
        return Ok(());
    }
    let update = E::update_many()
        .col_expr(column, Expr::value(at))
        .filter(scope.inside())
        .filter(E::ID.is_in(statement::padded(ids)))
        .filter(column.lt(at));
    update.exec(conn).await.map(drop)
}
