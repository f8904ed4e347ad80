//! What lists of deliveries are narrowed down by besides time: the type of event.

use crate::form::Faults;
use crate::ui::Choice;
use domain::outbox::KINDS;

/// The type of event that `text` names.
pub(super) fn event_type(text: &str, faults: &mut Faults) -> Option<String> {
    let known = KINDS.contains(&text);
    if !known && !text.is_empty() {
        faults.add("event", "must be one of those that are listed");
    }
    known.then(|| text.to_owned())
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

    #[test]
    fn a_type_of_event_is_one_of_the_contract_s() {
        let mut faults = Faults::default();
        assert_eq!(event_type("order.paid", &mut faults).as_deref(), Some("order.paid"));
        assert_eq!((event_type("", &mut faults), faults.is_empty()), (None, true));
        assert_eq!((event_type("order.payed", &mut faults), faults.is_empty()), (None, false));
    }
}
