//! Limits how often the last use of a platform token is written.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use foundation::id::PlatformTokenId;

/// Minimum time between two updates of the last use, in milliseconds.
const USE_RESOLUTION_MS: i64 = 60_000;

/// When this process last wrote the last use of each token.
#[derive(Debug, Default)]
pub(crate) struct TokenUses(Mutex<HashMap<PlatformTokenId, i64>>);

impl TokenUses {
    /// Returns whether the use is to be written, which is then recorded.
    pub(super) fn is_due(&self, token: PlatformTokenId, now_ms: i64) -> bool {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = written.get(&token).is_none_or(|at| now_ms - at >= USE_RESOLUTION_MS);
        if is_due {
            written.insert(token, now_ms);
        }
        is_due
    }
}
