// Generated from openapi/platform-v1.yaml (sha256 fce22347d9952854b0e658c85c0ba8397bd10e9689a1c90e1688fc94bbdc6aa7), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
