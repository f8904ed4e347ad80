//! One attempt at a delivery: connects to an allowed address, sends the request, and reads the beginning of the
//! response.
//!
//! Owns the HTTP client and its limits. Never accesses the database, and decides nothing beyond one attempt.

mod client;
mod failure;
mod limited_stream;
mod resolver;
mod retry_after;
mod runtime;
mod send;

pub use client::{ClientOptions, WebhookClient};
pub use failure::AttemptFailure;
pub use resolver::{ResolveFunction, ResolveFuture, system_resolve};
pub use send::{
    ATTEMPT_TIMEOUT, AttemptOutcome, DeliveryVerdict, EndpointResponse, MAX_STORED_BODY_BYTES,
    WebhookRequest, send,
};
