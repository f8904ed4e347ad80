//! Compares conditions: `if`, `then` and `else`.
//!
//! `if` has no effect without `then` or `else`, and `then` and `else` have none without `if`. `then` and `else` are
//! compared like schemas that always apply.

use contract::node::Entry;

use super::SchemaPair;
use super::keyword_groups::{KeywordGroup, match_groups};
use super::structure::{altering, compare_subschemas, is_equivalent_schema, narrowing, widening};
use super::view::{SchemaParts, SchemaView, all_accept_everything};
use crate::compare::{Comparison, Positions};
use crate::document::IndexedDocument;
use crate::rule::SchemaRule;

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    narrowing("if-added", "if-removed"),
    widening("if-removed", "if-added"),
    altering("if-changed"),
    narrowing("then-added", "then-removed"),
    widening("then-removed", "then-added"),
    narrowing("else-added", "else-removed"),
    widening("else-removed", "else-added"),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &["if", "then", "else"];

/// Compares the conditions of two schemas.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (base, revision) =
        (conditions(&comparison.base, &pair.base), conditions(&comparison.revision, &pair.revision));
    for (before, after) in match_groups(comparison, base, revision) {
        match (before, after) {
            (Some(before), Some(after)) => compare_condition(comparison, pair, &before, &after),
            (before, after) => {
                let ending = if after.is_some() { "added" } else { "removed" };
                let position_of = |group: Option<KeywordGroup<'n>>, view: &SchemaView<'n>| {
                    group.map_or(view.span, |group| group.keyword.key.span)
                };
                let positions =
                    Positions::new(position_of(before, &pair.base), position_of(after, &pair.revision));
                pair.report(comparison, &format!("if-{ending}"), positions, "", format!("`if` was {ending}"));
            }
        }
    }
}

/// Returns the conditions that have an effect.
pub(super) fn conditions<'n>(side: &IndexedDocument<'n>, view: &SchemaView<'n>) -> Vec<KeywordGroup<'n>> {
    let mut groups = KeywordGroup::all(view, ["if", "then", "else"]);
    for group in &mut groups {
        let has_effect = |entry: &&'n Entry| !all_accept_everything(side, &SchemaParts::of_entry(entry));
        group.dependents = group.dependents.map(|dependent| dependent.filter(has_effect));
    }
    // Even without `then` and `else`, `if` evaluates properties and items, on which `unevaluatedItems` and
    // `unevaluatedProperties` depend.
    let has_unevaluated =
        ["unevaluatedItems", "unevaluatedProperties"].iter().any(|key| view.entry(key).is_some());
    groups.retain(|group| has_unevaluated || group.dependents.iter().any(Option::is_some));
    groups
}

fn compare_condition<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    before: &KeywordGroup<'n>,
    after: &KeywordGroup<'n>,
) {
    let (base, revision) = (SchemaParts::of_entry(before.keyword), SchemaParts::of_entry(after.keyword));
    // Widening `if` can narrow the schema as a whole, so only an equal `if` is safe.
    if !is_equivalent_schema(comparison, &base, &revision) {
        let positions = Positions::new(base.span, revision.span);
        pair.report(comparison, "if-changed", positions, "", "`if` changed".to_owned());
    }
    for (index, keyword) in ["then", "else"].into_iter().enumerate() {
        let parts = |entry: Option<&'n Entry>| entry.map(SchemaParts::of_entry);
        compare_subschemas(
            comparison,
            pair,
            (keyword, keyword),
            parts(before.dependents[index]),
            parts(after.dependents[index]),
        );
    }
}
