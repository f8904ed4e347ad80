// Generated from openapi/developer-v1.yaml (sha256 5cb9d94e3533fb5577f75de19023d6ac9df5d16b4b303767c3ea179d74379e20), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
