//! Connections and transactions (being written elsewhere).

/// The database.
pub struct Database {}
/// An open write transaction.
#[derive(Default)]
pub struct Write {
    /// What the transaction adds to the rollups; flushed as its last statements.
    pub rollups: entity::rollups::Pending,
}
