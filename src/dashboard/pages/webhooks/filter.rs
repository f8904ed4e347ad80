//! Filters of delivery lists by event type.

use crate::form::FormErrors;
use crate::ui::{FormChoice, choices};
use domain::outbox::EVENT_TYPES;

/// Parses an event type. Returns `None` if it is empty or unknown; adds an error if it is unknown.
pub(super) fn event_type(text: &str, errors: &mut FormErrors) -> Option<String> {
    let is_known = EVENT_TYPES.contains(&text);
    if !is_known && !text.is_empty() {
        errors.add("event", "must be one of the listed values");
    }
    is_known.then(|| text.to_owned())
}

/// Returns all event types as options of a filter.
pub(super) fn event_type_choices(selected: &str) -> Vec<FormChoice<'static>> {
    let options = std::iter::once(("", "All event types"))
        .chain(EVENT_TYPES.iter().map(|event_type| (*event_type, *event_type)));
    choices(options, selected)
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
