//! Lists that are filtered by child rows: students by course or tag, orders by course.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, QueryFilter, Select,
    sea_query::{ColumnRef, Expr, ExprTrait, SelectStatement},
};

use crate::{InWorkspace, Tenant, statement};

/// The child rows that each row of a list must have.
pub(crate) struct Children {
    /// The matching child rows of the workspace, without selected columns.
    pub(crate) rows: SelectStatement,
    /// A further condition on the children. It may use an index only when the parents are found through the children.
    pub(crate) further_condition: Option<Expr>,
    /// The column that refers to the parent.
    pub(crate) parent: ColumnRef,
}

impl Children {
    /// Selects the ids of the parents.
    fn parents(&self) -> SelectStatement {
        let mut rows = self.rows.clone();
        rows.and_where_option(self.further_condition.clone());
        rows.expr(Expr::col(self.parent.clone())).take()
    }

    /// Returns whether the children are few enough to find and sort their parents quickly.
    pub(crate) async fn has_few_matches<C: ConnectionTrait>(&self, conn: &C) -> Result<bool, DbErr> {
        statement::has_fewer_than(conn, self.parents(), statement::FEW_CHILDREN).await
    }

    /// True for rows that have such a child. The database checks only the children of each row.
    pub(crate) fn exist_for<E: Tenant>(&self) -> Expr {
        let of_row = Expr::col(self.parent.clone()).eq(Expr::col(E::ID.as_column_ref()));
        let mut rows = self.rows.clone();
        rows.and_where(of_row).and_where_option(self.further_condition.clone().map(statement::unindexed));
        Expr::exists(rows.expr(Expr::value(1)).take())
    }
}

impl<E: Tenant> InWorkspace<E> {
    /// Selects the workspace's rows that have all of these children.
    ///
    /// Neither database picks the right plan here: starting from the children is fast when they are few, and scanning the list
    /// in its order is fast when they are many. The wrong plan reads the whole workspace. So this first tests whether the
    /// children are few.
    pub(crate) async fn with_children<C: ConnectionTrait, const N: usize>(
        self,
        conn: &C,
        children: [Option<Children>; N],
    ) -> Result<Select<E>, DbErr> {
        let mut few = false;
        let mut condition = Condition::all();
        for children in children.into_iter().flatten() {
            if !few && children.has_few_matches(conn).await? {
                few = true;
                condition = condition.add(E::ID.in_subquery(children.parents()));
            } else {
                condition = condition.add(children.exist_for::<E>());
            }
        }
        let select = if few { self.select_unindexed() } else { self.select() };
        Ok(select.filter(condition))
    }
}
