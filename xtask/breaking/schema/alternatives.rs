//! Compares `oneOf` and `anyOf`.
//!
//! Alternatives of base and revision are matched if they are equal or equivalent, then by the constants of their
//! properties, by name, by title and finally by similarity. Their order does not matter.

use contract::node::{Entry, Node};

use super::SchemaPair;
use super::alternative_keys::{MatchableAlternative, are_similar, label};
use super::overlaps::{self, MAX_PROVEN_ALTERNATIVES};
use super::proof::{DocumentSide, Operand};
use super::view::{Alternatives, SchemaParts, SchemaView};
use crate::compare::{Comparison, Positions, take_matches};
use crate::document::IndexedDocument;
use crate::rule::{SchemaRule, Topic, ValueEffect};

const STRUCTURE: Topic = Topic::Structure;

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    SchemaRule::new(STRUCTURE, ValueEffect::Widens, "one-of-added", "one-of-removed"),
    SchemaRule::new(STRUCTURE, ValueEffect::Narrows, "one-of-removed", "one-of-added"),
    SchemaRule::new(STRUCTURE, ValueEffect::Narrows, "one-of-set", "one-of-unset"),
    SchemaRule::new(STRUCTURE, ValueEffect::Widens, "one-of-unset", "one-of-set"),
    SchemaRule::new(STRUCTURE, ValueEffect::Widens, "any-of-added", "any-of-removed"),
    SchemaRule::new(STRUCTURE, ValueEffect::Narrows, "any-of-removed", "any-of-added"),
    SchemaRule::new(STRUCTURE, ValueEffect::Narrows, "any-of-set", "any-of-unset"),
    SchemaRule::new(STRUCTURE, ValueEffect::Widens, "any-of-unset", "any-of-set"),
    SchemaRule::new(STRUCTURE, ValueEffect::Widens, "one-of-became-any-of", "any-of-became-one-of"),
    SchemaRule::new(STRUCTURE, ValueEffect::Narrows, "any-of-became-one-of", "one-of-became-any-of"),
    SchemaRule::new(STRUCTURE, ValueEffect::Alters, "evaluated-parts-changed", "evaluated-parts-changed"),
    SchemaRule::new(STRUCTURE, ValueEffect::Alters, "wrapped-in-one-of", "unwrapped-from-one-of"),
    SchemaRule::new(STRUCTURE, ValueEffect::Alters, "unwrapped-from-one-of", "wrapped-in-one-of"),
    SchemaRule::new(STRUCTURE, ValueEffect::Widens, "wrapped-in-any-of", "unwrapped-from-any-of"),
    SchemaRule::new(STRUCTURE, ValueEffect::Narrows, "unwrapped-from-any-of", "wrapped-in-any-of"),
];

/// The keywords that this module compares. `allOf` is merged by the view, so that alternatives include its parts.
pub(super) const KEYWORDS: &[&str] = &["oneOf", "anyOf", "allOf"];

/// Compares the alternatives of two schemas.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (base, revision) = (&pair.base, &pair.revision);
    report_evaluated_parts(comparison, pair);
    if let (Some((was_one_of, before)), Some((is_one_of, after))) =
        (single_alternatives(base), single_alternatives(revision))
        && was_one_of != is_one_of
    {
        // A single alternative has the same meaning in both keywords.
        if before.members.len() == 1 || after.members.len() == 1 {
            let is_one_of = if before.members.len() == 1 { is_one_of } else { was_one_of };
            compare_members(comparison, pair, suffix_stem(is_one_of), before, after);
            return;
        }
        let suffix = if was_one_of { "one-of-became-any-of" } else { "any-of-became-one-of" };
        let message = if was_one_of { "`oneOf` became `anyOf`" } else { "`anyOf` became `oneOf`" };
        pair.report(comparison, suffix, Positions::new(before.span, after.span), "", message.to_owned());
        compare_members(comparison, pair, suffix_stem(was_one_of), before, after);
        return;
    }
    compare_lists(comparison, pair, "one-of", &base.one_of, &revision.one_of);
    compare_lists(comparison, pair, "any-of", &base.any_of, &revision.any_of);
}

/// Reports changed alternatives beside `unevaluatedProperties` or `unevaluatedItems`: these keywords do not apply to the
/// properties and items that an alternative evaluates, so a narrower list can accept more values.
fn report_evaluated_parts<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let has_unevaluated = |view: &SchemaView<'n>| {
        ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| view.parts(keyword).is_some())
    };
    let members = |view: &SchemaView<'n>| -> Vec<&'n Node> {
        view.one_of.iter().chain(&view.any_of).flat_map(|list| list.members.iter().copied()).collect()
    };
    let (mut base, mut revision) = (members(&pair.base), members(&pair.revision));
    if !has_unevaluated(&pair.base) || !has_unevaluated(&pair.revision) {
        return;
    }
    take_matches(&mut base, &mut revision, |before, after| is_same_alternative(comparison, before, after));
    if !base.is_empty() || !revision.is_empty() {
        let positions = Positions::new(pair.base.span, pair.revision.span);
        let message =
            "the alternatives beside `unevaluatedProperties` or `unevaluatedItems` changed".to_owned();
        pair.report(comparison, "evaluated-parts-changed", positions, "", message);
    }
}

