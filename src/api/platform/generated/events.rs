// Generated from openapi/platform-v1.yaml (sha256 ba9970f308adfbbe2c91442af850801b5cc9da6edf39ca4ce150e1f2983c5897), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
