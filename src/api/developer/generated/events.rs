// Generated from openapi/developer-v1.yaml (sha256 0094deb85c4273f05acc17257a2e1d0d224637b4cee3ca708e0498c3f3d8644c), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
