//! The caller of an operation: workspace and API key. Also stores what the operation decides about the response
//! headers.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use poem::http::{HeaderMap, HeaderValue, header};

use super::state::ApiState;
use domain::keys::Principal;
use domain::workspaces::Mode;
use foundation::id::{KeyId, WorkspaceId};
use web::etag;

/// A call of one of the API's operations.
pub type Call = contract_runtime::call::Call<Caller>;

/// The authenticated caller of a request.
pub struct Caller {
    /// The workspace of the API key.
    pub workspace: WorkspaceId,
    /// Whether the data of the workspace is live data or test data.
    pub(crate) mode: Mode,
    /// The API key.
    pub key: KeyId,
    /// SHA-256 of the secret of the request.
    pub secret_digest: [u8; 32],
    /// The client's IP address.
    pub address: IpAddr,
    /// The request id that the response contains.
    pub request_id: String,
    /// Whether the request has `If-None-Match`.
    pub is_conditional: bool,
    /// The state that all calls share.
    pub(crate) state: Arc<ApiState>,
    replayed: AtomicBool,
    etag: OnceLock<HeaderValue>,
    retry_after: OnceLock<i64>,
}

impl Caller {
    /// Creates the caller of a request that was sent with this key.
    pub(crate) fn new(
        state: Arc<ApiState>,
        principal: &Principal,
        address: IpAddr,
        request_id: String,
        headers: &HeaderMap,
    ) -> Self {
        Self {
            workspace: principal.workspace,
            mode: principal.mode,
            key: principal.key,
            secret_digest: principal.secret_digest,
            address,
            request_id,
            is_conditional: headers.contains_key(header::IF_NONE_MATCH),
            state,
            replayed: AtomicBool::new(false),
            etag: OnceLock::new(),
            retry_after: OnceLock::new(),
        }
    }

    /// Marks the response as the stored response to an earlier request with the same idempotency key.
    pub fn mark_replayed(&self) {
        self.replayed.store(true, Ordering::Relaxed);
    }

    /// Returns whether the response is the stored response to an earlier request.
    pub(crate) fn is_replayed(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }

    /// Computes the `ETag` of the response from these bytes instead of the body, which can contain values that change
    /// with each request, such as the current time. Only the first call has an effect.
    pub fn set_etag_from(&self, bytes: &[u8]) {
        self.etag.get_or_init(|| etag::compute(bytes));
    }

    /// Sets `Retry-After` of the response, in seconds.
    pub(crate) fn set_retry_after(&self, seconds: i64) {
        self.retry_after.get_or_init(|| seconds);
    }

    /// Returns `Retry-After` of the response, if the operation sets it.
    pub(crate) fn retry_after(&self) -> Option<i64> {
        self.retry_after.get().copied()
    }

    /// Returns the `ETag` from [`Caller::set_etag_from`], if the operation called it.
    pub(crate) fn etag(&self) -> Option<&HeaderValue> {
        self.etag.get()
    }
}
