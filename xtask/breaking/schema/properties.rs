//! Compares `properties` and `required`.

use std::collections::BTreeSet;

use contract::source::Span;

use super::access::PropertyAccess;
use super::property_schemas::{PropertySchemas, SchemaProperties};
use super::view::{SchemaParts, SchemaView};
use super::{SchemaPair, access};
use crate::compare::{Comparison, Positions, RemovalStatus, property_removal_status};
use crate::rule::{Direction, Level, SchemaRule, SchemaSite, Topic, ValueEffect};

const PROPERTIES: Topic = Topic::Properties;

/// The schema rules of this module. Those about added and removed properties are in [`access`].
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    SchemaRule::new(PROPERTIES, ValueEffect::Narrows, "became-required", "became-optional"),
    SchemaRule::new(PROPERTIES, ValueEffect::Narrows, "became-required-with-default", "became-optional"),
    SchemaRule::new(PROPERTIES, ValueEffect::Widens, "became-optional", "became-required"),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &["properties", "required"];

/// Compares the properties of two schemas.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (base, revision) = (SchemaProperties::of(&pair.base), SchemaProperties::of(&pair.revision));
    let (required_before, required_after) = (pair.base.required(), pair.revision.required());
    let mut names: BTreeSet<&str> = base.names();
    names.extend(revision.names());
    names.extend(required_before.keys().filter(|name| !required_after.contains_key(*name)));
    names.extend(required_after.keys().filter(|name| !required_before.contains_key(*name)));
    for name in names {
        let (before, after) = (base.get(name), revision.get(name));
        let required_spans = (required_before.get(name).copied(), required_after.get(name).copied());
        let property = ComparedProperty { name, required_spans };
        match (before.is_declared, after.is_declared) {
            (true, false) if required_spans.1.is_none() => {
                report_removed(comparison, pair, &property, before.parts, after)
            }
            (false, true) if required_spans.0.is_none() => {
                report_added(comparison, pair, &property, before, after.parts)
            }
            (false, false) => {
                let spans = (pair.base.span, pair.revision.span);
                compare_required(comparison, pair, &property, pair.site.inner(), spans, false)
            }
            _ => compare_both(comparison, pair, &property, before.parts, after.parts),
        }
    }
}

/// A property, and the positions of its name in `required` of both schemas; `None` if it is not required.
struct ComparedProperty<'a> {
    name: &'a str,
    required_spans: (Option<Span>, Option<Span>),
}

fn compare_both<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    property: &ComparedProperty<'_>,
    before: SchemaParts<'n>,
    after: SchemaParts<'n>,
) {
    let (view_before, view_after) =
        (SchemaView::of(&comparison.base, &before), SchemaView::of(&comparison.revision, &after));
    let (access_before, access_after) = (PropertyAccess::of(&view_before), PropertyAccess::of(&view_after));
    let direction = pair.site.direction();
    let never_sent = access_before.is_never_sent(direction) && access_after.is_never_sent(direction);
    let site = if never_sent { pair.site.never_sent() } else { pair.site.inner() };
    if !pair.site.is_never_sent() {
        access::compare(
            comparison,
            pair,
            property.name,
            (property.required_spans.0.is_some(), property.required_spans.1.is_some()),
            (&view_before, access_before),
            (&view_after, access_after),
        );
    }
    let has_default = view_after.entry("default").is_some();
    compare_required(comparison, pair, property, site, (before.span, after.span), has_default);
    pair.queue(comparison, before, after, site, property.name);
}

/// Reports that a property became required or optional.
fn compare_required<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    property: &ComparedProperty<'_>,
    site: SchemaSite,
    (base_span, revision_span): (Span, Span),
    has_default: bool,
) {
    let name = property.name;
    let (suffix, positions, message) = match property.required_spans {
        (None, Some(after)) => {
            let has_request_default = has_default && site == SchemaSite::RequestProperty;
            let suffix = if has_request_default { "became-required-with-default" } else { "became-required" };
            (suffix, Positions::new(base_span, after), format!("`{name}` became required"))
        }
        (Some(before), None) => {
            ("became-optional", Positions::new(before, revision_span), format!("`{name}` became optional"))
        }
        _ => return,
    };
    comparison.report_property_change(pair.index, site, suffix, name, positions, message);
}