/// Returns the start of the rule suffixes.
pub(super) const fn suffix_stem(is_one_of: bool) -> &'static str {
    if is_one_of { "one-of" } else { "any-of" }
}

/// Returns the alternatives of a schema that has a single `oneOf` or `anyOf`, otherwise `None`. The boolean is true for
/// `oneOf`.
pub(super) fn single_alternatives<'a, 'n>(view: &'a SchemaView<'n>) -> Option<(bool, &'a Alternatives<'n>)> {
    match (view.one_of.as_slice(), view.any_of.as_slice()) {
        ([alternatives], []) => Some((true, alternatives)),
        ([], [alternatives]) => Some((false, alternatives)),
        _ => None,
    }
}

/// Compares all `oneOf` or `anyOf` keywords of two schemas. Each keyword of the base is matched with the keyword of the
/// revision that has the most alternatives in common with it; keywords without common alternatives are matched in their
/// order. `suffix_stem` is the start of the rule suffixes: `one-of` or `any-of`.
fn compare_lists<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    suffix_stem: &str,
    base: &[Alternatives<'n>],
    revision: &[Alternatives<'n>],
) {
    let mut remaining: Vec<&Alternatives<'n>> = revision.iter().collect();
    let mut unmatched = Vec::new();
    for before in base {
        let common_count = |comparison: &Comparison<'n>, after: &Alternatives<'n>| {
            let is_common = |after: &&&'n Node| {
                let is_same = |before: &&'n Node| is_same_alternative(comparison, before, after);
                before.members.iter().any(is_same)
            };
            after.members.iter().filter(is_common).count()
        };
        // `max_by_key` returns the last maximum, so `rev` selects the first of equally similar keywords.
        let best = (0..remaining.len()).rev().max_by_key(|index| common_count(comparison, remaining[*index]));
        match best.filter(|best| common_count(comparison, remaining[*best]) > 0) {
            Some(best) => compare_members(comparison, pair, suffix_stem, before, remaining.remove(best)),
            None => unmatched.push(before),
        }
    }
    for (before, after) in unmatched.iter().zip(&remaining) {
        compare_members(comparison, pair, suffix_stem, before, after);
    }
    for before in unmatched.iter().skip(remaining.len()) {
        let message = "a list of alternatives was removed".to_owned();
        pair.report(
            comparison,
            &format!("{suffix_stem}-unset"),
            Positions::new(before.span, pair.revision.span),
            "",
            message,
        );
    }
    for after in remaining.iter().skip(unmatched.len()) {
        let message = "a list of alternatives was added".to_owned();
        pair.report(
            comparison,
            &format!("{suffix_stem}-set"),
            Positions::new(pair.base.span, after.span),
            "",
            message,
        );
    }
}

/// Whether two alternatives are equal after their references are resolved.
pub(super) fn is_same_alternative<'n>(
    comparison: &Comparison<'n>,
    before: &'n Node,
    after: &'n Node,
) -> bool {
    let parts = |node: &'n Node| SchemaParts::of_node(node, node.span);
    comparison.unchanged().are_nodes_unchanged(before, after)
        || comparison.is_same_schema(&parts(before), &parts(after))
}

/// Reports a renamed alternative whose name serves as its discriminator value, because neither the mapping nor a
/// constant declares another value.
fn report_renamed<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    before: &MatchableAlternative<'n>,
    after: &MatchableAlternative<'n>,
) {
    let name_as_value = |view: &SchemaView<'n>, member: &MatchableAlternative<'n>| {
        let discriminator = view.entry("discriminator")?;
        let name = member.name.filter(|_| member.discriminator_value.is_none())?;
        let mapping = discriminator.value.get("mapping").and_then(Node::entries).unwrap_or_default();
        let target = |entry: &'n Entry| entry.value.as_str()?.rsplit('/').next();
        (!mapping.iter().any(|entry| target(entry) == Some(name))).then_some(name)
    };
    if let Some((base, revision)) =
        name_as_value(&pair.base, before).zip(name_as_value(&pair.revision, after))
        && base != revision
    {
        let positions = pair.positions("discriminator");
        let message = format!("the discriminator value `{base}` was renamed to `{revision}`");
        pair.report(
            comparison,
            "discriminator-mapping-changed",
            positions,
            &format!("{base} to {revision}"),
            message,
        );
    }
}

