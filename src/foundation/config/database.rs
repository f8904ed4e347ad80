//! The settings for the database URLs.

use secrecy::{ExposeSecret, SecretString};

use super::raw_settings::RawSettings;
use super::settings::DatabaseConfig;
use super::value::SettingValue;
use crate::database::PostgresUrl;

/// The URL of a database. Its password is masked when shown.
#[derive(Debug, Clone)]
pub struct DatabaseUrl(SecretString);

impl DatabaseUrl {
    /// Returns the whole URL, including the password.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl SettingValue for DatabaseUrl {
    const SECRET: bool = true;
    const EXPECTED: &str = "sqlite:PATH, postgres://USER:PASSWORD@HOST/NAME, or several hosts as in postgres://USER@HOST1:5432,HOST2:5432/NAME";

    fn parse(text: &str) -> Option<Self> {
        let is_valid = text.starts_with("sqlite:") || PostgresUrl::parse(text).is_ok();
        is_valid.then(|| Self(SecretString::from(text)))
    }

    fn problem(text: &str) -> Option<String> {
        let is_postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
        PostgresUrl::parse(text).err().filter(|_| is_postgres).map(|problem| format!("the URL {problem}"))
    }

    fn show(&self) -> String {
        match PostgresUrl::parse(self.expose()) {
            Ok(url) => url.masked(),
            Err(_) => self.expose().to_owned(),
        }
    }
}

/// The URL of a PostgreSQL standby. Its password is masked when shown.
#[derive(Debug, Clone)]
pub struct DatabaseReadUrl(SecretString);

impl DatabaseReadUrl {
    /// Returns the whole URL, including the password.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl SettingValue for DatabaseReadUrl {
    const SECRET: bool = true;
    const EXPECTED: &str = "postgres://USER:PASSWORD@HOST/NAME";

    fn parse(text: &str) -> Option<Self> {
        let url = PostgresUrl::parse(text).ok().filter(|url| !url.has_several_hosts());
        url.map(|_| Self(SecretString::from(text)))
    }

    fn problem(text: &str) -> Option<String> {
        match PostgresUrl::parse(text) {
            Ok(_) => Some("the URL lists several hosts, but only one standby can be used".to_owned()),
            Err(problem) => Some(format!("the URL {problem}")),
        }
    }

    fn show(&self) -> String {
        PostgresUrl::parse(self.expose()).map_or_else(|_| "****".to_owned(), |url| url.masked())
    }
}

impl DatabaseConfig {
    /// Reports a standby without a PostgreSQL server.
    pub(super) fn check(&self, settings: &mut RawSettings) {
        let is_postgres = self.database_url.as_ref().is_some_and(|url| !url.expose().starts_with("sqlite:"));
        if self.database_read_url.is_some() && !is_postgres {
            let source = settings.source("database_read_url");
            settings.errors.push(format!(
                "{source}: `database_read_url` requires a PostgreSQL server in `database_url`, since SQLite has no standby; \
                 remove it, or set `database_url` to the URL of the primary"
            ));
        }
    }
}
