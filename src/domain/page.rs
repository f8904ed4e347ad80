//! Pages of a list: what is asked for, what comes out, where the next one begins.

use jiff::Timestamp;
use uuid::Uuid;

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

/// One page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items, in the order asked for.
    pub items: Vec<T>,
    /// Where the next page begins; `None` when this one is the last.
    pub next: Option<Position>,
}
