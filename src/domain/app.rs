//! State shared by all parts of a process.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sea_orm::DbErr;

use crate::candidate::Usage;
use crate::courses::catalog::CatalogEpochs;
use crate::deprecations::Deprecations;
use crate::event_feed::EventTail;
use crate::idempotency::DeferredReleases;
use crate::keys::PrincipalCache;
use crate::outbox::filters::FieldReader;
use crate::outbox::{EventEncoder, ExampleEncoder, FastPath};
use crate::passwords::Passwords;
use crate::platform_tokens::{KnownTokens, TokenUses};
use crate::processes::Process;
use crate::requests::Recorder;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, REQUEST_TIMEOUT, Write};
use foundation::id::{Ids, WorkspaceId};

/// The shared state of a process. Cloning is cheap.
#[derive(Clone)]
pub struct App {
    /// The database.
    pub db: Database,
    inner: Arc<AppState>,
}

/// The parts that the caller provides, and the caches, queues and process identity that the modules of this crate use.
struct AppState {
    parts: AppParts,
    catalog: CatalogEpochs,
    fast_path: FastPath,
    requests: Recorder,
    candidate: Usage,
    deprecations: Deprecations,
    passwords: Passwords,
    process: Process,
    deferred_releases: DeferredReleases,
    event_ids: Ids,
    event_tail: EventTail,
    platform_token_uses: TokenUses,
    known_platform_tokens: KnownTokens,
}

/// Applies the changes of the demo data to the workspace with this id and key, which has no records.
pub type Seeder = for<'a> fn(&'a App, WorkspaceId, &'a str) -> BoxFuture<'a, anyhow::Result<()>>;

/// The parts that an [`App`] is built from.
pub struct AppParts {
    /// The configuration.
    pub config: Config,
    /// The wall clock.
    pub clock: Clock,
    /// The generator of new ids.
    pub ids: Ids,
    /// Encodes an event as the bytes that are stored, signed and sent.
    pub encode: EventEncoder,
    /// Encodes the contract's example of an event, which a test of a subscription sends.
    pub example: ExampleEncoder,
    /// Reads fields of an encoded event, for filters.
    pub read_fields: FieldReader,
    /// Fills a new sandbox with the demo data.
    pub seed: Seeder,
    /// The cache of recently used API keys, and which keys exist.
    pub principals: PrincipalCache,
}

impl App {
    /// Creates the state with empty caches and queues.
    pub fn new(db: Database, parts: AppParts) -> Self {
        let (catalog, fast_path) = (CatalogEpochs::default(), FastPath::default());
        let (requests, passwords, process) = (Recorder::default(), Passwords::default(), Process::default());
        let deferred_releases = DeferredReleases::default();
        let state = AppState {
            parts,
            catalog,
            fast_path,
            requests,
            candidate: Usage::default(),
            deprecations: Deprecations::default(),
            passwords,
            process,
            deferred_releases,
            event_ids: Ids::default(),
            event_tail: EventTail::default(),
            platform_token_uses: TokenUses::default(),
            known_platform_tokens: KnownTokens::default(),
        };
        Self { db, inner: Arc::new(state) }
    }

    /// Returns the same state for the requests of clients: on PostgreSQL, calls of the database fail after
    /// [`REQUEST_TIMEOUT`].
    pub fn for_requests(&self) -> Self {
        Self { db: self.db.with_timeout(REQUEST_TIMEOUT), inner: Arc::clone(&self.inner) }
    }

    /// Returns the counters of course changes, one per workspace.
    pub fn catalog(&self) -> &CatalogEpochs {
        &self.inner.catalog
    }

    /// Returns the idempotency claims to be released later.
    pub(crate) fn deferred_releases(&self) -> &DeferredReleases {
        &self.inner.deferred_releases
    }

    /// Returns the recorder of API requests: the log entries and counts that are not in the database yet.
    pub fn requests(&self) -> &Recorder {
        &self.inner.requests
    }

    /// Returns the usage that was compared with a candidate contract and is not in the database yet.
    pub fn candidate(&self) -> &Usage {
        &self.inner.candidate
    }

    /// Returns what the contracts of this process mark as deprecated, and the uses that are not in the database yet.
    pub fn deprecations(&self) -> &Deprecations {
        &self.inner.deprecations
    }

    /// Returns the limiter of concurrent password hashing.
    pub fn passwords(&self) -> &Passwords {
        &self.inner.passwords
    }

    /// Returns the identity of this process, which creates the tokens of leases and claims.
    pub fn process(&self) -> &Process {
        &self.inner.process
    }

    /// Returns the generator of the ids of events, which determine the order of the event feed. Other ids do not influence it, so
    /// that a clock that differs from the database's does not delay the feed.
    pub(crate) fn event_ids(&self) -> &Ids {
        &self.inner.event_ids
    }

    /// Returns what readers of the event feed that wait for events share.
    pub(crate) fn event_tail(&self) -> &EventTail {
        &self.inner.event_tail
    }

    /// Returns when the last uses of platform tokens were written.
    pub(crate) fn platform_token_uses(&self) -> &TokenUses {
        &self.inner.platform_token_uses
    }

    /// Returns the platform tokens that exist.
    pub(crate) fn known_platform_tokens(&self) -> &KnownTokens {
        &self.inner.known_platform_tokens
    }

    /// Returns the fast path, which hands new deliveries over to the worker of this process.
    pub fn fast_path(&self) -> &FastPath {
        &self.inner.fast_path
    }

    /// Begins a write transaction. [`Database::begin_write`] documents its recording time.
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
