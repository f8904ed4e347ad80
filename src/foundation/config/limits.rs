//! The setting for the store of rate limits.

use std::str::FromStr;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::value::SettingValue;

/// Where requests are counted against the rate limits.
#[derive(Debug, Clone)]
pub enum LimitStoreSetting {
    /// In each process.
    Memory,
    /// In the PostgreSQL database.
    Database,
    /// On a Valkey or Redis server.
    Redis(RedisUrl),
}

/// The URL of a Valkey or Redis server. Its password is masked when shown.
#[derive(Debug, Clone)]
pub struct RedisUrl(SecretString);

impl RedisUrl {
    /// Returns the whole URL, including the password.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl FromStr for RedisUrl {
    type Err = InvalidRedisUrl;

    /// Parses `redis://` or `rediss://`, an optional user name and password, a host, an optional port, and an optional number of
    /// the database as the path.
    fn from_str(text: &str) -> Result<Self, InvalidRedisUrl> {
        let url = Url::parse(text).map_err(|_| InvalidRedisUrl)?;
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        let database = url.path().trim_matches('/');
        let has_valid_path = database.is_empty() || database.parse::<u32>().is_ok();
        let has_nothing_else = url.query().is_none() && url.fragment().is_none();
        let is_redis = matches!(url.scheme(), "redis" | "rediss");
        if is_redis && has_host && has_valid_path && has_nothing_else {
            Ok(Self(SecretString::from(text)))
        } else {
            Err(InvalidRedisUrl)
        }
    }
}

/// The text is not the URL of a Valkey or Redis server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRedisUrl;

impl SettingValue for LimitStoreSetting {
    const SECRET: bool = true;
    const EXPECTED: &str = "memory, database, redis://HOST or rediss://HOST, with an optional user name, password, port and \
                            database number, such as redis://USER:PASSWORD@HOST:6379/0";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "memory" => Some(Self::Memory),
            "database" => Some(Self::Database),
            url => url.parse().ok().map(Self::Redis),
        }
    }

    fn show(&self) -> String {
        let url = match self {
            Self::Memory => return "memory".to_owned(),
            Self::Database => return "database".to_owned(),
            Self::Redis(url) => url,
        };
        let Ok(mut url) = Url::parse(url.expose()) else { return "****".to_owned() };
        if url.password().is_some() {
            let _ = url.set_password(Some("****"));
        }
        url.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_memory_the_database_or_a_redis_server() {
        let shown = |text: &str| LimitStoreSetting::parse(text).map(|setting| setting.show());
        for valid in ["memory", "database", "redis://cache.example", "rediss://cache.example:6380/2"] {
            assert_eq!(shown(valid).as_deref(), Some(valid));
        }
        assert_eq!(
            shown("redis://ada:love@cache.example").as_deref(),
            Some("redis://ada:****@cache.example")
        );
        for invalid in
            ["", "Memory", "redis", "redis://", "http://cache.example", "redis://h/a", "redis://h?db=1"]
        {
            assert_eq!(shown(invalid), None, "{invalid}");
        }
    }
}
