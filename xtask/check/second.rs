//! The second version of the API, as the tests have it: what poem-openapi says of every supported construct.

#[path = "../../tests/second/generated/mod.rs"]
#[allow(dead_code, reason = "its document is asked for, and nothing is called")]
mod generated;
#[path = "../../tests/second/library.rs"]
#[allow(dead_code, reason = "it implements the traits, and nothing is called")]
mod library;

// The generated code uses these, and is not part of this package's source.
use bytes as _;
use contract_runtime as _;
use serde as _;
use serde_json::Value;

use crate::own;

/// The second version's own document, as JSON.
pub(crate) fn code() -> Value {
    let document = own::document::<generated::adapter::V2<library::Library>>(
        generated::document::TITLE,
        generated::document::VERSION,
        generated::events::EVENT_TYPES,
    );
    document.expect("the code has a document")
}
