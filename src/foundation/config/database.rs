//! Which database holds the data.

use std::num::NonZeroU32;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::concern::concern;
use super::value::{Field, Shape};

concern! {
    /// Where the database is, and how much of it is used.
    Database, "Database" {
        /// The database, `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`. Without it, SQLite in the data
        /// folder.
        database_url: Option<DatabaseUrl> = None, "DATABASE_URL", "URL";
        /// Connections this process opens at most.
        database_max_connections: NonZeroU32 = Some("16"), "CREATOR_API_DATABASE_MAX_CONNECTIONS", "CONNECTIONS";
    }
}

/// The address of a database; its password is never shown.
#[derive(Debug, Clone)]
pub struct DatabaseUrl(SecretString);

impl DatabaseUrl {
    /// The whole address, password included.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// True when it names an SQLite file.
    fn is_sqlite(&self) -> bool {
        self.expose().starts_with("sqlite:")
    }
}

impl Field for DatabaseUrl {
    const SHAPE: Shape = Shape::Text;
    const SECRET: bool = true;
    const EXPECTED: &str = "sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME";

    fn parse(text: &str) -> Option<Self> {
        let known = ["sqlite:", "postgres://", "postgresql://"];
        known.iter().any(|scheme| text.starts_with(scheme)).then(|| Self(SecretString::from(text)))
    }

    fn show(&self) -> String {
        if self.is_sqlite() {
            return self.expose().to_owned();
        }
        let Ok(mut url) = Url::parse(self.expose()) else { return "****".to_owned() };
        if url.password().is_some() {
            let _ = url.set_password(Some("****"));
        }
        let secret = |name: &str| name == "password";
        if url.query_pairs().any(|(name, _)| secret(&name)) {
            let shown: Vec<(String, String)> = url
                .query_pairs()
                .map(|(name, value)| {
                    let value = if secret(&name) { "****".to_owned() } else { value.into_owned() };
                    (name.into_owned(), value)
                })
                .collect();
            url.query_pairs_mut().clear().extend_pairs(shown);
        }
        url.to_string()
    }
}
