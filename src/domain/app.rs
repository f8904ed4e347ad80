//! What every part shares.

use std::sync::Arc;

use sea_orm::DbErr;

use crate::courses::catalogue::Catalogue;
use crate::keys::Principals;
use crate::outbox::{Encode, Example, Handoff};
use crate::passwords::Passwords;
use crate::requests::Recorder;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, Write};
use foundation::id::Ids;

/// The shared parts of one running process; cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

/// The parts, and what grows out of their use.
struct Inner {
    parts: Parts,
    catalogue: Catalogue,
    handoff: Handoff,
    requests: Recorder,
    passwords: Passwords,
}

/// What an [`App`] is made of.
pub struct Parts {
    /// What was set.
    pub config: Config,
    /// The database.
    pub db: Database,
    /// Wall time.
    pub clock: Clock,
    /// New ids.
    pub ids: Ids,
    /// Turns an event into the bytes that are stored, signed and sent.
    pub encode: Encode,
    /// Writes the contract's example of an event, for trying a subscription.
    pub example: Example,
    /// The API keys seen of late.
    pub principals: Principals,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        let (catalogue, handoff) = (Catalogue::default(), Handoff::default());
        let (requests, passwords) = (Recorder::default(), Passwords::default());
        Self { inner: Arc::new(Inner { parts, catalogue, handoff, requests, passwords }) }
    }

    /// When the courses of each workspace changed.
    pub fn catalogue(&self) -> &Catalogue {
        &self.inner.catalogue
    }

    /// The API requests that have yet to be written to the log.
    pub fn requests(&self) -> &Recorder {
        &self.inner.requests
    }

    /// The passwords that are worked on.
    pub fn passwords(&self) -> &Passwords {
        &self.inner.passwords
    }

    /// Where new deliveries meet the worker of this process.
    pub fn handoff(&self) -> &Handoff {
        &self.inner.handoff
    }

    /// Begins a write, recorded at the time of [`Database::begin_write`].
    ///
    /// # Errors
    /// When the database does not answer, or another process holds the SQLite file for too long.
    pub async fn begin_write(&self) -> Result<Write, DbErr> {
        self.db.begin_write(&self.clock).await
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.inner.parts
    }
}
