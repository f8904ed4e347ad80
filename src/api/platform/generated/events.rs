// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
