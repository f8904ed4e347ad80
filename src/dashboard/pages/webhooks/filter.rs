//! Filters of delivery lists by event type.

use crate::form::FormErrors;
use crate::ui::FormChoice;
use domain::outbox::EVENT_TYPES;

/// Parses an event type. Adds an error if it is unknown.
pub(super) fn event_type(text: &str, errors: &mut FormErrors) -> Option<String> {
    let is_known = EVENT_TYPES.contains(&text);
    if !is_known && !text.is_empty() {
        errors.add("event", "must be one of the listed values");
    }
    is_known.then(|| text.to_owned())
}

/// Returns all event types as options of a filter.
pub(super) fn event_type_choices(chosen: &str) -> Vec<FormChoice<'static>> {
    let all = std::iter::once(("", "All events")).chain(EVENT_TYPES.iter().map(|kind| (*kind, *kind)));
    choices(all, chosen)
}

/// Returns options without hints.
pub(super) fn choices<'a>(
    all: impl Iterator<Item = (&'a str, &'a str)>,
    chosen: &str,
) -> Vec<FormChoice<'a>> {
    all.map(|(value, label)| FormChoice { value, label, hint: "", is_selected: value == chosen }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_type_filter_accepts_known_types_only() {
        let mut errors = FormErrors::default();
        assert_eq!(event_type("order.paid", &mut errors).as_deref(), Some("order.paid"));
        assert_eq!((event_type("", &mut errors), errors.is_empty()), (None, true));
        assert_eq!((event_type("order.payed", &mut errors), errors.is_empty()), (None, false));
    }
}
