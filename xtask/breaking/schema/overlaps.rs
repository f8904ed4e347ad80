//! Finds alternatives of `oneOf` that overlap after a change.
//!
//! `oneOf` rejects values that match two alternatives, so that a wider alternative can narrow the schema. In responses,
//! this is not examined: a server does not send values that its own contract rejects.

use contract::node::Node;

use super::SchemaPair;
use super::alternative_keys::label;
use super::proof::{DocumentSide, Operand, Proof};
use super::value::display_value;
use super::view::Alternatives;
use crate::compare::{Comparison, Positions};
use crate::rule::{Direction, SchemaRule, Topic, ValueEffect};

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[SchemaRule::new(
    Topic::Structure,
    ValueEffect::Narrows,
    "one-of-overlap-added",
    "one-of-overlap-added",
)
.without_inverse("alternatives that no longer overlap accept more values, which is not reported")];

/// The maximum number of alternatives for which equivalence, inclusion and overlaps are proven.
pub(super) const MAX_PROVEN_ALTERNATIVES: usize = 60;

/// The maximum number of pairs of alternatives that are examined in a list. Further overlaps are not found.
const MAX_PAIRS: usize = 300;

/// An alternative of the revision and its counterpart in the base, if there is one.
struct ComparedAlternative<'n> {
    before: Option<&'n Node>,
    after: &'n Node,
    is_equal: bool,
}

/// Reports alternatives of `oneOf` in a request that overlap others only in the revision: values that match two
/// alternatives are rejected. `equal` and `matched` are the alternatives of base and revision that belong together.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    (before, after): (&Alternatives<'n>, &Alternatives<'n>),
    equal: &[(&'n Node, &'n Node)],
    matched: &[(&'n Node, &'n Node)],
) {
    // With a discriminator, its value selects one of the alternatives.
    let is_one_of = pair.revision.one_of.iter().any(|list| std::ptr::eq(list.list, after.list));
    if pair.site.direction() == Direction::Response
        || !is_one_of
        || after.members.len() > MAX_PROVEN_ALTERNATIVES
        || pair.revision.entry("discriminator").is_some()
    {
        return;
    }
    let compared = |after: &&'n Node| {
        let find = |pairs: &[(&'n Node, &'n Node)]| {
            let found = pairs.iter().find(|(_, other)| std::ptr::eq(*other, *after));
            found.map(|(before, _)| *before)
        };
        let is_equal = find(equal).is_some();
        ComparedAlternative { before: find(equal).or_else(|| find(matched)), after, is_equal }
    };
    let members: Vec<ComparedAlternative<'n>> = after.members.iter().map(compared).collect();
    let mut remaining_pairs = MAX_PAIRS;
    for (index, changed) in members.iter().enumerate().filter(|(_, member)| !member.is_equal) {
        // Two changed alternatives are compared once.
        let others = members
            .iter()
            .enumerate()
            .filter(|(other_index, other)| *other_index != index && (other.is_equal || *other_index > index));
        let overlap = others.map(|(_, other)| other).find_map(|other| {
            remaining_pairs = remaining_pairs.checked_sub(1)?;
            let overlap = new_overlap(comparison, pair, (before, after), changed, other)?;
            Some((overlap, label(other.after)))
        });
        if let Some((values, other)) = overlap {
            let name = label(changed.after);
            let position = changed.before.map_or(before.span, |before| before.span);
            pair.report(
                comparison,
                "one-of-overlap-added",
                Positions::new(position, changed.after.span),
                &format!("{name} {other}"),
                format!("{values} match both alternatives {name} and {other}, so they are rejected"),
            );
        }
    }
}

/// Describes the values that match two alternatives of the revision, at least one of which changed, and that the base
/// accepts. Returns `None` if none are found.
fn new_overlap<'n>(
    comparison: &Comparison<'n>,
    pair: &SchemaPair<'n>,
    (before, after): (&Alternatives<'n>, &Alternatives<'n>),
    changed: &ComparedAlternative<'n>,
    other: &ComparedAlternative<'n>,
) -> Option<String> {
    let base = Operand::new(DocumentSide::Base, pair.base_parts.clone());
    let revision = Operand::new(DocumentSide::Revision, pair.revision_parts.clone());
    let mut both = pair.revision_parts.select(after.list, changed.after);
    both.nodes.push(other.after);
    let both = Operand::new(DocumentSide::Revision, both);
    let is_text = pair.site.is_plain_text();
    let mut proof = comparison.proof(Direction::Request);
    let in_base = |member| Operand::new(DocumentSide::Base, pair.base_parts.select(before.list, member));
    let counterparts: Vec<Operand<'n>> =
        [changed.before, other.before].into_iter().flatten().map(in_base).collect();
    if let Some(value) = proof.counterexample((&base, &revision), &both, &counterparts, is_text) {
        return Some(format!("values such as {}", display_value(&value)));
    }
    let in_revision =
        |member| Operand::new(DocumentSide::Revision, pair.revision_parts.select(after.list, member));
    let overlapped_before = |proof: &mut Proof<'_, 'n>| match counterparts.as_slice() {
        [changed, other] => proof.overlaps(other, changed),
        _ => false,
    };
    let overlaps = !is_text
        && other.is_equal
        && proof.overlaps(&in_revision(other.after), &in_revision(changed.after))
        && !overlapped_before(&mut proof);
    overlaps.then(|| "values".to_owned())
}
