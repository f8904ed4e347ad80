//! The HTTP layer around all endpoints of a process: the API, the dashboard and the documentation pages.
//!
//! [`layer::RequestLayer`] wraps the endpoint of a listener. It sets the request id and the client address, compresses
//! responses, handles `HEAD`, writes the access log, and catches panics. Otherwise, it does not change responses.

mod client;
pub mod compress;
pub mod etag;
pub mod layer;
pub mod panics;
pub mod public_response;
pub mod rejection;
pub mod request_context;
mod request_id;
mod request_metrics;
mod request_outcome;
mod request_span;
pub mod secrets;
mod streamed_request;
