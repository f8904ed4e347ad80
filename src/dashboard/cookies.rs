//! The cookies: none of them can be read by a script or sent along by another site's form.

use cookie::{Cookie, SameSite, time::Duration};
use poem::http::{HeaderMap, HeaderValue, header};

/// What a cookie is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Who is signed in.
    Session,
    /// A browser that is not signed in: what its forms are told by.
    Visitor,
    /// What the next page says at its top.
    Flash,
    /// The link by which a password is being set, kept out of the address.
    Link,
}

impl Kind {
    /// The name. With `Secure`, browsers see to it that no other host has set it (`__Host-`).
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
        }
    }

    /// How long a browser keeps it; what is behind it may end earlier.
    const fn life(self) -> Duration {
        match self {
            Self::Session => Duration::days(30),
            Self::Visitor => Duration::days(1),
            Self::Flash => Duration::minutes(5),
            Self::Link => Duration::minutes(30),
        }
    }
}

/// The cookie's value in a request.
pub(super) fn read(headers: &HeaderMap, kind: Kind, secure: bool) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| Cookie::split_parse(line.to_owned()))
        .filter_map(Result::ok)
        .find(|cookie| cookie.name() == kind.name(secure))
        .map(|cookie| cookie.value().to_owned())
}

/// Whether a request brings any of our cookies.
pub(super) fn are_there(headers: &HeaderMap, secure: bool) -> bool {
    let all = [Kind::Session, Kind::Visitor, Kind::Flash, Kind::Link];
    all.into_iter().any(|kind| read(headers, kind, secure).is_some())
}

/// Sets the cookie in a response.
pub(super) fn set(headers: &mut HeaderMap, kind: Kind, secure: bool, value: &str) {
    write(headers, kind, secure, value, kind.life());
}

/// Takes the cookie out of the browser.
pub(super) fn clear(headers: &mut HeaderMap, kind: Kind, secure: bool) {
    write(headers, kind, secure, "", Duration::ZERO);
}

fn write(headers: &mut HeaderMap, kind: Kind, secure: bool, value: &str, life: Duration) {
    let cookie = Cookie::build((kind.name(secure), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(secure)
        .max_age(life);
    // Our values are base64url, which a header can hold.
    if let Ok(value) = HeaderValue::from_str(&cookie.to_string()) {
        headers.append(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        let mut headers = HeaderMap::new();
        set(&mut headers, Kind::Session, true, "abc");
        let text = headers[header::SET_COOKIE].to_str().unwrap();
        for part in ["__Host-session=abc", "HttpOnly", "SameSite=Lax", "Secure", "Path=/", "Max-Age=2592000"]
        {
            assert!(text.contains(part), "{text}");
        }
        let mut headers = HeaderMap::new();
        set(&mut headers, Kind::Session, false, "abc");
        assert!(!headers[header::SET_COOKIE].to_str().unwrap().contains("Secure"));
    }

    #[test]
    fn the_cookie_of_the_right_name_is_read() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=b; session=one; x"));
        assert_eq!(read(&headers, Kind::Session, false).as_deref(), Some("one"));
        assert_eq!(read(&headers, Kind::Session, true), None);
        assert!(are_there(&headers, false) && !are_there(&headers, true));
    }
}
