// Generated from openapi/platform-v1.yaml (sha256 0287699625d1d8229d91f4e44dee7d5e25c8b69a4580f684c2ef2ba5d7390ad0), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
