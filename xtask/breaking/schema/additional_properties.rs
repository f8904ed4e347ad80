//! Compares properties that are not declared: `patternProperties`, `additionalProperties` and `unevaluatedProperties`.
//!
//! Properties that no pattern matches are additional properties, so adding or removing a pattern changes both sets.

use contract::node::Value;

use super::SchemaPair;
use super::patterns::{is_readable, may_meet};
use super::structure::{entries, narrowing, schema, widening};
use super::view::{SchemaParts, SchemaView};
use crate::compare::{Comparison, Positions};
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
    /// Reads `additionalProperties`, or `unevaluatedProperties` if it is missing.
    fn of(view: &SchemaView<'n>) -> Self {
        let keywords = ["additionalProperties", "unevaluatedProperties"];
        let keyword = keywords.into_iter().find(|keyword| view.entry(keyword).is_some());
        Self::under(view, keyword.unwrap_or_default())
    }

    fn under(view: &SchemaView<'n>, keyword: &str) -> Self {
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
    beside(comparison, pair);
    // With `additionalProperties`, no property is unevaluated.
    let rest = |view: &SchemaView<'n>| {
        view.parts("unevaluatedProperties").filter(|_| view.entry("additionalProperties").is_none())
    };
    let names = ("unevaluatedProperties", "unevaluated-properties");
    schema(comparison, pair, names, rest(&pair.base), rest(&pair.revision));
    patterns(comparison, pair);
}

/// Compares additional properties.
fn beside<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let positions = pair.positions("additionalProperties");
    let of = |view: &SchemaView<'n>| AdditionalProperties::under(view, "additionalProperties");
    let (suffix, message) = match (of(&pair.base), of(&pair.revision)) {
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
    pair.report(comparison, &format!("additional-properties-{suffix}"), positions, "", message.to_owned());
}

fn patterns<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let keyword = "patternProperties";
    let (before, after) = (entries(&pair.base, keyword), entries(&pair.revision, keyword));
    let positions = pair.positions(keyword);
    for (pattern, parts) in &before {
        match after.get(pattern) {
            Some(other) => queue(comparison, pair, pattern, parts.clone(), other.clone()),
            None => removed_pattern(
                comparison,
                pair,
                pattern,
                parts,
                Positions::new(parts.at, positions.revision),
            ),
        }
    }
    for (pattern, parts) in after.into_iter().filter(|(pattern, _)| !before.contains_key(pattern)) {
        let positions = Positions::new(positions.base, parts.at);
        added_pattern(comparison, pair, pattern, parts, positions);
    }
}

/// Names that match only the new pattern were additional properties; names that also match another pattern must now match both.
fn added_pattern<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    pattern: &str,
    after: SchemaParts<'n>,
    positions: Positions,
) {
    let others = AdditionalProperties::of(&pair.base);
    if matches!(others, AdditionalProperties::Any) || is_shared(&pair.base, pattern) {
        let message = format!("`{pattern}` was added to `patternProperties`");
        pair.report(comparison, "pattern-property-added", positions, pattern, message);
    }
    match others {
        AdditionalProperties::Any => {}
        AdditionalProperties::Forbidden => {
            let message = format!("properties that match `{pattern}` became valid");
            pair.report(comparison, "additional-properties-opened", positions, pattern, message);
        }
        AdditionalProperties::Matching(others) => queue(comparison, pair, pattern, others, after),
    }
}

fn removed_pattern<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    pattern: &str,
    before: &SchemaParts<'n>,
    positions: Positions,
) {
    let others = AdditionalProperties::of(&pair.revision);
    if matches!(others, AdditionalProperties::Any) || is_shared(&pair.revision, pattern) {
        let message = format!("`{pattern}` was removed from `patternProperties`");
        pair.report(comparison, "pattern-property-removed", positions, pattern, message);
    }
    match others {
        AdditionalProperties::Any => {}
        AdditionalProperties::Forbidden => {
            let message = format!("properties that match `{pattern}` are no longer valid");
            pair.report(comparison, "additional-properties-closed", positions, pattern, message);
        }
        AdditionalProperties::Matching(others) => queue(comparison, pair, pattern, before.clone(), others),
    }
}

/// Whether another keyword can apply to names that match a pattern. Declared properties are compared with all patterns that
/// match them, so only unsupported patterns can match them unnoticed.
fn is_shared(view: &SchemaView<'_>, pattern: &str) -> bool {
    let others = entries(view, "patternProperties");
    others.keys().any(|other| may_meet(pattern, other))
        || !is_readable(pattern) && !view.properties().is_empty()
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