fn report_removed<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    property: &ComparedProperty<'_>,
    before: SchemaParts<'n>,
    after: PropertySchemas<'n>,
) {
    let name = property.name;
    let positions = Positions::new(before.span, pair.revision.position("properties"));
    let view = SchemaView::of(&comparison.base, &before);
    let direction = pair.site.direction();
    let never_sent = pair.site.is_never_sent() || PropertyAccess::of(&view).is_never_sent(direction);
    let (level_before_sunset, reason) = match property_removal_status(&view, comparison.today) {
        RemovalStatus::Announced if !never_sent => {
            let id = match direction {
                Direction::Request => "request-property-removed-with-deprecation",
                Direction::Response => "response-property-removed-with-deprecation",
            };
            let message = format!("the deprecated property `{name}` was removed");
            comparison.report_property_rule(pair.index, id, None, positions, name, message);
            return;
        }
        RemovalStatus::BeforeSunset(date) if !never_sent => {
            (Some(Level::Error), format!(" before its sunset on {date}"))
        }
        _ => (None, String::new()),
    };
    let message = format!("the property `{name}` was removed{reason}");
    match direction {
        Direction::Request => {
            let site = if never_sent { SchemaSite::RequestReadOnly } else { SchemaSite::RequestProperty };
            // A schema that forbids additional properties rejects the removed property; otherwise the server ignores
            // it.
            let level = match (never_sent, after.is_rejected()) {
                (true, _) => Level::Info,
                (false, true) => Level::Error,
                (false, false) => Level::Warning,
            };
            let id = access::removal_rule_id(site, false);
            comparison.report_property_rule(pair.index, &id, Some(level), positions, name, message);
        }
        Direction::Response => {
            let site = if never_sent { SchemaSite::ResponseWriteOnly } else { SchemaSite::ResponseProperty };
            let id = access::removal_rule_id(site, property.required_spans.0.is_some());
            comparison.report_property_rule(pair.index, &id, level_before_sunset, positions, name, message);
        }
    }
    if !after.is_rejected() && !after.accepts_everything() {
        // The property is still valid as an additional property, so its schema is compared with that of those
        // properties.
        pair.queue(
            comparison,
            before,
            after.parts,
            if never_sent { pair.site.never_sent() } else { pair.site.inner() },
            name,
        );
    }
}

fn report_added<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    property: &ComparedProperty<'_>,
    before: PropertySchemas<'n>,
    after: SchemaParts<'n>,
) {
    let name = property.name;
    let positions = Positions::new(pair.base.position("properties"), after.span);
    let view = SchemaView::of(&comparison.revision, &after);
    let never_sent =
        pair.site.is_never_sent() || PropertyAccess::of(&view).is_never_sent(pair.site.direction());
    let is_required = property.required_spans.1.is_some();
    let message =
        format!("the {} property `{name}` was added", if is_required { "required" } else { "optional" });
    let id = match (pair.site.direction(), is_required && !never_sent) {
        (Direction::Request, true) if pair.site.inner() == SchemaSite::HeaderProperty => {
            "new-required-request-header-property"
        }
        (Direction::Request, true) if view.entry("default").is_some() => {
            "new-required-request-property-with-default"
        }
        (Direction::Request, true) => "new-required-request-property",
        (Direction::Request, false) => "new-optional-request-property",
        (Direction::Response, _) => match (is_required, never_sent) {
            (true, false) => "response-required-property-added",
            (true, true) => "response-required-write-only-property-added",
            (false, false) => "response-optional-property-added",
            (false, true) => "response-optional-write-only-property-added",
        },
    };
    comparison.report_property_rule(pair.index, id, None, positions, name, message);
    if !before.is_rejected() && !before.accepts_everything() {
        // The property was already valid as an additional property, so its schema is compared with that of those
        // properties.
        pair.queue(
            comparison,
            before.parts,
            after,
            if never_sent { pair.site.never_sent() } else { pair.site.inner() },
            name,
        );
    }
}
