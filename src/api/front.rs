//! What all calls of the API share: the app, the limiter, the compiled contract, and what was configured.

use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use jiff::tz::TimeZone;
use poem::http::HeaderValue;

use super::cursor::Cursors;
use super::pages::Pages;
use contract_runtime::contract::{Contract, Credential};
use domain::app::App;
use foundation::config::Config;
use foundation::secret::{MasterKey, Purpose};
use rate_limit::{Caps, Limiter};

/// The API's own part of the configuration, ready for use.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address by which clients reach this server, without a slash at its end.
    pub public_url: String,
    /// What a client address without a valid key may do.
    pub address_caps: Caps,
    /// What every response says of the end of v1.
    pub deprecation: Option<Deprecation>,
}

/// The headers of a version that has an end.
#[derive(Debug, Clone)]
pub struct Deprecation {
    /// `Deprecation` (RFC 9745): `@` and the Unix seconds from which v1 is deprecated.
    pub since: HeaderValue,
    /// `Sunset` (RFC 8594): an HTTP date.
    pub sunset: Option<HeaderValue>,
    /// `Link` with `rel="deprecation"`.
    pub link: Option<HeaderValue>,
}

impl Settings {
    /// The API's part of a configuration; `local_url` is the address to name when none is configured.
    ///
    /// # Errors
    /// When a configured address cannot stand in a header.
    pub fn new(config: &Config, local_url: &str) -> anyhow::Result<Self> {
        let public_url = config.server.public_url.as_ref().map_or(local_url, |url| url.base());
        Ok(Self {
            public_url: public_url.trim_end_matches('/').to_owned(),
            address_caps: Caps {
                per_minute: config.limits.default_per_minute.get(),
                per_day: config.limits.default_per_day.get(),
            },
            deprecation: deprecation(&config.deprecation)?,
        })
    }
}

fn deprecation(config: &foundation::config::Deprecation) -> anyhow::Result<Option<Deprecation>> {
    let Some(since) = config.deprecation_at else { return Ok(None) };
    let link = config
        .deprecation_link
        .as_ref()
        .map(|url| {
            HeaderValue::from_str(&format!("<{}>; rel=\"deprecation\"; type=\"text/html\"", url.base()))
        })
        .transpose()
        .context("the deprecation link cannot stand in a header")?;
    Ok(Some(Deprecation {
        since: HeaderValue::from_str(&format!("@{}", since.as_second()))?,
        sunset: config.sunset_at.map(http_date).transpose()?,
        link,
    }))
}

/// A time as HTTP writes it (RFC 9110, 5.6.7).
fn http_date(time: Timestamp) -> anyhow::Result<HeaderValue> {
    let mut text = String::new();
    DateTimePrinter::new().print_timestamp_rfc9110(&time, &mut text)?;
    debug_assert!(time.to_zoned(TimeZone::UTC).offset().is_zero());
    Ok(HeaderValue::from_str(&text)?)
}

/// What all calls of one version share.
pub struct Front {
    /// The shared parts of the process.
    pub app: App,
    /// Who has called how often.
    pub limiter: Arc<Limiter>,
    /// Where callers put their keys.
    pub credential: Credential,
    /// Seals and opens cursors.
    pub cursors: Arc<Cursors>,
    /// Ready pages of the catalogue.
    pub pages: Pages,
    /// What was configured.
    pub settings: Settings,
}

impl Front {
    /// What the calls of this contract share.
    pub fn new(app: App, settings: Settings, master: &MasterKey, contract: &Contract) -> Arc<Self> {
        Arc::new(Self {
            app,
            limiter: Arc::default(),
            credential: contract.credential,
            cursors: Arc::new(Cursors::new(master.derive(Purpose::Cursor))),
            pages: Pages::default(),
            settings,
        })
    }

    /// The front of another version of the API: the same app, limits and keys, a contract of its own, and no end.
    pub fn beside(&self, contract: &Contract) -> Arc<Self> {
        Arc::new(Self {
            app: self.app.clone(),
            limiter: Arc::clone(&self.limiter),
            credential: contract.credential,
            cursors: Arc::clone(&self.cursors),
            pages: Pages::default(),
            settings: Settings { deprecation: None, ..self.settings.clone() },
        })
    }
}
