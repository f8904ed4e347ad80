// Generated from openapi/developer-v1.yaml (sha256 2227aa22ec8ff193f9230f0ff4ad9b51c402df9b65c9a6406cb87095621ffbc2), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
