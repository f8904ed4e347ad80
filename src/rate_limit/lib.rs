//! Limits requests per clock minute and per UTC day, by API key or client address.
//!
//! [`window`] computes the windows of one caller, [`memory`] holds the callers of this process, and [`store`] persists daily
//! counts. [`logins`] limits sign-in attempts. This crate does not depend on HTTP: the API and the dashboard create the
//! responses to rejected requests.

pub mod logins;
pub mod memory;
pub mod store;
mod window;

use std::net::IpAddr;

use foundation::id::KeyId;

pub use memory::{KeyLookup, Limiter};
pub use window::{Decision, RateLimitStatus, Window};

/// The caller that a request is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An API key. Its daily count is stored in the database.
    Key(KeyId),
    /// A client IP address, for requests without a valid key. Counted in memory only, so that counting failed attempts
    /// to guess a key needs no queries.
    Address(IpAddr),
}

/// The maximum number of requests in each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of requests per clock minute.
    pub per_minute: u32,
    /// Maximum number of requests per UTC day.
    pub per_day: u32,
}

impl Default for Limits {
    /// Returns 60 requests per minute and 1,000 per day.
    fn default() -> Self {
        Self { per_minute: 60, per_day: 1000 }
    }
}
