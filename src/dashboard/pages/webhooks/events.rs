//! The form field that selects event types: all, or individual types grouped by resource.

use askama::Template;

use crate::form::{Form, FormErrors};
use crate::ui::{FormChoice, html_safe};
use domain::outbox::{EVENT_TYPE_DESCRIPTIONS, EVENT_TYPES};

html_safe!(EventField<'_>);

/// The field that selects all or individual event types, and its values.
const SELECTION: &str = "which";
const ALL: &str = "all";
const SOME: &str = "some";
/// The field of the checkboxes. Errors of the event types have this name, too.
const EVENT_TYPES_FIELD: &str = "event_types";

/// The form field.
#[derive(Template)]
#[template(path = "webhooks/events.html")]
pub(super) struct EventField<'a> {
    all: bool,
    groups: Vec<(String, Vec<FormChoice<'a>>)>,
    error: Option<&'a str>,
}

impl<'a> EventField<'a> {
    /// Creates the field from a submitted form.
    pub(super) fn from_form(form: &'a Form, errors: &'a FormErrors) -> Self {
        let chosen: Vec<&str> = form.values(EVENT_TYPES_FIELD).collect();
        Self {
            error: errors.message_for(EVENT_TYPES_FIELD),
            ..Self::new(form.text(SELECTION) == ALL, &chosen)
        }
    }

    /// Creates the field with these event types selected.
    pub(super) fn with_selected(kinds: &'a [String]) -> Self {
        let chosen: Vec<&str> = kinds.iter().map(String::as_str).collect();
        Self::new(chosen.len() == EVENT_TYPES.len(), &chosen)
    }

    fn new(all: bool, chosen: &[&str]) -> Self {
        let mut groups: Vec<(String, Vec<FormChoice<'a>>)> = Vec::new();
        for (kind, description) in EVENT_TYPE_DESCRIPTIONS {
            let noun = noun(kind);
            let choice = FormChoice {
                value: kind,
                label: kind,
                hint: description,
                is_selected: chosen.contains(kind),
            };
            match groups.last_mut().filter(|(last, _)| *last == noun) {
                Some((_, choices)) => choices.push(choice),
                None => groups.push((noun, vec![choice])),
            }
        }
        Self { all, groups, error: None }
    }
}

/// Returns the resource of an event type as a heading: "Live session" for `live_session.started`.
fn noun(kind: &str) -> String {
    let noun = kind.split_once('.').map_or(kind, |(noun, _)| noun).replace('_', " ");
    let mut letters = noun.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Parses the selected event types.
pub(super) fn parse(form: &Form) -> Vec<String> {
    if form.text(SELECTION) == ALL {
        return EVENT_TYPES.iter().map(|&kind| kind.to_owned()).collect();
    }
    form.values(EVENT_TYPES_FIELD).map(str::to_owned).collect()
}

/// Formats the number of event types for a list.
pub(super) fn count_label(kinds: &[String]) -> String {
    match kinds {
        all if all.len() == EVENT_TYPES.len() => format!("all {}", EVENT_TYPES.len()),
        [kind] => kind.clone(),
        some => format!("{} of {}", some.len(), EVENT_TYPES.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_is_listed_once_in_its_group() {
        let chosen = ["order.paid".to_owned()];
        let events = EventField::with_selected(&chosen);
        let nouns: Vec<&str> = events.groups.iter().map(|(noun, _)| noun.as_str()).collect();
        assert_eq!(
            nouns,
            ["Student", "Enrollment", "Order", "Course", "Live session", "Recording", "Certificate"]
        );
        let all: Vec<&FormChoice<'_>> = events.groups.iter().flat_map(|(_, choices)| choices).collect();
        assert_eq!(all.iter().map(|choice| choice.value).collect::<Vec<_>>(), EVENT_TYPES);
        assert!(all.iter().all(|choice| choice.is_selected == (choice.value == "order.paid")));
        assert!(!events.all);
    }
}