/// Matches the alternatives of two lists, compares the matched ones and reports the others.
fn compare_members<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    suffix_stem: &str,
    before: &Alternatives<'n>,
    after: &Alternatives<'n>,
) {
    let positions = Positions::new(before.span, after.span);
    let (mut base, mut revision) = (before.members.clone(), after.members.clone());
    let mut equal = take_matches(&mut base, &mut revision, |before, after| {
        comparison.unchanged().are_nodes_unchanged(before, after)
    });
    let parts = |node: &'n Node| SchemaParts::of_node(node, node.span);
    equal.extend(take_matches(&mut base, &mut revision, |before, after| {
        is_same_alternative(comparison, before, after)
    }));
    if base.len().max(revision.len()) <= MAX_PROVEN_ALTERNATIVES {
        equal.extend(take_matches(&mut base, &mut revision, |before, after| {
            let base = Operand::new(DocumentSide::Base, parts(before));
            let revision = Operand::new(DocumentSide::Revision, parts(after));
            comparison.proof(pair.site.direction()).are_equivalent(&base, &revision)
        }));
    }
    let alternatives =
        |members: Vec<&'n Node>, list: &Alternatives<'n>| Alternatives { members, ..list.clone() };
    let all_before = MatchableAlternative::all(&comparison.base, &alternatives(base, before), &pair.base);
    let all_after =
        MatchableAlternative::all(&comparison.revision, &alternatives(revision, after), &pair.revision);
    let (mut base, mut revision) = (Vec::from_iter(&all_before), Vec::from_iter(&all_after));
    let matchers: [fn(&MatchableAlternative<'_>, &MatchableAlternative<'_>) -> bool; 5] = [
        |left, right| {
            left.discriminator_value.is_some() && left.discriminator_value == right.discriminator_value
        },
        |left, right| left.name.is_some() && left.name == right.name,
        |left, right| left.has_same_constants(right),
        |left, right| left.title.is_some() && left.title == right.title,
        |left, right| are_similar(&left.view, &right.view),
    ];
    let mut matched: Vec<(&Node, &Node)> = Vec::new();
    for matches in matchers {
        let pairs = take_matches(&mut base, &mut revision, |before, after| matches(before, after));
        matched.extend(pairs.into_iter().map(|(before, after)| (before.node, after.node)));
    }
    let removed: Vec<&Node> = base.iter().map(|member| member.node).collect();
    let added: Vec<&Node> = revision.iter().map(|member| member.node).collect();
    report_renamed_values(comparison, pair, &equal, &matched);
    overlaps::compare(comparison, pair, (before, after), &equal, &matched);
    for (before, after) in equal.into_iter().chain(matched) {
        pair.queue(comparison, parts(before), parts(after), pair.site, &label(before));
    }
    report_unmatched(
        comparison,
        pair,
        (suffix_stem, "removed"),
        removed,
        (DocumentSide::Base, after),
        positions,
    );
    report_unmatched(
        comparison,
        pair,
        (suffix_stem, "added"),
        added,
        (DocumentSide::Revision, before),
        positions,
    );
}

/// Reports renamed alternatives whose names serve as discriminator values.
fn report_renamed_values<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    equal: &[(&'n Node, &'n Node)],
    matched: &[(&'n Node, &'n Node)],
) {
    if pair.base.entry("discriminator").is_none() || pair.revision.entry("discriminator").is_none() {
        return;
    }
    for (before, after) in equal.iter().chain(matched) {
        let alternative = |side: &IndexedDocument<'n>, node: &'n Node, owner: &SchemaView<'n>| {
            let list = Alternatives { members: vec![node], list: node, span: node.span };
            MatchableAlternative::all(side, &list, owner).pop()
        };
        let before = alternative(&comparison.base, before, &pair.base);
        let after = alternative(&comparison.revision, after, &pair.revision);
        if let Some((before, after)) = before.zip(after) {
            report_renamed(comparison, pair, &before, &after);
        }
    }
}

/// Reports alternatives without a counterpart. `(side, others)` are the document with the alternatives and the list of
/// the other document. If an alternative of that list accepts the same values, the change breaks no client.
fn report_unmatched<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    (suffix_stem, change): (&str, &str),
    members: Vec<&'n Node>,
    (side, others): (DocumentSide, &Alternatives<'n>),
    positions: Positions,
) {
    let other_side = match side {
        DocumentSide::Base => DocumentSide::Revision,
        DocumentSide::Revision => DocumentSide::Base,
    };
    let is_provable = members.len().max(others.members.len()) <= MAX_PROVEN_ALTERNATIVES;
    for member in members {
        let operand = |side, node: &'n Node| Operand::new(side, SchemaParts::of_node(node, node.span));
        let is_covered = is_provable
            && others.members.iter().any(|other| {
                let mut proof = comparison.proof(pair.site.direction());
                proof.is_included(&operand(side, member), &operand(other_side, other))
            });
        let name = label(member);
        let positions = match side {
            DocumentSide::Base => Positions::new(member.span, positions.revision),
            DocumentSide::Revision => Positions::new(positions.base, member.span),
        };
        let note = if is_covered { "; another alternative accepts its values" } else { "" };
        let first_change = comparison.changes().len();
        pair.report(
            comparison,
            &format!("{suffix_stem}-{change}"),
            positions,
            &name,
            format!("the alternative {name} was {change}{note}"),
        );
        if is_covered {
            comparison.mark_compatible(first_change);
        }
    }
}
