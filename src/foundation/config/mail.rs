//! Where mail goes and whom it is from.

use std::net::IpAddr;

use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::value::Field;

/// How the connection to a mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// Encrypted from the first byte (RFC 8314), `smtps://`.
    Wrapped,
    /// Encrypted before anything is said, or given up (RFC 3207), `smtp+starttls://`.
    StartTls,
    /// Not at all, `smtp://`.
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

    /// The port of a server whose address names none.
    fn port(self) -> u16 {
        match self {
            Self::Wrapped => 465,
            Self::StartTls => 587,
            Self::None => 25,
        }
    }
}

/// The address of a mail server; who logs in there is never shown, since some providers use a secret as the name.
#[derive(Debug, Clone)]
pub struct SmtpUrl {
    /// How the connection is protected.
    pub tls: Tls,
    /// The name that the server's certificate must have, or its address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Name and password, when the server wants them.
    login: Option<(SecretString, SecretString)>,
}

impl SmtpUrl {
    /// Name and password, for the one place that needs them.
    pub fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(name, password)| (name.expose_secret(), password.expose_secret()))
    }
}

impl Field for SmtpUrl {
    const SECRET: bool = true;
    const EXPECTED: &str = "smtps://USER:PASSWORD@HOST, smtp+starttls://USER:PASSWORD@HOST, or without encryption \
                            smtp://HOST on this machine and smtp://HOST?tls=none elsewhere";

    fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let known = [Tls::Wrapped, Tls::StartTls, Tls::None];
        let tls = known.into_iter().find(|tls| tls.scheme() == url.scheme())?;
        let host = url.host_str()?.trim_matches(['[', ']']).to_ascii_lowercase();
        let said = match url.query() {
            None => false,
            Some("tls=none") if tls == Tls::None => true,
            Some(_) => return None,
        };
        let readable = tls != Tls::None || said || is_this_machine(&host);
        let rest = matches!(url.path(), "" | "/") && url.fragment().is_none() && url.port() != Some(0);
        // The host of such an address is taken as it is written: nothing of it may be encoded.
        if !readable || !rest || host.is_empty() || host.contains('%') {
            return None;
        }
        Some(Self { tls, host, port: url.port().unwrap_or(tls.port()), login: login(&url)? })
    }

    fn show(&self) -> String {
        let Self { tls, host, port, login } = self;
        let login = if login.is_some() { "****:****@" } else { "" };
        let query = if *tls == Tls::None && !is_this_machine(host) { "?tls=none" } else { "" };
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{}://{login}{host}:{port}{query}", tls.scheme())
    }
}

/// True when what is sent to this host never leaves the machine.
fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Name and password, both or neither; `None` when there is one without the other, or what is no text.
fn login(url: &Url) -> Option<Option<(SecretString, SecretString)>> {
    let decoded = |text| percent_decode_str(text).decode_utf8().ok().map(|text| SecretString::from(&*text));
    match (url.username(), url.password()) {
        ("", None) => Some(None),
        ("", Some(_)) | (_, None) => None,
        (name, Some(password)) => Some(Some((decoded(name)?, decoded(password)?))),
    }
}

impl Field for Mailbox {
    const EXPECTED: &str = "an address with or without a name, such as School <no-reply@school.example>";

    fn parse(text: &str) -> Option<Self> {
        let ascii = |mailbox: &Self| mailbox.email.to_string().is_ascii();
        text.parse().ok().filter(ascii).filter(|_| !text.contains(char::is_control))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_server_is_named_by_protection_host_port_and_login() {
        let of = |text: &str| {
            let url = SmtpUrl::parse(text).unwrap_or_else(|| panic!("{text}"));
            let login = url.login().map(|(name, password)| format!("{name} {password}"));
            (url.tls, url.host.clone(), url.port, login, url.show())
        };
        let ada = Some("ada@x.example p:w/d".to_owned());
        assert_eq!(
            of("smtps://ada%40x.example:p%3Aw%2Fd@mail.example"),
            (Tls::Wrapped, "mail.example".into(), 465, ada, "smtps://****:****@mail.example:465".into())
        );
        assert_eq!(
            of("smtp+starttls://Mail.Example:2525/"),
            (Tls::StartTls, "mail.example".into(), 2525, None, "smtp+starttls://mail.example:2525".into())
        );
        assert_eq!(of("smtp://[::1]"), (Tls::None, "::1".into(), 25, None, "smtp://[::1]:25".into()));
        assert_eq!(of("smtp://127.0.0.1:1025").4, "smtp://127.0.0.1:1025");
        assert_eq!(of("smtp://localhost:1025").4, "smtp://localhost:1025");
        assert_eq!(of("smtp://mailpit:1025?tls=none").4, "smtp://mailpit:1025?tls=none");
    }

    #[test]
    fn nothing_is_sent_in_the_clear_unless_it_is_said() {
        for wrong in [
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
            assert!(SmtpUrl::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_sender_is_one_mailbox() {
        let shown = |text| <Mailbox as Field>::parse(text).map(|mailbox| mailbox.show());
        assert_eq!(shown("no-reply@school.example").unwrap(), "no-reply@school.example");
        assert_eq!(shown("creator-api <no-reply@localhost>").unwrap(), "creator-api <no-reply@localhost>");
        assert_eq!(shown("\"Ada, Inc.\" <a@b.example>").unwrap(), "\"Ada, Inc.\" <a@b.example>");
        for wrong in [
            "",
            "School",
            "School <>",
            "a@b.example, c@d.example",
            "a@b.example\r\nBcc: c@d.example",
            "ä@ö.example",
        ] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
