//! The cached rows of one table.

use std::collections::{BTreeSet, HashMap};

use sea_orm::sea_query::{DeleteStatement, InsertStatement, OnConflict};
use sea_orm::{
    ActiveModelTrait, ActiveValue, DbBackend, DbErr, EntityTrait, IdenStatic, IntoActiveModel, Iterable,
    ModelTrait, Value,
};
use uuid::Uuid;

use crate::WorkspaceTable;
use crate::statement::{self, InsertBatch};

/// The cached rows of a table, of all workspaces.
pub struct TableRows<E: EntityTrait> {
    rows: HashMap<Uuid, CachedRow<E::Model>>,
    /// The ids of the rows with a value in a column, by column, workspace and value. An entry contains all rows of the
    /// database with this value. Without an entry, the database may contain rows that are not cached.
    ids: HashMap<(&'static str, Uuid, LookupValue), Vec<Uuid>>,
    /// The columns that were changed in rows that are not written yet.
    changed_columns: BTreeSet<&'static str>,
}

struct CachedRow<M> {
    workspace: Uuid,
    model: M,
    state: RowState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowState {
    /// The row is as in the database.
    Written,
    /// The row is in the database, with other values.
    Changed,
    /// The row is not in the database.
    New,
}

/// A value by which rows are found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LookupValue {
    Id(Uuid),
    Text(String),
}

impl LookupValue {
    /// Converts the value of a column. Returns `None` for null.
    fn new(value: Value) -> Option<Self> {
        match value {
            Value::Uuid(id) => id.map(Self::Id),
            Value::String(text) => text.map(Self::Text),
            _ => None,
        }
    }
}

impl From<Uuid> for LookupValue {
    fn from(id: Uuid) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for LookupValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A statement that writes cached rows.
pub(crate) enum PendingStatement {
    Insert {
        statement: InsertStatement,
        /// The number of rows that the statement must insert or update.
        row_count: u64,
    },
    Delete(DeleteStatement),
}

impl<E: WorkspaceTable> TableRows<E> {
    /// Adds rows as they are in the database. `complete` are columns with values of which `rows` contains all rows.
    pub(crate) fn remember(
        &mut self,
        workspace: Uuid,
        rows: Vec<E::Model>,
        complete: impl IntoIterator<Item = (E::Column, LookupValue)>,
    ) {
        for (column, value) in complete {
            self.set_complete(workspace, column, value);
        }
        for row in rows {
            if let Value::Uuid(Some(id)) = row.get(E::ID) {
                self.remove(id);
            }
            self.add(workspace, row, RowState::Written);
        }
    }

    /// Records that all rows with this value are cached.
    pub(crate) fn set_complete(&mut self, workspace: Uuid, column: E::Column, value: LookupValue) {
        self.ids.entry((column.as_str(), workspace, value)).or_default();
    }

    /// Returns the row with this id, if it is cached.
    pub(crate) fn by_id(&self, workspace: Uuid, id: Uuid) -> Option<&E::Model> {
        self.rows.get(&id).filter(|row| row.workspace == workspace).map(|row| &row.model)
    }

    /// Returns the rows with this value. `None` if the database may contain others.
    pub(crate) fn all_with(
        &self,
        workspace: Uuid,
        column: E::Column,
        value: impl Into<LookupValue>,
    ) -> Option<impl Iterator<Item = &E::Model>> {
        let ids = self.ids.get(&(column.as_str(), workspace, value.into()))?;
        Some(ids.iter().filter_map(|id| self.rows.get(id)).map(|row| &row.model))
    }

    /// Returns the row with this value of a unique column, or `Some(None)` if no row has it. `None` if it is not known.
    pub(crate) fn one_with(
        &self,
        workspace: Uuid,
        column: E::Column,
        value: impl Into<LookupValue>,
    ) -> Option<Option<E::Model>> {
        Some(self.all_with(workspace, column, value)?.next().cloned())
    }

    /// Returns the rows with one of these ids in the column, or `None` if not all of them are known to be cached.
    pub(crate) fn all_with_ids(
        &self,
        workspace: Uuid,
        column: E::Column,
        ids: &[Uuid],
    ) -> Option<Vec<E::Model>> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut rows = Vec::new();
        for id in ids {
            match column.as_str() == E::ID.as_str() {
                true => rows.push(self.by_id(workspace, id)?.clone()),
                false => rows.extend(self.all_with(workspace, column, id)?.cloned()),
            }
        }
        Some(rows)
    }

    /// Adds a new row. Returns false if a cached row has one of its unique values.
    pub(crate) fn insert(&mut self, workspace: Uuid, row: E::Model) -> bool {
        let is_taken = E::UNIQUE.iter().any(|column| {
            let entry = self.entry_of(workspace, &row, *column);
            entry.and_then(|entry| self.ids.get(&entry)).is_some_and(|ids| !ids.is_empty())
        });
        if !is_taken {
            self.add(workspace, row, RowState::New);
        }
        !is_taken
    }

