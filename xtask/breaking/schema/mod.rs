//! Compares two schemas, keyword by keyword. Where this is not enough, as for alternatives that were split or wrapped,
//! `proof` decides whether the change is compatible.
//!
//! Each module with `SCHEMA_RULES` compares the keywords in its `KEYWORDS`, and `access` compares `readOnly` and
//! `writeOnly`; the others are helpers. A changed keyword that no module compares is reported as unclassified, so that
//! no change is missed.

mod access;
mod additional_properties;
mod alternative_keys;
mod alternatives;
mod bounds;
mod conditions;
mod discriminator;
mod equality;
mod items;
mod keyword_groups;
mod null;
mod overlaps;
mod patterns;
pub(crate) mod proof;
mod properties;
mod property_schemas;
mod reader;
mod structure;
pub(crate) mod types;
mod typing;
pub(crate) mod value;
mod values;
pub(crate) mod view;
mod wrapping;

use std::collections::BTreeSet;
use std::rc::Rc;

use contract::node::{Entry, Node, Value};

use self::view::{SchemaParts, SchemaView};
use super::compare::{Comparison, Origin, PairContext, Positions};
use super::rule::{Level, SchemaRule, SchemaSite, Topic, ValueEffect};

pub(crate) use self::access::RULES;
pub(crate) use self::alternative_keys::label;
pub(crate) use self::discriminator::ancestors;

/// Returns all schema rules.
pub(crate) fn schema_rules() -> impl Iterator<Item = &'static SchemaRule> {
    [
        typing::SCHEMA_RULES,
        values::SCHEMA_RULES,
        bounds::SCHEMA_RULES,
        properties::SCHEMA_RULES,
        additional_properties::SCHEMA_RULES,
        alternatives::SCHEMA_RULES,
        overlaps::SCHEMA_RULES,
        discriminator::SCHEMA_RULES,
        items::SCHEMA_RULES,
        conditions::SCHEMA_RULES,
        structure::SCHEMA_RULES,
        super::compare::LIFECYCLE_SCHEMA_RULES,
        UNCLASSIFIED,
    ]
    .into_iter()
    .flatten()
}

const UNCLASSIFIED: &[SchemaRule] =
    &[SchemaRule::new(Topic::Structure, ValueEffect::Alters, "unclassified-change", "unclassified-change")];

/// Keywords whose changes are not reported, because they do not constrain values.
const ANNOTATIONS: [&str; 13] = [
    "title",
    "description",
    "summary",
    "example",
    "examples",
    "externalDocs",
    "$comment",
    "$schema",
    // References to anchors are resolved when the document is read.
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$anchor",
    // Definitions are compared where they are used.
    "$defs",
    "definitions",
];

/// Whether a keyword is an annotation or an extension. Changes of extensions that affect clients, such as `x-sunset`,
/// are compared by their own rules.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

/// Whether two objects are equal, apart from annotations and extensions.
pub(crate) fn is_same_object(left: &Node, right: &Node) -> bool {
    let keywords = |node: &Node| {
        let entries = node.entries().unwrap_or_default().iter();
        let keywords = entries.filter(|entry| !is_annotation(&entry.key.text)).cloned();
        Node::without_span(Value::Mapping(keywords.collect()))
    };
    value::is_equal(&keywords(left), &keywords(right))
}

/// A pair of schemas that is being compared.
pub(crate) struct SchemaPair<'n> {
    /// The index of the pair in the queue.
    pub index: usize,
    /// Where the schemas are used.
    pub site: SchemaSite,
    /// Where the schemas are used, and what is known about their values.
    pub context: PairContext,
    /// The schema of the base, which `base` is computed from.
    pub base_parts: SchemaParts<'n>,
    /// The schema of the revision, which `revision` is computed from.
    pub revision_parts: SchemaParts<'n>,
    /// The schema of the base.
    pub base: SchemaView<'n>,
    /// The schema of the revision.
    pub revision: SchemaView<'n>,
}

impl<'n> SchemaPair<'n> {
    /// Returns the positions of a keyword in both schemas.
    pub(crate) fn positions(&self, keyword: &str) -> Positions {
        Positions::new(self.base.position(keyword), self.revision.position(keyword))
    }

    /// Records a change of the schema.
    pub(crate) fn report(
        &self,
        comparison: &mut Comparison<'n>,
        suffix: &str,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        comparison.report_schema_change(self.index, self.site, suffix, positions, details, message);
    }

    /// Queues a pair of subschemas. `step` leads from this pair to them, for example the name of a property.
    pub(crate) fn queue(
        &self,
        comparison: &mut Comparison<'n>,
        base: SchemaParts<'n>,
        revision: SchemaParts<'n>,
        site: SchemaSite,
        step: &str,
    ) {
        // Of a part of a value, such as a property, the default matters again.
        let is_default_unused = self.context.is_default_unused && site == self.site;
        let context = PairContext { site, is_default_unused, ..self.context };
        comparison.queue(base, revision, context, Origin::Pair(self.index, Rc::from(step)));
    }
}

