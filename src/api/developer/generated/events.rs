// Generated from openapi/developer-v1.yaml (sha256 68dddef782dd92454b8f52765178443cf18751a287899921c0635dbf7b83eb1c), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
