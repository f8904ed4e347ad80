//! The impact of changes on clients, and the remedies.
//!
//! A `Rule` declares both. For a `SchemaRule`, they depend on its topic and the direction, and some rules have specific
//! ones.

use super::catalog;
use super::compare::DetectedChange;
use super::rule::{Direction, Topic};

/// Returns the impact and the remedy of a change.
pub(crate) fn for_change(change: &DetectedChange) -> (String, String) {
    if let (None, Some(rule)) = (change.site, catalog::rule(&change.id)) {
        return (rule.impact.to_owned(), rule.remedy.to_owned());
    }
    let (Some(site), Some(schema_rule)) = (change.site, catalog::schema_rule(&change.suffix)) else {
        return (UNCLASSIFIED.0.to_owned(), UNCLASSIFIED.1.to_owned());
    };
    let (impact, remedy) = schema_rule_advice(&change.suffix, schema_rule.topic, site.direction());
    (impact.to_owned(), remedy.to_owned())
}

/// The impact and the remedy of an unclassified change.
const UNCLASSIFIED: (&str, &str) = (
    "The effect on clients is unknown, so the change counts as breaking.",
    "Revert the change, or review it and add a waiver.",
);

const KEEP_ACCEPTING_OLD_VALUES: &str =
    "Keep accepting all values that were valid; apply stricter rules only to a new property or operation.";
const ADD_ANOTHER_PROPERTY: &str = "Keep the value as it is, and send the new one in a new property.";

/// Returns the impact and the remedy of a schema change: specific ones for some rules, otherwise those of the topic.
pub(crate) fn schema_rule_advice(
    suffix: &str,
    topic: Topic,
    direction: Direction,
) -> (&'static str, &'static str) {
    match (suffix, direction) {
        ("unclassified-change", _) => UNCLASSIFIED,
        ("enum-value-added", Direction::Response) => (
            "A client that handles each listed value receives an unknown one.",
            "Release the enum with `x-extensible-enum: true` before you add values, or send the new value in a new property.",
        ),
        ("enum-opened", Direction::Response) => (
            "A client that handles only the listed values receives unknown ones.",
            "Keep the enum closed, and add a property with an open enum.",
        ),
        ("became-nullable", Direction::Response) => (
            "A client that does not check for `null` fails.",
            "Keep sending a value, and add a property that reports its absence.",
        ),
        ("one-of-overlap-added", Direction::Request) => (
            "Requests with values that match two alternatives are rejected.",
            "Make the alternatives disjoint, for example by a constant property, or use `anyOf`.",
        ),
        ("stability-decreased", _) => (
            "Clients rely on the stability level that was promised.",
            "Keep the level, and add unstable features separately.",
        ),
        ("sunset-deleted", _) => {
            ("Clients know that support ends, but not when.", "Keep `x-sunset` while it is deprecated.")
        }
        ("sunset-date-too-small" | "sunset-date-changed-too-small", _) => (
            "Clients have too little time to migrate.",
            "Set `x-sunset` to a later date, which leaves clients time to migrate.",
        ),
        (_, direction) if suffix.starts_with("discriminator") => discriminator_advice(direction),
        (_, Direction::Request) if suffix.starts_with("default-value") => (
            "A client that omits the parameter receives a different response.",
            "Keep the default; clients that need the new value can send it.",
        ),
        ("became-required" | "became-required-with-default", Direction::Request) => (
            "Requests that omit the value, which was optional, are rejected.",
            "Keep it optional, with a default that preserves the old behavior.",
        ),
        ("became-optional", Direction::Response) => {
            ("A client that does not check whether the value is present fails.", "Always send the value.")
        }
        _ => topic_advice(topic, direction),
    }
}

/// Returns the impact and the remedy of a schema change whose rule has no specific ones.
const fn topic_advice(topic: Topic, direction: Direction) -> (&'static str, &'static str) {
    match (topic, direction) {
        (Topic::Lifecycle, _) => (
            "Clients cannot plan for the end of support.",
            "Set `deprecated: true`, and set `x-sunset` to a date (YYYY-MM-DD) that leaves clients time to migrate.",
        ),
        (Topic::JsonTypes, Direction::Request) => {
            ("Requests with values that were valid are rejected.", KEEP_ACCEPTING_OLD_VALUES)
        }
        (Topic::JsonTypes, Direction::Response) => {
            ("A client that parses the value as the old type or format fails.", ADD_ANOTHER_PROPERTY)
        }
        (Topic::Values, Direction::Request) => {
            ("Requests with a value that was valid are rejected.", KEEP_ACCEPTING_OLD_VALUES)
        }
        (Topic::Values, Direction::Response) => (
            "A client that handles only the documented values receives a different one.",
            ADD_ANOTHER_PROPERTY,
        ),
        (Topic::Bounds, Direction::Request) => {
            ("Requests with a value outside the new bounds are rejected.", KEEP_ACCEPTING_OLD_VALUES)
        }
        (Topic::Bounds, Direction::Response) => (
            "A client that relies on the old bounds receives values outside them.",
            "Keep the values that are sent within the old bounds.",
        ),
        (Topic::Properties, Direction::Request) => {
            ("Requests with properties that were valid are rejected.", KEEP_ACCEPTING_OLD_VALUES)
        }
        (Topic::Properties, Direction::Response) => {
            ("A client that validates against the old schema rejects the response.", ADD_ANOTHER_PROPERTY)
        }
        (Topic::Structure, Direction::Request) => {
            ("Requests that match the old schema are rejected.", KEEP_ACCEPTING_OLD_VALUES)
        }
        (Topic::Structure, Direction::Response) => {
            ("A client that parses by the old schema cannot handle the response.", ADD_ANOTHER_PROPERTY)
        }
    }
}

const fn discriminator_advice(direction: Direction) -> (&'static str, &'static str) {
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
