//! The configuration: every setting, where its value comes from, and what it means.
//!
//! A line of [`settings`] declares a setting: its flag, variable, key in `creator-api.toml`, default and documentation.
//! Flags win over the environment, that over the file, that over the defaults. Nothing that a setting names is opened
//! here, except a file that holds a secret.

mod database;
mod deprecation;
mod fault;
mod flags;
mod given;
mod log;
mod mail;
mod network;
mod server;
mod settings;
mod source;
mod value;

pub use database::DatabaseUrl;
pub use fault::{Faults, nearest};
pub use flags::{LINKS, SENDING, SERVING, WEBHOOKS, common_flags, flags, given_flags};
pub use given::Given;
pub use log::Format;
pub use mail::{SmtpUrl, Tls};
pub use network::Network;
pub use settings::{Config, Database, Deprecation, Limits, Log, Mail, Server, Storage, Webhooks, Worker};
pub use value::{Secret, WebUrl};

use std::ffi::OsString;

impl Config {
    /// The configuration from the flags, this process's environment and the file that they name.
    ///
    /// # Errors
    /// Every fault, each with its source and what is expected there.
    pub fn load(flags: Vec<(&'static str, String)>) -> Result<(Self, Given), Faults> {
        Self::read(flags, std::env::vars_os())
    }

    /// The configuration from the flags, this environment and the file that they name.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn read(
        flags: Vec<(&'static str, String)>,
        environment: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<(Self, Given), Faults> {
        let mut given = source::gather(flags, environment)?;
        Ok((Self::typed(&mut given)?, given))
    }

    /// Every setting at its default.
    ///
    /// # Panics
    /// Never: a test reads the defaults.
    pub fn defaults() -> Self {
        Self::typed(&mut Given::default()).expect("every default is a value of its setting")
    }

    fn typed(given: &mut Given) -> Result<Self, Faults> {
        let config = Self::fields(given);
        if let Some(config) = &config {
            config.deprecation.check(given);
        }
        match config {
            Some(config) if given.faults.is_empty() => Ok(config),
            _ => Err(Faults(std::mem::take(&mut given.faults))),
        }
    }
}

#[cfg(test)]
mod tests;
