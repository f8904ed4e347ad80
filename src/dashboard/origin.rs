//! Checks of a request's origin and of the security of its connection.

use std::net::IpAddr;

use poem::http::{HeaderMap, header};
use url::Url;

/// Returns whether the browser reports that a page of this server (the same origin) sent the form. Returns `true` when
/// the browser reports nothing: the CSRF token still has to be valid.
pub(super) fn is_same_origin(headers: &HeaderMap, public: Option<&Url>) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin";
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Some(origin) = origin.to_str().ok().and_then(|text| Url::parse(text).ok()) else { return false };
    if let Some(public) = public {
        return origin.origin() == public.origin();
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let server_url = host.and_then(|host| Url::parse(&format!("{}://{host}", origin.scheme())).ok());
    server_url.is_some_and(|server_url| server_url.origin() == origin.origin())
}

/// Returns whether the connection may be insecure. Browsers send `Sec-Fetch-Site` only over `https` and to the local machine.
pub(super) fn may_be_insecure(headers: &HeaderMap) -> bool {
    !headers.contains_key("sec-fetch-site")
}

/// Returns whether cookies must be `Secure`. They must, except over `http` to the browser's own machine.
pub(super) fn requires_secure_cookies(headers: &HeaderMap, public: Option<&Url>) -> bool {
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
    fn a_form_of_another_site_is_detected() {
        let host = ("host", "127.0.0.1:8080");
        let same = |pairs: &[(&'static str, &'static str)]| is_same_origin(&headers(pairs), None);
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
        assert!(is_same_origin(&headers(&[host, ("origin", "https://api.example.com")]), Some(&public)));
        assert!(!is_same_origin(&headers(&[host, ("origin", "http://127.0.0.1:8080")]), Some(&public)));
    }

    #[test]
    fn cookies_are_secure_except_on_the_local_machine() {
        let secure = |host: &'static str| requires_secure_cookies(&headers(&[("host", host)]), None);
        for local in ["127.0.0.1:8080", "localhost", "[::1]:8080", "localhost:1"] {
            assert!(!secure(local), "{local}");
        }
        for other in ["api.example.com", "192.168.0.2:8080", "localhost.evil.example", "", "@"] {
            assert!(secure(other), "{other}");
        }
        let public = Url::parse("https://localhost/").unwrap();
        assert!(requires_secure_cookies(&HeaderMap::new(), Some(&public)));
    }
}
