// Generated from openapi/platform-v1.yaml (sha256 2d579b2dee67039071c1ec4650759194f90942543810af5e3e8e6defa24d301e), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
