//! Times in the time zone of the page.

use askama::Template;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{RawHtml, html_safe};

html_safe!(Time);

/// A point in time, in the time zone of the page. The attribute `datetime` contains it in UTC, for programs.
#[derive(Template)]
#[template(source = r#"<time datetime="{{ datetime }}">{{ text }}</time>"#, ext = "html")]
pub(crate) struct Time {
    datetime: String,
    text: String,
}

/// The time zone of a page. Every time, filter and chart of the page is in this zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageZone(TimeZone);

impl PageZone {
    /// UTC.
    pub(crate) const UTC: Self = Self(TimeZone::UTC);

    /// Returns the time zone with this IANA name, or `None` if there is no such time zone.
    pub(crate) fn named(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().filter(|zone| !zone.is_unknown()).map(Self)
    }

    /// Returns the IANA name.
    pub(crate) fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Returns the time zone with this name if there is one, otherwise this time zone.
    pub(crate) fn or_named(&self, name: &str) -> Self {
        Self::named(name).unwrap_or_else(|| self.clone())
    }

    /// Returns the time zone.
    pub(crate) const fn rules(&self) -> &TimeZone {
        &self.0
    }

    /// Renders a point in time.
    pub(crate) fn time(&self, at: &Timestamp) -> Time {
        Time { datetime: format!("{at:.3}"), text: self.format(at, "%Y-%m-%d %H:%M:%S") }
    }

    /// Renders an optional point in time, or the placeholder.
    pub(crate) fn time_or(&self, at: &Option<Timestamp>, placeholder: &'static str) -> RawHtml<String> {
        RawHtml(at.as_ref().map_or_else(
            || format!("<span class=\"quiet\">{placeholder}</span>"),
            |at| self.time(at).to_string(),
        ))
    }

    /// Formats a point in time as text: "2026-03-02 05:00:30".
    pub(crate) fn text(&self, at: &Timestamp) -> String {
        self.time(at).text
    }

    /// Formats a point in time as the value of an input: "2026-03-02T05:00". Leaves out seconds that are zero.
    pub(crate) fn input(&self, at: &Timestamp) -> String {
        let local = at.to_zoned(self.0.clone());
        local.strftime(if local.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" }).to_string()
    }

    /// Formats the start of a day for the axis of a chart: "Mar 2".
    pub(crate) fn day(&self, start: &Timestamp) -> String {
        start.to_zoned(self.0.clone()).strftime("%b %-d").to_string()
    }

    /// Formats the start of an hour for the axis of a chart: "Mar 2, 05:00".
    pub(crate) fn hour(&self, start: &Timestamp) -> String {
        self.format(start, "%b %-d, %H:%M")
    }

    /// Renders the hidden field of a form that contains times or dates, so that they are read in this time zone.
    pub(crate) fn field(&self) -> RawHtml<String> {
        // The name of a time zone needs no escaping.
        RawHtml(format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", super::TIME_ZONE, self.name()))
    }

    /// Formats a time. Appends the UTC offset where clocks are set back, since they show these times twice.
    fn format(&self, at: &Timestamp, format: &str) -> String {
        let local = at.to_zoned(self.0.clone());
        let text = local.strftime(format).to_string();
        match self.0.to_ambiguous_timestamp(local.datetime()).is_ambiguous() {
            true => format!("{text} {}", local.strftime("%:z")),
            false => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_readable_for_people_and_machines() {
        let at = "2026-03-02T10:00:30.5Z".parse().unwrap();
        let zone = PageZone::named("America/New_York").unwrap();
        insta::assert_snapshot!(
            zone.time(&at),
            @r#"<time datetime="2026-03-02T10:00:30.500Z">2026-03-02 05:00:30</time>"#
        );
        assert_eq!(zone.time_or(&None, "never").to_string(), "<span class=\"quiet\">never</span>");
        assert_eq!((&*zone.day(&at), &*PageZone::UTC.hour(&at)), ("Mar 2", "Mar 2, 10:00"));
    }
}
