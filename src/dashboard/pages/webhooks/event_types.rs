//! The form field that selects event types: all, or individual types grouped by resource.

use askama::Template;

use crate::form::{Form, FormErrors};
use crate::ui::{self, FormChoice, html_safe};
use domain::outbox::{EVENT_TYPES, EventType};

html_safe!(EventTypesField<'_>);

/// The field that selects all or individual event types, and its two values.
const SELECTION: &str = "which";
const ALL: &str = "all";
const SOME: &str = "some";
/// The field of the checkboxes. Errors of the event types have this name, too.
const EVENT_TYPES_FIELD: &str = "event_types";

/// The form field.
#[derive(Template)]
#[template(path = "webhooks/event_types.html")]
pub(super) struct EventTypesField<'a> {
    /// Whether all event types are selected.
    is_all: bool,
    /// The event types of each resource, with the resource as a heading.
    groups: Vec<(String, Vec<FormChoice<'a>>)>,
    error: Option<&'a str>,
}

impl<'a> EventTypesField<'a> {
    /// Creates the field from a submitted form.
    pub(super) fn from_form(form: &'a Form, errors: &'a FormErrors) -> Self {
        let selected: Vec<&str> = form.values(EVENT_TYPES_FIELD).collect();
        Self {
            error: errors.message_for(EVENT_TYPES_FIELD),
            ..Self::new(form.text(SELECTION) == ALL, &selected)
        }
    }

    /// Creates the field with these event types selected.
    pub(super) fn with_selected(event_types: &'a [String]) -> Self {
        let selected: Vec<&str> = event_types.iter().map(String::as_str).collect();
        Self::new(selected.len() == EVENT_TYPES.len(), &selected)
    }

    fn new(is_all: bool, selected: &[&str]) -> Self {
        let mut groups: Vec<(String, Vec<FormChoice<'a>>)> = Vec::new();
        for event_type in EventType::ALL {
            let name = event_type.as_str();
            let resource = resource(name);
            let choice = FormChoice {
                value: name,
                label: name,
                hint: event_type.description(),
                is_selected: selected.contains(&name),
            };
            match groups.last_mut().filter(|(last, _)| *last == resource) {
                Some((_, choices)) => choices.push(choice),
                None => groups.push((resource, vec![choice])),
            }
        }
        Self { is_all, groups, error: None }
    }
}

/// Returns the resource of an event type as a heading: "Live session" for `live_session.started`.
fn resource(event_type: &str) -> String {
    let noun = event_type.split_once('.').map_or(event_type, |(noun, _)| noun).replace('_', " ");
    let mut letters = noun.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Parses the selected event types.
pub(super) fn parse(form: &Form) -> Vec<String> {
    if form.text(SELECTION) == ALL {
        return EVENT_TYPES.iter().map(|&event_type| event_type.to_owned()).collect();
    }
    form.values(EVENT_TYPES_FIELD).map(str::to_owned).collect()
}

/// Formats the selected event types for a list: "all 13", "order.paid", "2 of 13".
pub(super) fn count_label(event_types: &[String]) -> String {
    match event_types {
        all if all.len() == EVENT_TYPES.len() => format!("all {}", EVENT_TYPES.len()),
        [event_type] => event_type.clone(),
        some => format!("{} of {}", some.len(), EVENT_TYPES.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_is_listed_once_in_its_group() {
        let selected = ["order.paid".to_owned()];
        let field = EventTypesField::with_selected(&selected);
        let resources: Vec<&str> = field.groups.iter().map(|(resource, _)| resource.as_str()).collect();
        assert_eq!(
            resources,
            ["Student", "Enrollment", "Order", "Course", "Live session", "Recording", "Certificate"]
        );
        let all: Vec<&FormChoice<'_>> = field.groups.iter().flat_map(|(_, choices)| choices).collect();
        assert_eq!(all.iter().map(|choice| choice.value).collect::<Vec<_>>(), EVENT_TYPES);
        assert!(all.iter().all(|choice| choice.is_selected == (choice.value == "order.paid")));
        assert!(!field.is_all);
    }
}
