//! Principals by the digest of their secret, held for at most 2 s.

/// The cache of [`super::authenticate`]; one stands in the `App` of a process.
#[derive(Debug, Default)]
pub struct Principals {}
