//! The end of v1, once there is a v2.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::concern::concern;
use super::fault::Fault;
use super::given::Given;
use super::value::WebUrl;

concern! {
    /// What every v1 response says of its end (RFC 9745, RFC 8594); nothing while `deprecation_at` is not set.
    Deprecation, "Deprecation of v1" {
        /// Time from which v1 is deprecated.
        deprecation_at: Option<Timestamp> = None, "CREATOR_API_DEPRECATION_AT", "TIME";
        /// Time at which v1 ends, at least 6 months after its deprecation.
        sunset_at: Option<Timestamp> = None, "CREATOR_API_SUNSET_AT", "TIME";
        /// Page that tells how to move on.
        deprecation_link: Option<WebUrl> = None, "CREATOR_API_DEPRECATION_LINK", "URL";
    }
}

impl Deprecation {
    /// Refuses an end that comes too soon, or without a beginning (seed 9: six months).
    pub(super) fn check(&self, given: &mut Given) {
        let Some(deprecated) = self.deprecation_at else {
            for (key, set) in [
                ("sunset_at", self.sunset_at.is_some()),
                ("deprecation_link", self.deprecation_link.is_some()),
            ] {
                if set {
                    let place = given.place(key);
                    given
                        .faults
                        .push(Fault(format!("{place}: `{key}` needs `deprecation_at`; set both or neither")));
                }
            }
            return;
        };
        let Some(sunset) = self.sunset_at else { return };
        let earliest = deprecated.to_zoned(TimeZone::UTC).checked_add(Span::new().months(6));
        let Ok(earliest) = earliest.map(|time| time.timestamp()) else { return };
        if sunset < earliest {
            let place = given.place("sunset_at");
            given.faults.push(Fault(format!(
                "{place}: `sunset_at` is {sunset}, less than 6 months after `deprecation_at` ({deprecated}); \
                 set {earliest} or later"
            )));
        }
    }
}
