//! The public API under `/api/v1`.
//!
//! Owns authentication, limits, validation, errors and payloads, and the thin handlers of `v1/`. Never names
//! the database.

pub mod call;
#[cfg(test)]
mod contract_tests;
pub mod cursor;
mod envelope;
pub mod error;
pub mod events;
pub mod front;
pub mod generated;
pub mod idempotency;
pub mod middleware;
pub mod pages;
mod patterns;
pub mod v1;
