// Generated from openapi/platform-v1.yaml (sha256 b6e3dc6d057218c32c08639e898da7558e6965e7f4a0fa6a94396304faa64172), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
