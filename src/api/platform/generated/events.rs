// Generated from openapi/platform-v1.yaml (sha256 14aefc126c904e845552e077a3f7ddf9ce8a1dd2f76767418591976536c35704), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
