//! Compares two schemas, keyword by keyword.
//!
//! Each module compares a group of keywords and declares its [`SchemaRule`]s. A changed keyword that no module knows is
//! reported as unclassified, so that no change is missed.

mod access;
mod additional_properties;
mod alternatives;
mod bounds;
mod conditions;
mod discriminator;
mod items;
mod keyword_groups;
mod null;
mod patterns;
mod properties;
mod property_schemas;
mod structure;
pub(crate) mod types;
mod typing;
pub(crate) mod value;
mod values;
pub(crate) mod view;

use std::collections::BTreeSet;
use std::rc::Rc;

use contract::node::Entry;

use self::view::{SchemaParts, SchemaView};
use super::compare::{Comparison, Origin, Positions};
use super::rule::{SchemaRule, SchemaSite, Topic, ValueEffect};

pub(crate) use self::access::RULES;
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

/// Keywords that do not constrain values.
const ANNOTATIONS: [&str; 13] = [
    "title",
    "description",
    "summary",
    "example",
    "examples",
    "externalDocs",
    "$comment",
    "$schema",
    // Documents with references to these anchors are rejected.
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$anchor",
    "$defs",
    "definitions",
];

/// Whether a keyword is an annotation or extension, whose changes do not affect clients.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

/// A pair of schemas that is being compared.
pub(crate) struct SchemaPair<'n> {
    /// The number of the pair in the queue.
    pub index: usize,
    /// Where the schemas are used.
    pub site: SchemaSite,
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

    /// Queues a pair of subschemas.
    pub(crate) fn queue(
        &self,
        comparison: &mut Comparison<'n>,
        base: SchemaParts<'n>,
        revision: SchemaParts<'n>,
        site: SchemaSite,
        step: &str,
    ) {
        comparison.queue(base, revision, site, Origin::Pair(self.index, Rc::from(step)));
    }
}

/// Compares a pair of schemas.
pub(crate) fn compare<'n>(comparison: &mut Comparison<'n>, index: usize) {
    let (base, revision, site) = comparison.pair(index);
    let pair = SchemaPair {
        index,
        site,
        base: SchemaView::of(&comparison.base, &base),
        revision: SchemaView::of(&comparison.revision, &revision),
    };
    if alternatives::compare_wrapped(comparison, &pair) {
        return;
    }
    typing::compare(comparison, &pair);
    values::compare(comparison, &pair);
    bounds::compare(comparison, &pair);
    properties::compare(comparison, &pair);
    additional_properties::compare(comparison, &pair);
    alternatives::compare(comparison, &pair);
    discriminator::compare(comparison, &pair);
    items::compare(comparison, &pair);
    conditions::compare(comparison, &pair);
    structure::compare(comparison, &pair);
    super::compare::compare_schema_lifecycle(comparison, &pair);
    rest(comparison, &pair);
}

/// Whether a module compares the keyword.
fn is_known(keyword: &str, site: SchemaSite) -> bool {
    let families = [
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
    if ["readOnly", "writeOnly"].contains(&keyword) {
        return !(site.is_parameter() || matches!(site, SchemaSite::RequestBody | SchemaSite::ResponseBody));
    }
    ["deprecated", "$id"].contains(&keyword) || families.iter().any(|family| family.contains(&keyword))
}

/// Reports changes of unknown keywords.
fn rest<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let mut keywords: BTreeSet<&str> = pair.base.keywords();
    keywords.extend(pair.revision.keywords());
    keywords.retain(|keyword| !is_annotation(keyword) && !is_known(keyword, pair.site));
    for keyword in keywords {
        let base: Vec<&Entry> = pair.base.entries(keyword).collect();
        let revision: Vec<&Entry> = pair.revision.entries(keyword).collect();
        let same = base.len() == revision.len()
            && base
                .iter()
                .zip(&revision)
                .all(|(base, revision)| value::is_equal(&base.value, &revision.value));
        if !same {
            let message = format!("`{keyword}` changed, and no rule covers this keyword");
            let details: Vec<String> =
                base.iter().chain(&revision).map(|entry| value::display_value(&entry.value)).collect();
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
