//! The state that all calls of an API version share: app, rate limiter, cursors, response cache and settings.

use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use poem::http::HeaderValue;

use super::cursor::Cursors;
use super::response_cache::ResponseCache;
use contract_runtime::contract::{Contract, Credential};
use domain::app::App;
use foundation::config::Config;
use foundation::secret::{MasterKeys, Purpose};
use rate_limit::{LimitStore, Limiter, Limits};

/// The API's settings, derived from the configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The base URL of this server for clients, without a trailing slash.
    pub public_url: String,
    /// The rate limits of each client IP address, for requests without a valid key.
    pub address_limits: Limits,
    /// The deprecation headers of v1. `None` if v1 is not deprecated.
    pub deprecation: Option<Deprecation>,
}

/// The values of the headers that announce the deprecation of an API version.
#[derive(Debug, Clone)]
pub struct Deprecation {
    /// `Deprecation` (RFC 9745): `@` and the Unix time in seconds at which the deprecation starts.
    pub since: HeaderValue,
    /// `Sunset` (RFC 8594): when the version is shut down, as an HTTP date.
    pub sunset: Option<HeaderValue>,
    /// `Link` with `rel="deprecation"`.
    pub link: Option<HeaderValue>,
}

impl Settings {
    /// Reads the settings from the configuration. `local_url` is used if no public URL is configured.
    ///
    /// # Errors
    /// Returns an error if a deprecation header cannot be formatted, such as a link that is not a valid header value.
    pub fn new(config: &Config, local_url: &str) -> anyhow::Result<Self> {
        let public_url = config.server.public_url.as_ref().map_or(local_url, |url| url.base());
        Ok(Self {
            public_url: public_url.trim_end_matches('/').to_owned(),
            address_limits: Limits {
                per_minute: config.limits.default_per_minute.get(),
                per_day: config.limits.default_per_day.get(),
            },
            deprecation: deprecation(&config.deprecation)?,
        })
    }
}

/// Formats the deprecation headers. Returns `None` if no deprecation time is configured.
fn deprecation(config: &foundation::config::DeprecationConfig) -> anyhow::Result<Option<Deprecation>> {
    let Some(since) = config.deprecation_at else { return Ok(None) };
    let link = config
        .deprecation_link
        .as_ref()
        .map(|url| {
            HeaderValue::from_str(&format!("<{}>; rel=\"deprecation\"; type=\"text/html\"", url.base()))
        })
        .transpose()
        .context("the deprecation link is not a valid header value")?;
    Ok(Some(Deprecation {
        since: HeaderValue::from_str(&format!("@{}", since.as_second()))?,
        sunset: config.sunset_at.map(http_date).transpose()?,
        link,
    }))
}

/// Formats a time as an HTTP date (RFC 9110, section 5.6.7).
pub(crate) fn http_date(time: Timestamp) -> anyhow::Result<HeaderValue> {
    let mut text = String::new();
    DateTimePrinter::new().print_timestamp_rfc9110(&time, &mut text)?;
    Ok(HeaderValue::from_str(&text)?)
}

/// The state that all calls of one API version share.
pub struct ApiState {
    /// The application state of the process.
    pub app: App,
    /// Counts requests against the rate limits.
    pub limiter: Arc<Limiter>,
    /// Where clients send their API key.
    pub credential: Credential,
    /// Issues and verifies cursors.
    pub cursors: Arc<Cursors>,
    /// Caches the responses of `listCourses` and `getCourse`.
    pub response_cache: ResponseCache,
    /// The API's settings.
    pub settings: Settings,
}

impl ApiState {
    /// Creates the state of the API version that this contract describes.
    pub fn new(
        app: App,
        settings: Settings,
        master_key: &MasterKeys,
        limit_store: LimitStore,
        contract: &Contract,
    ) -> Arc<Self> {
        Arc::new(Self {
            app,
            limiter: Arc::new(Limiter::new(limit_store)),
            credential: contract.credential,
            cursors: Arc::new(Cursors::new(master_key.derive_all(Purpose::Cursor))),
            response_cache: ResponseCache::default(),
            settings,
        })
    }

    /// Creates the state of another API version, or of the Developer API. It shares the app, the rate limiter and the cursor key,
    /// but not the response cache, and is not deprecated.
    pub fn for_contract(&self, contract: &Contract) -> Arc<Self> {
        Arc::new(Self {
            app: self.app.clone(),
            limiter: Arc::clone(&self.limiter),
            credential: contract.credential,
            cursors: Arc::clone(&self.cursors),
            response_cache: ResponseCache::default(),
            settings: Settings { deprecation: None, ..self.settings.clone() },
        })
    }
}
