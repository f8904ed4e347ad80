//! Compares `oneOf` and `anyOf`.
//!
//! Alternatives of base and revision are matched by name, discriminator value, content, title and finally by
//! similarity. Their order does not matter.

use contract::node::{Entry, Node};

use super::value::is_equivalent;
use super::view::{Alternatives, SchemaParts, SchemaView};
use super::{SchemaPair, discriminator, is_annotation};
use crate::compare::{Comparison, Positions};
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
    if let (Some((was_one_of, before)), Some((is_one_of, after))) =
        (single_alternatives(base), single_alternatives(revision))
        && was_one_of != is_one_of
    {
        let suffix = if was_one_of { "one-of-became-any-of" } else { "any-of-became-one-of" };
        let message = if was_one_of { "`oneOf` became `anyOf`" } else { "`anyOf` became `oneOf`" };
        pair.report(comparison, suffix, Positions::new(before.span, after.span), "", message.to_owned());
        compare_members(comparison, pair, if was_one_of { "one-of" } else { "any-of" }, before, after);
        return;
    }
    compare_lists(comparison, pair, "one-of", &base.one_of, &revision.one_of);
    compare_lists(comparison, pair, "any-of", &base.any_of, &revision.any_of);
}

/// Returns the alternatives of a schema that has a single `oneOf` or `anyOf`, otherwise `None`. The boolean is true for
/// `oneOf`.
fn single_alternatives<'a, 'n>(view: &'a SchemaView<'n>) -> Option<(bool, &'a Alternatives<'n>)> {
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
    let mut remaining: Vec<&Alternatives<'_>> = revision.iter().collect();
    let mut unmatched = Vec::new();
    for before in base {
        let common_count = |after: &Alternatives<'_>| {
            after.members.iter().filter(|member| before.contains_alternative(member)).count()
        };
        // `max_by_key` returns the last maximum, so `rev` selects the first of equally similar keywords.
        let best = (0..remaining.len()).rev().max_by_key(|index| common_count(remaining[*index]));
        match best.filter(|best| common_count(remaining[*best]) > 0) {
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

impl Alternatives<'_> {
    fn contains_alternative(&self, alternative: &Node) -> bool {
        let reference = |node: &Node| node.get("$ref").and_then(Node::as_str).map(str::to_owned);
        self.members.iter().any(|member| match (reference(member), reference(alternative)) {
            (None, None) => is_equivalent(member, alternative),
            (left, right) => left == right,
        })
    }
}

/// Compares a schema that became one of several alternatives with that alternative, or an alternative with the schema
/// that replaced all of them. Returns false, without comparing anything, if neither happened.
pub(super) fn compare_wrapped<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) -> bool {
    let suffix_stem = |is_one_of: bool| if is_one_of { "one-of" } else { "any-of" };
    if let Some((is_one_of, alternatives)) = single_alternatives(&pair.revision)
        .filter(|_| constrains_without_alternatives(&pair.base) && has_only_alternatives(&pair.revision))
        && let Some(member) = corresponding_member(&comparison.revision, alternatives, &pair.base)
    {
        let added = match alternatives.members.len() {
            2 => "1 alternative was added".to_owned(),
            count => format!("{} alternatives were added", count.saturating_sub(1)),
        };
        let message = format!("the schema became one of several alternatives: {added}");
        pair.report(
            comparison,
            &format!("wrapped-in-{}", suffix_stem(is_one_of)),
            Positions::new(pair.base.span, alternatives.span),
            "",
            message,
        );
        discriminator::report_all_added(comparison, pair);
        let parts = comparison.pair(pair.index).0;
        pair.queue(comparison, parts, SchemaParts::of_node(member, member.span), pair.site, &label(member));
        return true;
    }
    if let Some((is_one_of, alternatives)) = single_alternatives(&pair.base)
        .filter(|_| constrains_without_alternatives(&pair.revision) && has_only_alternatives(&pair.base))
        && let Some(member) = corresponding_member(&comparison.base, alternatives, &pair.revision)
    {
        let positions = Positions::new(alternatives.span, pair.revision.span);
        let message = "only one of several alternatives remains".to_owned();
        pair.report(
            comparison,
            &format!("unwrapped-from-{}", suffix_stem(is_one_of)),
            positions,
            "",
            message,
        );
        discriminator::report_all_removed(comparison, pair);
        let parts = comparison.pair(pair.index).1;
        pair.queue(comparison, SchemaParts::of_node(member, member.span), parts, pair.site, &label(member));
        return true;
    }
    false
}

/// Whether a schema constrains values, but has no alternatives.
fn constrains_without_alternatives(view: &SchemaView<'_>) -> bool {
    let constraints = ["properties", "enum", "const", "items", "additionalProperties"];
    let has_no_alternatives = view.one_of.is_empty() && view.any_of.is_empty();
    has_no_alternatives
        && (!view.types.is_any() || view.keywords().iter().any(|keyword| constraints.contains(keyword)))
}

/// Whether a schema has no constraints other than its alternatives.
fn has_only_alternatives(view: &SchemaView<'_>) -> bool {
    let allowed_keywords = ["discriminator", "readOnly", "writeOnly"];
    let constrains = |keyword: &&str| !is_annotation(keyword) && !allowed_keywords.contains(keyword);
    view.types.is_any() && view.constant_lists.is_empty() && !view.keywords().iter().any(constrains)
}

