//! The configuration, read from flags, environment variables and `creator-api.toml`.
//!
//! [`settings`] declares every setting with its flag, variable, key, default and documentation. A flag takes
//! precedence over an environment variable, a variable over the file, and the file over the default.

mod database;
mod deprecation;
mod error;
mod flags;
mod limits;
mod log;
mod mail;
mod network;
mod raw_settings;
mod server;
mod settings;
mod sign_in;
mod source;
mod value;

pub use database::{DatabaseReadUrl, DatabaseUrl};
pub use error::{ConfigErrors, suggestion};
pub use flags::{
    ENDPOINT_SETTINGS, LINK_SETTINGS, SERVER_SETTINGS, WORKER_SETTINGS, common_flags, flag_values, flags,
};
pub use limits::{InvalidRedisUrl, LimitStoreSetting, RedisUrl};
pub use log::LogFormat;
pub use mail::{SmtpUrl, Tls};
pub use network::Network;
pub use raw_settings::RawSettings;
pub use settings::{
    Config, DatabaseConfig, DeprecationConfig, LimitsConfig, LogConfig, MailConfig, ServerConfig,
    SignInConfig, StorageConfig, WebhooksConfig, WorkerConfig,
};
pub use sign_in::{ClientSecret, EmailDomain, IssuerUrl, SingleLine};
pub use source::CLIENT_KEY_VARIABLE;
pub use value::{HexSecret, WebUrl};

use std::ffi::OsString;

impl Config {
    /// Reads the configuration from the flags, the environment of this process, and the configuration file. Also
    /// returns the unparsed settings, for [`RawSettings::report`].
    ///
    /// `flags` contains the key and the text of each flag, as returned by [`flag_values`].
    ///
    /// # Errors
    /// Returns all invalid settings, each with its source and what is expected. When the configuration file cannot be
    /// read, returns only that error. Settings that depend on each other are compared only when all values are valid.
    pub fn load(flags: Vec<(&'static str, String)>) -> Result<(Self, RawSettings), ConfigErrors> {
        Self::read(flags, std::env::vars_os())
    }

    /// Reads the configuration from the flags, these environment variables, and the configuration file.
    ///
    /// # Errors
    /// Returns the same errors as [`Config::load`].
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
    /// Panics if a default is invalid. A test checks that all defaults are valid.
    pub fn defaults() -> Self {
        Self::parse(&mut RawSettings::default()).expect("the defaults are valid")
    }

    fn parse(settings: &mut RawSettings) -> Result<Self, ConfigErrors> {
        let config = Self::parse_fields(settings);
        if let Some(config) = &config {
            config.database.check(settings);
            config.deprecation.check(settings);
            config.sign_in.check(&config.server, settings);
        }
        match config {
            Some(config) if settings.errors.is_empty() => Ok(config),
            _ => Err(ConfigErrors(std::mem::take(&mut settings.errors))),
        }
    }
}

#[cfg(test)]
mod tests;
