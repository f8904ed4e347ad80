//! The runtime library of code that is generated from an OpenAPI contract.
//!
//! Contains routing, credentials, parameters, bodies, validation and responses. Does not depend on a particular
//! contract: another service can generate code from another contract and implement [`service::Service`].

pub mod call;
pub mod contract;
pub mod endpoint;
pub mod json;
mod media_type;
pub mod parameter;
mod path_template;
pub mod payload;
mod reference;
pub mod removal;
pub mod response;
pub mod router;
pub mod scalar;
pub mod security;
pub mod service;
#[cfg(test)]
mod tests;
pub mod validate;
