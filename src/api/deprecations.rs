//! Tells clients about the deprecated parts of the API that their requests use, and counts them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::generated::operations::CONTRACT;
use super::state::http_date;
use contract_runtime::validate::deprecation::{self, Announcements, DeprecatedUse};
use domain::app::App;
use domain::deprecations::{Announcement, DeprecatedPart};
use domain::keys::Principal;

const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const DEPRECATED: HeaderName = HeaderName::from_static("x-svc-deprecated");

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
        let deprecation::Announcement { since, sunset, replacement } = announcement.clone();
        (pointer.clone(), Announcement { since, sunset, replacement })
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

impl UsedParts {
    /// Returns `None` if a request of this principal, received now, uses nothing deprecated.
    pub(crate) fn new(
        app: &App,
        (contract, operation): (&'static str, &'static str),
        principal: &Principal,
        uses: Vec<DeprecatedUse>,
    ) -> Option<Box<Self>> {
        let (principal, now) = (*principal, || app.clock.now_ms());
        (!uses.is_empty())
            .then(|| Box::new(Self { contract, operation, principal, received_ms: now(), uses }))
    }

    /// Counts the request, which the server accepted.
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

    /// Sets `Deprecation` and `Sunset` for a deprecated operation, `X-SVC-Deprecated` for other parts, and `Link` for all. Replaces
    /// those of a deprecated API.
    pub(crate) fn set_headers(&self, headers: &mut HeaderMap, public_url: &str) {
        let announced: Vec<HeaderValue> = self.uses.iter().filter_map(announcement).collect();
        for part in self.uses.iter().filter(|part| part.name.is_empty()) {
            if let Some(value) = part.announcement.since.and_then(deprecation_date) {
                headers.insert(DEPRECATION, value);
            }
            if let Some(value) = part.announcement.sunset.and_then(sunset_date) {
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
    HeaderValue::from_str(&format!("{}{sunset}", part.name)).ok()
}

/// Formats the value of `Deprecation` (RFC 9745): `@` and the Unix time in seconds.
fn deprecation_date(date: Date) -> Option<HeaderValue> {
    let start = date.to_zoned(TimeZone::UTC).ok()?.timestamp();
    HeaderValue::from_str(&format!("@{}", start.as_second())).ok()
}

/// Formats the value of `Sunset` (RFC 8594).
fn sunset_date(date: Date) -> Option<HeaderValue> {
    http_date(date.to_zoned(TimeZone::UTC).ok()?.timestamp()).ok()
}
