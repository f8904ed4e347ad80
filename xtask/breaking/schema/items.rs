//! Compares the keywords of arrays: the schemas of items, and how many items must match a schema.
//!
//! Keywords apply within their own subschema: `items` covers the items after its `prefixItems`, and `minContains`
//! counts the items that match its `contains`.

use contract::node::Value;

use super::keyword_groups::{KeywordGroup, match_groups};
use super::structure::{altering, compare_subschemas, is_equivalent_schema, narrowing, widening};
use super::view::{SchemaParts, SchemaView, accepts_everything};
use super::{SchemaPair, bounds};
use crate::compare::{Comparison, Positions};
use crate::rule::SchemaRule;

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    narrowing("items-schema-added", "items-schema-removed"),
    widening("items-schema-removed", "items-schema-added"),
    widening("prefix-items-added", "prefix-items-removed"),
    narrowing("prefix-items-removed", "prefix-items-added"),
    narrowing("unevaluated-items-added", "unevaluated-items-removed"),
    widening("unevaluated-items-removed", "unevaluated-items-added"),
    narrowing("contains-added", "contains-removed"),
    widening("contains-removed", "contains-added"),
    altering("contains-changed"),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] =
    &["items", "prefixItems", "unevaluatedItems", "contains", "minContains", "maxContains"];

/// Compares the keywords of arrays.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let items = |view: &SchemaView<'n>| view.parts("items");
    compare_subschemas(comparison, pair, ("items", "items-schema"), items(&pair.base), items(&pair.revision));
    // With `items`, no item is unevaluated.
    let unevaluated =
        |view: &SchemaView<'n>| view.parts("unevaluatedItems").filter(|_| view.entry("items").is_none());
    let names = ("unevaluatedItems", "unevaluated-items");
    compare_subschemas(comparison, pair, names, unevaluated(&pair.base), unevaluated(&pair.revision));
    compare_prefix_items(comparison, pair);
    compare_contains(comparison, pair);
}

/// The schemas that apply to the item at an index.
pub(super) struct ItemSchemas<'n> {
    /// The schemas.
    pub parts: SchemaParts<'n>,
    /// Whether `prefixItems` covers the index.
    is_prefixed: bool,
}

impl<'n> ItemSchemas<'n> {
    fn of(view: &SchemaView<'n>, index: usize) -> Self {
        let (mut item, is_evaluated) = Self::without_unevaluated(view, index);
        if !is_evaluated {
            item.parts.nodes.extend(view.parts("unevaluatedItems").into_iter().flat_map(|parts| parts.nodes));
        }
        item
    }

    /// Returns the schemas without `unevaluatedItems`, and whether there is any. An index beyond all `prefixItems`
    /// stands for all further items.
    pub(super) fn without_unevaluated(view: &SchemaView<'n>, index: usize) -> (Self, bool) {
        let mut item = Self { parts: SchemaParts::any(view.position("prefixItems")), is_prefixed: false };
        let mut is_evaluated = false;
        for subschema in view.subschemas() {
            let prefix_item =
                subschema.entry("prefixItems").and_then(|entry| entry.value.items()?.get(index));
            let items = || subschema.entry("items").map(|entry| &entry.value);
            if let Some(prefix_item) = prefix_item {
                if !item.is_prefixed {
                    item.parts.span = prefix_item.span;
                }
                item.is_prefixed = true;
            }
            let schema = prefix_item.or_else(items);
            is_evaluated |= schema.is_some();
            item.parts.nodes.extend(schema.filter(|node| !accepts_everything(node)));
        }
        (item, is_evaluated)
    }

    /// Whether no item is valid at this index.
    fn is_rejected(&self) -> bool {
        self.parts.nodes.iter().any(|node| matches!(node.value, Value::Bool(false)))
    }
}

