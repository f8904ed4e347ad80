//! Time spans and keyset pagination, shared by the lists.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect,
    Select,
    sea_query::{Expr, ExprTrait},
};
use uuid::Uuid;

use crate::{scope::WorkspaceTable, statement};

/// A time span in milliseconds since the epoch. A bound that is `None` does not limit it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanMs {
    /// The start, included.
    pub from: Option<i64>,
    /// The end, excluded.
    pub until: Option<i64>,
}

impl SpanMs {
    /// Creates a span with both bounds.
    pub const fn between(from: i64, until: i64) -> Self {
        Self { from: Some(from), until: Some(until) }
    }

    /// Returns the intersection of two spans.
    pub(crate) fn intersection(self, other: Self) -> Self {
        let until = [self.until, other.until].into_iter().flatten().min();
        Self { from: Ord::max(self.from, other.from), until }
    }

    /// Returns the condition that the column's value lies in the span.
    pub(crate) fn contains(self, column: impl ColumnTrait) -> Condition {
        Condition::all()
            .add_option(self.from.map(|from| column.gte(from)))
            .add_option(self.until.map(|until| column.lt(until)))
    }

    /// Like [`contains`](Self::contains), but the database cannot use an index for it. Used where another condition
    /// finds the rows.
    pub(crate) fn contains_unindexed(self, column: impl ColumnTrait) -> Condition {
        Condition::all()
            .add_option(self.from.map(|from| statement::unindexed(column.gte(from))))
            .add_option(self.until.map(|until| statement::unindexed(column.lt(until))))
    }
}

/// One page of a list, starting after the position of a row (keyset pagination). A position consists of the row's value
/// of `column`, in milliseconds since the epoch, and its id.
///
/// Rows are ordered by `column`, then by id, both in the same direction. This makes positions unique, so that pages
/// neither skip nor repeat rows when rows are inserted or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyset<C> {
    /// The time column that orders the list. An index is required that contains the columns for which the query
    /// specifies a value, then this column, then the id.
    pub column: C,
    /// Whether the newest row comes first.
    pub descending: bool,
    /// The position of the last row of the previous page; `None` for the first page.
    pub after: Option<(i64, Uuid)>,
    /// The position of the last row that may be read; `None` reads to the end of the list.
    pub to: Option<(i64, Uuid)>,
    /// The maximum number of rows. Read one more than the page shows to detect a next page.
    pub limit: u64,
    /// Only rows with an earlier `updated_at`. Set for a list that a client reads incrementally: no running or later
    /// transaction commits a row that was changed before this time, so the client misses no change.
    pub updated_before: Option<i64>,
}

impl<C: ColumnTrait> Keyset<C> {
    /// Returns the condition that `column` lies in the span. The condition does not contain the positions of the page:
    /// they only decide which bounds of the span may use an index.
    ///
    /// If the list is ordered by this column, the positions `after` and `to` restrict it more than the bounds of the
    /// span do. SQLite might use a bound instead of the position to start or stop reading the index, and the last page
    /// would then read all rows before it. So when there is a position, the bound at the same end of the list is
    /// written as a condition that uses no index.
    pub(crate) fn span_condition(&self, column: C, span: SpanMs) -> Condition {
        if column.as_str() != self.column.as_str() {
            return span.contains(column);
        }
        let (from, until) = (SpanMs { until: None, ..span }, SpanMs { from: None, ..span });
        let (first, last) = if self.descending { (until, from) } else { (from, until) };
        let condition = |bound: SpanMs, has_position: bool| {
            if has_position { bound.contains_unindexed(column) } else { bound.contains(column) }
        };
        condition(first, self.after.is_some()).add(condition(last, self.to.is_some()))
    }

    /// Returns the position of row `row_number` of the list, counted from 1 at its start or after `self.after`.
    /// Returns `None` when no other row follows that row. Ignores `limit` and `updated_before`. Reads only the index if
    /// it contains all columns in the conditions of `rows`.
    pub(crate) async fn position_at<D: ConnectionTrait, E>(
        self,
        conn: &D,
        rows: Select<E>,
        row_number: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr>
    where
        E: WorkspaceTable + EntityTrait<Column = C>,
    {
        let two_rows = Self { limit: 2, updated_before: None, ..self };
        let two_rows = two_rows.page(rows, self.column).offset(row_number.saturating_sub(1));
        let positions = two_rows.select_only().column(self.column).column(E::ID).into_tuple();
        match positions.all(conn).await?.as_slice() {
            [position, _] => Ok(Some(*position)),
            _ => Ok(None),
        }
    }

    /// Returns the condition for rows after a position or, if `after` is false, for rows up to and including it.
    fn position_condition<E>(&self, (at, id): (i64, Uuid), after: bool) -> Expr
    where
        E: WorkspaceTable + EntityTrait<Column = C>,
    {
        let position = Expr::tuple([Expr::value(at), Expr::value(id)]);
        let row = Expr::tuple([Expr::col(self.column.as_column_ref()), Expr::col(E::ID.as_column_ref())]);
        match (after, self.descending) {
            (true, true) => row.lt(position),
            (true, false) => row.gt(position),
            (false, true) => row.gte(position),
            (false, false) => row.lte(position),
        }
    }

    /// Restricts the query to this page and orders its rows by `self.column`. `update_time` is the column that
    /// `updated_before` limits; it does not affect the order.
    pub(crate) fn page<E>(self, select: Select<E>, update_time: C) -> Select<E>
    where
        E: WorkspaceTable + EntityTrait<Column = C>,
    {
        let order = if self.descending { Order::Desc } else { Order::Asc };
        let after = self.after.map(|position| self.position_condition::<E>(position, true));
        let up_to = self.to.map(|position| self.position_condition::<E>(position, false));
        let updated_before = self.updated_before.map(|time| update_time.lt(time));
        select
            .filter(Condition::all().add_option(after).add_option(up_to).add_option(updated_before))
            .order_by(self.column, order.clone())
            .order_by(E::ID, order)
            .limit(self.limit)
    }
}
