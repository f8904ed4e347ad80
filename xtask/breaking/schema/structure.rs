//! Compares `not`, `propertyNames`, dependencies and content keywords of JSON Schema 2020-12.

use std::collections::BTreeSet;
use std::rc::Rc;

use contract::node::{Entry, Node, Value};

use super::proof::{DocumentSide, Operand};
use super::values::distinct;
use super::view::{SchemaParts, SchemaView, accepts_everything, all_accept_everything};
use super::{SchemaPair, value};
use crate::compare::{Comparison, Origin, PairContext, Positions};
use crate::document::IndexedDocument;
use crate::rule::{Direction, SchemaRule, Topic, ValueEffect};

const STRUCTURE: Topic = Topic::Structure;

/// Creates a rule for a change that widens a schema.
pub(super) const fn widening(suffix: &'static str, inverse: &'static str) -> SchemaRule {
    SchemaRule::new(STRUCTURE, ValueEffect::Widens, suffix, inverse)
}

/// Creates a rule for a change that narrows a schema.
pub(super) const fn narrowing(suffix: &'static str, inverse: &'static str) -> SchemaRule {
    SchemaRule::new(STRUCTURE, ValueEffect::Narrows, suffix, inverse)
}

/// Creates a rule for a change that can both widen and narrow a schema. The rule is its own inverse.
pub(super) const fn altering(suffix: &'static str) -> SchemaRule {
    SchemaRule::new(STRUCTURE, ValueEffect::Alters, suffix, suffix)
}

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    narrowing("not-added", "not-removed"),
    widening("not-removed", "not-added"),
    altering("not-changed"),
    narrowing("property-names-added", "property-names-removed"),
    widening("property-names-removed", "property-names-added"),
    narrowing("content-schema-added", "content-schema-removed"),
    widening("content-schema-removed", "content-schema-added"),
    narrowing("dependent-schema-added", "dependent-schema-removed"),
    widening("dependent-schema-removed", "dependent-schema-added"),
    narrowing("dependent-required-added", "dependent-required-removed"),
    widening("dependent-required-removed", "dependent-required-added"),
    altering("dependent-required-changed"),
    altering("content-media-type-changed"),
    altering("content-encoding-changed"),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &[
    "not",
    "propertyNames",
    "contentSchema",
    "dependentSchemas",
    "dependentRequired",
    "contentMediaType",
    "contentEncoding",
];

/// Keywords whose value is a schema, and the start of the suffixes of their rules.
const SCHEMA_KEYWORDS: [(&str, &str); 3] =
    [("not", "not"), ("propertyNames", "property-names"), ("contentSchema", "content-schema")];

/// Compares the keywords of this module.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    for (keyword, suffix_stem) in SCHEMA_KEYWORDS {
        compare_subschemas(
            comparison,
            pair,
            (keyword, suffix_stem),
            effective_parts(&pair.base, keyword),
            effective_parts(&pair.revision, keyword),
        );
    }
    compare_dependent_schemas(comparison, pair);
    compare_dependent_required(comparison, pair);
    for (keyword, suffix) in
        [("contentMediaType", "content-media-type-changed"), ("contentEncoding", "content-encoding-changed")]
    {
        let text = |view: &SchemaView<'n>| {
            let mut texts: Vec<String> =
                distinct(view, keyword).iter().map(|entry| value::text(&entry.value)).collect();
            texts.sort_unstable();
            if texts.is_empty() { "none".to_owned() } else { texts.join(" and ") }
        };
        let (before, after) = (text(&pair.base), text(&pair.revision));
        if before != after {
            let message = format!(
                "`{keyword}` changed from {} to {}",
                value::shorten(before.clone()),
                value::shorten(after.clone())
            );
            pair.report(
                comparison,
                suffix,
                pair.positions(keyword),
                &format!("{before} to {after}"),
                message,
            );
        }
    }
}

/// Returns the schemas of a keyword, without those that have no effect. Returns `None` if no schema remains.
fn effective_parts<'n>(view: &SchemaView<'n>, keyword: &str) -> Option<SchemaParts<'n>> {
    let has_effect = |entry: &&Entry| match keyword {
        "not" => !matches!(entry.value.value, Value::Bool(false)),
        _ => !accepts_everything(&entry.value),
    };
    let nodes: Vec<&Node> = view.entries(keyword).filter(has_effect).map(|entry| &entry.value).collect();
    (!nodes.is_empty()).then(|| SchemaParts::of_nodes(nodes, view.position(keyword)))
}

