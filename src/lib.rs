//! The commands of `creator-api`, and the server that `serve` and `demo` start.
//!
//! `src/README.md` describes the crates of the workspace.

pub mod server;

pub mod cli;
