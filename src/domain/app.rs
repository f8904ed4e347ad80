//! State shared by all parts of a process.

use std::sync::Arc;

use sea_orm::DbErr;

use crate::courses::catalog::CatalogEpochs;
use crate::keys::PrincipalCache;
use crate::outbox::{EventEncoder, ExampleEncoder, FastPath};
use crate::passwords::Passwords;
use crate::requests::Recorder;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, Write};
use foundation::id::Ids;

/// The shared state of a process. Cloning is cheap.
#[derive(Clone)]
pub struct App {
    inner: Arc<AppState>,
}

/// The parts that the caller provides, and the caches and queues that the nouns fill.
struct AppState {
    parts: AppParts,
    catalog: CatalogEpochs,
    fast_path: FastPath,
    requests: Recorder,
    passwords: Passwords,
}

/// The parts that an [`App`] is built from.
pub struct AppParts {
    /// The configuration.
    pub config: Config,
    /// The database.
    pub db: Database,
    /// The wall clock.
    pub clock: Clock,
    /// The generator of new ids.
    pub ids: Ids,
    /// Encodes an event as the bytes that are stored, signed and sent.
    pub encode: EventEncoder,
    /// Builds the contract's example of an event, which tests a subscription.
    pub example: ExampleEncoder,
    /// The cache of recently used API keys.
    pub principals: PrincipalCache,
}

impl App {
    /// Creates the state with empty caches and queues.
    pub fn new(parts: AppParts) -> Self {
        let (catalog, fast_path) = (CatalogEpochs::default(), FastPath::default());
        let (requests, passwords) = (Recorder::default(), Passwords::default());
        Self { inner: Arc::new(AppState { parts, catalog, fast_path, requests, passwords }) }
    }

    /// Returns the counters of catalog changes, one per workspace.
    pub fn catalog(&self) -> &CatalogEpochs {
        &self.inner.catalog
    }

    /// Returns the queue of API requests that are not in the request log yet.
    pub fn requests(&self) -> &Recorder {
        &self.inner.requests
    }

    /// Returns the limit on concurrent password hashing, with its counter.
    pub fn passwords(&self) -> &Passwords {
        &self.inner.passwords
    }

    /// Returns the fast path from new deliveries to the worker of this process.
    pub fn fast_path(&self) -> &FastPath {
        &self.inner.fast_path
    }

    /// Begins a write transaction, whose recording time is that of [`Database::begin_write`].
    ///
    /// # Errors
    /// Returns [`DbErr`] when the database is unavailable, or when another process locks the SQLite file for too long.
    pub async fn begin_write(&self) -> Result<Write, DbErr> {
        self.db.begin_write(&self.clock).await
    }
}

impl std::ops::Deref for App {
    type Target = AppParts;

    fn deref(&self) -> &AppParts {
        &self.inner.parts
    }
}
