//! What the lists share: spans of time and keyset pages.

use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select,
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
    /// How many rows to read: one more than the page shows tells whether there are more.
    pub limit: u64,
    /// Only rows last changed before this moment: the horizon of a complete delta sync.
    pub below_updated_at: Option<i64>,
}

impl<C: ColumnTrait> Keyset<C> {
    /// True for the column's values inside a span that the list is filtered by.
    ///
    /// The position of a later page implies the end of the span where the list begins. SQLite would start reading at
    /// either, so that end is only checked: otherwise the last page would read all that stands before it.
    pub(crate) fn within(&self, column: C, span: Span) -> Condition {
        if self.after.is_none() || column.as_str() != self.column.as_str() {
            return span.holds(column);
        }
        let (from, until) = (Span { until: None, ..span }, Span { from: None, ..span });
        let (implied, other) = if self.descending { (until, from) } else { (from, until) };
        implied.holds_unindexed(column).add(other.holds(column))
    }

    /// The column's value so many of these rows further down; none where they end before. Read from the index alone,
    /// where it holds the rows' conditions.
    pub(crate) async fn reach<D: ConnectionTrait, E>(
        self,
        conn: &D,
        rows: Select<E>,
        many: u64,
    ) -> Result<Option<i64>, DbErr>
    where
        E: Tenant + EntityTrait<Column = C>,
    {
        let last = Self { limit: 1, below_updated_at: None, ..self };
        let last = last.page(rows, self.column).offset(many.saturating_sub(1));
        let last = last.select_only().column(self.column).into_query();
        conn.query_one(&last).await?.map(|row| row.try_get_by_index(0)).transpose()
    }

    /// The query narrowed to this page.
    pub(crate) fn page<E>(self, select: Select<E>, updated_at: C) -> Select<E>
    where
        E: Tenant + EntityTrait<Column = C>,
    {
        let order = if self.descending { Order::Desc } else { Order::Asc };
        let position = self.after.map(|(at, id)| {
            let seen = Expr::tuple([Expr::value(at), Expr::value(id)]);
            let here =
                Expr::tuple([Expr::col(self.column.as_column_ref()), Expr::col(E::ID.as_column_ref())]);
            if self.descending { here.lt(seen) } else { here.gt(seen) }
        });
        let horizon = self.below_updated_at.map(|horizon| updated_at.lt(horizon));
        select
            .filter(Condition::all().add_option(position).add_option(horizon))
            .order_by(self.column, order.clone())
            .order_by(E::ID, order)
            .limit(self.limit)
    }
}
