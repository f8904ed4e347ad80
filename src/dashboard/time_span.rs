//! Time filters of lists. Their times are in the time zone of the page that contains the form, which the form sends along, so
//! that a filter stays the same when it is shown in another time zone.

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::form::FormErrors;
use super::query::{PageQuery, TIME_ZONE};
use super::ui::PageZone;
use domain::page::TimeSpan;

/// Parses the time span between the parameters `from` and `to`, which may both be empty. `text` returns the value of a
/// parameter, and `page_zone` is the time zone of the page to show. Adds an error to `from` or `to` if it is invalid.
///
/// A local time that the clocks skip is moved by the skipped time, and one that they show twice is the first of both.
pub(crate) fn parse<'a>(
    page_zone: &PageZone,
    text: impl Fn(&'static str) -> &'a str,
    errors: &mut FormErrors,
) -> TimeSpan {
    let zone = page_zone.or_named(text(TIME_ZONE));
    let mut bound = |field: &'static str| {
        let at = parse_time(&zone, text(field));
        if at.is_none() && !text(field).is_empty() {
            errors.add(field, "must be a time such as 2026-03-02T10:00");
        }
        at
    };
    let span = TimeSpan { from: bound("from"), to: bound("to") };
    if span.from.zip(span.to).is_some_and(|(from, to)| from >= to) {
        errors.add("to", "The end must be later than the start");
    }
    span
}

/// Returns the value of the input for a parameter: the time in the time zone of the page, or the text if it is no time.
pub(crate) fn input(page_zone: &PageZone, query: &PageQuery, field: &str) -> String {
    let text = query.text(field);
    match parse_time(&page_zone.or_named(query.text(TIME_ZONE)), text) {
        Some(at) => page_zone.input(&at),
        None => text.to_owned(),
    }
}

/// Parses a local time as sent by a `datetime-local` input, with or without seconds.
fn parse_time(zone: &PageZone, text: &str) -> Option<Timestamp> {
    let at: DateTime = text.parse().ok()?;
    Some(at.to_zoned(zone.rules().clone()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the time span, or the first error message.
    fn parse_or_error(from: &str, to: &str) -> Result<TimeSpan, String> {
        let mut errors = FormErrors::default();
        let text = |field| match field {
            "from" => from,
            "to" => to,
            _ => "",
        };
        let span = parse(&PageZone::UTC, text, &mut errors);
        match errors.message_for("from").or(errors.message_for("to")) {
            Some(error) => Err(error.to_owned()),
            None => Ok(span),
        }
    }

    #[test]
    fn a_time_span_is_parsed_as_sent_by_a_browser() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(parse_or_error("", ""), Ok(TimeSpan::default()));
        assert_eq!(
            parse_or_error("2026-03-02T10:00", "2026-03-02T10:00:30"),
            Ok(TimeSpan { from: at("2026-03-02T10:00:00Z"), to: at("2026-03-02T10:00:30Z") })
        );
        for (from, to) in
            [("yesterday", ""), ("", "10:00"), ("2026-02-30T10:00", ""), ("", "9999-99-99T10:00")]
        {
            assert_eq!(
                parse_or_error(from, to),
                Err("must be a time such as 2026-03-02T10:00".to_owned()),
                "{from} {to}"
            );
        }
        assert!(parse_or_error("2026-03-02T10:00", "2026-03-02T10:00").is_err());
    }
}
