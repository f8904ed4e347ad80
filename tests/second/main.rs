//! A second version of the API beside v1: every construct that the generator supports, called over HTTP.
//!
//! The contract stands in `contract.yaml`; `cargo xtask codegen` writes `generated/` from it, as it does for v1.

#![allow(unreachable_pub, reason = "generated code is `pub` among its own, and this binary exports nothing")]

mod bodies;
#[allow(dead_code, reason = "a contract says more than these stories ask of it")]
mod generated;
mod library;
mod parameters;
mod server;
mod unions;
mod versions;
