//! Pages of a list: what is asked for, what comes out, where the next one begins.

use entity::Keyset;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Error, Result};
use crate::app::App;

/// Rows that a page of a list looks through for those that fit, where no index finds them: what a person waits for. A search
/// of all is asked for by its own name.
pub const LOOKED: u64 = 5_000;

/// The column a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    /// When the record came to be.
    CreatedAt,
    /// When what it shows last changed.
    UpdatedAt,
    /// When an order was paid.
    PaidAt,
}

/// A sort order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub key: SortKey,
    /// Newest first.
    pub descending: bool,
}

/// The place in a sorted list behind which a page begins: the last item's sort time and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The sort column's value of the last item.
    pub at: Timestamp,
    /// The last item's id.
    pub id: Uuid,
}

/// Which page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The order.
    pub sort: Sort,
    /// The place behind which the page begins; `None` for the first page.
    pub after: Option<Position>,
    /// The last place that is looked at; `None` looks to the end.
    pub to: Option<Position>,
    /// Items at most, 1 to 100.
    pub limit: u32,
}

/// A half-open span of time: `from` is inside, `to` is not; an open end is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Inclusive.
    pub from: Option<Timestamp>,
    /// Exclusive.
    pub to: Option<Timestamp>,
}

impl Span {
    /// The span in milliseconds.
    pub(crate) fn in_ms(self) -> entity::Span {
        entity::Span {
            from: self.from.map(Timestamp::as_millisecond),
            until: self.to.map(Timestamp::as_millisecond),
        }
    }
}

impl PageRequest {
    /// A page of a list by age, newest first.
    pub const fn newest(after: Option<Position>, limit: u32) -> Self {
        Self { sort: Sort { key: SortKey::CreatedAt, descending: true }, after, to: None, limit }
    }

    /// The request as the finders take it: one row more than the page, to know whether there is a next one.
    ///
    /// A list in ascending order of `updated_at` stops at the horizon of running writes, so that a reader who
    /// follows it misses none. This must be called before the list is read.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the list has no such column.
    pub(crate) async fn keyset<C>(self, app: &App, column: fn(SortKey) -> Option<C>) -> Result<Keyset<C>> {
        let place = |position: Position| (position.at.as_millisecond(), position.id);
        let delta = self.sort.key == SortKey::UpdatedAt && !self.sort.descending;
        Ok(Keyset {
            column: column(self.sort.key)
                .ok_or_else(|| Error::invalid("sort", "must name a time that this list has"))?,
            descending: self.sort.descending,
            after: self.after.map(place),
            to: self.to.map(place),
            limit: u64::from(self.limit) + 1,
            below_updated_at: if delta { Some(app.db.horizon(&app.clock).await?) } else { None },
        })
    }

    /// Cuts what was read to the page, and says where the next one begins. `position` is a row's sort column
    /// and id.
    pub(crate) fn cut<R>(
        self,
        mut rows: Vec<R>,
        position: impl Fn(&R, SortKey) -> (i64, Uuid),
    ) -> (Vec<R>, Option<Position>) {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if rows.len() <= limit {
            return (rows, None);
        }
        rows.truncate(limit);
        let next = rows.last().map(|last| {
            let (at, id) = position(last, self.sort.key);
            Position::of((at, id))
        });
        (rows, next)
    }
}

impl Position {
    /// The place of a row: its sort column and id.
    pub(crate) fn of((at, id): (i64, Uuid)) -> Self {
        Self { at: foundation::clock::from_ms(at), id }
    }
}

/// One page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items, in the order asked for.
    pub items: Vec<T>,
    /// Where the next page begins; `None` when this one is the last.
    pub next: Option<Position>,
}
