//! What all HTTP responses of a process share, whether of the API, the dashboard or a plain page.
//!
//! [`layer::Layer`] wraps everything that a listener serves: request id, client address, panics, compression, `HEAD`
//! and the access log are handled there and nowhere else. Knows no page and no operation.

pub mod access;
pub mod client;
pub mod compress;
pub mod etag;
pub mod layer;
pub mod rejection;
pub mod request_id;
