//! The choice of events: all, or those that are ticked, by the noun that they are about.

use askama::Template;

use crate::form::{Faults, Form};
use crate::ui::{Choice, piece};
use domain::outbox::{KINDS, TOLD};

piece!(Events<'_>);

/// The field that says whether all are wanted, and its words.
const WHICH: &str = "which";
const ALL: &str = "all";
const SOME: &str = "some";
/// The boxes; what is wrong with them is told under this name, too.
const BOXES: &str = "event_types";

/// The field of a form.
#[derive(Template)]
#[template(path = "webhooks/events.html")]
pub(super) struct Events<'a> {
    all: bool,
    groups: Vec<(String, Vec<Choice<'a>>)>,
    fault: Option<&'a str>,
}

impl<'a> Events<'a> {
    /// The choice as a form has it.
    pub(super) fn of(form: &'a Form, faults: &'a Faults) -> Self {
        let chosen: Vec<&str> = form.all(BOXES).collect();
        Self { fault: faults.of(BOXES), ..Self::new(form.text(WHICH) == ALL, &chosen) }
    }

    /// The choice with these ticked.
    pub(super) fn chosen(kinds: &'a [String]) -> Self {
        let chosen: Vec<&str> = kinds.iter().map(String::as_str).collect();
        Self::new(chosen.len() == KINDS.len(), &chosen)
    }

    fn new(all: bool, chosen: &[&str]) -> Self {
        let mut groups: Vec<(String, Vec<Choice<'a>>)> = Vec::new();
        for (kind, told) in TOLD {
            let noun = noun(kind);
            let choice = Choice { value: kind, label: kind, hint: told, chosen: chosen.contains(kind) };
            match groups.last_mut().filter(|(last, _)| *last == noun) {
                Some((_, choices)) => choices.push(choice),
                None => groups.push((noun, vec![choice])),
            }
        }
        Self { all, groups, fault: None }
    }
}

/// What an event is about, as a heading: "Live session" of `live_session.started`.
fn noun(kind: &str) -> String {
    let noun = kind.split_once('.').map_or(kind, |(noun, _)| noun).replace('_', " ");
    let mut letters = noun.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The types that a form asks for.
pub(super) fn read(form: &Form) -> Vec<String> {
    if form.text(WHICH) == ALL {
        return KINDS.iter().map(|&kind| kind.to_owned()).collect();
    }
    form.all(BOXES).map(str::to_owned).collect()
}

/// How many types these are, as a list says it.
pub(super) fn told(kinds: &[String]) -> String {
    match kinds {
        all if all.len() == KINDS.len() => format!("all {}", KINDS.len()),
        [one] => one.clone(),
        some => format!("{} of {}", some.len(), KINDS.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_offered_once_under_its_noun() {
        let chosen = ["order.paid".to_owned()];
        let events = Events::chosen(&chosen);
        let nouns: Vec<&str> = events.groups.iter().map(|(noun, _)| noun.as_str()).collect();
        assert_eq!(
            nouns,
            ["Student", "Enrollment", "Order", "Course", "Live session", "Recording", "Certificate"]
        );
        let all: Vec<&Choice<'_>> = events.groups.iter().flat_map(|(_, choices)| choices).collect();
        assert_eq!(all.iter().map(|choice| choice.value).collect::<Vec<_>>(), KINDS);
        assert!(all.iter().all(|choice| choice.chosen == (choice.value == "order.paid")));
        assert!(!events.all);
    }
}
