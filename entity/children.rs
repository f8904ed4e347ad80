//! Lists that are filtered by child rows: students by course or tag, orders by course.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, QueryFilter, Select,
    sea_query::{ColumnRef, Expr, ExprTrait, SelectStatement},
};

use crate::{InWorkspace, WorkspaceTable, statement};

/// Matching child rows. A list that is filtered by them contains the rows with at least one of these children.
pub(crate) struct Children {
    /// The matching child rows of the workspace, without selected columns.
    pub(crate) rows: SelectStatement,
    /// The condition on a time of the children, in addition to those of `rows`. An index may be used for it only if the
    /// children are read first and then their parents, not if the children of each parent are checked.
    pub(crate) time_condition: Option<Expr>,
    /// The column of the children that contains the parent's id.
    pub(crate) parent_id: ColumnRef,
}

impl Children {
    /// Selects the ids of the parents.
    fn parent_ids(&self) -> SelectStatement {
        let mut rows = self.rows.clone();
        rows.and_where_option(self.time_condition.clone());
        rows.expr(Expr::col(self.parent_id.clone())).take()
    }

    /// Returns whether the children are few enough to find and sort their parents quickly.
    pub(crate) async fn has_few_matches<C: ConnectionTrait>(&self, conn: &C) -> Result<bool, DbErr> {
        statement::has_fewer_than(conn, self.parent_ids(), statement::FEW_ROWS).await
    }

    /// Returns the condition for rows that have such a child. For each row, the database reads only the children of
    /// that row.
    pub(crate) fn exist_for<E: WorkspaceTable>(&self) -> Expr {
        let belongs_to_row = Expr::col(self.parent_id.clone()).eq(Expr::col(E::ID.as_column_ref()));
        let mut rows = self.rows.clone();
        rows.and_where(belongs_to_row)
            .and_where_option(self.time_condition.clone().map(statement::unindexed));
        Expr::exists(rows.expr(Expr::value(1)).take())
    }
}

impl<E: WorkspaceTable> InWorkspace<E> {
    /// Selects the workspace's rows that have at least one child of each of these sets. The query does not read the
    /// columns of the children. `None` is ignored.
    ///
    /// If one of the sets is small, it is fast to read its children first and then their parents. If all sets are
    /// large, it is fast to scan the list in its order and to check each row. The wrong plan reads the whole workspace,
    /// and neither database reliably chooses the right one. So this method first checks whether a set is small.
    pub(crate) async fn select_having_children<C: ConnectionTrait, const N: usize>(
        self,
        conn: &C,
        children: [Option<Children>; N],
    ) -> Result<Select<E>, DbErr> {
        let mut has_few = false;
        let mut condition = Condition::all();
        for children in children.into_iter().flatten() {
            if !has_few && children.has_few_matches(conn).await? {
                has_few = true;
                condition = condition.add(E::ID.in_subquery(children.parent_ids()));
            } else {
                condition = condition.add(children.exist_for::<E>());
            }
        }
        let select = if has_few { self.select_workspace_unindexed() } else { self.select() };
        Ok(select.filter(condition))
    }
}
