// Generated from openapi/developer-v1.yaml (sha256 aa254c56e98ebd7384b1b84294d30d377157939bc13ef517bc0eab7132c0fa49), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
