// Generated from openapi/developer-v1.yaml (sha256 d6fbd47039794403e58f74f9c7dc8b35b7f00880fe06f8f2518983583ff2e670), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
