//! Compares the keywords of arrays: the schemas of items, and how many items must match a schema.
//!
//! Keywords apply within their own subschema: `items` covers the items after its `prefixItems`, and `minContains` counts the
//! items that match its `contains`.

use contract::node::{Entry, Value};

use super::keyword_groups::{KeywordGroup, match_groups};
use super::structure::{altering, is_same, narrowing, schema, widening};
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
    schema(comparison, pair, ("items", "items-schema"), items(&pair.base), items(&pair.revision));
    // With `items`, no item is unevaluated.
    let rest =
        |view: &SchemaView<'n>| view.parts("unevaluatedItems").filter(|_| view.entry("items").is_none());
    let names = ("unevaluatedItems", "unevaluated-items");
    schema(comparison, pair, names, rest(&pair.base), rest(&pair.revision));
    prefix(comparison, pair);
    compare_contains(comparison, pair);
}

/// The schemas that apply to the item at an index.
struct ItemSchemas<'n> {
    parts: SchemaParts<'n>,
    /// Whether `prefixItems` covers the index.
    prefixed: bool,
}

impl<'n> ItemSchemas<'n> {
    fn of(view: &SchemaView<'n>, at: usize) -> Self {
        let mut item = Self { parts: SchemaParts::any(view.position("prefixItems")), prefixed: false };
        let mut evaluated = false;
        for subschema in view.subschemas() {
            let own = subschema.entry("prefixItems").and_then(|entry| entry.value.items()?.get(at));
            let others = || subschema.entry("items").map(|entry| &entry.value);
            if let Some(own) = own {
                if !item.prefixed {
                    item.parts.at = own.span;
                }
                item.prefixed = true;
            }
            let found = own.or_else(others);
            evaluated |= found.is_some();
            item.parts.nodes.extend(found.filter(|node| !accepts_everything(node)));
        }
        if !evaluated {
            item.parts.nodes.extend(view.parts("unevaluatedItems").into_iter().flat_map(|parts| parts.nodes));
        }
        item
    }

    /// Whether no item is valid at this index.
    fn is_rejected(&self) -> bool {
        self.parts.nodes.iter().any(|node| matches!(node.value, Value::Bool(false)))
    }
}

fn prefix<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let length = |view: &SchemaView<'n>| {
        view.entries("prefixItems").filter_map(|entry| Some(entry.value.items()?.len())).max().unwrap_or(0)
    };
    for at in 0..length(&pair.base).max(length(&pair.revision)) {
        let (before, after) = (ItemSchemas::of(&pair.base, at), ItemSchemas::of(&pair.revision, at));
        let positions = Positions::new(before.parts.at, after.parts.at);
        let details = at.to_string();
        if before.is_rejected() && after.is_rejected() {
            continue;
        }
        if !before.prefixed && before.is_rejected() {
            pair.report(
                comparison,
                "prefix-items-added",
                positions,
                &details,
                format!("item {at} became valid"),
            );
        } else if !after.prefixed && after.is_rejected() {
            pair.report(
                comparison,
                "prefix-items-removed",
                positions,
                &details,
                format!("item {at} is no longer valid"),
            );
        } else {
            pair.queue(comparison, before.parts, after.parts, pair.site.inner(), &format!("[{at}]"));
        }
    }
}

/// `contains` with the keywords that depend on it.
const COUNTED: [&str; 3] = ["contains", "minContains", "maxContains"];

fn compare_contains<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    // Items that match `contains` are evaluated, so `unevaluatedItems` does not apply to them.
    let has_unevaluated =
        [&pair.base, &pair.revision].iter().any(|view| view.entry("unevaluatedItems").is_some());
    let of = |view: &SchemaView<'n>| {
        let mut groups = KeywordGroup::all(view, COUNTED);
        groups.retain(|group| has_unevaluated || !has_no_effect(group));
        groups
    };
    for (before, after) in match_groups(comparison, of(&pair.base), of(&pair.revision)) {
        match (before, after) {
            (Some(before), Some(after)) => {
                compare_contains_pair(comparison, pair, &before, &after, has_unevaluated)
            }
            (before, after) => {
                let change_kind = if after.is_some() { "added" } else { "removed" };
                let ending = if has_unevaluated { "changed" } else { change_kind };
                let position_of = |group: &Option<KeywordGroup<'n>>, view: &SchemaView<'n>| {
                    group.as_ref().map_or(view.at, |group| group.keyword.key.span)
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

/// Whether any number of matching items is valid, including none.
fn has_no_effect(group: &KeywordGroup<'_>) -> bool {
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
    let whole = |entry: &'n Entry| SchemaParts::under(entry);
    let (base, revision) = (whole(before.keyword), whole(after.keyword));
    if has_unevaluated || before.dependents[1].or(after.dependents[1]).is_some() {
        // Widening `contains` narrows the schema in other ways (`maxContains`) or widens it (`unevaluatedItems`), so only an
        // equal schema is safe.
        if !is_same(comparison, &base, &revision) {
            let positions = Positions::new(base.at, revision.at);
            pair.report(comparison, "contains-changed", positions, "", "`contains` changed".to_owned());
        }
    } else {
        pair.queue(comparison, base, revision, pair.site.inner(), "contains");
    }
    bounds::compare_contains_counts(comparison, pair, before.dependents, after.dependents);
}
