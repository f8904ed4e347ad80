// Generated from tests/it/rehearsal/v2.yaml (sha256 ed84963bdcaa9cb541f49980fa61eddaf2358629fad989072505beb9c4c6a3fa), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[];
