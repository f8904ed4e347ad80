//! Which URLs a subscription may have. The addresses behind a name are judged where the connection is made.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ::url::{Host, Url};

use foundation::config::Network;
use foundation::reach;

/// Characters of a URL at most.
const LONGEST: usize = 2048;

/// The URL in the form in which it will be called, or what is wrong with it. `allow` is the operator's list.
pub(super) fn judge(text: &str, allow: &[Network]) -> Result<String, String> {
    if text.len() > LONGEST {
        return Err(format!("must have at most {LONGEST} characters"));
    }
    // The parser would pass over them.
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("must not hold blanks or control characters".to_owned());
    }
    let whole = || "must be a whole address, such as https://example.com/hooks".to_owned();
    let url = Url::parse(text).map_err(|_| whole())?;
    let host = url.host().ok_or_else(whole)?;
    let addresses = literal(&host);
    check_scheme(&url, &addresses, allow)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a user or password; the signature shows who sends".to_owned());
    }
    if url.fragment().is_some() {
        return Err("must not have a fragment: what follows `#` is never sent".to_owned());
    }
    if url.port() == Some(0) {
        return Err("must not have port 0: nothing listens there".to_owned());
    }
    let refused: Vec<_> =
        addresses.iter().filter_map(|ip| Some((ip, reach::forbidden(*ip, allow)?))).collect();
    match refused.first() {
        Some((ip, reason)) if refused.len() == addresses.len() => Err(format!(
            "leads to {ip}, which no webhook may call ({reason}); the operator can open it with --webhook-allow"
        )),
        _ => Ok(url.into()),
    }
}

/// The addresses that a host is, without asking anybody: none for a name, except that everybody knows `localhost`.
fn literal(host: &Host<&str>) -> Vec<IpAddr> {
    match *host {
        Host::Ipv4(ip) => vec![ip.into()],
        Host::Ipv6(ip) => vec![ip.into()],
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            let local = name == "localhost" || name.ends_with(".localhost");
            if local { vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] } else { Vec::new() }
        }
    }
}

/// `https`; `http` only to what the operator opens, which for a name shows when it is called.
fn check_scheme(url: &Url, addresses: &[IpAddr], allow: &[Network]) -> Result<(), String> {
    let opened = addresses.iter().any(|ip| reach::opened(*ip, allow));
    match url.scheme() {
        "https" => Ok(()),
        "http" if opened || addresses.is_empty() && !allow.is_empty() => Ok(()),
        "http" => Err("must begin with `https://`; `http` is for addresses that the operator opens with --webhook-allow"
            .to_owned()),
        _ => Err("must begin with `https://`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: &[&str] = &["127.0.0.0/8"];

    fn judged(url: &str, allow: &[&str]) -> Result<String, String> {
        let allow: Vec<Network> = allow.iter().map(|network| network.parse().unwrap()).collect();
        judge(url, &allow)
    }

    #[test]
    fn a_public_address_is_kept_in_the_form_in_which_it_is_called() {
        for (given, kept) in [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://Example.COM:443/Hooks?a=b", "https://example.com/Hooks?a=b"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://134744072:8443/", "https://8.8.8.8:8443/"),
            ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
        ] {
            assert_eq!(judged(given, &[]), Ok(kept.to_owned()));
        }
    }

    #[test]
    fn what_cannot_be_called_is_refused_with_a_reason() {
        let long = format!("https://example.com/{}", "a".repeat(2048));
        for (url, reason) in [
            ("", "must be a whole address"),
            ("/hooks", "must be a whole address"),
            ("mailto:a@example.com", "must be a whole address"),
            ("https://", "must be a whole address"),
            ("ftp://example.com/", "must begin with `https://`"),
            ("http://example.com/", "must begin with `https://`; `http` is for"),
            ("https://ada@example.com/", "must not hold a user"),
            ("https://:lovelace@example.com/", "must not hold a user"),
            ("https://example.com/#", "must not have a fragment"),
            ("https://example.com:0/", "must not have port 0"),
            ("https://example.com/a b", "must not hold blanks"),
            (" https://example.com/", "must not hold blanks"),
            ("https://exam\tple.com/", "must not hold blanks"),
            (&long, "must have at most 2048"),
        ] {
            let refused = judged(url, &[]).unwrap_err();
            assert!(refused.starts_with(reason), "{url}: {refused}");
        }
    }

    #[test]
    fn an_address_that_is_not_public_is_refused_in_every_spelling() {
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
            let refused = judged(url, &[]).unwrap_err();
            assert!(refused.contains("which no webhook may call"), "{url}: {refused}");
        }
    }

    #[test]
    fn the_operator_opens_addresses_and_http_to_them() {
        for url in [
            "http://127.0.0.1:9000/",
            "https://127.0.0.1/",
            "http://localhost:9000/",
            "http://hooks.internal/",
        ] {
            assert_eq!(judged(url, LOOPBACK), Ok(url.to_owned()));
        }
        for url in ["http://10.0.0.1/", "http://8.8.8.8/", "http://[::1]/"] {
            assert!(judged(url, LOOPBACK).unwrap_err().starts_with("must begin with `https://`"), "{url}");
        }
        assert!(judged("https://10.0.0.1/", LOOPBACK).unwrap_err().contains("(private)"));
        assert_eq!(judged("http://localhost/", &["::1"]), Ok("http://localhost/".to_owned()));
    }
}
