//! Compares a schema that became one of several alternatives, or that replaced several alternatives.

use contract::node::Node;

use super::alternative_keys::{are_similar, component_name, label};
use super::alternatives::{is_same_alternative, single_alternatives, suffix_stem};
use super::overlaps::MAX_PROVEN_ALTERNATIVES;
use super::proof::{DocumentSide, Operand};
use super::view::{Alternatives, SchemaParts, SchemaView};
use super::{SchemaPair, discriminator, is_annotation};
use crate::compare::{Comparison, Positions};
use crate::rule::Direction;

/// Compares a schema that became one of several alternatives with that alternative, or an alternative with the schema
/// that replaced all of them. The alternative is compared together with the keywords next to the list. Returns false,
/// without comparing anything, if neither happened.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) -> bool {
    if let Some((is_one_of, alternatives)) = single_alternatives(&pair.revision)
        && let Some(member) = corresponding_member(comparison, pair, alternatives, DocumentSide::Revision)
    {
        let added = match alternatives.members.len() {
            2 => "1 alternative was added".to_owned(),
            count => format!("{} alternatives were added", count.saturating_sub(1)),
        };
        let message = format!("the schema became one of several alternatives: {added}");
        let first_change = comparison.changes().len();
        pair.report(
            comparison,
            &format!("wrapped-in-{}", suffix_stem(is_one_of)),
            Positions::new(pair.base.span, alternatives.span),
            "",
            message,
        );
        let revision = pair.revision_parts.select(alternatives.list, member);
        // The values of the alternative are compared with those of the schema, so only the others matter here.
        if pair.site.direction() == Direction::Request
            && accepts_all_of_member(comparison, DocumentSide::Revision, &revision, &pair.revision_parts)
        {
            comparison.mark_compatible(first_change);
        }
        discriminator::report_all_added(comparison, pair);
        pair.queue(comparison, pair.base_parts.clone(), revision, pair.site, &label(member));
        return true;
    }
    if let Some((is_one_of, alternatives)) = single_alternatives(&pair.base)
        && let Some(member) = corresponding_member(comparison, pair, alternatives, DocumentSide::Base)
    {
        let positions = Positions::new(alternatives.span, pair.revision.span);
        let message = "only one of several alternatives remains".to_owned();
        let first_change = comparison.changes().len();
        pair.report(
            comparison,
            &format!("unwrapped-from-{}", suffix_stem(is_one_of)),
            positions,
            "",
            message,
        );
        let base = pair.base_parts.select(alternatives.list, member);
        if pair.site.direction() == Direction::Response
            && accepts_all_of_member(comparison, DocumentSide::Base, &base, &pair.base_parts)
        {
            comparison.mark_compatible(first_change);
        }
        discriminator::report_all_removed(comparison, pair);
        pair.queue(comparison, base, pair.revision_parts.clone(), pair.site, &label(member));
        return true;
    }
    false
}

/// Whether a schema with alternatives provably accepts all values that it accepts with one of them only: the value of an
/// alternative of `oneOf` must not match another one.
fn accepts_all_of_member<'n>(
    comparison: &Comparison<'n>,
    side: DocumentSide,
    member: &SchemaParts<'n>,
    whole: &SchemaParts<'n>,
) -> bool {
    let operand = |parts: &SchemaParts<'n>| Operand::new(side, parts.clone());
    // The direction decides which properties are sent.
    let direction = if side == DocumentSide::Revision { Direction::Request } else { Direction::Response };
    comparison.proof(direction).is_included(&operand(member), &operand(whole))
}

/// Whether a schema constrains values, but has no alternatives.
fn constrains_without_alternatives(view: &SchemaView<'_>) -> bool {
    let constraints = ["properties", "enum", "const", "items", "additionalProperties"];
    !view.has_alternatives()
        && (!view.types.is_any() || view.keywords().iter().any(|keyword| constraints.contains(keyword)))
}

/// Whether a schema has no constraints other than its alternatives and their type.
fn has_only_alternatives(view: &SchemaView<'_>) -> bool {
    let allowed_keywords = ["discriminator", "readOnly", "writeOnly"];
    let constrains = |keyword: &&str| !is_annotation(keyword) && !allowed_keywords.contains(keyword);
    view.constant_lists.is_empty() && !view.keywords().iter().any(constrains)
}

/// Returns the alternative that corresponds to the schema in the other document: an equivalent one, or else one of the
/// same name or a similar one if the schema has no alternatives itself and no keywords are next to the list. `side` is the
/// document with the alternatives.
fn corresponding_member<'n>(
    comparison: &Comparison<'n>,
    pair: &SchemaPair<'n>,
    alternatives: &Alternatives<'n>,
    side: DocumentSide,
) -> Option<&'n Node> {
    let base = (DocumentSide::Base, &pair.base_parts, &pair.base);
    let revision = (DocumentSide::Revision, &pair.revision_parts, &pair.revision);
    let (document, (_, parts, view), (other_side, other_parts, other_view)) = match side {
        DocumentSide::Base => (&comparison.base, base, revision),
        DocumentSide::Revision => (&comparison.revision, revision, base),
    };
    // A list of one alternative, and lists with a common alternative, are compared as lists.
    let is_common = |member: &&'n Node, others: &Alternatives<'n>| {
        others.members.iter().any(|other| match side {
            DocumentSide::Base => is_same_alternative(comparison, member, other),
            DocumentSide::Revision => is_same_alternative(comparison, other, member),
        })
    };
    if let Some((_, others)) = single_alternatives(other_view)
        && (others.members.len() == 1
            || alternatives.members.len() == 1
            || alternatives.members.iter().any(|member| is_common(member, others)))
    {
        return None;
    }
    let other = Operand::new(other_side, other_parts.clone());
    let is_equivalent = |member: &&&'n Node| {
        let member = Operand::new(side, parts.select(alternatives.list, member));
        let mut proof = comparison.proof(pair.site.direction());
        // Text has no `null`.
        if pair.site.is_plain_text() {
            proof.are_equivalent_without_null(&member, &other)
        } else {
            proof.are_equivalent(&member, &other)
        }
    };
    if alternatives.members.len() <= MAX_PROVEN_ALTERNATIVES
        && let Some(equivalent) = alternatives.members.iter().find(is_equivalent)
    {
        return Some(equivalent);
    }
    if !constrains_without_alternatives(other_view) || !has_only_alternatives(view) {
        return None;
    }
    let views: Vec<(&Node, SchemaView<'_>)> = alternatives
        .members
        .iter()
        .map(|member| (*member, SchemaView::of(document, &parts.select(alternatives.list, member))))
        .collect();
    let name = |member: &&'n Node| component_name(member);
    let named = views.iter().find(|(member, _)| name(member).is_some() && name(member) == other_view.name);
    let similar = || views.iter().find(|(_, member)| are_similar(member, other_view));
    named.or_else(similar).map(|(member, _)| *member)
}
