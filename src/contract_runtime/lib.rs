//! What code generated from a contract is written against.
//!
//! Owns routing, credentials, parameters, bodies, validation and the form of responses. Knows no contract: another
//! service can generate from its own and implement [`service::Service`].

pub mod answer;
pub mod call;
pub mod contract;
pub mod json;
pub mod parameter;
pub mod payload;
pub mod router;
pub mod scalar;
pub mod security;
pub mod service;
#[cfg(test)]
mod tests;
pub mod validate;
