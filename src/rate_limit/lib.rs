//! How often a caller may call: the clock minute and the UTC day, per key or client address (seed 8).
//!
//! [`window`] holds the arithmetic of one caller, [`memory`] the callers of this process, [`store`] the day
//! counts that survive it. [`logins`] counts attempts to sign in. Nothing here knows HTTP: what a refusal looks like is
//! the API's and the dashboard's business.

pub mod logins;
pub mod memory;
pub mod store;
mod window;

use std::net::IpAddr;

use foundation::id::KeyId;

pub use memory::{Limiter, LookUp};
pub use window::{Draw, Standing, Window};

/// Whose bucket a request draws on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An API key; its day count is kept in the database.
    Key(KeyId),
    /// A client address without a valid key; counted in memory only, so that guessing asks no database.
    Address(IpAddr),
}

/// The greatest number of requests in each window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// In a clock minute.
    pub per_minute: u32,
    /// In a UTC day.
    pub per_day: u32,
}

impl Default for Caps {
    /// 60 a minute and 1,000 a day (seed 8).
    fn default() -> Self {
        Self { per_minute: 60, per_day: 1000 }
    }
}
