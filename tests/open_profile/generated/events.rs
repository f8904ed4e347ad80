// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

use super::schemas;

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &["toolBroken"];

/// The body of an event, as webhooks receive it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// toolBroken
    ToolBroken(schemas::Tool),
}

impl Event {
    /// Returns the event type.
    pub const fn event_type(&self) -> &'static str {
        match self {
            Self::ToolBroken(_) => "toolBroken",
        }
    }
}
