//! Validation of the deprecation settings.

use jiff::Span;
use jiff::tz::TimeZone;

use super::raw_settings::RawSettings;
use super::settings::DeprecationConfig;

impl DeprecationConfig {
    /// Reports a sunset or a link without a deprecation, and a sunset less than six months after the deprecation.
    pub(super) fn check(&self, settings: &mut RawSettings) {
        let Some(deprecated) = self.deprecation_at else {
            let keys = [
                ("sunset_at", self.sunset_at.is_some()),
                ("deprecation_link", self.deprecation_link.is_some()),
            ];
            for (key, _) in keys.into_iter().filter(|(_, is_set)| *is_set) {
                let source = settings.source(key);
                settings
                    .errors
                    .push(format!("{source}: `{key}` requires `deprecation_at`; set both or neither"));
            }
            return;
        };
        let Some(sunset) = self.sunset_at else { return };
        let earliest = deprecated.to_zoned(TimeZone::UTC).checked_add(Span::new().months(6));
        let Ok(earliest) = earliest.map(|time| time.timestamp()) else { return };
        if sunset < earliest {
            let source = settings.source("sunset_at");
            settings.errors.push(format!(
                "{source}: `sunset_at` is {sunset}, less than 6 months after `deprecation_at` ({deprecated}); \
                 set {earliest} or later"
            ));
        }
    }
}