    /// Changes the columns that are `Set`. Returns whether there are any, or `None` if the row is not cached.
    ///
    /// # Errors
    /// Returns [`DbErr`] if a value has another type than its column.
    pub(crate) fn update(
        &mut self,
        workspace: Uuid,
        id: Uuid,
        changes: &E::ActiveModel,
    ) -> Option<Result<bool, DbErr>> {
        let mut row = self.by_id(workspace, id)?.clone();
        let mut is_changed = false;
        for column in E::Column::iter() {
            if let ActiveValue::Set(value) = changes.get(column) {
                if let Err(error) = row.try_set(column, value) {
                    return Some(Err(error));
                }
                self.changed_columns.insert(column.as_str());
                is_changed = true;
            }
        }
        if is_changed {
            self.replace(workspace, id, row);
        }
        Some(Ok(is_changed))
    }

    /// Sets a time column of these rows to `at`, except in rows that already have this or a later time. Returns the ids
    /// that are not cached.
    pub(crate) fn touch(&mut self, workspace: Uuid, column: E::Column, ids: &[Uuid], at: i64) -> Vec<Uuid> {
        let mut others = Vec::new();
        for id in ids {
            match self.rows.get_mut(id).filter(|row| row.workspace == workspace) {
                Some(row) => {
                    let is_earlier = matches!(row.model.get(column), Value::BigInt(Some(time)) if time < at);
                    if is_earlier && row.model.try_set(column, at.into()).is_ok() {
                        row.state.set_changed();
                        self.changed_columns.insert(column.as_str());
                    }
                }
                None => others.push(*id),
            }
        }
        others
    }

    /// Returns the statements that write the new and changed rows, which then count as written.
    pub(super) fn take_pending(&mut self, backend: DbBackend) -> Result<Vec<PendingStatement>, DbErr> {
        // In the order of the ids, which is that of the changes for new rows.
        let mut pending: Vec<_> =
            self.rows.iter_mut().filter(|(_, row)| row.state != RowState::Written).collect();
        pending.sort_unstable_by_key(|(id, _)| **id);
        let (mut changed, mut new) = (Vec::new(), Vec::new());
        for (_, row) in pending {
            let rows = if row.state == RowState::New { &mut new } else { &mut changed };
            rows.push(row.model.clone());
            row.state = RowState::Written;
        }
        // Without key columns, the update locks a row only as the row is already locked.
        let changed_columns = std::mem::take(&mut self.changed_columns);
        let columns = E::Column::iter().filter(|column| changed_columns.contains(column.as_str()));
        let update = OnConflict::column(E::ID).update_columns(columns).to_owned();
        let mut statements = pending_inserts::<_, E::ActiveModel>(backend, changed, &update)?;
        statements.extend(pending_new_rows::<_, E::ActiveModel>(backend, new)?);
        Ok(statements)
    }

    fn add(&mut self, workspace: Uuid, model: E::Model, state: RowState) {
        let Value::Uuid(Some(id)) = model.get(E::ID) else { return };
        for column in E::LOOKUPS {
            let entry = self.entry_of(workspace, &model, *column);
            if let Some(ids) = entry.and_then(|entry| self.ids.get_mut(&entry)) {
                ids.push(id);
            }
        }
        self.rows.insert(id, CachedRow { workspace, model, state });
    }

    fn replace(&mut self, workspace: Uuid, id: Uuid, model: E::Model) {
        let Some(mut row) = self.remove(id) else { return };
        row.state.set_changed();
        self.add(workspace, model, row.state);
    }

    fn remove(&mut self, id: Uuid) -> Option<CachedRow<E::Model>> {
        let row = self.rows.remove(&id)?;
        for column in E::LOOKUPS {
            let entry = self.entry_of(row.workspace, &row.model, *column);
            if let Some(ids) = entry.and_then(|entry| self.ids.get_mut(&entry)) {
                ids.retain(|other| *other != id);
            }
        }
        Some(row)
    }

    /// Returns the key of `ids` for the row's value in this column.
    fn entry_of(
        &self,
        workspace: Uuid,
        row: &E::Model,
        column: E::Column,
    ) -> Option<(&'static str, Uuid, LookupValue)> {
        Some((column.as_str(), workspace, LookupValue::new(row.get(column))?))
    }
}

impl RowState {
    fn set_changed(&mut self) {
        if *self == Self::Written {
            *self = Self::Changed;
        }
    }
}

/// Returns statements that insert these new rows. [`RowCache::flush`](super::RowCache::flush) fails if another transaction has
/// inserted a row with the same unique value.
pub(super) fn pending_new_rows<M, A>(backend: DbBackend, rows: Vec<M>) -> Result<Vec<PendingStatement>, DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    pending_inserts(backend, rows, &OnConflict::new().do_nothing().to_owned())
}

/// Returns statements that insert these rows and must write all of them.
fn pending_inserts<M, A>(
    backend: DbBackend,
    rows: Vec<M>,
    on_conflict: &OnConflict,
) -> Result<Vec<PendingStatement>, DbErr>
where
    M: IntoActiveModel<A>,
    A: ActiveModelTrait,
{
    let batches = statement::insert_batches(backend, rows)?.into_iter();
    let with_conflict_clause = batches.map(|InsertBatch { mut statement, row_count }| {
        statement.on_conflict(on_conflict.clone());
        PendingStatement::Insert { statement, row_count: row_count as u64 }
    });
    Ok(with_conflict_clause.collect())
}

impl<E: EntityTrait> Default for TableRows<E> {
    fn default() -> Self {
        Self { rows: HashMap::new(), ids: HashMap::new(), changed_columns: BTreeSet::new() }
    }
}

impl<E: EntityTrait> std::fmt::Debug for TableRows<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableRows").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}
