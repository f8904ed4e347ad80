// Generated from openapi/developer-v1.yaml (sha256 6bab3bb65406e1091350d874e9acef0a03eeadf26ef85fcdb005f7a3f7884b7b), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
