//! Compares `readOnly` and `writeOnly`: read-only properties are not in requests, write-only properties are not in
//! responses.
//!
//! Also declares the rules about added and removed properties. Their ids distinguish required from optional properties.

use super::SchemaPair;
use super::view::SchemaView;
use crate::compare::{Comparison, Positions};
use crate::rule::{Direction, Inverse, Rule, SchemaSite};

/// The values of `readOnly` and `writeOnly`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PropertyAccess {
    read_only: bool,
    write_only: bool,
}

const MISSING_PROPERTY_REJECTED: &str = "Requests without the property are rejected.";
const CLIENTS_MISS_PROPERTY: &str = "Clients that read the property fail.";
const MAKE_PROPERTY_OPTIONAL: &str =
    "Make the property optional, with a default that preserves the old behavior.";
const KEEP_PROPERTY: &str =
    "Keep the property until its sunset: mark it `deprecated` with a date in `x-sunset`.";

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::warning(
        "request-property-removed",
        Inverse::Of("new-optional-request-property"),
        "The server ignores the property that clients send, or rejects the request if unknown properties are invalid.",
        "Keep accepting the property, even if it is ignored, and mark it `deprecated`.",
    ),
    Rule::info("request-property-removed-with-deprecation", Inverse::Of("new-optional-request-property")),
    Rule::info("response-property-removed-with-deprecation", Inverse::Of("response-optional-property-added")),
    Rule::info("request-read-only-property-removed", Inverse::Of("new-optional-request-property")),
    Rule::error(
        "new-required-request-property",
        Inverse::Of("request-property-removed"),
        "Existing clients do not send the property, so their requests are rejected.",
        MAKE_PROPERTY_OPTIONAL,
    ),
    Rule::error(
        "new-required-request-property-with-default",
        Inverse::Of("request-property-removed"),
        "Existing clients do not send the property, so their requests are rejected: `required` applies despite the default.",
        "Remove the property from `required`, so that its default preserves the old behavior.",
    ),
    Rule::error(
        "new-required-request-header-property",
        Inverse::Of("request-property-removed"),
        "Requests without the property in the header are rejected.",
        MAKE_PROPERTY_OPTIONAL,
    ),
    Rule::info("new-optional-request-property", Inverse::Of("request-property-removed")),
    Rule::error(
        "response-required-property-removed",
        Inverse::Of("response-required-property-added"),
        CLIENTS_MISS_PROPERTY,
        KEEP_PROPERTY,
    ),
    Rule::warning(
        "response-optional-property-removed",
        Inverse::Of("response-optional-property-added"),
        "Clients that read the optional property no longer receive it.",
        KEEP_PROPERTY,
    ),
    Rule::info(
        "response-required-write-only-property-removed",
        Inverse::Of("response-required-write-only-property-added"),
    ),
    Rule::info(
        "response-optional-write-only-property-removed",
        Inverse::Of("response-optional-write-only-property-added"),
    ),
    Rule::info("response-required-property-added", Inverse::Of("response-required-property-removed")),
    Rule::info("response-optional-property-added", Inverse::Of("response-optional-property-removed")),
    Rule::info(
        "response-required-write-only-property-added",
        Inverse::Of("response-required-write-only-property-removed"),
    ),
    Rule::info(
        "response-optional-write-only-property-added",
        Inverse::Of("response-optional-write-only-property-removed"),
    ),
    Rule::info(
        "request-optional-property-became-write-only",
        Inverse::Of("request-optional-property-became-not-write-only"),
    ),
    Rule::info(
        "request-optional-property-became-not-write-only",
        Inverse::Of("request-optional-property-became-write-only"),
    ),
    Rule::info(
        "request-required-property-became-write-only",
        Inverse::Of("request-required-property-became-not-write-only"),
    ),
    Rule::info(
        "request-required-property-became-not-write-only",
        Inverse::Of("request-required-property-became-write-only"),
    ),
    Rule::warning(
        "request-optional-property-became-read-only",
        Inverse::Of("request-optional-property-became-not-read-only"),
        "The server ignores the property that clients send.",
        "Keep accepting the property, and add another one for the value that the server sets.",
    ),
    Rule::error(
        "request-required-property-became-read-only",
        Inverse::Of("request-required-property-became-not-read-only"),
        "The server ignores the property that clients are required to send.",
        "Keep accepting the property, and add another one for the value that the server sets.",
    ),
    Rule::info(
        "request-optional-property-became-not-read-only",
        Inverse::Of("request-optional-property-became-read-only"),
    ),
    Rule::error(
        "request-required-property-became-not-read-only",
        Inverse::Of("request-required-property-became-read-only"),
        MISSING_PROPERTY_REJECTED,
        MAKE_PROPERTY_OPTIONAL,
    ),
    Rule::warning(
        "response-optional-property-became-write-only",
        Inverse::Of("response-optional-property-became-not-write-only"),
        CLIENTS_MISS_PROPERTY,
        KEEP_PROPERTY,
    ),
    Rule::error(
        "response-required-property-became-write-only",
        Inverse::Of("response-required-property-became-not-write-only"),
        CLIENTS_MISS_PROPERTY,
        KEEP_PROPERTY,
    ),
    Rule::info(
        "response-optional-property-became-not-write-only",
        Inverse::Of("response-optional-property-became-write-only"),
    ),
    Rule::warning(
        "response-required-property-became-not-write-only",
        Inverse::Of("response-required-property-became-write-only"),
        "A secret value is now sent in responses, and clients may log it.",
        "Keep it `writeOnly`, and send the public part in another property.",
    ),
    Rule::info(
        "response-optional-property-became-read-only",
        Inverse::Of("response-optional-property-became-not-read-only"),
    ),
    Rule::info(
        "response-optional-property-became-not-read-only",
        Inverse::Of("response-optional-property-became-read-only"),
    ),
    Rule::info(
        "response-required-property-became-read-only",
        Inverse::Of("response-required-property-became-not-read-only"),
    ),
    Rule::info(
        "response-required-property-became-not-read-only",
        Inverse::Of("response-required-property-became-read-only"),
    ),
];

