// Generated from openapi/developer-v1.yaml (sha256 4b0255d07ff45b4797fb6b5fab12f50a8e4a59048288e07075a007d8deff9888), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
