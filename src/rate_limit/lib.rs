//! Limits requests per clock minute and per UTC day, by API key or client address.
//!
//! [`Limiter`] decides whether a request is admitted. It counts in this process or, through the [`LimitStore`], in a store that
//! all processes share; `window` computes the windows of one caller. [`day_counts`] persists the daily counts of keys.
//! [`logins`] limits sign-in attempts and requests for password links. This crate does not depend on HTTP: the API and the dashboard create the responses to
//! rejected requests.

pub mod day_counts;
mod limit_store;
mod limiter;
pub mod logins;
mod window;

use std::net::IpAddr;

use foundation::id::KeyId;

pub use limit_store::LimitStore;
pub use limiter::{FLUSH_EVERY, KeyLookup, Limiter, network};
pub use window::{Decision, RateLimitStatus, Window};

/// The length of the short window, in milliseconds.
const MINUTE_MS: i64 = 60_000;

/// The caller that a request is counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An API key. Its daily count is stored in the database.
    Key(KeyId),
    /// A client IP address, for requests without a valid key. Its daily count is not stored: counting failed attempts to guess a
    /// key writes nothing to the disk.
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
