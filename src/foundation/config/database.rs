//! The setting for the database URL.

use secrecy::{ExposeSecret, SecretString};

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
