// Generated from openapi/platform-v1.yaml (sha256 048e3a4c4898ee03ca51f317ee1fdce541f52178c5752ad764ac803e4e7776e9), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
