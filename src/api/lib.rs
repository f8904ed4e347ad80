//! The public API under `/api/v1`.
//!
//! Owns authentication, limits, validation, errors and payloads, and the thin handlers of `v1/`. Never names
//! the database.

pub mod answer;
pub mod call;
pub mod contract;
pub mod cursor;
mod envelope;
pub mod error;
pub mod events;
pub mod front;
pub mod generated;
pub mod idempotency;
pub mod middleware;
pub mod pages;
pub mod parameter;
pub mod payload;
pub mod rejection;
pub mod routes;
pub mod scalar;
pub mod security;
pub mod v1;
pub mod validate;
