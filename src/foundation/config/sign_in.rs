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
        let is_issuer =
            is_plain && !is_metadata_url(&url) && (url.scheme() == "https" || is_local_http(&url));
        is_issuer.then(|| Self(text.to_owned()))
    }

    fn problem(text: &str) -> Option<String> {
        let url = Url::parse(text).ok()?;
        if is_metadata_url(&url) {
            return Some(format!("this is the URL of the metadata of the issuer; remove {METADATA_PATH}"));
        }
        (url.scheme() == "http" && !is_local_http(&url))
            .then(|| "a provider on another machine must be reached over https".to_owned())
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// The path of the metadata, after the issuer (OpenID Connect Discovery 1.0, section 4).
const METADATA_PATH: &str = "/.well-known/openid-configuration";

fn is_metadata_url(url: &Url) -> bool {
    url.path().trim_end_matches('/').ends_with(METADATA_PATH)
}

/// Returns whether a URL with the scheme `http` leads to this machine, so that nobody else can read or change what is sent.
fn is_local_http(url: &Url) -> bool {
    let is_local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "http" && is_local
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
        let required = [
            ("oidc_issuer", "oidc_client_id"),
            ("oidc_client_id", "oidc_issuer"),
            ("oidc_client_secret", "oidc_issuer"),
            ("oidc_name", "oidc_issuer"),
            ("oidc_email_domains", "oidc_issuer"),
            ("oidc_allow", "oidc_issuer"),
        ];
        for (key, other) in required {
            if settings.is_set(key) && !settings.is_set(other) {
                let source = settings.source(key);
                settings
                    .errors
                    .push(format!("{source}: `{key}` requires `{other}`; set `{other}`, or remove `{key}`"));
            }
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
        for valid in ["https://a.example", "https://a.example/", "https://10.0.0.1:5/realms/x"] {
            assert_eq!(shown(valid).as_deref(), Some(valid));
        }
        for invalid in
            ["", "a.example", "https://a.example?x", "https://a.example#x", "https://u:p@a.example"]
        {
            assert_eq!(shown(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn an_issuer_over_http_must_be_on_this_machine() {
        for valid in ["http://127.0.0.1", "http://[::1]:8080", "http://localhost:5/realms/x"] {
            assert!(IssuerUrl::parse(valid).is_some(), "{valid}");
        }
        for invalid in
            ["http://10.0.0.1", "http://a.example", "http://localhost.a.example", "ftp://localhost"]
        {
            assert!(IssuerUrl::parse(invalid).is_none(), "{invalid}");
        }
    }
}
