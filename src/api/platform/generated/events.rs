// Generated from openapi/platform-v1.yaml (sha256 aeb10c3d66f13bf3b402605a51cd4a5f39480fc135f988883813bd67c26506f4), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
