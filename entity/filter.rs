//! Time spans and keyset pagination, shared by the lists.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect,
    Select,
    sea_query::{Expr, ExprTrait},
};
use uuid::Uuid;

use crate::{scope::Tenant, statement};

/// A time span in milliseconds since the epoch. A missing end is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanMs {
    /// The first millisecond, included.
    pub from: Option<i64>,
    /// The end, excluded.
    pub until: Option<i64>,
}

impl SpanMs {
    /// Creates a span with both ends.
    pub const fn between(from: i64, until: i64) -> Self {
        Self { from: Some(from), until: Some(until) }
    }

    /// Returns the intersection of two spans.
    pub(crate) fn and(self, other: Self) -> Self {
        let until = [self.until, other.until].into_iter().flatten().min();
        Self { from: Ord::max(self.from, other.from), until }
    }

    /// Returns the condition that the column's value lies in the span.
    pub(crate) fn contains(self, column: impl ColumnTrait) -> Condition {
        Condition::all()
            .add_option(self.from.map(|from| column.gte(from)))
            .add_option(self.until.map(|until| column.lt(until)))
    }
}

impl SpanMs {
    /// Like [`contains`](Self::contains), but no index serves it. Used where another condition finds the rows.
    pub(crate) fn contains_unindexed(self, column: impl ColumnTrait) -> Condition {
        Condition::all()
            .add_option(self.from.map(|from| statement::unindexed(column.gte(from))))
            .add_option(self.until.map(|until| statement::unindexed(column.lt(until))))
    }
}

/// One page of a list, starting after the position of a row (keyset pagination).
///
/// Rows are ordered by `column`, then by id, both in the same direction. This makes positions unique, so that pages neither
/// skip nor repeat rows when rows are inserted or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyset<C> {
    /// The time column that orders the list. An index must start with it.
    pub column: C,
    /// Whether the newest row comes first.
    pub descending: bool,
    /// The column's value and the id of the last row of the previous page.
    pub after: Option<(i64, Uuid)>,
    /// The column's value and the id of the last row that may be read; `None` reads to the end of the list.
    pub to: Option<(i64, Uuid)>,
    /// The maximum number of rows. Read one more than the page shows to detect a next page.
    pub limit: u64,
    /// Only rows last changed before this time: the upper bound of a complete delta sync.
    pub below_updated_at: Option<i64>,
}

impl<C: ColumnTrait> Keyset<C> {
    /// Returns the condition for a time span by which the list is filtered.
    ///
    /// The positions `after` and `to` imply ends of the span. SQLite might start or stop reading at either of the two, so an
    /// implied end must not use the index: otherwise the last page would read all rows before it.
    pub(crate) fn within(&self, column: C, span: SpanMs) -> Condition {
        if column.as_str() != self.column.as_str() {
            return span.contains(column);
        }
        let (from, until) = (SpanMs { until: None, ..span }, SpanMs { from: None, ..span });
        let (near, far) = if self.descending { (until, from) } else { (from, until) };
        let bound = |end: SpanMs, implied: bool| {
            if implied { end.contains_unindexed(column) } else { end.contains(column) }
        };
        bound(near, self.after.is_some()).add(bound(far, self.to.is_some()))
    }

    /// Returns the position of the row number `row_count`, or `None` when no row follows it. Reads only the index if it covers
    /// the conditions of the rows.
    pub(crate) async fn position_at<D: ConnectionTrait, E>(
        self,
        conn: &D,
        rows: Select<E>,
        row_count: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr>
    where
        E: Tenant + EntityTrait<Column = C>,
    {
        let last = Self { limit: 2, below_updated_at: None, ..self };
        let last = last.page(rows, self.column).offset(row_count.saturating_sub(1));
        let last = last.select_only().column(self.column).column(E::ID).into_tuple();
        match last.all(conn).await?.as_slice() {
            [last, _] => Ok(Some(*last)),
            _ => Ok(None),
        }
    }

    /// Returns the condition for rows after a position, or for rows up to and including it.
    fn compared_to<E>(&self, (at, id): (i64, Uuid), after: bool) -> Expr
    where
        E: Tenant + EntityTrait<Column = C>,
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

    /// Restricts the query to this page.
    pub(crate) fn page<E>(self, select: Select<E>, updated_at: C) -> Select<E>
    where
        E: Tenant + EntityTrait<Column = C>,
    {
        let order = if self.descending { Order::Desc } else { Order::Asc };
        let after = self.after.map(|position| self.compared_to::<E>(position, true));
        let up_to = self.to.map(|position| self.compared_to::<E>(position, false));
        let horizon = self.below_updated_at.map(|horizon| updated_at.lt(horizon));
        select
            .filter(Condition::all().add_option(after).add_option(up_to).add_option(horizon))
            .order_by(self.column, order.clone())
            .order_by(E::ID, order)
            .limit(self.limit)
    }
}
