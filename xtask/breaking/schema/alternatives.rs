//! Compares `oneOf` and `anyOf`.
//!
//! Alternatives of base and revision are matched by name, discriminator value, content, title and finally by similarity. Their
//! order does not matter.

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

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &["oneOf", "anyOf", "allOf"];

/// Compares the alternatives of two schemas.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (base, revision) = (&pair.base, &pair.revision);
    if let (Some((one_of, before)), Some((other, after))) =
        (single_alternatives(base), single_alternatives(revision))
        && one_of != other
    {
        let suffix = if one_of { "one-of-became-any-of" } else { "any-of-became-one-of" };
        let message = if one_of { "`oneOf` became `anyOf`" } else { "`anyOf` became `oneOf`" };
        pair.report(comparison, suffix, Positions::new(before.at, after.at), "", message.to_owned());
        compare_members(comparison, pair, if one_of { "one-of" } else { "any-of" }, before, after);
        return;
    }
    compare_lists(comparison, pair, "one-of", &base.one_of, &revision.one_of);
    compare_lists(comparison, pair, "any-of", &base.any_of, &revision.any_of);
}

/// Returns the alternatives of a schema with exactly one `oneOf` or `anyOf`, and whether it is `oneOf`.
fn single_alternatives<'a, 'n>(view: &'a SchemaView<'n>) -> Option<(bool, &'a Alternatives<'n>)> {
    match (view.one_of.as_slice(), view.any_of.as_slice()) {
        ([one], []) => Some((true, one)),
        ([], [any]) => Some((false, any)),
        _ => None,
    }
}

/// Compares all `oneOf` or `anyOf` keywords of two schemas. Each is matched with the one that it has most alternatives in
/// common with; the rest is matched in order.
fn compare_lists<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    suffix: &str,
    base: &[Alternatives<'n>],
    revision: &[Alternatives<'n>],
) {
    let mut remaining: Vec<&Alternatives<'_>> = revision.iter().collect();
    let mut unmatched = Vec::new();
    for before in base {
        let common_count =
            |after: &Alternatives<'_>| after.members.iter().filter(|after| before.has(after)).count();
        // The first of equally similar ones.
        let best = (0..remaining.len()).rev().max_by_key(|other| common_count(remaining[*other]));
        match best.filter(|best| common_count(remaining[*best]) > 0) {
            Some(best) => compare_members(comparison, pair, suffix, before, remaining.remove(best)),
            None => unmatched.push(before),
        }
    }
    for (before, after) in unmatched.iter().zip(&remaining) {
        compare_members(comparison, pair, suffix, before, after);
    }
    for before in unmatched.iter().skip(remaining.len()) {
        let message = "a list of alternatives was removed".to_owned();
        pair.report(
            comparison,
            &format!("{suffix}-unset"),
            Positions::new(before.at, pair.revision.at),
            "",
            message,
        );
    }
    for after in remaining.iter().skip(unmatched.len()) {
        let message = "a list of alternatives was added".to_owned();
        pair.report(
            comparison,
            &format!("{suffix}-set"),
            Positions::new(pair.base.at, after.at),
            "",
            message,
        );
    }
}

impl Alternatives<'_> {
    fn has(&self, other: &Node) -> bool {
        let name = |node: &Node| node.get("$ref").and_then(Node::as_str).map(str::to_owned);
        self.members.iter().any(|member| match (name(member), name(other)) {
            (None, None) => is_equivalent(member, other),
            (left, right) => left == right,
        })
    }
}

/// Reports whether a schema was wrapped in alternatives or unwrapped from them. If so, records the change and compares the
/// schema with the matching alternative.
pub(super) fn compare_wrapped<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) -> bool {
    let suffix = |one_of: bool| if one_of { "one-of" } else { "any-of" };
    if let Some((one_of, alternatives)) =
        single_alternatives(&pair.revision).filter(|_| is_plain(&pair.base) && is_bare(&pair.revision))
        && let Some(member) = corresponding_member(&comparison.revision, alternatives, &pair.base)
    {
        let others = match alternatives.members.len() {
            2 => "1 alternative was added".to_owned(),
            several => format!("{} alternatives were added", several.saturating_sub(1)),
        };
        let message = format!("the schema became one of several alternatives: {others}");
        pair.report(
            comparison,
            &format!("wrapped-in-{}", suffix(one_of)),
            Positions::new(pair.base.at, alternatives.at),
            "",
            message,
        );
        discriminator::report_all_added(comparison, pair);
        let parts = comparison.pair(pair.index).0;
        pair.queue(comparison, parts, SchemaParts::one(member, member.span), pair.site, &label(member));
        return true;
    }
    if let Some((one_of, alternatives)) =
        single_alternatives(&pair.base).filter(|_| is_plain(&pair.revision) && is_bare(&pair.base))
        && let Some(member) = corresponding_member(&comparison.base, alternatives, &pair.revision)
    {
        let positions = Positions::new(alternatives.at, pair.revision.at);
        let message = "only one of several alternatives remains".to_owned();
        pair.report(comparison, &format!("unwrapped-from-{}", suffix(one_of)), positions, "", message);
        discriminator::report_all_removed(comparison, pair);
        let parts = comparison.pair(pair.index).1;
        pair.queue(comparison, SchemaParts::one(member, member.span), parts, pair.site, &label(member));
        return true;
    }
    false
}

