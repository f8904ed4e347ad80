//! The configuration, read from flags, environment variables and `creator-api.toml`.
//!
//! [`settings`] declares every setting with its flag, variable, key, default and documentation. Flags take precedence over
//! environment variables, those over the file, and the file over the defaults.

mod database;
mod deprecation;
mod error;
mod flags;
mod log;
mod mail;
mod network;
mod raw_settings;
mod server;
mod settings;
mod source;
mod value;

pub use database::DatabaseUrl;
pub use error::{ConfigErrors, nearest};
pub use flags::{LINKS, SENDING, SERVING, WEBHOOKS, common_flags, flag_values, flags};
pub use log::LogFormat;
pub use mail::{SmtpUrl, Tls};
pub use network::Network;
pub use raw_settings::RawSettings;
pub use settings::{
    Config, DatabaseConfig, DeprecationConfig, LimitsConfig, LogConfig, MailConfig, ServerConfig,
    StorageConfig, WebhooksConfig, WorkerConfig,
};
pub use value::{HexSecret, WebUrl};

use std::ffi::OsString;

impl Config {
    /// Reads the configuration from the flags, the environment of this process, and the configuration file.
    ///
    /// # Errors
    /// Returns all invalid settings, each with its source and what is expected.
    pub fn load(flags: Vec<(&'static str, String)>) -> Result<(Self, RawSettings), ConfigErrors> {
        Self::read(flags, std::env::vars_os())
    }

    /// Reads the configuration from the flags, these environment variables, and the configuration file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn read(
        flags: Vec<(&'static str, String)>,
        environment: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<(Self, RawSettings), ConfigErrors> {
        let mut settings = source::read(flags, environment)?;
        Ok((Self::parse(&mut settings)?, settings))
    }

    /// Returns the default configuration.
    ///
    /// # Panics
    /// Panics if a default is invalid, which a test rules out.
    pub fn defaults() -> Self {
        Self::parse(&mut RawSettings::default()).expect("the defaults are valid")
    }

    fn parse(settings: &mut RawSettings) -> Result<Self, ConfigErrors> {
        let config = Self::parse_fields(settings);
        if let Some(config) = &config {
            config.deprecation.check(settings);
        }
        match config {
            Some(config) if settings.errors.is_empty() => Ok(config),
            _ => Err(ConfigErrors(std::mem::take(&mut settings.errors))),
        }
    }
}

#[cfg(test)]
mod tests;
