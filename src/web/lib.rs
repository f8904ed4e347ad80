//! What all HTTP responses of a process share, whether of the API, the dashboard or a plain page.
//!
//! [`layer::Layer`] wraps everything that a listener serves: it sets the request id and the client address, compresses,
//! responds to `HEAD`, writes the access log, and catches the panics that nothing inside has caught. It never decides what
//! a response says.

pub mod access;
mod client;
pub mod compress;
pub mod etag;
pub mod layer;
pub mod rejection;
mod request_id;