/// Returns the number of items that `prefixItems` covers.
pub(super) fn prefix_length(view: &SchemaView<'_>) -> usize {
    view.entries("prefixItems").filter_map(|entry| Some(entry.value.items()?.len())).max().unwrap_or(0)
}

/// Compares the items that `prefixItems` covers in base or revision, one by one.
fn compare_prefix_items<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    for index in 0..prefix_length(&pair.base).max(prefix_length(&pair.revision)) {
        let (before, after) = (ItemSchemas::of(&pair.base, index), ItemSchemas::of(&pair.revision, index));
        let positions = Positions::new(before.parts.span, after.parts.span);
        let details = index.to_string();
        if before.is_rejected() && after.is_rejected() {
            continue;
        }
        if !before.is_prefixed && before.is_rejected() {
            pair.report(
                comparison,
                "prefix-items-added",
                positions,
                &details,
                format!("item {index} became valid"),
            );
        } else if !after.is_prefixed && after.is_rejected() {
            pair.report(
                comparison,
                "prefix-items-removed",
                positions,
                &details,
                format!("item {index} is no longer valid"),
            );
        } else {
            pair.queue(comparison, before.parts, after.parts, pair.site.inner(), &format!("[{index}]"));
        }
    }
}

/// `contains` with the keywords that depend on it.
pub(super) const CONTAINS_KEYWORDS: [&str; 3] = ["contains", "minContains", "maxContains"];

fn compare_contains<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    // Items that match `contains` are evaluated, so `unevaluatedItems` does not apply to them.
    let has_unevaluated =
        [&pair.base, &pair.revision].iter().any(|view| view.entry("unevaluatedItems").is_some());
    let groups_of = |view: &SchemaView<'n>| {
        let mut groups = KeywordGroup::all(view, CONTAINS_KEYWORDS);
        groups.retain(|group| has_unevaluated || !has_no_effect(group));
        groups
    };
    for (before, after) in match_groups(comparison, groups_of(&pair.base), groups_of(&pair.revision)) {
        match (before, after) {
            (Some(before), Some(after)) => {
                compare_contains_pair(comparison, pair, &before, &after, has_unevaluated)
            }
            (before, after) => {
                let change_kind = if after.is_some() { "added" } else { "removed" };
                let ending = if has_unevaluated { "changed" } else { change_kind };
                let position_of = |group: &Option<KeywordGroup<'n>>, view: &SchemaView<'n>| {
                    group.as_ref().map_or(view.span, |group| group.keyword.key.span)
                };
                let positions =
                    Positions::new(position_of(&before, &pair.base), position_of(&after, &pair.revision));
                pair.report(
                    comparison,
                    &format!("contains-{ending}"),
                    positions,
                    "",
                    format!("`contains` was {change_kind}"),
                );
            }
        }
    }
}

/// Whether any number of matching items is valid, including zero.
pub(super) fn has_no_effect(group: &KeywordGroup<'_>) -> bool {
    let [at_least, at_most] = group.dependents;
    at_most.is_none() && at_least.is_some_and(|entry| matches!(entry.value.value, Value::Integer(0)))
}

fn compare_contains_pair<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    before: &KeywordGroup<'n>,
    after: &KeywordGroup<'n>,
    has_unevaluated: bool,
) {
    let (base, revision) = (SchemaParts::of_entry(before.keyword), SchemaParts::of_entry(after.keyword));
    if has_unevaluated || before.dependents[1].or(after.dependents[1]).is_some() {
        // Widening `contains` also narrows the schema by `maxContains` and widens it by `unevaluatedItems`, so only an
        // equal schema is safe.
        if !is_equivalent_schema(comparison, &base, &revision) {
            let positions = Positions::new(base.span, revision.span);
            pair.report(comparison, "contains-changed", positions, "", "`contains` changed".to_owned());
        }
    } else {
        pair.queue(comparison, base, revision, pair.site.inner(), "contains");
    }
    bounds::compare_contains_counts(comparison, pair, before.dependents, after.dependents);
}
