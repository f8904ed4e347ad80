//! An event, as it was received, and patterns for event types.

use std::str::FromStr;

use bytes::Bytes;
use serde_json::Value;

use crate::cli::outcome::CommandError;
use domain::outbox::EVENT_TYPES;
use foundation::clock::Clock;
use foundation::id::{EventId, Ids, WorkspaceId};

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// The id, as in the body.
    pub(super) id: String,
    /// The type, as in the body.
    pub(super) event_type: String,
    /// The workspace, as in the body.
    pub(super) workspace: String,
    /// The bytes that webhooks receive.
    pub(super) body: Bytes,
}

impl Event {
    /// Reads an event from its body. Returns `None` if it is not an event.
    pub(super) fn from_body(body: Bytes) -> Option<Self> {
        let fields: Value = serde_json::from_slice(&body).ok()?;
        let text = |name: &str| fields[name].as_str().map(str::to_owned);
        let (id, event_type, workspace) = (text("id")?, text("type")?, text("workspace_id")?);
        Some(Self { id, event_type, workspace, body })
    }

    /// Returns the contract's example of an event type, with a new id and the current time.
    pub(super) fn example(clock: &Clock, event_type: &str) -> Result<Self, CommandError> {
        let (ids, now) = (Ids::default(), clock.now());
        let (id, workspace): (EventId, WorkspaceId) = (ids.next(now), ids.next(now));
        let body = api::events::example(event_type, id, now, workspace);
        body.and_then(|body| Self::from_body(body.into())).ok_or_else(|| unknown_type(event_type))
    }
}

fn unknown_type(event_type: &str) -> CommandError {
    let types = EVENT_TYPES.join(", ");
    CommandError::usage(format!("there is no event type {event_type:?}; the types are {types}"))
}

/// A pattern for event types: a type, or a part of it before a dot and `*`, such as `order.*`, or `*` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EventPattern(String);

impl EventPattern {
    /// Returns whether it matches an event type.
    pub(super) fn matches(&self, event_type: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(prefix) => event_type.starts_with(prefix),
            None => event_type == self.0,
        }
    }
}

impl FromStr for EventPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pattern = Self(text.to_owned());
        match EVENT_TYPES.iter().any(|event_type| pattern.matches(event_type)) {
            true => Ok(pattern),
            false => Err(format!("matches no event type; the types are {}", EVENT_TYPES.join(", "))),
        }
    }
}
