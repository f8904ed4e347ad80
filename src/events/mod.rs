//! The outbox: an event's row, appended inside the transaction of the change it tells of.
//!
//! Owns the list of events and their envelope. Never sends anything, and never knows how `data` is spelled
//! in JSON: the encoder that `App` carries writes the body once, and those bytes are stored.

use crate::id::{EventId, WorkspaceId};

/// What happened, with the record as it was right after the change.
pub enum Event {}

/// An event with its envelope.
pub struct Envelope {
    /// Unique per event; receivers drop doubles by it.
    pub id: EventId,
    /// When it happened.
    pub created_at: jiff::Timestamp,
    /// Where it happened.
    pub workspace: WorkspaceId,
    /// What happened.
    pub event: Event,
}

/// Writes an event's body: the exact bytes that are stored, signed and sent.
pub type Encode = fn(&Envelope) -> Vec<u8>;
