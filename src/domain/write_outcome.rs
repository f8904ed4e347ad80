//! The outcome of a write that may leave a record unchanged.

/// A record after a write that does nothing when the record already has the requested values.
///
/// If a caller needs the earlier values, let the write return them, since it has locked and read the record. Do not
/// read it on a second connection while the write is open, because the pool may have no free connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOutcome<T> {
    /// The record after the write.
    pub record: T,
    /// Whether the write changed the record.
    pub changed: bool,
}

impl<T> WriteOutcome<T> {
    /// Creates the outcome of a write that changed the record.
    pub(super) const fn changed(record: T) -> Self {
        Self { record, changed: true }
    }

    /// Creates the outcome of a write that changed nothing.
    pub(super) const fn unchanged(record: T) -> Self {
        Self { record, changed: false }
    }
}