impl PropertyAccess {
    /// Reads the keywords of a schema.
    pub(super) fn of(view: &SchemaView<'_>) -> Self {
        Self { read_only: view.is_true("readOnly"), write_only: view.is_true("writeOnly") }
    }

    /// Whether the property is never sent in a direction.
    pub(super) const fn is_never_sent(self, direction: Direction) -> bool {
        match direction {
            Direction::Request => self.read_only,
            Direction::Response => self.write_only,
        }
    }
}

/// Returns the id of the rule for a removed property.
pub(super) fn removal_rule_id(site: SchemaSite, is_required: bool) -> String {
    let kind = if is_required { "required" } else { "optional" };
    match site {
        SchemaSite::RequestReadOnly => "request-read-only-property-removed".to_owned(),
        SchemaSite::ResponseProperty => format!("response-{kind}-property-removed"),
        SchemaSite::ResponseWriteOnly => format!("response-{kind}-write-only-property-removed"),
        _ => "request-property-removed".to_owned(),
    }
}

/// Compares `readOnly` and `writeOnly` of a property. `required_before` and `required_after` are true if it is required
/// in the base and the revision.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    name: &str,
    (required_before, required_after): (bool, bool),
    (view_before, before): (&SchemaView<'n>, PropertyAccess),
    (view_after, after): (&SchemaView<'n>, PropertyAccess),
) {
    let id_prefix = match pair.site.direction() {
        Direction::Request => "request",
        Direction::Response => "response",
    };
    let kind = |is_required| if is_required { "required" } else { "optional" };
    for (keyword, adjective, before, after) in [
        ("readOnly", "read-only", before.read_only, after.read_only),
        ("writeOnly", "write-only", before.write_only, after.write_only),
    ] {
        if before == after {
            continue;
        }
        // An added restriction affects clients of the base, so the rule depends on whether the property was required
        // there. A removed restriction has an effect only in the revision.
        let (id, message) = if after {
            let kind = kind(required_before);
            (
                format!("{id_prefix}-{kind}-property-became-{adjective}"),
                format!("`{name}` became {adjective}"),
            )
        } else {
            let kind = kind(required_after);
            (
                format!("{id_prefix}-{kind}-property-became-not-{adjective}"),
                format!("`{name}` is no longer {adjective}"),
            )
        };
        let positions = Positions::new(view_before.position(keyword), view_after.position(keyword));
        comparison.report_property_rule(pair.index, &id, None, positions, name, message);
    }
}
