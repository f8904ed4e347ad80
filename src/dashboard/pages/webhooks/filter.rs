//! What lists of deliveries are narrowed down by: the type of event, and when the delivery was made.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::dashboard::form::Faults;
use crate::dashboard::ui::Choice;
use crate::domain::page::Span;
use crate::events::KINDS;

/// The type of event that `text` names.
pub(super) fn event_type(text: &str, faults: &mut Faults) -> Option<String> {
    let known = KINDS.contains(&text);
    if !known && !text.is_empty() {
        faults.add("event", "must be one of those that are listed");
    }
    known.then(|| text.to_owned())
}

/// The span between two texts, either of which may be empty.
pub(super) fn span(from: &str, to: &str, faults: &mut Faults) -> Span {
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

/// All types of event, to choose one or none.
pub(super) fn kinds(chosen: &str) -> Vec<Choice<'static>> {
    let all = std::iter::once(("", "All events")).chain(KINDS.iter().map(|kind| (*kind, *kind)));
    choices(all, chosen)
}

/// Choices without hints.
pub(super) fn choices<'a>(all: impl Iterator<Item = (&'a str, &'a str)>, chosen: &str) -> Vec<Choice<'a>> {
    all.map(|(value, label)| Choice { value, label, hint: "", chosen: value == chosen }).collect()
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

    #[test]
    fn a_type_of_event_is_one_of_the_contract_s() {
        let mut faults = Faults::default();
        assert_eq!(event_type("order.paid", &mut faults).as_deref(), Some("order.paid"));
        assert_eq!((event_type("", &mut faults), faults.is_empty()), (None, true));
        assert_eq!((event_type("order.payed", &mut faults), faults.is_empty()), (None, false));
    }
}
