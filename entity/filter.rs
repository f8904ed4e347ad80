//! What the lists share: spans of time and keyset pages.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect,
    Select,
    sea_query::{Expr, ExprTrait},
};
use uuid::Uuid;

use crate::{scope::Tenant, statement};

/// A span of milliseconds since the epoch; a missing end is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first millisecond inside.
    pub from: Option<i64>,
    /// The first millisecond after.
    pub until: Option<i64>,
}

impl Span {
    /// The span with both ends.
    pub const fn between(from: i64, until: i64) -> Self {
        Self { from: Some(from), until: Some(until) }
    }

    /// What lies in both spans.
    pub(crate) fn and(self, other: Self) -> Self {
        let until = [self.until, other.until].into_iter().flatten().min();
        Self { from: Ord::max(self.from, other.from), until }
    }

    /// True for the column's values inside the span.
    pub(crate) fn holds(self, column: impl ColumnTrait) -> Condition {
        Condition::all()
            .add_option(self.from.map(|from| column.gte(from)))
            .add_option(self.until.map(|until| column.lt(until)))
    }
}

impl Span {
    /// The same as [`holds`](Self::holds) where another condition finds the rows.
    pub(crate) fn holds_unindexed(self, column: impl ColumnTrait) -> Condition {
        Condition::all()
            .add_option(self.from.map(|from| statement::unindexed(column.gte(from))))
            .add_option(self.until.map(|until| statement::unindexed(column.lt(until))))
    }
}

/// One page of a list, found by the position of the last item before it.
///
/// Rows are ordered by `column`, then by id, both in the same direction, so that the position is unique and pages
/// neither skip nor repeat when rows come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyset<C> {
    /// The time column that orders the list; one that an index starts with.
    pub column: C,
    /// Newest first.
    pub descending: bool,
    /// The column's value and the id of the last item already seen.
    pub after: Option<(i64, Uuid)>,
    /// The column's value and the id of the last item that may be looked at; none looks to the end.
    pub to: Option<(i64, Uuid)>,
    /// How many rows to read: one more than the page shows tells whether there are more.
    pub limit: u64,
    /// Only rows last changed before this moment: the horizon of a complete delta sync.
    pub below_updated_at: Option<i64>,
}

impl<C: ColumnTrait> Keyset<C> {
    /// True for the column's values inside a span that the list is filtered by.
    ///
    /// The positions between which a page is read imply the ends of the span. SQLite would begin or end reading at either,
    /// so that such an end is only checked: otherwise the last page would read all that stands before it.
    pub(crate) fn within(&self, column: C, span: Span) -> Condition {
        if column.as_str() != self.column.as_str() {
            return span.holds(column);
        }
        let (from, until) = (Span { until: None, ..span }, Span { from: None, ..span });
        let (near, far) = if self.descending { (until, from) } else { (from, until) };
        let held = |end: Span, implied: bool| {
            if implied { end.holds_unindexed(column) } else { end.holds(column) }
        };
        held(near, self.after.is_some()).add(held(far, self.to.is_some()))
    }

    /// The position of the row so many places down that others follow; none where the list ends with it or before. Read from
    /// the index alone, where it holds the rows' conditions.
    pub(crate) async fn reach<D: ConnectionTrait, E>(
        self,
        conn: &D,
        rows: Select<E>,
        many: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr>
    where
        E: Tenant + EntityTrait<Column = C>,
    {
        let last = Self { limit: 2, below_updated_at: None, ..self };
        let last = last.page(rows, self.column).offset(many.saturating_sub(1));
        let last = last.select_only().column(self.column).column(E::ID).into_tuple();
        match last.all(conn).await?.as_slice() {
            [last, _] => Ok(Some(*last)),
            _ => Ok(None),
        }
    }

    /// True for the rows behind a position, or for those up to it, with itself.
    fn side<E>(&self, (at, id): (i64, Uuid), behind: bool) -> Expr
    where
        E: Tenant + EntityTrait<Column = C>,
    {
        let there = Expr::tuple([Expr::value(at), Expr::value(id)]);
        let here = Expr::tuple([Expr::col(self.column.as_column_ref()), Expr::col(E::ID.as_column_ref())]);
        match (behind, self.descending) {
            (true, true) => here.lt(there),
            (true, false) => here.gt(there),
            (false, true) => here.gte(there),
            (false, false) => here.lte(there),
        }
    }

    /// The query narrowed to this page.
    pub(crate) fn page<E>(self, select: Select<E>, updated_at: C) -> Select<E>
    where
        E: Tenant + EntityTrait<Column = C>,
    {
        let order = if self.descending { Order::Desc } else { Order::Asc };
        let behind = self.after.map(|position| self.side::<E>(position, true));
        let up_to = self.to.map(|position| self.side::<E>(position, false));
        let horizon = self.below_updated_at.map(|horizon| updated_at.lt(horizon));
        select
            .filter(Condition::all().add_option(behind).add_option(up_to).add_option(horizon))
            .order_by(self.column, order.clone())
            .order_by(E::ID, order)
            .limit(self.limit)
    }
}
