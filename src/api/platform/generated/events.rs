// Generated from openapi/platform-v1.yaml (sha256 2c6436443e784d46d853afc3638714f07f2cc887fe47072c2c6e90d003cdd584), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
