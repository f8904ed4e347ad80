//! Tests of a second contract, which prove that the generator does not depend on this API.
//!
//! `contract.yaml` uses every construct that the generator supports. `cargo xtask codegen` generates `generated/` from
//! it, as for v1. The tests serve the generated code as `/api/v2` beside v1 and call it over HTTP.

#![allow(unreachable_pub, reason = "generated code uses `pub`, and a test binary exports nothing")]

mod bodies;
mod deprecations;
#[allow(dead_code, reason = "the tests do not use all generated code")]
mod generated;
mod lines;
mod parameters;
mod server;
mod service;
mod unions;
mod versions;
