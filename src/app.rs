//! What every part shares.

use std::sync::Arc;

use crate::clock::Clock;
use crate::database::Database;
use crate::domain::keys::Principals;
use crate::events::Encode;
use crate::id::Ids;

/// The shared parts of one running process; cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Parts>,
}

/// What an [`App`] is made of.
pub struct Parts {
    /// The database.
    pub db: Database,
    /// Wall time.
    pub clock: Clock,
    /// New ids.
    pub ids: Ids,
    /// Turns an event into the bytes that are stored, signed and sent.
    pub encode: Encode,
    /// The API keys seen of late.
    pub principals: Principals,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        Self { inner: Arc::new(parts) }
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.inner
    }
}
