//! Compares discriminators: properties whose value selects a schema.
//!
//! The selected schemas are compared even if nothing else refers to them. Without a mapping, the discriminator value is
//! the name of the schema, unless the schema declares another value by a constant.

use std::collections::{BTreeMap, BTreeSet};

use contract::node::{Entry, Node};
use contract::source::Span;

use super::alternative_keys::discriminator_value;
use super::value::{is_equal, text};
use super::values::distinct;
use super::view::{SchemaParts, SchemaView};
use super::{SchemaPair, is_annotation};
use crate::compare::{Comparison, Positions};
use crate::document::IndexedDocument;
use crate::rule::{SchemaRule, Topic, ValueEffect};

const STRUCTURE: Topic = Topic::Structure;

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    SchemaRule::new(STRUCTURE, ValueEffect::Alters, "discriminator-added", "discriminator-removed"),
    SchemaRule::new(STRUCTURE, ValueEffect::Alters, "discriminator-removed", "discriminator-added"),
    SchemaRule::new(
        STRUCTURE,
        ValueEffect::Alters,
        "discriminator-property-name-changed",
        "discriminator-property-name-changed",
    ),
    SchemaRule::new(
        STRUCTURE,
        ValueEffect::Widens,
        "discriminator-mapping-added",
        "discriminator-mapping-deleted",
    ),
    SchemaRule::new(
        STRUCTURE,
        ValueEffect::Alters,
        "discriminator-mapping-deleted",
        "discriminator-mapping-added",
    ),
    SchemaRule::new(
        STRUCTURE,
        ValueEffect::Alters,
        "discriminator-mapping-changed",
        "discriminator-mapping-changed",
    ),
    SchemaRule::new(
        STRUCTURE,
        ValueEffect::Neutral,
        "discriminator-mapping-renamed",
        "discriminator-mapping-renamed",
    ),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &["discriminator"];

/// Compares the discriminators of two schemas.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (mut base, mut revision) =
        (distinct(&pair.base, "discriminator"), distinct(&pair.revision, "discriminator"));
    if base.len() != 1 || revision.len() != 1 {
        // If there are several discriminators, they are matched by property.
        base.retain(|before| {
            let index = revision.iter().position(|after| property_name(after) == property_name(before));
            let after = index.map(|index| revision.remove(index));
            after.is_none_or(|after| {
                compare_values(comparison, pair, before, after);
                false
            })
        });
    }
    if let ([before], [after]) = (base.as_slice(), revision.as_slice()) {
        if property_name(before) != property_name(after) {
            let details = format!("{} to {}", property_name(before), property_name(after));
            let message = format!("the discriminator property changed from {details}");
            let positions = Positions::new(before.key.span, after.key.span);
            pair.report(comparison, "discriminator-property-name-changed", positions, &details, message);
        }
        compare_values(comparison, pair, before, after);
        return;
    }
    let positions = pair.positions("discriminator");
    revision
        .into_iter()
        .for_each(|after| report_added(comparison, pair, Positions::new(positions.base, after.key.span)));
    base.into_iter().for_each(|before| {
        report_removed(comparison, pair, Positions::new(before.key.span, positions.revision))
    });
}

/// Reports the discriminators that were added when a schema was wrapped in alternatives. The discriminators of the
/// schema itself are compared with those of the matching alternative.
pub(super) fn report_all_added<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    for after in distinct(&pair.revision, "discriminator") {
        report_added(comparison, pair, Positions::new(pair.base.span, after.key.span));
    }
}

/// Reports the discriminators that were removed when a schema was unwrapped from alternatives.
pub(super) fn report_all_removed<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    for before in distinct(&pair.base, "discriminator") {
        report_removed(comparison, pair, Positions::new(before.key.span, pair.revision.span));
    }
}

fn report_added<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>, positions: Positions) {
    let message = "a discriminator was added".to_owned();
    pair.report(comparison, "discriminator-added", positions, "", message);
}

fn report_removed<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>, positions: Positions) {
    let message = "the discriminator was removed".to_owned();
    pair.report(comparison, "discriminator-removed", positions, "", message);
}

fn property_name(discriminator: &Entry) -> &str {
    discriminator.value.get("propertyName").and_then(Node::as_str).unwrap_or_default()
}

/// The schema that a discriminator value selects.
#[derive(Clone, Copy)]
struct SelectedSchema<'n> {
    /// The reference or the name in the mapping, or the name of the schema.
    target: &'n str,
    /// The position of the mapping entry, the alternative or the schema.
    span: Span,
}

