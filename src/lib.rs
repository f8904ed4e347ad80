//! The server of the creator platform's public API.
//!
//! The commands, and the server that they start. `src/README.md` describes the crates below.

pub mod server;

pub mod cli;
