//! The setting for the database URL.

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::value::SettingValue;

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
    const EXPECTED: &str = "sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME";

    fn parse(text: &str) -> Option<Self> {
        let schemes = ["sqlite:", "postgres://", "postgresql://"];
        schemes.iter().any(|scheme| text.starts_with(scheme)).then(|| Self(SecretString::from(text)))
    }

    fn show(&self) -> String {
        if self.expose().starts_with("sqlite:") {
            return self.expose().to_owned();
        }
        let Ok(mut url) = Url::parse(self.expose()) else { return "****".to_owned() };
        if url.password().is_some() {
            let _ = url.set_password(Some("****"));
        }
        let is_secret = |name: &str| name == "password";
        let parameters: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if parameters.iter().any(|(name, _)| is_secret(name)) {
            let masked =
                parameters.iter().map(|(name, value)| (name, if is_secret(name) { "****" } else { value }));
            url.query_pairs_mut().clear().extend_pairs(masked);
        }
        url.to_string()
    }
}
