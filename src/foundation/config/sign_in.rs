//! The settings for signing in to the dashboard.

use secrecy::{ExposeSecret, SecretString};
use url::{Host, Url};

use super::raw_settings::RawSettings;
use super::settings::{ServerConfig, SignInConfig};
use super::value::SettingValue;

/// The URL that identifies an OpenID Connect provider. Providers compare it byte by byte, so it is kept as it was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerUrl(String);

impl IssuerUrl {
    /// Returns the URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SettingValue for IssuerUrl {
    const EXPECTED: &str =
        "the issuer URL of an OpenID Connect provider, such as https://accounts.example.com, without a query";

    fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        (matches!(url.scheme(), "http" | "https") && is_plain).then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// The domain of email addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailDomain(String);

impl EmailDomain {
    /// Returns the domain as it was entered.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SettingValue for EmailDomain {
    const EXPECTED: &str = "a domain without @ and wildcards, such as example.com";

    fn parse(text: &str) -> Option<Self> {
        let is_domain = matches!(Host::parse(text), Ok(Host::Domain(_))) && !text.contains('*');
        is_domain.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// One line of text, such as a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SingleLine(String);

impl SingleLine {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SettingValue for SingleLine {
    const EXPECTED: &str = "one line of 1 to 200 characters";

    fn parse(text: &str) -> Option<Self> {
        let length = text.chars().count();
        let is_valid = (1..=200).contains(&length) && text.trim() == text && !text.contains(char::is_control);
        is_valid.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// The secret of this server at an OpenID Connect provider, which is never shown.
#[derive(Debug, Clone)]
pub struct ClientSecret(SecretString);

impl ClientSecret {
    /// Returns the value.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl SettingValue for ClientSecret {
    const SECRET: bool = true;
    const HAS_FLAG: bool = false;
    const EXPECTED: &str = "the client secret that the provider issued, on one line";

    fn parse(text: &str) -> Option<Self> {
        let is_valid = !text.is_empty() && !text.contains(char::is_control);
        is_valid.then(|| Self(SecretString::from(text)))
    }

    fn show(&self) -> String {
        "****".to_owned()
    }
}

impl SignInConfig {
    /// Reports an incomplete provider, and a server on which nobody can sign in.
    pub(super) fn check(&self, server: &ServerConfig, settings: &mut RawSettings) {
        let keys = [
            ("oidc_issuer", self.oidc_issuer.is_some(), "oidc_client_id", self.oidc_client_id.is_some()),
            ("oidc_client_id", self.oidc_client_id.is_some(), "oidc_issuer", self.oidc_issuer.is_some()),
            (
                "oidc_client_secret",
                self.oidc_client_secret.is_some(),
                "oidc_issuer",
                self.oidc_issuer.is_some(),
            ),
        ];
        for (key, _, required, _) in
            keys.into_iter().filter(|(_, is_set, _, has_other)| *is_set && !has_other)
        {
            let source = settings.source(key);
            settings.errors.push(format!("{source}: `{key}` requires `{required}`; set both or neither"));
        }
        if !self.password_sign_in && self.oidc_issuer.is_none() {
            let source = settings.source("password_sign_in");
            settings.errors.push(format!(
                "{source}: without passwords, `oidc_issuer` is required, since nobody could sign in; set it, or set \
                 `password_sign_in` to on"
            ));
        }
        if self.oidc_issuer.is_some() && server.public_url.is_none() && !server.listen.ip().is_loopback() {
            let source = settings.source("oidc_issuer");
            settings.errors.push(format!(
                "{source}: `oidc_issuer` requires `public_url`, to which the provider sends the browser back; set it to the URL \
                 of this server"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_not_an_address_a_pattern_or_a_list() {
        for valid in ["example.com", "schüler.example", "a.b.example"] {
            assert!(EmailDomain::parse(valid).is_some(), "{valid}");
        }
        for invalid in
            ["", "@acme.example", "*.example.com", "a.com, b.com", "a b", "10.0.0.1", "https://a.example"]
        {
            assert!(EmailDomain::parse(invalid).is_none(), "{invalid}");
        }
    }

    #[test]
    fn an_issuer_is_kept_as_it_was_entered() {
        let shown = |text: &str| IssuerUrl::parse(text).map(|issuer| issuer.show());
        for valid in ["https://a.example", "https://a.example/", "http://127.0.0.1:5/realms/x"] {
            assert_eq!(shown(valid).as_deref(), Some(valid));
        }
        for invalid in
            ["", "a.example", "https://a.example?x", "https://a.example#x", "https://u:p@a.example"]
        {
            assert_eq!(shown(invalid), None, "{invalid}");
        }
    }
}
