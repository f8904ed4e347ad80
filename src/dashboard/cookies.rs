//! Cookies. All that the server sets are `HttpOnly` and `SameSite=Lax`, so that no script can read them and no form of another
//! site sends them.

use cookie::{Cookie, SameSite, time::Duration};
use poem::http::{HeaderMap, HeaderValue, header};

/// The purpose of a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CookieKind {
    /// The session token of a signed-in user.
    Session,
    /// The token of a browser that is not signed in, from which its CSRF tokens are derived.
    Visitor,
    /// The flash message of the next page.
    Flash,
    /// The token of a link to set a password, kept out of the URL.
    Link,
    /// Recognizes a device that signed in before.
    Device,
    /// The state of a sign-in with several steps, encrypted.
    Steps,
    /// The name of the browser's time zone. The script sets it.
    TimeZone,
    /// Set if pages show UTC instead of the browser's time zone.
    ShowUtc,
}

impl CookieKind {
    /// Returns the cookie's name. The prefix `__Host-` of secure cookies makes browsers reject cookies set by other hosts.
    const fn name(self, secure: bool) -> &'static str {
        match (self, secure) {
            (Self::Session, true) => "__Host-session",
            (Self::Session, false) => "session",
            (Self::Visitor, true) => "__Host-visitor",
            (Self::Visitor, false) => "visitor",
            (Self::Flash, true) => "__Host-flash",
            (Self::Flash, false) => "flash",
            (Self::Link, true) => "__Host-link",
            (Self::Link, false) => "link",
            (Self::Device, true) => "__Host-device",
            (Self::Device, false) => "device",
            (Self::Steps, true) => "__Host-steps",
            (Self::Steps, false) => "steps",
            // Only the format of pages depends on these two.
            (Self::TimeZone, _) => "time-zone",
            (Self::ShowUtc, _) => "show-utc",
        }
    }

    /// Returns how long browsers keep the cookie. The session or link itself may expire earlier.
    const fn max_age(self) -> Duration {
        match self {
            Self::Session => Duration::days(30),
            Self::Visitor => Duration::days(1),
            Self::Flash => Duration::minutes(5),
            Self::Link => Duration::minutes(30),
            Self::Device => Duration::days(180),
            Self::Steps => Duration::minutes(10),
            Self::TimeZone | Self::ShowUtc => Duration::days(365),
        }
    }
}

/// Returns the cookie's value in a request, or `None` if the request does not contain the cookie.
pub(super) fn read(headers: &HeaderMap, kind: CookieKind, secure: bool) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| Cookie::split_parse(line.to_owned()))
        .filter_map(Result::ok)
        .find(|cookie| cookie.name() == kind.name(secure))
        .map(|cookie| cookie.value().to_owned())
}

/// Returns whether a request contains any cookie with a token or a message.
pub(super) fn has_any(headers: &HeaderMap, secure: bool) -> bool {
    let kinds =
        [CookieKind::Session, CookieKind::Visitor, CookieKind::Flash, CookieKind::Link, CookieKind::Device];
    kinds.into_iter().any(|kind| read(headers, kind, secure).is_some())
}

/// Sets the cookie in a response.
pub(super) fn set(headers: &mut HeaderMap, kind: CookieKind, secure: bool, value: &str) {
    write(headers, kind, secure, value, kind.max_age());
}

/// Deletes the cookie from the browser.
pub(super) fn clear(headers: &mut HeaderMap, kind: CookieKind, secure: bool) {
    write(headers, kind, secure, "", Duration::ZERO);
}

fn write(headers: &mut HeaderMap, kind: CookieKind, secure: bool, value: &str, max_age: Duration) {
    let cookie = Cookie::build((kind.name(secure), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(secure)
        .max_age(max_age);
    // All values are base64url, which is valid in a header.
    if let Ok(value) = HeaderValue::from_str(&cookie.to_string()) {
        headers.append(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_have_security_attributes() {
        let mut headers = HeaderMap::new();
        set(&mut headers, CookieKind::Session, true, "abc");
        let text = headers[header::SET_COOKIE].to_str().unwrap();
        for part in ["__Host-session=abc", "HttpOnly", "SameSite=Lax", "Secure", "Path=/", "Max-Age=2592000"]
        {
            assert!(text.contains(part), "{text}");
        }
        let mut headers = HeaderMap::new();
        set(&mut headers, CookieKind::Session, false, "abc");
        assert!(!headers[header::SET_COOKIE].to_str().unwrap().contains("Secure"));
    }

    #[test]
    fn a_cookie_is_found_by_its_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=b; session=one; x"));
        assert_eq!(read(&headers, CookieKind::Session, false).as_deref(), Some("one"));
        assert_eq!(read(&headers, CookieKind::Session, true), None);
        assert!(has_any(&headers, false) && !has_any(&headers, true));
    }
}
