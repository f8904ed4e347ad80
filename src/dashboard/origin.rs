//! Where a request comes from: whether this site sent it, and whether the way here is protected.

use std::net::IpAddr;

use poem::http::{HeaderMap, header};
use url::Url;

/// Whether a form was sent by a page of this site, as far as the browser says. What says nothing passes: the token in the
/// form still has to be right.
pub(super) fn is_same(headers: &HeaderMap, public: Option<&Url>) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Some(origin) = origin.to_str().ok().and_then(|text| Url::parse(text).ok()) else { return false };
    if let Some(public) = public {
        return origin.origin() == public.origin();
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let own = host.and_then(|host| Url::parse(&format!("{}://{host}", origin.scheme())).ok());
    own.is_some_and(|own| own.origin() == origin.origin())
}

/// Whether the way here may be unprotected: over `https`, and on its own machine, a browser tells where a request comes from.
pub(super) fn may_be_plain(headers: &HeaderMap) -> bool {
    !headers.contains_key("sec-fetch-site")
}

/// Whether cookies are to be sent over protected connections alone: always, unless this is a server on the browser's own
/// machine.
pub(super) fn is_secure(headers: &HeaderMap, public: Option<&Url>) -> bool {
    if let Some(public) = public {
        return public.scheme() == "https" || !is_loopback(public.host_str().unwrap_or_default());
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = Url::parse(&format!("http://{host}"));
    !host.is_ok_and(|host| is_loopback(host.host_str().unwrap_or_default()))
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_form_of_another_site_is_told_by_its_browser() {
        let host = ("host", "127.0.0.1:8080");
        let same = |pairs: &[(&'static str, &'static str)]| is_same(&headers(pairs), None);
        assert!(same(&[host, ("sec-fetch-site", "same-origin"), ("origin", "null")]));
        assert!(same(&[host, ("origin", "http://127.0.0.1:8080")]));
        assert!(same(&[host]));
        for other in ["cross-site", "same-site", "none"] {
            assert!(
                !same(&[host, ("sec-fetch-site", other), ("origin", "http://127.0.0.1:8080")]),
                "{other}"
            );
        }
        for other in
            ["null", "https://evil.example", "http://127.0.0.1:8081", "http://127.0.0.1:8080.evil.example"]
        {
            assert!(!same(&[host, ("origin", other)]), "{other}");
        }
        let public = Url::parse("https://api.example.com/base").unwrap();
        assert!(is_same(&headers(&[host, ("origin", "https://api.example.com")]), Some(&public)));
        assert!(!is_same(&headers(&[host, ("origin", "http://127.0.0.1:8080")]), Some(&public)));
    }

    #[test]
    fn cookies_are_protected_but_on_the_own_machine() {
        let secure = |host: &'static str| is_secure(&headers(&[("host", host)]), None);
        for own in ["127.0.0.1:8080", "localhost", "[::1]:8080", "localhost:1"] {
            assert!(!secure(own), "{own}");
        }
        for other in ["api.example.com", "192.168.0.2:8080", "localhost.evil.example", "", "@"] {
            assert!(secure(other), "{other}");
        }
        let public = Url::parse("https://localhost/").unwrap();
        assert!(is_secure(&HeaderMap::new(), Some(&public)));
    }
}
