// Generated from openapi/developer-v1.yaml (sha256 7a234c3704539de2890798470f33b22697c47b081d77810b568ab801726ecb71), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
