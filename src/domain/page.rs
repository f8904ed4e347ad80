//! Pages of a list: the request, the result, and the position of the next page.

use entity::Keyset;
use jiff::Timestamp;
use uuid::Uuid;

use super::{Error, Result};
use foundation::clock::Clock;
use foundation::database::Database;

/// Maximum number of rows that one page of a search reads when no index serves the search, so that pages load fast.
/// Users must request a search of all rows explicitly.
pub const MAX_SCANNED_ROWS: u64 = 5_000;

/// The column a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    /// The creation time of the record.
    CreatedAt,
    /// The time of the most recent recorded change of the record or of the data shown with it.
    UpdatedAt,
    /// The payment time of an order.
    PaidAt,
}

/// A sort order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub key: SortKey,
    /// Whether the order is newest first.
    pub descending: bool,
}

/// A position in a sorted list: the sort time and the id of an item. A page starts after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The item's value of the sort column.
    pub at: Timestamp,
    /// The item's id.
    pub id: Uuid,
}

/// The request for a page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The sort order.
    pub sort: Sort,
    /// The position after which the page starts. `None` requests the first page.
    pub after: Option<Position>,
    /// The last position to read, inclusive. `None` reads to the end of the list.
    pub to: Option<Position>,
    /// Maximum number of items, at least 1.
    pub limit: u32,
}

/// A half-open time span. `None` means unbounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeSpan {
    /// The start, inclusive.
    pub from: Option<Timestamp>,
    /// The end, exclusive.
    pub to: Option<Timestamp>,
}

impl TimeSpan {
    /// Converts the span to milliseconds since the epoch.
    pub(crate) fn in_ms(self) -> entity::SpanMs {
        entity::SpanMs {
            from: self.from.map(Timestamp::as_millisecond),
            until: self.to.map(Timestamp::as_millisecond),
        }
    }
}

impl PageRequest {
    /// Creates a request for a page sorted by creation time, newest first.
    pub const fn newest_first(after: Option<Position>, limit: u32) -> Self {
        Self { sort: Sort { key: SortKey::CreatedAt, descending: true }, after, to: None, limit }
    }

    /// Returns whether this page may lag. A client that reads changes must not miss one, so a page that is sorted or filtered by time
    /// of update may not.
    pub(crate) fn may_lag(self, updated: TimeSpan) -> bool {
        self.sort.key == SortKey::CreatedAt && updated == TimeSpan::default()
    }

    /// Returns the query arguments for this page. The query reads one row more than the page, to detect whether there
    /// is a next page. `column` maps a sort key to a column, or to `None` if the list cannot be sorted by that key.
    ///
    /// In ascending order of `updated_at`, the list excludes times at which running writes may still commit changes, so
    /// that a client that reads the list incrementally misses no change. Call this before the list is read.
    ///
    /// # Errors
    /// Returns [`Error::Invalid`] when the list cannot be sorted by the requested key, and [`Error::Internal`] when a
    /// query fails.
    pub(crate) async fn keyset<C>(
        self,
        db: &Database,
        clock: &Clock,
        column: fn(SortKey) -> Option<C>,
    ) -> Result<Keyset<C>> {
        let key = |position: Position| (position.at.as_millisecond(), position.id);
        let is_incremental = self.sort.key == SortKey::UpdatedAt && !self.sort.descending;
        Ok(Keyset {
            column: column(self.sort.key)
                .ok_or_else(|| Error::invalid("sort", "must name a time by which this list can be sorted"))?,
            descending: self.sort.descending,
            after: self.after.map(key),
            to: self.to.map(key),
            limit: u64::from(self.limit) + 1,
            updated_before: if is_incremental { Some(db.horizon(clock).await?) } else { None },
        })
    }

    /// Removes the row after the page, if any, and returns the position after which the next page starts: `None` if no
    /// row was removed. `position` returns a row's value of the sort column, in milliseconds since the epoch, and its
    /// id.
    pub(crate) fn trim_to_page<R>(
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
            Position::from_parts((at, id))
        });
        (rows, next)
    }
}

impl Position {
    /// Creates the position of a row from its value of the sort column, in milliseconds since the epoch, and its id.
    pub(crate) fn from_parts((at_ms, id): (i64, Uuid)) -> Self {
        Self { at: foundation::clock::from_ms(at_ms), id }
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items, in the requested order.
    pub items: Vec<T>,
    /// The position after which the next page starts. `None` on the last page.
    pub next: Option<Position>,
}
