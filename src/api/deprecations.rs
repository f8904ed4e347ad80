//! Tells clients about the deprecated parts of the API that their requests use, and counts them.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::error::ApiError;
use super::generated::operations::CONTRACT;
use super::middleware::count_rejection;
use super::state::http_date;
use contract_runtime::removal::Unserved;
use contract_runtime::router::Route;
use contract_runtime::validate::deprecation::{self, Announcements, DeprecatedUse};
use domain::app::App;
use domain::deprecations::{Announcement, DeprecatedPart};
use domain::keys::Principal;

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const DEPRECATED: HeaderName = HeaderName::from_static("x-svc-deprecated");
/// The characters of a name that could end it, and those that a header cannot contain, are percent-encoded.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'%').add(b',').add(b';').add(b'\\');

/// The deprecated parts of the API that a request uses.
pub(crate) struct UsedParts {
    contract: &'static str,
    operation: &'static str,
    principal: Principal,
    received_ms: i64,
    uses: Vec<DeprecatedUse>,
}

/// Declares what the contract with this name marks as deprecated to the app.
pub(crate) fn declare(app: &App, contract: &str, announcements: &Announcements) {
    let announcements = announcements.iter().map(|(pointer, announcement)| {
        let deprecation::Announcement { since, sunset, replacement, is_removed } = announcement.clone();
        (pointer.clone(), Announcement { since, sunset, replacement, is_removed })
    });
    app.deprecations().declare(contract, announcements);
}

/// Declares what v1 marks as deprecated to the app of a process that does not serve it.
///
/// # Errors
/// Returns an error when the contract's JSON cannot be read.
pub fn declare_v1(app: &App) -> anyhow::Result<()> {
    declare(app, CONTRACT.name, &deprecation::announcements(CONTRACT.json)?);
    Ok(())
}

/// Rejects a request to an operation that was removed or has a brownout, unless the operator extended its sunset for the key.
///
/// # Errors
/// Returns the error of the response: 410 with the day of the removal or, in a brownout, the time to wait.
pub(crate) fn require_served(app: &App, route: &Route, principal: &Principal) -> Result<(), ApiError> {
    let Some(removal) = &route.removal else { return Ok(()) };
    let now = app.clock.now();
    let is_extended = principal.sunset_extended_until.is_some_and(|until| now < until);
    let Some(unserved) = removal.unserved(now).filter(|_| !is_extended) else { return Ok(()) };
    count_rejection("removed");
    let (operation, sunset) = (route.operation.id, removal.sunset);
    Err(match unserved {
        Unserved::Removed => ApiError::removed(
            format!(
                "The operation {operation} was removed on {sunset}; see the changelog for its replacement."
            ),
            None,
        ),
        Unserved::Until(end) => ApiError::removed(
            format!(
                "The operation {operation} is removed on {sunset}. Until {end}, it is switched off as a rehearsal; see the \
                 changelog for its replacement."
            ),
            Some((end.as_second() - now.as_second()).max(1)),
        ),
    })
}

impl UsedParts {
    /// Returns `None` if a request of this principal, received now, uses nothing deprecated.
    pub(crate) fn new(
        app: &App,
        (contract, operation): (&'static str, &'static str),
        principal: &Principal,
        uses: Vec<DeprecatedUse>,
    ) -> Option<Box<Self>> {
        (!uses.is_empty()).then(|| {
            let (principal, received_ms) = (principal.clone(), app.clock.now_ms());
            Box::new(Self { contract, operation, principal, received_ms, uses })
        })
    }

    /// Counts the request, which the server accepted, or whose operation was removed.
    pub(crate) fn count(&self, app: &App, request_id: &str) {
        let caller = (self.principal.key, self.principal.workspace);
        for part in &self.uses {
            let part = DeprecatedPart {
                contract: self.contract.to_owned(),
                operation: self.operation.to_owned(),
                pointer: part.pointer.clone(),
                name: part.name.clone(),
            };
            app.deprecations().count(caller, self.received_ms, request_id, part);
        }
    }

    /// Sets `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) for a deprecated operation, `X-SVC-Deprecated` for other parts, and
    /// `Link` for all. Replaces those of a deprecated API.
    pub(crate) fn set_headers(&self, headers: &mut HeaderMap, public_url: &str) {
        let announced: Vec<HeaderValue> = self.uses.iter().filter_map(announcement).collect();
        for part in self.uses.iter().filter(|part| part.name.is_empty()) {
            if let Some(value) = part.announcement.since.and_then(deprecation_date) {
                headers.insert(DEPRECATION, value);
            }
            let sunset = part.announcement.sunset.and_then(start_of);
            let extended = sunset.and(self.principal.sunset_extended_until);
            if let Some(value) = sunset.max(extended).and_then(|sunset| http_date(sunset).ok()) {
                headers.insert(SUNSET, value);
            }
        }
        for value in announced {
            headers.append(DEPRECATED, value);
        }
        let link = format!("<{public_url}/docs/changelog>; rel=\"deprecation\"; type=\"text/html\"");
        if let Ok(link) = HeaderValue::from_str(&link) {
            headers.append(header::LINK, link);
        }
    }
}

/// Returns what `X-SVC-Deprecated` says about a parameter, field or value, such as `/color=green; sunset=2027-01-31`.
fn announcement(part: &DeprecatedUse) -> Option<HeaderValue> {
    if part.name.is_empty() {
        return None;
    }
    let sunset = part.announcement.sunset.map(|sunset| format!("; sunset={sunset}")).unwrap_or_default();
    HeaderValue::from_str(&format!("{}{sunset}", utf8_percent_encode(&part.name, ENCODED))).ok()
}

/// Formats the value of `Deprecation` (RFC 9745): `@` and the Unix time in seconds.
fn deprecation_date(date: Date) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("@{}", start_of(date)?.as_second())).ok()
}

fn start_of(date: Date) -> Option<Timestamp> {
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_early_in_the_header() {
        let announced = |name: &str| {
            let sunset = Some("2027-01-31".parse().unwrap());
            let announcement =
                deprecation::Announcement { since: None, sunset, replacement: None, is_removed: false };
            let part = DeprecatedUse { pointer: String::new(), name: name.to_owned(), announcement };
            super::announcement(&part).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(announced("/color=dark green; x"), "/color=dark%20green%3B%20x; sunset=2027-01-31");
        assert_eq!(announced("sort=grün,50%"), "sort=gr%C3%BCn%2C50%25; sunset=2027-01-31");
    }
}