/// Returns the alternative that corresponds to a schema, by name or similarity.
fn corresponding_member<'n>(
    side: &IndexedDocument<'n>,
    alternatives: &Alternatives<'n>,
    view: &SchemaView<'n>,
) -> Option<&'n Node> {
    let views: Vec<(&Node, SchemaView<'_>)> = alternatives
        .members
        .iter()
        .map(|member| (*member, SchemaView::of(side, &SchemaParts::of_node(member, member.span))))
        .collect();
    let named = views.iter().find(|(_, member)| member.name.is_some() && member.name == view.name);
    let similar = || views.iter().find(|(_, member)| are_similar(member, view));
    named.or_else(similar).map(|(member, _)| *member)
}

/// Whether two schemas are similar: they have the same types, and a common property unless both declare no properties.
fn are_similar(left: &SchemaView<'_>, right: &SchemaView<'_>) -> bool {
    if left.types != right.types {
        return false;
    }
    let (left, right) = (left.properties(), right.properties());
    left.is_empty() && right.is_empty() || left.keys().any(|name| right.contains_key(name))
}

/// Returns the label of an alternative in a path: the last segment of its `$ref`, its title or its type, in
/// parentheses.
fn label(member: &Node) -> String {
    let text = |key| member.get(key).and_then(Node::as_str);
    let name = text("$ref").and_then(|target| target.rsplit('/').next());
    let name = name.or_else(|| text("title")).or_else(|| text("type"));
    format!("({})", name.unwrap_or("alternative"))
}

/// An alternative and the keys by which it is matched.
struct MatchableAlternative<'n> {
    node: &'n Node,
    name: Option<&'n str>,
    title: Option<&'n str>,
    discriminator_value: Option<String>,
    view: SchemaView<'n>,
}

impl<'n> MatchableAlternative<'n> {
    /// Creates the matchable alternatives. `owner` is the schema that contains them.
    fn all(side: &IndexedDocument<'n>, alternatives: &Alternatives<'n>, owner: &SchemaView<'n>) -> Vec<Self> {
        let property =
            owner.entry("discriminator").and_then(|entry| entry.value.get("propertyName")?.as_str());
        let matchable = |node: &&'n Node| {
            let view = SchemaView::of(side, &SchemaParts::of_node(node, node.span));
            let discriminator_value =
                property.and_then(|property| discriminator_value(side, &view, property));
            let title = view.entry("title").and_then(|entry| entry.value.as_str());
            MatchableAlternative { node, name: view.name, title, discriminator_value, view }
        };
        alternatives.members.iter().map(matchable).collect()
    }
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

/// Returns the discriminator value that a schema declares by `const` or by the first value of `enum`. Returns `None` if
/// it declares none, or if the value is not a string.
pub(super) fn discriminator_value<'n>(
    side: &IndexedDocument<'n>,
    view: &SchemaView<'n>,
    property: &str,
) -> Option<String> {
    let value = SchemaView::of(side, view.properties().get(property)?);
    let first_listed = value.entry("enum").and_then(|entry| entry.value.items()?.first());
    let constant = value.entry("const").map(|entry| &entry.value).or(first_listed)?;
    constant.as_str().map(str::to_owned)
}

fn compare_members<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    suffix_stem: &str,
    before: &Alternatives<'n>,
    after: &Alternatives<'n>,
) {
    let positions = Positions::new(before.span, after.span);
    let mut base = MatchableAlternative::all(&comparison.base, before, &pair.base);
    let mut revision = MatchableAlternative::all(&comparison.revision, after, &pair.revision);
    let matchers: [fn(&MatchableAlternative<'_>, &MatchableAlternative<'_>) -> bool; 5] = [
        |left, right| left.name.is_some() && left.name == right.name,
        |left, right| {
            left.discriminator_value.is_some() && left.discriminator_value == right.discriminator_value
        },
        |left, right| is_equivalent(left.node, right.node),
        |left, right| left.title.is_some() && left.title == right.title,
        |left, right| are_similar(&left.view, &right.view),
    ];
    for matches in matchers {
        for index in (0..base.len()).rev() {
            if let Some(matching) = revision.iter().position(|member| matches(&base[index], member)) {
                let (before, after) = (base.remove(index), revision.remove(matching));
                report_renamed(comparison, pair, &before, &after);
                let step = label(before.node);
                let (before, after) = (
                    SchemaParts::of_node(before.node, before.node.span),
                    SchemaParts::of_node(after.node, after.node.span),
                );
                pair.queue(comparison, before, after, pair.site, &step);
            }
        }
    }
    for member in &base {
        let name = label(member.node);
        let positions = Positions::new(member.node.span, positions.revision);
        pair.report(
            comparison,
            &format!("{suffix_stem}-removed"),
            positions,
            &name,
            format!("the alternative {name} was removed"),
        );
    }
    for member in &revision {
        let name = label(member.node);
        let positions = Positions::new(positions.base, member.node.span);
        pair.report(
            comparison,
            &format!("{suffix_stem}-added"),
            positions,
            &name,
            format!("the alternative {name} was added"),
        );
    }
}
