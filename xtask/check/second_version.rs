//! The code of the second API version in the tests, which contains every supported construct.

#[path = "../../tests/second_version/generated/mod.rs"]
#[allow(dead_code, reason = "only its document is used")]
mod generated;
#[path = "../../tests/second_version/service.rs"]
#[allow(dead_code, reason = "it implements the traits, but is not called")]
mod service;

// The generated code uses these crates, but is not part of this package's source.
use bytes as _;
use contract_runtime as _;
use futures_util as _;
use serde as _;
use serde_json::Value;

use crate::code_document;

/// Returns the OpenAPI document of the second version's code, as JSON.
pub(crate) fn code() -> Value {
    let document = code_document::document::<generated::adapter::V2<service::RecordingService>>(
        generated::document::TITLE,
        generated::document::VERSION,
        generated::events::EVENT_TYPES,
    );
    document.expect("the code has a document")
}
