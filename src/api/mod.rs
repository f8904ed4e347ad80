//! The public API under `/api/v1`.
//!
//! Owns authentication, limits, validation, errors and payloads, and the thin handlers of `v1/`. Never names
//! the database.

pub mod answer;
pub mod call;
pub mod contract;
pub mod error;
pub mod generated;
pub mod payload;
pub mod scalar;
pub mod security;