impl<'n> SelectedSchema<'n> {
    /// Returns the name of the schema.
    fn name(&self) -> &'n str {
        self.target.rsplit('/').next().unwrap_or(self.target)
    }

    /// Returns the schema, or `None` if it does not exist.
    fn parts(&self, side: &IndexedDocument<'n>) -> Option<SchemaParts<'n>> {
        if self.target.starts_with('#') {
            let span = side.target_position(self.target)?;
            return Some(SchemaParts::of_node(side.resolve(self.target)?, span));
        }
        let entry = side.section("schemas").iter().find(|entry| entry.key.text == self.target)?;
        Some(SchemaParts::of_entry(entry))
    }
}

/// Discriminator values with the schemas that they select.
type DiscriminatorValues<'n> = BTreeMap<String, SelectedSchema<'n>>;

/// Compares the values of two discriminators and the schemas that they select, and their other keywords literally.
fn compare_values<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    before: &'n Entry,
    after: &'n Entry,
) {
    compare_unknown_keywords(comparison, pair, before, after);
    let (base, revision) = (
        selected_schemas(&comparison.base, &pair.base, before),
        selected_schemas(&comparison.revision, &pair.revision, after),
    );
    let (members_before, members_after) =
        (NamedAlternatives::of(&pair.base), NamedAlternatives::of(&pair.revision));
    let members = (&members_before, &members_after);
    let discriminators = (before, after);
    for (value, selected_before) in &base {
        if let Some(selected_after) = revision.get(value).copied().or_else(|| members_after.by_name(value)) {
            compare_selected(
                comparison,
                pair,
                discriminators,
                members,
                value,
                (*selected_before, selected_after),
            );
        } else {
            let message = format!("the discriminator value `{value}` was removed");
            let positions = Positions::new(selected_before.span, after.key.span);
            pair.report(comparison, "discriminator-mapping-deleted", positions, value, message);
        }
    }
    for (value, selected_after) in revision.iter().filter(|(value, _)| !base.contains_key(*value)) {
        if let Some(selected_before) = members_before.by_name(value) {
            compare_selected(
                comparison,
                pair,
                discriminators,
                members,
                value,
                (selected_before, *selected_after),
            );
        } else {
            let message = format!("the discriminator value `{value}` was added");
            let positions = Positions::new(before.key.span, selected_after.span);
            pair.report(comparison, "discriminator-mapping-added", positions, value, message);
        }
    }
}

/// Reports changes of unknown keywords of a discriminator, such as `defaultMapping` of OpenAPI 3.2.
fn compare_unknown_keywords<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    before: &'n Entry,
    after: &'n Entry,
) {
    let entries = |discriminator: &'n Entry| {
        let is_unknown = |entry: &&'n Entry| {
            !["propertyName", "mapping"].contains(&entry.key.text.as_str()) && !is_annotation(&entry.key.text)
        };
        discriminator.value.entries().unwrap_or_default().iter().filter(is_unknown)
    };
    let added = entries(after).filter(|entry| before.value.entry(&entry.key.text).is_none());
    for keyword in entries(before).chain(added).map(|entry| entry.key.text.as_str()) {
        let (old, new) = (before.value.entry(keyword), after.value.entry(keyword));
        if old.zip(new).is_some_and(|(old, new)| is_equal(&old.value, &new.value)) {
            continue;
        }
        let details = [old, new].into_iter().flatten().map(|entry| text(&entry.value)).collect::<Vec<_>>();
        let positions = Positions::new(
            old.map_or(before.key.span, |entry| entry.key.span),
            new.map_or(after.key.span, |entry| entry.key.span),
        );
        let message = format!("`{keyword}` of the discriminator changed, and no rule covers this keyword");
        let details = format!("{keyword} {}", details.join(" "));
        pair.report(comparison, "unclassified-change", positions, &details, message);
    }
}

/// Compares the schemas that a value selects in base and revision.
fn compare_selected<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    (discriminator_before, discriminator_after): (&'n Entry, &'n Entry),
    members: (&NamedAlternatives<'n>, &NamedAlternatives<'n>),
    value: &str,
    (selected_before, selected_after): (SelectedSchema<'n>, SelectedSchema<'n>),
) {
    let member =
        (members.0.0.get(selected_before.name()).copied(), members.1.0.get(selected_after.name()).copied());
    if selected_before.name() != selected_after.name() {
        let details = format!("{value}: {} to {}", selected_before.target, selected_after.target);
        let positions = Positions::new(selected_before.span, selected_after.span);
        if !is_renamed(comparison, pair, member, (selected_before, selected_after)) {
            let message = format!(
                "the discriminator value `{value}` selects `{}` instead of `{}`",
                selected_after.name(),
                selected_before.name()
            );
            pair.report(comparison, "discriminator-mapping-changed", positions, &details, message);
            return;
        }
        let message = format!(
            "the schema of the discriminator value `{value}` was renamed to `{}`",
            selected_after.name()
        );
        pair.report(comparison, "discriminator-mapping-renamed", positions, &details, message);
    }
    // Schemas that are alternatives in base and revision are compared as alternatives.
    let is_compared = member.0.is_some() && member.1.is_some();
    // A schema that inherits the discriminator is one of the selected schemas, so the others do not apply to it.
    if !is_compared
        && pair.base.is_own_discriminator(discriminator_before)
        && pair.revision.is_own_discriminator(discriminator_after)
        && let Some((before, after)) =
            selected_before.parts(&comparison.base).zip(selected_after.parts(&comparison.revision))
    {
        pair.queue(comparison, before, after, pair.site, &format!("({})", selected_before.name()));
    }
}