/// Whether a schema constrains values without alternatives.
fn is_plain(view: &SchemaView<'_>) -> bool {
    let constrains = ["properties", "enum", "const", "items", "additionalProperties"];
    let has_no_alternatives = view.one_of.is_empty() && view.any_of.is_empty();
    has_no_alternatives
        && (!view.types.is_any() || view.keywords().iter().any(|keyword| constrains.contains(keyword)))
}

/// Whether a schema consists only of alternatives and their discriminator.
fn is_bare(view: &SchemaView<'_>) -> bool {
    let aside = ["discriminator", "readOnly", "writeOnly"];
    let constrains = |keyword: &&str| !is_annotation(keyword) && !aside.contains(keyword);
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
        .map(|member| (*member, SchemaView::of(side, &SchemaParts::one(member, member.span))))
        .collect();
    let named = views.iter().find(|(_, member)| member.name.is_some() && member.name == view.name);
    let similar = || views.iter().find(|(_, member)| are_similar(member, view));
    named.or_else(similar).map(|(member, _)| *member)
}

/// Whether two schemas are similar: the same types and, for objects, a common property.
fn are_similar(left: &SchemaView<'_>, right: &SchemaView<'_>) -> bool {
    if left.types != right.types {
        return false;
    }
    let (left, right) = (left.properties(), right.properties());
    left.is_empty() && right.is_empty() || left.keys().any(|name| right.contains_key(name))
}

/// Returns the name of an alternative in a path.
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
    fn all(side: &IndexedDocument<'n>, alternatives: &Alternatives<'n>, owner: &SchemaView<'n>) -> Vec<Self> {
        let property =
            owner.entry("discriminator").and_then(|entry| entry.value.get("propertyName")?.as_str());
        let of = |node: &&'n Node| {
            let view = SchemaView::of(side, &SchemaParts::one(node, node.span));
            let discriminator_value =
                property.and_then(|property| discriminator_value(side, &view, property));
            let title = view.entry("title").and_then(|entry| entry.value.as_str());
            MatchableAlternative { node, name: view.name, title, discriminator_value, view }
        };
        alternatives.members.iter().map(of).collect()
    }
}

/// Reports a renamed alternative whose name is its discriminator value: it has neither a mapping nor a constant.
fn report_renamed<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    before: &MatchableAlternative<'n>,
    after: &MatchableAlternative<'n>,
) {
    let by_name = |view: &SchemaView<'n>, member: &MatchableAlternative<'n>| {
        let discriminator = view.entry("discriminator")?;
        let name = member.name.filter(|_| member.discriminator_value.is_none())?;
        let mapping = discriminator.value.get("mapping").and_then(Node::entries).unwrap_or_default();
        let target = |entry: &'n Entry| entry.value.as_str()?.rsplit('/').next();
        (!mapping.iter().any(|entry| target(entry) == Some(name))).then_some(name)
    };
    if let Some((base, revision)) = by_name(&pair.base, before).zip(by_name(&pair.revision, after))
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

/// Returns the discriminator value that a schema requires by a constant.
pub(super) fn discriminator_value<'n>(
    side: &IndexedDocument<'n>,
    view: &SchemaView<'n>,
    property: &str,
) -> Option<String> {
    let value = SchemaView::of(side, view.properties().get(property)?);
    let listed = value.entry("enum").and_then(|entry| entry.value.items()?.first());
    let fixed = value.entry("const").map(|entry| &entry.value).or(listed)?;
    fixed.as_str().map(str::to_owned)
}

fn compare_members<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    suffix: &str,
    before: &Alternatives<'n>,
    after: &Alternatives<'n>,
) {
    let positions = Positions::new(before.at, after.at);
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
        for at in (0..base.len()).rev() {
            if let Some(other) = revision.iter().position(|member| matches(&base[at], member)) {
                let (before, after) = (base.remove(at), revision.remove(other));
                report_renamed(comparison, pair, &before, &after);
                let step = label(before.node);
                let (before, after) = (
                    SchemaParts::one(before.node, before.node.span),
                    SchemaParts::one(after.node, after.node.span),
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
            &format!("{suffix}-removed"),
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
            &format!("{suffix}-added"),
            positions,
            &name,
            format!("the alternative {name} was added"),
        );
    }
}
