// Generated from openapi/platform-v1.yaml (sha256 43244440bc74dac957e1c0fe9fb0c8f9f4a69b3df7bb106ea7a2efc0d886cd68), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
