//! The Developer API under `/developer/v1`: webhooks, their deliveries, events, the API key of the request, and
//! sandboxes, for programs.
//!
//! It has its own contract, and the request pipeline of v1: the same keys, limits, errors and request log. Its changes are in the
//! audit log, with the API key as the actor.

mod convert;
mod deliveries;
mod event_feed;
mod event_stream;
#[allow(clippy::all, reason = "generated")]
pub mod generated;
mod key;
mod sandbox;
mod webhooks;

use std::sync::Arc;

use crate::call::{Call, Caller};
use crate::error::{ApiError, Reply};
use contract_runtime::response::ResponseParts;
use contract_runtime::service::Service;
use domain::app::App;
use domain::audit::{self, Action};
use domain::keys;
use foundation::database::Write;
use foundation::secret::{MasterKeys, Purpose, Seal};

/// Implements the generated traits of all tags.
#[derive(Clone)]
pub struct DeveloperHandlers {
    /// The application state of the process.
    app: App,
    /// Encrypts the secrets and headers of webhooks.
    seal: Arc<Seal>,
    /// Encrypts stored responses that contain secrets.
    response_seal: Arc<Seal>,
}

impl DeveloperHandlers {
    /// Creates the handlers. `app` is the state of the process with the timeout of requests.
    pub fn new(app: App, master: &MasterKeys) -> Self {
        let seal = |purpose| Arc::new(Seal::new(master, purpose));
        Self { app, seal: seal(Purpose::WebhookSecrets), response_seal: seal(Purpose::IdempotentResponses) }
    }

    /// Adds an entry to the audit log: the action, the id of its record, and details.
    async fn audit(&self, write: &mut Write, call: &Call, entry: (Action, String, &str)) -> Reply<()> {
        let actor = keys::actor(write, call.workspace, call.key, call.address).await?;
        Ok(audit::append(&self.app, write, call.workspace, &actor, entry).await?)
    }
}

impl Service for DeveloperHandlers {
    type Caller = Caller;
    type Error = ApiError;

    fn error_parts(&self, call: &Call, error: ApiError) -> ResponseParts {
        error.into_parts(call)
    }

    fn undocumented(&self, call: &Call, status: u16) -> ApiError {
        ApiError::undocumented(call.operation, status)
    }
}
