//! Compares properties that are not declared: `patternProperties`, `additionalProperties` and `unevaluatedProperties`.
//!
//! Properties that no pattern matches are additional properties, so adding or removing a pattern changes both sets.

use contract::node::Value;

use super::SchemaPair;
use super::patterns::{is_supported, may_overlap};
use super::structure::{compare_subschemas, narrowing, widening};
use super::view::{SchemaParts, SchemaView, all_accept_everything};
use crate::compare::{Comparison, Positions};
use crate::document::IndexedDocument;
use crate::rule::{SchemaRule, Topic, ValueEffect};

const PROPERTIES: Topic = Topic::Properties;

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    SchemaRule::new(
        PROPERTIES,
        ValueEffect::Narrows,
        "additional-properties-closed",
        "additional-properties-opened",
    ),
    SchemaRule::new(
        PROPERTIES,
        ValueEffect::Widens,
        "additional-properties-opened",
        "additional-properties-closed",
    ),
    SchemaRule::new(
        PROPERTIES,
        ValueEffect::Narrows,
        "additional-properties-schema-added",
        "additional-properties-schema-removed",
    ),
    SchemaRule::new(
        PROPERTIES,
        ValueEffect::Widens,
        "additional-properties-schema-removed",
        "additional-properties-schema-added",
    ),
    narrowing("pattern-property-added", "pattern-property-removed"),
    widening("pattern-property-removed", "pattern-property-added"),
    narrowing("unevaluated-properties-added", "unevaluated-properties-removed"),
    widening("unevaluated-properties-removed", "unevaluated-properties-added"),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &["patternProperties", "additionalProperties", "unevaluatedProperties"];

/// The properties that are valid in addition to the declared ones.
enum AdditionalProperties<'n> {
    Any,
    Forbidden,
    Matching(SchemaParts<'n>),
}

impl<'n> AdditionalProperties<'n> {
    /// Reads `additionalProperties`, or `unevaluatedProperties` if the schema lacks the former.
    fn of(view: &SchemaView<'n>) -> Self {
        let keywords = ["additionalProperties", "unevaluatedProperties"];
        let keyword = keywords.into_iter().find(|keyword| view.entry(keyword).is_some());
        Self::of_keyword(view, keyword.unwrap_or_default())
    }

    /// Reads one of the two keywords.
    fn of_keyword(view: &SchemaView<'n>, keyword: &str) -> Self {
        match view.parts(keyword) {
            None => Self::Any,
            Some(parts) if parts.nodes.iter().any(|node| matches!(node.value, Value::Bool(false))) => {
                Self::Forbidden
            }
            Some(parts) => Self::Matching(parts),
        }
    }
}

/// Compares the undeclared properties of two schemas.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    compare_additional(comparison, pair);
    // With `additionalProperties`, no property is unevaluated.
    let unevaluated = |view: &SchemaView<'n>| {
        view.parts("unevaluatedProperties").filter(|_| view.entry("additionalProperties").is_none())
    };
    let names = ("unevaluatedProperties", "unevaluated-properties");
    compare_subschemas(comparison, pair, names, unevaluated(&pair.base), unevaluated(&pair.revision));
    compare_patterns(comparison, pair);
}

/// Compares additional properties.
fn compare_additional<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let positions = pair.positions("additionalProperties");
    let additional = |view: &SchemaView<'n>| AdditionalProperties::of_keyword(view, "additionalProperties");
    let without_effect = |side: &IndexedDocument<'n>, properties| match properties {
        AdditionalProperties::Matching(parts) if all_accept_everything(side, &parts) => {
            AdditionalProperties::Any
        }
        properties => properties,
    };
    let base = without_effect(&comparison.base, additional(&pair.base));
    let revision = without_effect(&comparison.revision, additional(&pair.revision));
    let (ending, message) = match (base, revision) {
        (AdditionalProperties::Any | AdditionalProperties::Matching(_), AdditionalProperties::Forbidden) => {
            ("closed", "additional properties are no longer valid")
        }
        (AdditionalProperties::Forbidden, AdditionalProperties::Any | AdditionalProperties::Matching(_)) => {
            ("opened", "additional properties became valid")
        }
        (AdditionalProperties::Any, AdditionalProperties::Matching(_)) => {
            ("schema-added", "a schema for additional properties was added")
        }
        (AdditionalProperties::Matching(_), AdditionalProperties::Any) => {
            ("schema-removed", "the schema of additional properties was removed")
        }
        (AdditionalProperties::Matching(before), AdditionalProperties::Matching(after)) => {
            pair.queue(comparison, before, after, pair.site.inner(), "*");
            return;
        }
        (AdditionalProperties::Any, AdditionalProperties::Any)
        | (AdditionalProperties::Forbidden, AdditionalProperties::Forbidden) => return,
    };
    pair.report(comparison, &format!("additional-properties-{ending}"), positions, "", message.to_owned());
}

