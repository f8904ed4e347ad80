// Generated from openapi/platform-v1.yaml (sha256 e66999344bee02fbed7e78d47462089e97b658f4a2f1301ab81e5251559a5c27), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
