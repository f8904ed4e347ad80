//! The configuration: what can be set, where it comes from, and what it means.
//!
//! Owns the declaration of every setting. One `concern!` line feeds its flag, its variable, its line of
//! `creator-api.toml`, its default, its documentation and its row of `config check`. Flags win over the environment,
//! that over the file, that over the defaults. Never opens what a setting names, except a file that holds a secret.

mod check;
mod concern;
mod fault;
mod flags;
mod given;
mod network;
mod source;
mod value;

mod database;
mod deprecation;
mod limits;
mod log;
mod mail;
mod server;
mod storage;
mod webhooks;
mod worker;

pub use check::{markdown, report};
pub use concern::Setting;
pub use database::{Database, DatabaseUrl};
pub use deprecation::Deprecation;
pub use fault::nearest;
pub use fault::{Fault, Faults};
pub use flags::{LINKS, SENDING, SERVING, WEBHOOKS, common_flags, flags, given_flags};
pub use given::Given;
pub use limits::Limits;
pub use log::{Format, Log};
pub use mail::{Mail, SmtpUrl, Tls};
pub use network::Network;
pub use server::Server;
pub use source::{ENVIRONMENT_PREFIX, FILE, Source, gather};
pub use storage::Storage;
pub use value::{Secret, Switch, WebUrl};
pub use webhooks::Webhooks;
pub use worker::Worker;

/// Every setting, by concern, in the order in which they are shown; and the struct that holds their values.
macro_rules! concerns {
    ($($(#[doc = $about:literal])+ $name:ident: $concern:ident;)+) => {
        /// Everything that can be set, checked and typed.
        #[derive(Debug, Clone)]
        pub struct Config {
            $($(#[doc = $about])+ pub $name: $concern,)+
        }

        /// The settings of each concern below its heading.
        pub const CONCERNS: &[(&str, &[Setting])] = &[$(($concern::HEADING, $concern::SETTINGS)),+];

        impl Config {
            /// Types what was given; `None` when something is missing or wrong.
            fn concerns(given: &mut Given) -> Option<Self> {
                $(let $name = $concern::read(given);)+
                Some(Self { $($name: $name?),+ })
            }
        }
    };
}

concerns! {
    /// Where the data lives.
    storage: Storage;
    /// Which database holds it.
    database: Database;
    /// What goes to the log.
    log: Log;
    /// Where the server listens and how it is reached.
    server: Server;
    /// The default quotas.
    limits: Limits;
    /// Where webhooks may go.
    webhooks: Webhooks;
    /// How mail leaves.
    mail: Mail;
    /// What a worker shows of itself.
    worker: Worker;
    /// The end of v1.
    deprecation: Deprecation;
}

impl Config {
    /// Types what was given; every fault is reported, not only the first.
    ///
    /// # Errors
    /// The faults, each with its source and what is expected there.
    pub fn read(given: &mut Given) -> Result<Self, Faults> {
        let config = Self::concerns(given);
        if let Some(config) = &config {
            config.deprecation.check(given);
        }
        match config {
            Some(config) if given.faults.is_empty() => Ok(config),
            _ => Err(Faults(std::mem::take(&mut given.faults))),
        }
    }

    /// Every setting at its default.
    ///
    /// # Panics
    /// Never: a test reads the defaults.
    pub fn defaults() -> Self {
        Self::read(&mut Given::default()).expect("every default is a value of its setting")
    }

    /// The configuration from the flags, this process's environment and the file that they name.
    ///
    /// # Errors
    /// Every fault found, each with its source and what is expected there.
    pub fn load(flags: Vec<(&'static str, String)>) -> Result<(Self, Given), Faults> {
        let mut given = gather(flags, std::env::vars_os())?;
        let config = Self::read(&mut given)?;
        Ok((config, given))
    }
}

/// Every setting of every concern.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    CONCERNS.iter().flat_map(|(_, settings)| settings.iter())
}

#[cfg(test)]
mod tests;
