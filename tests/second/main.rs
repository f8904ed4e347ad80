//! A second version of the API beside v1. Its contract uses every construct that the generator supports; the tests call it over
//! HTTP.
//!
//! The contract is `contract.yaml`; `cargo xtask codegen` generates `generated/` from it, as for v1.

#![allow(unreachable_pub, reason = "generated code uses `pub`, and a test binary exports nothing")]

mod bodies;
#[allow(dead_code, reason = "the tests do not use all generated code")]
mod generated;
mod parameters;
mod server;
mod service;
mod unions;
mod versions;
