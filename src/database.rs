//! Connections and transactions (being written elsewhere).

/// The database.
pub struct Database {}
/// An open write transaction.
pub struct Write {}
