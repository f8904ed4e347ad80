//! One attempt to deliver: connect where that is allowed, send, read a little of the answer, say what came of it.
//!
//! Owns the HTTP client and its limits. Never names the database, and decides nothing beyond one attempt.

mod client;
mod failure;
mod resolver;
mod retry_after;
mod send;

pub use client::{Client, Options};
pub use failure::Failure;
pub use resolver::{LookUp, LookingUp, system};
pub use send::{Answer, BODY_KEPT_BYTES, DEADLINE, Outcome, Request, Verdict, send};
