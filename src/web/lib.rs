//! The HTTP layer around all responses of a process: the API, the dashboard and plain pages.
//!
//! [`layer::Layer`] wraps the endpoint of a listener. It sets the request id and the client address, compresses responses,
//! handles `HEAD`, writes the access log, and catches panics. It does not change the content of responses.

mod client;
pub mod compress;
pub mod etag;
pub mod layer;
pub mod rejection;
pub mod request_context;
mod request_id;