/// Whether the selected schema was only renamed: either both are alternatives that are compared with each other, or the
/// old name was removed and the new one added.
fn is_renamed<'n>(
    comparison: &Comparison<'n>,
    pair: &SchemaPair<'n>,
    member: (Option<&'n Node>, Option<&'n Node>),
    (selected_before, selected_after): (SelectedSchema<'n>, SelectedSchema<'n>),
) -> bool {
    match member {
        (Some(before), Some(after)) => comparison.is_queued(
            &SchemaParts::of_node(before, before.span),
            &SchemaParts::of_node(after, after.span),
            pair.context,
        ),
        (None, None) => {
            comparison.revision.component("schemas", selected_before.name()).is_none()
                && comparison.base.component("schemas", selected_after.name()).is_none()
        }
        _ => false,
    }
}

/// The alternatives that are references to named schemas, by name.
struct NamedAlternatives<'n>(BTreeMap<&'n str, &'n Node>);

impl<'n> NamedAlternatives<'n> {
    fn of(view: &SchemaView<'n>) -> Self {
        let members =
            view.one_of.iter().chain(&view.any_of).flat_map(|alternatives| alternatives.members.iter());
        let named =
            members.filter_map(|member| Some((member.get("$ref")?.as_str()?.rsplit('/').next()?, *member)));
        Self(named.collect())
    }

    /// Returns the alternative whose name is the value.
    fn by_name(&self, value: &str) -> Option<SelectedSchema<'n>> {
        self.0.get_key_value(value).map(|(name, member)| SelectedSchema { target: name, span: member.span })
    }
}

/// Returns the values of the mapping. If a named schema without alternatives declares the discriminator itself, also
/// returns the values of the schemas that inherit the discriminator and do not occur in the mapping.
fn selected_schemas<'n>(
    side: &IndexedDocument<'n>,
    view: &SchemaView<'n>,
    discriminator: &'n Entry,
) -> DiscriminatorValues<'n> {
    let entries = discriminator.value.get("mapping").and_then(Node::entries).unwrap_or_default();
    let mut values: DiscriminatorValues<'_> = entries
        .iter()
        .filter_map(|entry| {
            Some((
                entry.key.text.clone(),
                SelectedSchema { target: entry.value.as_str()?, span: entry.key.span },
            ))
        })
        .collect();
    let Some(ancestor) = view.name.filter(|_| view.is_own_discriminator(discriminator)) else {
        return values;
    };
    if !view.one_of.is_empty() || !view.any_of.is_empty() {
        return values;
    }
    let mapped: BTreeSet<&str> = values.values().map(SelectedSchema::name).collect();
    for descendant in
        side.section("schemas").iter().filter(|entry| ancestors(side, &entry.value).contains(ancestor))
    {
        let name = descendant.key.text.as_str();
        if !mapped.contains(name) {
            let declared_value = discriminator_value(
                side,
                &SchemaView::of(side, &SchemaParts::of_entry(descendant)),
                property_name(discriminator),
            );
            values
                .entry(declared_value.unwrap_or_else(|| name.to_owned()))
                .or_insert(SelectedSchema { target: name, span: descendant.key.span });
        }
    }
    values
}

/// Returns the names of the schemas that a schema inherits by `allOf`, directly or indirectly.
pub(crate) fn ancestors<'n>(side: &IndexedDocument<'n>, descendant: &'n Node) -> BTreeSet<&'n str> {
    let parts = |node: &'n Node| node.get("allOf").and_then(Node::items).unwrap_or_default();
    let mut ancestors = BTreeSet::new();
    let mut pending: Vec<&Node> = parts(descendant).iter().collect();
    while let Some(part) = pending.pop() {
        pending.extend(parts(part));
        let target = part.get("$ref").and_then(Node::as_str);
        if let Some(name) = target.and_then(|target| target.strip_prefix("#/components/schemas/"))
            && ancestors.insert(name)
        {
            pending.extend(side.component("schemas", name));
        }
    }
    ancestors
}
