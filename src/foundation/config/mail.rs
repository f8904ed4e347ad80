//! The settings for sending mail.

use std::net::IpAddr;

use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::value::SettingValue;

/// How the connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// Implicit TLS (RFC 8314), `smtps://`.
    Wrapped,
    /// Mandatory STARTTLS (RFC 3207), `smtp+starttls://`.
    StartTls,
    /// No encryption, `smtp://`.
    None,
}

impl Tls {
    fn scheme(self) -> &'static str {
        match self {
            Self::Wrapped => "smtps",
            Self::StartTls => "smtp+starttls",
            Self::None => "smtp",
        }
    }

    /// Returns the default port.
    fn default_port(self) -> u16 {
        match self {
            Self::Wrapped => 465,
            Self::StartTls => 587,
            Self::None => 25,
        }
    }
}

/// The URL of a mail server. The user name is masked like the password, since some providers use a secret as the user
/// name.
#[derive(Debug, Clone)]
pub struct SmtpUrl {
    /// How the connection is encrypted.
    pub tls: Tls,
    /// The host name or IP address of the server. Its certificate must be valid for it.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The user name and the password, if the URL contains them.
    login: Option<(SecretString, SecretString)>,
}

impl SmtpUrl {
    /// Returns the user name and the password, or `None` if the URL has no login.
    pub fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(name, password)| (name.expose_secret(), password.expose_secret()))
    }
}

impl SettingValue for SmtpUrl {
    const SECRET: bool = true;
    const EXPECTED: &str = "smtps://USER:PASSWORD@HOST, smtp+starttls://USER:PASSWORD@HOST, or without encryption \
                            smtp://HOST for this machine and smtp://HOST?tls=none for others";

    fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let variants = [Tls::Wrapped, Tls::StartTls, Tls::None];
        let tls = variants.into_iter().find(|tls| tls.scheme() == url.scheme())?;
        let host = url.host_str()?.trim_matches(['[', ']']).to_ascii_lowercase();
        let allows_plaintext = match url.query() {
            None => false,
            Some("tls=none") if tls == Tls::None => true,
            Some(_) => return None,
        };
        let is_allowed = tls != Tls::None || allows_plaintext || is_this_machine(&host);
        let has_path_or_fragment = !matches!(url.path(), "" | "/") || url.fragment().is_some();
        // The `url` crate does not decode the host of these schemes, so percent-encoding is rejected.
        if !is_allowed
            || has_path_or_fragment
            || url.port() == Some(0)
            || host.is_empty()
            || host.contains('%')
        {
            return None;
        }
        Some(Self { tls, host, port: url.port().unwrap_or(tls.default_port()), login: login(&url)? })
    }

    fn show(&self) -> String {
        let Self { tls, host, port, login } = self;
        let login = if login.is_some() { "****:****@" } else { "" };
        let query = if *tls == Tls::None && !is_this_machine(host) { "?tls=none" } else { "" };
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{}://{login}{host}:{port}{query}", tls.scheme())
    }
}

/// Returns whether the host is this machine.
fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Returns the user name and the password, or `Some(None)` if the URL has neither. Returns `None` if only one of them
/// is missing, or if one is not valid UTF-8.
fn login(url: &Url) -> Option<Option<(SecretString, SecretString)>> {
    let decoded = |text| percent_decode_str(text).decode_utf8().ok().map(|text| SecretString::from(&*text));
    match (url.username(), url.password()) {
        ("", None) => Some(None),
        ("", Some(_)) | (_, None) => None,
        (name, Some(password)) => Some(Some((decoded(name)?, decoded(password)?))),
    }
}

impl SettingValue for Mailbox {
    const EXPECTED: &str =
        "an ASCII email address with an optional name, such as School <no-reply@school.example>";

    fn parse(text: &str) -> Option<Self> {
        let is_ascii = |mailbox: &Self| mailbox.email.to_string().is_ascii();
        text.parse().ok().filter(is_ascii).filter(|_| !text.contains(char::is_control))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_server_url_has_encryption_host_port_and_login() {
        let parsed = |text: &str| {
            let url = SmtpUrl::parse(text).unwrap_or_else(|| panic!("{text}"));
            let login = url.login().map(|(name, password)| format!("{name} {password}"));
            (url.tls, url.host.clone(), url.port, login, url.show())
        };
        let expected_login = Some("ada@x.example p:w/d".to_owned());
        assert_eq!(
            parsed("smtps://ada%40x.example:p%3Aw%2Fd@mail.example"),
            (
                Tls::Wrapped,
                "mail.example".into(),
                465,
                expected_login,
                "smtps://****:****@mail.example:465".into()
            )
        );
        assert_eq!(
            parsed("smtp+starttls://Mail.Example:2525/"),
            (Tls::StartTls, "mail.example".into(), 2525, None, "smtp+starttls://mail.example:2525".into())
        );
        assert_eq!(parsed("smtp://[::1]"), (Tls::None, "::1".into(), 25, None, "smtp://[::1]:25".into()));
        assert_eq!(parsed("smtp://127.0.0.1:1025").4, "smtp://127.0.0.1:1025");
        assert_eq!(parsed("smtp://localhost:1025").4, "smtp://localhost:1025");
        assert_eq!(parsed("smtp://mailpit:1025?tls=none").4, "smtp://mailpit:1025?tls=none");
    }

    #[test]
    fn invalid_mail_server_urls_and_unrequested_plaintext_are_rejected() {
        for invalid in [
            "smtp://mail.example",
            "smtp://192.0.2.1:25",
            "smtp://localhost.example",
            "smtp://mail.example?tls=starttls",
            "smtps://mail.example?tls=none",
            "smtps://mail.example/path",
            "smtps://mail.example#x",
            "smtps://mail.example:0",
            "smtps://ada@mail.example",
            "smtps://:secret@mail.example",
            "smtps://ada:%FF@mail.example",
            "smtps://m%61il.example",
            "smtps://",
            "https://mail.example",
            "mail.example:25",
            "",
        ] {
            assert!(SmtpUrl::parse(invalid).is_none(), "{invalid}");
        }
    }

    #[test]
    fn a_sender_is_one_mailbox() {
        let shown = |text| <Mailbox as SettingValue>::parse(text).map(|mailbox| mailbox.show());
        assert_eq!(shown("no-reply@school.example").unwrap(), "no-reply@school.example");
        assert_eq!(shown("creator-api <no-reply@localhost>").unwrap(), "creator-api <no-reply@localhost>");
        assert_eq!(shown("\"Ada, Inc.\" <a@b.example>").unwrap(), "\"Ada, Inc.\" <a@b.example>");
        for invalid in [
            "",
            "School",
            "School <>",
            "a@b.example, c@d.example",
            "a@b.example\r\nBcc: c@d.example",
            "ä@ö.example",
        ] {
            assert_eq!(shown(invalid), None, "{invalid}");
        }
    }
}
