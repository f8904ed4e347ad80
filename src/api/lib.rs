//! The public API under `/api/v1`.
//!
//! Owns authentication, limits, errors, and the thin handlers of `v1/`. Never names the database.

pub mod call;
#[cfg(test)]
mod contract_tests;
mod cursor;
mod envelope;
pub mod error;
pub mod events;
pub mod front;
pub mod generated;
mod idempotency;
pub mod middleware;
mod pages;
mod patterns;
pub mod v1;
