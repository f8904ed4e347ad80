//! Who breaks on a change of a schema, and how to do without: sentences by what the change is about and which way the
//! values go.

use super::catalogue;
use super::compare::Note;
use super::rule::{Direction, Effect, Topic};

/// Who breaks and why, and what to do instead.
pub(crate) fn on(note: &Note) -> (String, String) {
    if let (None, Some(rule)) = (note.site, catalogue::rule(&note.id)) {
        return (rule.who.to_owned(), rule.instead.to_owned());
    }
    let (Some(site), Some(aspect)) = (note.site, catalogue::aspect(&note.word)) else {
        return (UNKNOWN.0.to_owned(), UNKNOWN.1.to_owned());
    };
    let (who, instead) = sentences(&note.word, aspect.topic, aspect.effect, site.direction());
    (who.to_owned(), instead.to_owned())
}

const UNKNOWN: (&str, &str) = (
    "No rule knows what this does to clients, so it counts as breaking.",
    "Leave it as it was, or have it waived once someone has judged it.",
);

const WIDER_REQUEST: &str =
    "Go on accepting all that was accepted; ask for more of a new field or operation only.";
const ANOTHER_FIELD: &str = "Keep what is sent as it is; say the new thing in a new field.";

fn sentences(word: &str, topic: Topic, effect: Effect, direction: Direction) -> (&'static str, &'static str) {
    match (word, direction) {
        ("unclassified-change", _) => return UNKNOWN,
        ("enum-value-added", Direction::Response) => {
            return (
                "A client that handles each listed value meets one that it does not know.",
                "Mark the enum `x-extensible-enum: true` in a version of its own before values come, or say the new thing in a new field.",
            );
        }
        ("enum-opened", Direction::Response) => {
            return (
                "A client built for a closed list meets values that it does not know.",
                "Leave the list closed; add a field with an open one beside it.",
            );
        }
        ("became-nullable", Direction::Response) => {
            return (
                "A client that reads the value without a check fails on `null`.",
                "Go on sending a value; say by a new field that there is none.",
            );
        }
        (_, direction) if word.starts_with("discriminator") => return discriminator(direction),
        (_, Direction::Request) if word.starts_with("default-value") => {
            return (
                "A client that leaves the parameter out gets another answer than it got.",
                "Keep the default; who wants the new one can ask for it.",
            );
        }
        ("became-required" | "became-required-with-default", Direction::Request) => {
            return (
                "A client that leaves it out, as it was allowed to, is refused.",
                "Leave it optional, with a default that does what was done before.",
            );
        }
        ("became-optional", Direction::Response) => {
            return (
                "A client that reads it without a check fails where it is missing.",
                "Go on sending it always.",
            );
        }
        _ => {}
    }
    match (topic, direction, effect) {
        (Topic::Lifecycle, ..) => (
            "Clients cannot plan for what was announced this way.",
            "Write `deprecated: true` and `x-sunset` with a day (YYYY-MM-DD) at least 180 days ahead.",
        ),
        (Topic::Types, Direction::Request, _) => {
            ("A client that sends what was valid is refused.", WIDER_REQUEST)
        }
        (Topic::Types, Direction::Response, _) => {
            ("A client that reads the value as what it was fails on what it is now.", ANOTHER_FIELD)
        }
        (Topic::Values, Direction::Request, _) => {
            ("A client that sends a value that is not valid any more is refused.", WIDER_REQUEST)
        }
        (Topic::Values, Direction::Response, _) => {
            ("A client that was told which values come meets another one.", ANOTHER_FIELD)
        }
        (Topic::Bounds, Direction::Request, _) => {
            ("A client that sends a value beyond the new bound is refused where it was not.", WIDER_REQUEST)
        }
        (Topic::Bounds, Direction::Response, _) => (
            "A client that made room by the old bound meets values beyond it.",
            "Keep to the old bound in what is sent.",
        ),
        (Topic::Properties, Direction::Request, _) => {
            ("A client that sends properties that were accepted is refused.", WIDER_REQUEST)
        }
        (Topic::Properties, Direction::Response, _) => {
            ("A client that reads by the old schema refuses what is sent now.", ANOTHER_FIELD)
        }
        (Topic::Structure, Direction::Request, _) => {
            ("A client that sends what the old schema let through is refused.", WIDER_REQUEST)
        }
        (Topic::Structure, Direction::Response, _) => {
            ("A client that reads by the old schema does not know what is sent now.", ANOTHER_FIELD)
        }
    }
}

const fn discriminator(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Request => (
            "A client tells the alternatives apart as it did, and is misunderstood or refused.",
            "Keep the property and its values; add values for new alternatives.",
        ),
        Direction::Response => (
            "A client that chooses by the property how to read the rest chooses wrong, or not at all.",
            "Keep the property and its values; say the new thing in a new field.",
        ),
    }
}
