//! Lists whose rows are chosen by what hangs on them: students by course or tag, orders by course.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, QueryFilter, Select,
    sea_query::{ColumnRef, Expr, ExprTrait, SelectStatement},
};

use crate::{InWorkspace, Tenant, statement};

/// The children that a list's rows must have.
pub(crate) struct Children {
    /// Those of the workspace that are asked for, nothing selected yet.
    pub(crate) rows: SelectStatement,
    /// What else has to be true of them, which is for an index only where the parents are found through them.
    pub(crate) also: Option<Expr>,
    /// The column that names the parent.
    pub(crate) parent: ColumnRef,
}

impl Children {
    /// The parents' ids.
    fn parents(&self) -> SelectStatement {
        let mut rows = self.rows.clone();
        rows.and_where_option(self.also.clone());
        rows.expr(Expr::col(self.parent.clone())).take()
    }

    /// Whether their parents are soon found through them, and sorted.
    pub(crate) async fn are_few<C: ConnectionTrait>(&self, conn: &C) -> Result<bool, DbErr> {
        statement::is_short(conn, self.parents(), statement::FEW).await
    }

    /// True for the rows that have such a child. Each row's own are looked at, and not for each row all there are.
    pub(crate) fn exist_for<E: Tenant>(&self) -> Expr {
        let theirs = Expr::col(self.parent.clone()).eq(Expr::col(E::ID.as_column_ref()));
        let mut rows = self.rows.clone();
        rows.and_where(theirs).and_where_option(self.also.clone().map(statement::unindexed));
        Expr::exists(rows.expr(Expr::value(1)).take())
    }
}

impl<E: Tenant> InWorkspace<E> {
    /// The workspace's rows that have all of these children.
    ///
    /// Neither database can tell by itself how to go about it: starting from the children is quick when they are few
    /// and walking the list in its order when they are many, and the wrong one reads the whole workspace. So it is
    /// tried first whether they are few.
    pub(crate) async fn with_children<C: ConnectionTrait, const N: usize>(
        self,
        conn: &C,
        children: [Option<Children>; N],
    ) -> Result<Select<E>, DbErr> {
        let mut few = false;
        let mut condition = Condition::all();
        for children in children.into_iter().flatten() {
            if !few && children.are_few(conn).await? {
                few = true;
                condition = condition.add(E::ID.in_subquery(children.parents()));
            } else {
                condition = condition.add(children.exist_for::<E>());
            }
        }
        let select = if few { self.checked() } else { self.select() };
        Ok(select.filter(condition))
    }
}
