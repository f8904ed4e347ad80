//! Time filters of lists. Query parameters hold UTC, whatever time zone the browser shows.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::form::FormErrors;
use domain::page::TimeSpan;

/// Parses a time span. Both bounds may be empty. Adds an error to the field `from` or `to` if it is invalid.
pub(crate) fn parse(from: &str, to: &str, errors: &mut FormErrors) -> TimeSpan {
    let mut bound = |field: &str, text: &str| {
        let at = parse_time(text);
        if at.is_none() && !text.is_empty() {
            errors.add(field, "must be a time such as 2026-03-02T10:00");
        }
        at
    };
    let span = TimeSpan { from: bound("from", from), to: bound("to", to) };
    if span.from.zip(span.to).is_some_and(|(from, to)| from >= to) {
        errors.add("to", "The end must be later than the start");
    }
    span
}

/// Parses a time in UTC as sent by a `datetime-local` input, with or without seconds.
fn parse_time(text: &str) -> Option<Timestamp> {
    let at: DateTime = text.parse().ok()?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the time span, or the first error message.
    fn parse_or_error(from: &str, to: &str) -> Result<TimeSpan, String> {
        let mut errors = FormErrors::default();
        let span = parse(from, to, &mut errors);
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
