//! The operations of v1: each converts, calls the domain, converts back.
//!
//! Owns nothing else: no rule, no check, no SQL.

mod analytics;
mod convert;
mod courses;
mod enrollments;
mod orders;
mod paging;
mod students;

pub(super) use convert::{text, texts, twins};

use crate::call::{Call, Caller};
use crate::error::ApiError;
use contract_runtime::answer::Parts;
use contract_runtime::service::Service;
use domain::app::App;

/// Implements the traits of all tags.
#[derive(Clone)]
pub struct Handlers {
    /// The shared parts of the process.
    pub app: App,
}

impl Service for Handlers {
    type Caller = Caller;
    type Error = ApiError;

    fn error_parts(&self, call: &Call, error: ApiError) -> Parts {
        error.into_parts(call)
    }

    fn undocumented(&self, call: &Call, status: u16) -> ApiError {
        ApiError::undocumented(call.operation, status)
    }
}