/// Compares the schemas of a keyword, or reports that the keyword was added or removed. `suffix_stem` is the start of
/// the suffixes of its rules.
pub(super) fn compare_subschemas<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    (keyword, suffix_stem): (&str, &str),
    base: Option<SchemaParts<'n>>,
    revision: Option<SchemaParts<'n>>,
) {
    let positions = pair.positions(keyword);
    let has_effect = |side: &IndexedDocument<'n>, parts: &SchemaParts<'n>| {
        keyword == "not" || !all_accept_everything(side, parts)
    };
    let is_only_one = base.is_some() != revision.is_some();
    let base = base.filter(|parts| !is_only_one || has_effect(&comparison.base, parts));
    let revision = revision.filter(|parts| !is_only_one || has_effect(&comparison.revision, parts));
    match (base, revision) {
        (None, None) => {}
        (None, Some(_)) => pair.report(
            comparison,
            &format!("{suffix_stem}-added"),
            positions,
            "",
            format!("`{keyword}` was added"),
        ),
        (Some(_), None) => pair.report(
            comparison,
            &format!("{suffix_stem}-removed"),
            positions,
            "",
            format!("`{keyword}` was removed"),
        ),
        (Some(before), Some(after)) if keyword == "not" => {
            // Widening `not` narrows the schema, so only an equal schema is safe.
            if !is_equivalent_schema(comparison, &before, &after) {
                pair.report(
                    comparison,
                    &format!("{suffix_stem}-changed"),
                    positions,
                    "",
                    format!("`{keyword}` changed"),
                );
            }
        }
        (Some(before), Some(after)) => {
            let step = if keyword == "items" { "[]" } else { keyword };
            // The text that `contentSchema` describes can be XML.
            let is_xml = pair.context.is_xml || keyword == "contentSchema";
            let context =
                PairContext { site: pair.site.inner(), is_default_unused: false, is_xml, ..pair.context };
            comparison.queue(before, after, context, Origin::Pair(pair.index, Rc::from(step)));
        }
    }
}

/// Whether two schemas are certainly equivalent: they are identical, including the components to which they refer, equal
/// after their references are resolved, or provably equivalent.
pub(super) fn is_equivalent_schema<'n>(
    comparison: &Comparison<'n>,
    before: &SchemaParts<'n>,
    after: &SchemaParts<'n>,
) -> bool {
    let operand = |side, parts: &SchemaParts<'n>| Operand::new(side, parts.clone());
    // Groups of keywords also contain numbers, such as `maxContains`.
    let is_schema = |node: &&Node| matches!(node.value, Value::Bool(_) | Value::Mapping(_));
    comparison.unchanged().is_schema_unchanged(before, after)
        || comparison.is_same_schema(before, after)
        || before.nodes.iter().chain(&after.nodes).all(is_schema)
            && comparison
                .proof(Direction::Request)
                .are_equivalent(&operand(DocumentSide::Base, before), &operand(DocumentSide::Revision, after))
}

fn compare_dependent_schemas<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let keyword = "dependentSchemas";
    let (before, after) = (pair.base.named_schemas(keyword), pair.revision.named_schemas(keyword));
    let positions = pair.positions(keyword);
    for (name, parts) in &before {
        if let Some(parts_after) = after.get(name) {
            let step = format!("{keyword} {name}");
            pair.queue(comparison, parts.clone(), parts_after.clone(), pair.site.inner(), &step);
        } else {
            let message = format!("`{name}` was removed from `{keyword}`");
            let positions = Positions::new(parts.span, positions.revision);
            pair.report(comparison, "dependent-schema-removed", positions, name, message);
        }
    }
    for (name, parts) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let message = format!("`{name}` was added to `{keyword}`");
        pair.report(
            comparison,
            "dependent-schema-added",
            Positions::new(positions.base, parts.span),
            name,
            message,
        );
    }
}

fn compare_dependent_required<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let keyword = "dependentRequired";
    let (before, after) = (pair.base.named_schemas(keyword), pair.revision.named_schemas(keyword));
    let positions = pair.positions(keyword);
    for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        let (base, revision) = (before.get(name), after.get(name));
        let (required_before, required_after) = (required_names(base), required_names(revision));
        let (ending, message) =
            match (required_before.is_subset(&required_after), required_after.is_subset(&required_before)) {
                (true, true) => continue,
                (true, false) => ("added", format!("`{name}` requires more properties")),
                (false, true) => ("removed", format!("`{name}` requires fewer properties")),
                (false, false) => ("changed", format!("`{name}` requires other properties")),
            };
        let span = |parts: Option<&SchemaParts<'n>>, fallback| parts.map_or(fallback, |parts| parts.span);
        let positions = Positions::new(span(base, positions.base), span(revision, positions.revision));
        let difference = |left: &BTreeSet<&str>, right: &BTreeSet<&str>| {
            left.difference(right).copied().collect::<Vec<_>>().join(" ")
        };
        let details = format!(
            "{name}: +{} -{}",
            difference(&required_after, &required_before),
            difference(&required_before, &required_after)
        );
        pair.report(comparison, &format!("dependent-required-{ending}"), positions, &details, message);
    }
}

/// Returns the names in the lists of `dependentRequired`.
fn required_names<'n>(lists: Option<&SchemaParts<'n>>) -> BTreeSet<&'n str> {
    let lists = lists.map(|parts| parts.nodes.as_slice()).unwrap_or_default();
    lists.iter().filter_map(|node| node.items()).flatten().filter_map(Node::as_str).collect()
}
