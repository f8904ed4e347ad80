// Generated from openapi/platform-v1.yaml (sha256 1c0e871eaceba82d7c8574f8b0c3760f1c95b2e2a25a6023c8723f4c6ba0493c), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
