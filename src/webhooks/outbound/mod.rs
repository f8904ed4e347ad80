//! One attempt at a delivery: connects to an allowed address, sends the request, and reads the beginning of the
//! response.
//!
//! Owns the HTTP client and its limits. Never accesses the database, and decides nothing beyond one attempt.

mod client;
mod failure;
mod limited_stream;
mod resolver;
mod retry_after;
mod send;

use std::time::Duration;

pub use client::{ClientOptions, WebhookClient};
pub use failure::AttemptFailure;
pub use resolver::{ResolveFunction, ResolveFuture, system_resolve};
pub use send::{
    AttemptOutcome, DeliveryVerdict, EndpointResponse, MAX_STORED_BODY_BYTES, WebhookRequest, send,
};

/// The time limit of an attempt: connecting, sending, and reading the head and the body of the response.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
