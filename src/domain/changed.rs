//! What a write found: a record to change, or one that was so before.

/// A record after a write that leaves it alone when it is as wished already.
///
/// Whoever wants to know what was there before asks the write for it: it holds the record. To read it beside an open
/// write takes a second connection, of which there may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed<T> {
    /// The record as it is now.
    pub record: T,
    /// False when it was so before.
    pub changed: bool,
}

impl<T> Changed<T> {
    /// The write changed it.
    pub(super) const fn now(record: T) -> Self {
        Self { record, changed: true }
    }

    /// It was so before.
    pub(super) const fn before(record: T) -> Self {
        Self { record, changed: false }
    }
}
