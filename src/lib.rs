//! The server of the creator platform's public API.
//!
//! In reading order: what every part shares, what the platform knows, how changes come in, how requests are
//! answered, and the commands that start it all. The map is `src/README.md`.

pub mod server;

pub mod cli;
