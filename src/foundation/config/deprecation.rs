//! The end of v1, once there is a v2.

use jiff::Span;
use jiff::tz::TimeZone;

use super::given::Given;
use super::settings::Deprecation;

impl Deprecation {
    /// Refuses an end that comes less than six months after the deprecation, or without one.
    pub(super) fn check(&self, given: &mut Given) {
        let Some(deprecated) = self.deprecation_at else {
            let keys = [
                ("sunset_at", self.sunset_at.is_some()),
                ("deprecation_link", self.deprecation_link.is_some()),
            ];
            for (key, _) in keys.into_iter().filter(|(_, is_set)| *is_set) {
                let place = given.place(key);
                given.faults.push(format!("{place}: `{key}` needs `deprecation_at`; set both or neither"));
            }
            return;
        };
        let Some(sunset) = self.sunset_at else { return };
        let earliest = deprecated.to_zoned(TimeZone::UTC).checked_add(Span::new().months(6));
        let Ok(earliest) = earliest.map(|time| time.timestamp()) else { return };
        if sunset < earliest {
            let place = given.place("sunset_at");
            given.faults.push(format!(
                "{place}: `sunset_at` is {sunset}, less than 6 months after `deprecation_at` ({deprecated}); \
                 set {earliest} or later"
            ));
        }
    }
}
