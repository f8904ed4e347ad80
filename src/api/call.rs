//! An admitted request: which workspace and key call, and what the response gets besides its body.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use poem::http::HeaderValue;

use super::front::Front;
use domain::keys::Principal;
use foundation::id::{KeyId, WorkspaceId};
use web::etag;

/// A call of one of the API's operations.
pub type Call = contract_runtime::call::Call<Caller>;

/// The sender of a request, once its key is known.
pub struct Caller {
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The key.
    pub key: KeyId,
    /// The request's id, as the response carries it.
    pub request_id: String,
    /// What all calls share.
    pub(crate) front: Arc<Front>,
    replayed: AtomicBool,
    tag: OnceLock<HeaderValue>,
}

impl Caller {
    /// The holder of this key, in this request.
    pub(crate) fn new(front: Arc<Front>, principal: &Principal, request_id: String) -> Self {
        Self {
            workspace: principal.workspace,
            key: principal.key,
            request_id,
            front,
            replayed: AtomicBool::new(false),
            tag: OnceLock::new(),
        }
    }

    /// Marks the response as the repetition of a stored one.
    pub fn mark_replayed(&self) {
        self.replayed.store(true, Ordering::Relaxed);
    }

    /// Whether the response repeats a stored one.
    pub(crate) fn is_replayed(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }

    /// Gives the response the tag of these bytes instead of its body's: for a body that also contains the time of the
    /// request, which goes on while nothing else has changed.
    pub fn tag_by(&self, bytes: &[u8]) {
        self.tag.get_or_init(|| etag::of(bytes));
    }

    /// The response's own tag, when the operation set one.
    pub(crate) fn tag(&self) -> Option<&HeaderValue> {
        self.tag.get()
    }
}