fn compare_patterns<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let keyword = "patternProperties";
    let (before, after) = (pair.base.named_schemas(keyword), pair.revision.named_schemas(keyword));
    let positions = pair.positions(keyword);
    for (pattern, parts) in &before {
        match after.get(pattern) {
            Some(parts_after) => queue(comparison, pair, pattern, parts.clone(), parts_after.clone()),
            None => report_removed_pattern(
                comparison,
                pair,
                pattern,
                parts,
                Positions::new(parts.span, positions.revision),
            ),
        }
    }
    for (pattern, parts) in after.into_iter().filter(|(pattern, _)| !before.contains_key(pattern)) {
        let positions = Positions::new(positions.base, parts.span);
        report_added_pattern(comparison, pair, pattern, parts, positions);
    }
}

/// Reports an added pattern. Properties whose name matches only the new pattern were additional properties; those whose
/// name also matches another pattern must now match both schemas.
fn report_added_pattern<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    pattern: &str,
    after: SchemaParts<'n>,
    positions: Positions,
) {
    let additional = AdditionalProperties::of(&pair.base);
    if matches!(additional, AdditionalProperties::Any) || overlaps_other_names(&pair.base, pattern) {
        let message = format!("`{pattern}` was added to `patternProperties`");
        pair.report(comparison, "pattern-property-added", positions, pattern, message);
    }
    match additional {
        AdditionalProperties::Any => {}
        AdditionalProperties::Forbidden => {
            let message = format!("properties that match `{pattern}` became valid");
            pair.report(comparison, "additional-properties-opened", positions, pattern, message);
        }
        AdditionalProperties::Matching(additional) => queue(comparison, pair, pattern, additional, after),
    }
}

/// Reports a removed pattern. Properties whose name matched only this pattern are now additional properties.
fn report_removed_pattern<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    pattern: &str,
    before: &SchemaParts<'n>,
    positions: Positions,
) {
    let additional = AdditionalProperties::of(&pair.revision);
    if matches!(additional, AdditionalProperties::Any) || overlaps_other_names(&pair.revision, pattern) {
        let message = format!("`{pattern}` was removed from `patternProperties`");
        pair.report(comparison, "pattern-property-removed", positions, pattern, message);
    }
    match additional {
        AdditionalProperties::Any => {}
        AdditionalProperties::Forbidden => {
            let message = format!("properties that match `{pattern}` are no longer valid");
            pair.report(comparison, "additional-properties-closed", positions, pattern, message);
        }
        AdditionalProperties::Matching(additional) => {
            queue(comparison, pair, pattern, before.clone(), additional)
        }
    }
}

/// Whether a name can match a pattern and also another pattern of the schema, or be that of a declared property.
/// Declared properties are compared together with the patterns that match them, so they matter only if the pattern is
/// not a supported regular expression.
fn overlaps_other_names(view: &SchemaView<'_>, pattern: &str) -> bool {
    let patterns = view.named_schemas("patternProperties");
    patterns.keys().any(|other_pattern| may_overlap(pattern, other_pattern))
        || !is_supported(pattern) && !view.properties().is_empty()
}

fn queue<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    pattern: &str,
    before: SchemaParts<'n>,
    after: SchemaParts<'n>,
) {
    pair.queue(comparison, before, after, pair.site.inner(), &format!("patternProperties {pattern}"));
}
