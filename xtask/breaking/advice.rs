//! The impact of schema changes on clients and their remedies, by subject of the rule and direction.

use super::catalog;
use super::compare::DetectedChange;
use super::rule::{Direction, Topic, ValueEffect};

/// Returns the impact and the remedy of a change.
pub(crate) fn for_change(change: &DetectedChange) -> (String, String) {
    if let (None, Some(rule)) = (change.site, catalog::rule(&change.id)) {
        return (rule.impact.to_owned(), rule.remedy.to_owned());
    }
    let (Some(site), Some(schema_rule)) = (change.site, catalog::schema_rule(&change.suffix)) else {
        return (UNKNOWN.0.to_owned(), UNKNOWN.1.to_owned());
    };
    let (impact, remedy) = sentences(&change.suffix, schema_rule.topic, schema_rule.effect, site.direction());
    (impact.to_owned(), remedy.to_owned())
}

const UNKNOWN: (&str, &str) = (
    "The effect on clients is unknown, so the change counts as breaking.",
    "Revert the change, or review it and add a waiver.",
);

const WIDER_REQUEST: &str =
    "Keep accepting all values that were valid; apply stricter rules only to a new property or operation.";
const ANOTHER_FIELD: &str = "Keep the value as it is, and send the new one in a new property.";

fn sentences(
    suffix: &str,
    topic: Topic,
    effect: ValueEffect,
    direction: Direction,
) -> (&'static str, &'static str) {
    match (suffix, direction) {
        ("unclassified-change", _) => return UNKNOWN,
        ("enum-value-added", Direction::Response) => {
            return (
                "A client that handles each listed value receives an unknown one.",
                "Release the enum with `x-extensible-enum: true` before you add values, or send the new value in a new property.",
            );
        }
        ("enum-opened", Direction::Response) => {
            return (
                "A client that handles only the listed values receives unknown ones.",
                "Keep the enum closed, and add a property with an open enum.",
            );
        }
        ("became-nullable", Direction::Response) => {
            return (
                "A client that does not check for `null` fails.",
                "Keep sending a value, and add a property that reports its absence.",
            );
        }
        (_, direction) if suffix.starts_with("discriminator") => return discriminator(direction),
        (_, Direction::Request) if suffix.starts_with("default-value") => {
            return (
                "A client that omits the parameter receives a different response.",
                "Keep the default; clients that need the new value can send it.",
            );
        }
        ("became-required" | "became-required-with-default", Direction::Request) => {
            return (
                "Requests that omit the value, which was optional, are rejected.",
                "Keep it optional, with a default that preserves the old behavior.",
            );
        }
        ("became-optional", Direction::Response) => {
            return (
                "A client that does not check whether the value is present fails.",
                "Always send the value.",
            );
        }
        _ => {}
    }
    match (topic, direction, effect) {
        (Topic::Lifecycle, ..) => (
            "Clients cannot plan for the end of support.",
            "Set `deprecated: true`, and set `x-sunset` to a date (YYYY-MM-DD) at least 180 days in the future.",
        ),
        (Topic::JsonTypes, Direction::Request, _) => {
            ("Requests with values that were valid are rejected.", WIDER_REQUEST)
        }
        (Topic::JsonTypes, Direction::Response, _) => {
            ("A client that parses the value as the old type or format fails.", ANOTHER_FIELD)
        }
        (Topic::Values, Direction::Request, _) => {
            ("Requests with a value that was valid are rejected.", WIDER_REQUEST)
        }
        (Topic::Values, Direction::Response, _) => {
            ("A client that handles only the documented values receives a different one.", ANOTHER_FIELD)
        }
        (Topic::Bounds, Direction::Request, _) => {
            ("Requests with a value outside the new bounds are rejected.", WIDER_REQUEST)
        }
        (Topic::Bounds, Direction::Response, _) => (
            "A client that relies on the old bounds receives values outside them.",
            "Keep the values that are sent within the old bounds.",
        ),
        (Topic::Properties, Direction::Request, _) => {
            ("Requests with properties that were valid are rejected.", WIDER_REQUEST)
        }
        (Topic::Properties, Direction::Response, _) => {
            ("A client that validates against the old schema rejects the response.", ANOTHER_FIELD)
        }
        (Topic::Structure, Direction::Request, _) => {
            ("Requests that match the old schema are rejected.", WIDER_REQUEST)
        }
        (Topic::Structure, Direction::Response, _) => {
            ("A client that parses by the old schema cannot handle the response.", ANOTHER_FIELD)
        }
    }
}

const fn discriminator(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Request => (
            "Requests that use the old discriminator are rejected or misinterpreted.",
            "Keep the property and its values; add values for new alternatives.",
        ),
        Direction::Response => (
            "A client that selects the schema by the discriminator selects the wrong one, or none.",
            "Keep the property and its values, and send the new data in a new property.",
        ),
    }
}
