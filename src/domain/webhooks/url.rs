//! Validates the URL of a subscription. Host names are not looked up here: their addresses are checked when a
//! connection is made.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ::url::{Host, Url};

use foundation::address_policy;
use foundation::config::Network;

/// Returns whether two URLs have the same scheme, host and port. Also true if one is malformed, which [`validate`] reports.
pub fn is_same_server(url: &str, other: &str) -> bool {
    let origin = |text: &str| Url::parse(text).map(|url| url.origin());
    !matches!((origin(url), origin(other)), (Ok(origin), Ok(other)) if origin != other)
}

/// Maximum length of a URL in bytes.
const MAX_URL_BYTES: usize = 2048;

/// Returns the URL in normalized form, or an error message. `allow` lists the networks that the operator allows.
pub(super) fn validate(text: &str, allow: &[Network]) -> Result<String, String> {
    if text.len() > MAX_URL_BYTES {
        return Err(format!("must have at most {MAX_URL_BYTES} bytes"));
    }
    // The URL parser silently removes some of these characters.
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("must not contain spaces or control characters".to_owned());
    }
    let not_absolute = || "must be an absolute URL, such as https://example.com/hooks".to_owned();
    let url = Url::parse(text).map_err(|_| not_absolute())?;
    let host = url.host().ok_or_else(not_absolute)?;
    let addresses = literal_addresses(&host);
    check_scheme(&url, &addresses, allow)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user or password; receivers verify the signature instead".to_owned());
    }
    if url.fragment().is_some() {
        return Err("must not have a fragment: the part after `#` is never sent".to_owned());
    }
    if url.port() == Some(0) {
        return Err("must not have port 0: no server can listen on it".to_owned());
    }
    let forbidden: Vec<_> =
        addresses.iter().filter_map(|ip| Some((ip, address_policy::denial_reason(*ip, allow)?))).collect();
    match forbidden.first() {
        Some((ip, reason)) if forbidden.len() == addresses.len() => Err(format!(
            "resolves to {ip}, which webhooks must not call ({reason}); the operator can allow it with --webhook-allow"
        )),
        _ => Ok(url.into()),
    }
}

/// Returns the addresses of a host without a DNS lookup: none for a name, except `localhost`.
fn literal_addresses(host: &Host<&str>) -> Vec<IpAddr> {
    match *host {
        Host::Ipv4(ip) => vec![ip.into()],
        Host::Ipv6(ip) => vec![ip.into()],
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            let is_local = name == "localhost" || name.ends_with(".localhost");
            if is_local { vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] } else { Vec::new() }
        }
    }
}

/// Requires `https`. Permits `http` only for addresses that the operator allows. For a host name, permits `http` if the
/// operator allows at least one network, because the addresses of a name are checked when a connection is made.
fn check_scheme(url: &Url, addresses: &[IpAddr], allow: &[Network]) -> Result<(), String> {
    let is_allowed = addresses.iter().any(|ip| address_policy::is_allowed(*ip, allow));
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_allowed || addresses.is_empty() && !allow.is_empty() => Ok(()),
        "http" => Err("must begin with `https://`; `http` is only for addresses that the operator allows with --webhook-allow"
            .to_owned()),
        _ => Err("must begin with `https://`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: &[&str] = &["127.0.0.0/8"];

    fn validated(url: &str, allow: &[&str]) -> Result<String, String> {
        let allow: Vec<Network> = allow.iter().map(|network| network.parse().unwrap()).collect();
        validate(url, &allow)
    }

    #[test]
    fn a_public_url_is_stored_in_normalized_form() {
        for (url, normalized) in [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://Example.COM:443/Hooks?a=b", "https://example.com/Hooks?a=b"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://134744072:8443/", "https://8.8.8.8:8443/"),
            ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
        ] {
            assert_eq!(validated(url, &[]), Ok(normalized.to_owned()));
        }
    }

    #[test]
    fn a_url_that_cannot_be_called_is_rejected_with_a_reason() {
        let long = format!("https://example.com/{}", "a".repeat(2048));
        for (url, reason) in [
            ("", "must be an absolute URL"),
            ("/hooks", "must be an absolute URL"),
            ("mailto:a@example.com", "must be an absolute URL"),
            ("https://", "must be an absolute URL"),
            ("ftp://example.com/", "must begin with `https://`"),
            ("http://example.com/", "must begin with `https://`; `http` is only for"),
            ("https://ada@example.com/", "must not contain a user"),
            ("https://:lovelace@example.com/", "must not contain a user"),
            ("https://example.com/#", "must not have a fragment"),
            ("https://example.com:0/", "must not have port 0"),
            ("https://example.com/a b", "must not contain spaces"),
            (" https://example.com/", "must not contain spaces"),
            ("https://exam\tple.com/", "must not contain spaces"),
            (&long, "must have at most 2048"),
        ] {
            let message = validated(url, &[]).unwrap_err();
            assert!(message.starts_with(reason), "{url}: {message}");
        }
    }

    #[test]
    fn an_address_that_is_not_public_is_rejected_in_every_notation() {
        for url in [
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f.0.0.1/",
            "https://0177.0.0.1/",
            "https://127.0.0.1./",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:a9fe:a9fe]/",
            "https://169.254.169.254/latest/meta-data",
            "https://10.0.0.1/",
            "https://localhost/",
            "https://api.localhost./",
        ] {
            let message = validated(url, &[]).unwrap_err();
            assert!(message.contains("which webhooks must not call"), "{url}: {message}");
        }
    }

    #[test]
    fn the_operator_can_allow_addresses_and_http_to_them() {
        for url in [
            "http://127.0.0.1:9000/",
            "https://127.0.0.1/",
            "http://localhost:9000/",
            "http://hooks.internal/",
        ] {
            assert_eq!(validated(url, LOOPBACK), Ok(url.to_owned()));
        }
        for url in ["http://10.0.0.1/", "http://8.8.8.8/", "http://[::1]/"] {
            assert!(validated(url, LOOPBACK).unwrap_err().starts_with("must begin with `https://`"), "{url}");
        }
        assert!(validated("https://10.0.0.1/", LOOPBACK).unwrap_err().contains("(private)"));
        assert_eq!(validated("http://localhost/", &["::1"]), Ok("http://localhost/".to_owned()));
    }
}
