//! An authorized call: its workspace and key, and the response headers that the operation sets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use poem::http::HeaderValue;

use super::state::ApiState;
use domain::keys::Principal;
use foundation::id::{KeyId, WorkspaceId};
use web::etag;

/// A call of one of the API's operations.
pub type Call = contract_runtime::call::Call<Caller>;

/// The authenticated caller of a request.
pub struct Caller {
    /// The workspace of the API key.
    pub workspace: WorkspaceId,
    /// The API key.
    pub key: KeyId,
    /// The request id that the response contains.
    pub request_id: String,
    /// The state that all calls share.
    pub(crate) state: Arc<ApiState>,
    replayed: AtomicBool,
    etag: OnceLock<HeaderValue>,
}

impl Caller {
    /// Creates the caller of a request that was sent with this key.
    pub(crate) fn new(state: Arc<ApiState>, principal: &Principal, request_id: String) -> Self {
        Self {
            workspace: principal.workspace,
            key: principal.key,
            request_id,
            state,
            replayed: AtomicBool::new(false),
            etag: OnceLock::new(),
        }
    }

    /// Marks the response as a stored one that is returned again.
    pub fn mark_replayed(&self) {
        self.replayed.store(true, Ordering::Relaxed);
    }

    /// Returns whether the response is a stored one that is returned again.
    pub(crate) fn is_replayed(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }

    /// Computes the `ETag` of the response from these bytes instead of its body. Used if the body contains the time of the
    /// request, which changes even if nothing else does.
    pub fn set_etag_of(&self, bytes: &[u8]) {
        self.etag.get_or_init(|| etag::of(bytes));
    }

    /// Returns the `ETag` that the operation set, if any.
    pub(crate) fn etag(&self) -> Option<&HeaderValue> {
        self.etag.get()
    }
}
