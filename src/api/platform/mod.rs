//! The Platform API under `/platform/v1`, for the back end of the platform.
//!
//! It has its own contract, tokens and pipeline. Its requests are not limited in number and not written to the request logs of
//! workspaces.

mod changes;
mod dashboard_links;
mod event_feed;
#[allow(clippy::all, reason = "generated")]
pub mod generated;
mod pipeline;

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::error::ApiError;
use contract_runtime::call::Call as ContractCall;
use contract_runtime::response::ResponseParts;
use contract_runtime::service::Service;
use domain::app::App;
use domain::platform_tokens::PlatformTokenRecord;

pub use pipeline::PlatformPipeline;

/// Maximum number of imports of this process that run at the same time. Each uses one database connection.
const MAX_IMPORTS: usize = 4;
/// `Retry-After` of a response with the status 503, in seconds.
const RETRY_AFTER: i64 = 5;

/// A call of one of the operations.
type Call = ContractCall<PlatformCaller>;

/// The authenticated caller of a request.
pub struct PlatformCaller {
    /// The platform token.
    pub(crate) token: PlatformTokenRecord,
    /// The request id that the response contains.
    pub(crate) request_id: String,
    /// The base URL of this server for clients, without a trailing slash.
    pub(crate) public_url: Arc<str>,
}

/// Implements the generated traits of all tags.
#[derive(Clone)]
pub struct PlatformHandlers {
    /// The state of the process. Its database calls have the timeout of requests.
    app: App,
    /// The state of the process for imports, whose database calls may take longer.
    import_app: App,
    /// One permit for each import that may run.
    imports: Arc<Semaphore>,
}

impl PlatformHandlers {
    /// Creates the handlers.
    pub fn new(app: &App) -> Self {
        let imports = Arc::new(Semaphore::new(MAX_IMPORTS));
        Self { app: app.for_requests(), import_app: app.clone(), imports }
    }
}

impl Service for PlatformHandlers {
    type Caller = PlatformCaller;
    type Error = ApiError;

    fn error_parts(&self, call: &Call, error: ApiError) -> ResponseParts {
        error.into_parts_of(call.operation, &call.request_id, &call.public_url)
    }

    fn undocumented(&self, call: &Call, status: u16) -> ApiError {
        ApiError::undocumented(call.operation, status)
    }
}
