//! Spans of time by which lists are narrowed down, as addresses tell them: in UTC, whatever zone the reader sees.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::form::Faults;
use domain::page::Span;

/// The span between two texts, either of which may be empty.
pub(crate) fn span(from: &str, to: &str, faults: &mut Faults) -> Span {
    let mut read = |field: &str, text: &str| {
        let at = moment(text);
        if at.is_none() && !text.is_empty() {
            faults.add(field, "must be a time such as 2026-03-02T10:00");
        }
        at
    };
    let span = Span { from: read("from", from), to: read("to", to) };
    if span.from.zip(span.to).is_some_and(|(from, to)| from >= to) {
        faults.add("to", "must be later than the other time");
    }
    span
}

/// A time in UTC as a browser's field gives it, with or without seconds.
fn moment(text: &str) -> Option<Timestamp> {
    let at: DateTime = text.parse().ok()?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: &str, to: &str) -> Result<Span, String> {
        let mut faults = Faults::default();
        let span = span(from, to, &mut faults);
        match faults.of("from").or(faults.of("to")) {
            Some(fault) => Err(fault.to_owned()),
            None => Ok(span),
        }
    }

    #[test]
    fn a_span_is_read_as_the_browser_gives_it() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(read("", ""), Ok(Span::default()));
        assert_eq!(
            read("2026-03-02T10:00", "2026-03-02T10:00:30"),
            Ok(Span { from: at("2026-03-02T10:00:00Z"), to: at("2026-03-02T10:00:30Z") })
        );
        for (from, to) in
            [("yesterday", ""), ("", "10:00"), ("2026-02-30T10:00", ""), ("", "9999-99-99T10:00")]
        {
            assert_eq!(
                read(from, to),
                Err("must be a time such as 2026-03-02T10:00".to_owned()),
                "{from} {to}"
            );
        }
        assert!(read("2026-03-02T10:00", "2026-03-02T10:00").is_err());
    }
}