/// Compares the queued pair of schemas with this index.
pub(crate) fn compare<'n>(comparison: &mut Comparison<'n>, index: usize) {
    let pair = read_pair(comparison, index);
    if pair.context.is_compatible {
        comparison.set_compatible(index);
    }
    let first_change = comparison.changes().len();
    if !wrapping::compare(comparison, &pair) {
        compare_keywords(comparison, &pair);
    }
    let is_breaking = comparison.changes()[first_change..]
        .iter()
        .any(|change| change.level == Level::Error && change.is_about_valid_values());
    if is_breaking
        && !pair.context.is_compatible
        && comparison.is_provably_compatible(&pair.base_parts, &pair.revision_parts, pair.site)
    {
        comparison.mark_compatible(first_change);
    }
}

/// Reads the schemas of a pair.
fn read_pair<'n>(comparison: &Comparison<'n>, index: usize) -> SchemaPair<'n> {
    let (base_parts, revision_parts, mut context) = comparison.pair(index);
    let mut base = SchemaView::of(&comparison.base, &base_parts);
    let mut revision = SchemaView::of(&comparison.revision, &revision_parts);
    // A list of alternatives with a single one is compared as a list if its counterpart may be a longer list.
    let is_shortened = |short: &SchemaView<'n>, long: &SchemaView<'n>| {
        short.has_merged_list && short.list_count() < long.list_count()
    };
    if is_shortened(&base, &revision) || is_shortened(&revision, &base) {
        base = SchemaView::with_single_alternatives(&comparison.base, &base_parts);
        revision = SchemaView::with_single_alternatives(&comparison.revision, &revision_parts);
    }
    context.is_compatible |= (base.has_alternatives() || revision.has_alternatives())
        && comparison.is_provably_compatible(&base_parts, &revision_parts, context.site);
    SchemaPair { index, site: context.site, context, base_parts, revision_parts, base, revision }
}

fn compare_keywords<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    typing::compare(comparison, pair);
    values::compare(comparison, pair);
    bounds::compare(comparison, pair);
    properties::compare(comparison, pair);
    additional_properties::compare(comparison, pair);
    alternatives::compare(comparison, pair);
    discriminator::compare(comparison, pair);
    items::compare(comparison, pair);
    conditions::compare(comparison, pair);
    structure::compare(comparison, pair);
    super::compare::compare_schema_lifecycle(comparison, pair);
    compare_unknown_keywords(comparison, pair);
}

/// Whether a module compares the keyword.
fn is_compared(keyword: &str) -> bool {
    let keyword_lists = [
        typing::KEYWORDS,
        values::KEYWORDS,
        bounds::KEYWORDS,
        properties::KEYWORDS,
        additional_properties::KEYWORDS,
        alternatives::KEYWORDS,
        discriminator::KEYWORDS,
        items::KEYWORDS,
        conditions::KEYWORDS,
        structure::KEYWORDS,
    ];
    keyword_lists.iter().any(|keywords| keywords.contains(&keyword))
}

/// Whether a module compares the keyword at the site, or the keyword has no effect (`$id`).
fn is_known(keyword: &str, site: SchemaSite) -> bool {
    // `readOnly` and `writeOnly` are compared only for properties.
    if ["readOnly", "writeOnly"].contains(&keyword) {
        return !(site.is_parameter() || matches!(site, SchemaSite::RequestBody | SchemaSite::ResponseBody));
    }
    ["deprecated", "$id"].contains(&keyword) || is_compared(keyword)
}

/// Reports changes of unknown keywords.
fn compare_unknown_keywords<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let mut keywords: BTreeSet<&str> = pair.base.keywords();
    keywords.extend(pair.revision.keywords());
    keywords.retain(|keyword| {
        let has_effect = *keyword != "xml" || pair.context.is_xml;
        has_effect && !is_annotation(keyword) && !is_known(keyword, pair.site)
    });
    for keyword in keywords {
        let base: Vec<&Entry> = pair.base.entries(keyword).collect();
        let revision: Vec<&Entry> = pair.revision.entries(keyword).collect();
        let is_same = base.len() == revision.len()
            && base
                .iter()
                .zip(&revision)
                .all(|(base, revision)| value::is_equal(&base.value, &revision.value));
        if !is_same {
            let message = format!("`{keyword}` changed, and no rule covers this keyword");
            let details: Vec<String> =
                base.iter().chain(&revision).map(|entry| value::text(&entry.value)).collect();
            pair.report(
                comparison,
                "unclassified-change",
                pair.positions(keyword),
                &format!("{keyword} {}", details.join(" ")),
                message,
            );
        }
    }
}
