// Generated from openapi/platform-v1.yaml (sha256 fa25df79876c93bd9a68c45d89e778639454632428b0a11f93cb3474772437a6), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
