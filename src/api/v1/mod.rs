//! The handlers of v1. Each converts the request, calls the domain and converts the result.
//!
//! Handlers contain no business rules, no validation and no SQL.

mod analytics;
mod convert;
mod courses;
mod enrollments;
mod orders;
pub mod paging;
mod students;

pub(super) use convert::{enum_map, id_filter, id_string, optional_id_string};

use crate::call::{Call, Caller};
use crate::error::ApiError;
use contract_runtime::response::ResponseParts;
use contract_runtime::service::Service;
use domain::app::App;

/// Implements the generated traits of all tags.
#[derive(Clone)]
pub struct Handlers {
    /// The application state of the process.
    pub app: App,
}

impl Service for Handlers {
    type Caller = Caller;
    type Error = ApiError;

    fn error_parts(&self, call: &Call, error: ApiError) -> ResponseParts {
        error.into_parts(call)
    }

    fn undocumented(&self, call: &Call, status: u16) -> ApiError {
        ApiError::undocumented(call.operation, status)
    }
}
