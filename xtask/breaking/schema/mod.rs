//! Compares two schemas, keyword by keyword.
//!
//! Each file owns a family of keywords: its [`Aspect`]s and what finds them. A keyword that no family knows and whose value
//! changed is a finding of its own, so that nothing passes unseen.

mod access;
mod alternatives;
mod bounds;
mod conditions;
mod discriminator;
mod fields;
mod lists;
mod null;
mod others;
mod patterns;
mod properties;
mod structure;
pub(crate) mod types;
mod typing;
mod units;
pub(crate) mod value;
mod values;
pub(crate) mod view;

use std::collections::BTreeSet;
use std::rc::Rc;

use contract::node::Entry;

use self::view::{Parts, View};
use super::compare::{Comparison, Origin, Places};
use super::rule::{Aspect, Effect, Site, Topic};

pub(crate) use self::access::RULES;
pub(crate) use self::discriminator::owners;

/// Every kind of change of a schema.
pub(crate) fn aspects() -> impl Iterator<Item = &'static Aspect> {
    [
        typing::ASPECTS,
        values::ASPECTS,
        bounds::ASPECTS,
        properties::ASPECTS,
        others::ASPECTS,
        alternatives::ASPECTS,
        discriminator::ASPECTS,
        lists::ASPECTS,
        conditions::ASPECTS,
        structure::ASPECTS,
        super::compare::LIFECYCLE_ASPECTS,
        UNCLASSIFIED,
    ]
    .into_iter()
    .flatten()
}

const UNCLASSIFIED: &[Aspect] =
    &[Aspect::new(Topic::Structure, Effect::Alters, "unclassified-change", "unclassified-change")];

/// Keywords that say nothing about values.
const ANNOTATIONS: [&str; 13] = [
    "title",
    "description",
    "summary",
    "example",
    "examples",
    "externalDocs",
    "$comment",
    "$schema",
    // What could refer to these two is refused.
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$anchor",
    "$defs",
    "definitions",
];

/// Whether a keyword says nothing that a client could break on.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-")
}

/// Two schemas as they are compared.
pub(crate) struct Two<'n> {
    /// The number of the pair.
    pub pair: usize,
    /// Where they stand.
    pub site: Site,
    /// What was.
    pub base: View<'n>,
    /// What is.
    pub revision: View<'n>,
}

impl<'n> Two<'n> {
    /// The places of a keyword.
    pub(crate) fn places(&self, keyword: &str) -> Places {
        Places::new(self.base.place(keyword), self.revision.place(keyword))
    }

    /// Notes a change.
    pub(crate) fn note(
        &self,
        on: &mut Comparison<'n>,
        word: &str,
        places: Places,
        facts: &str,
        message: String,
    ) {
        on.note(self.pair, self.site, word, places, facts, message);
    }

    /// Has what is inside compared.
    pub(crate) fn enter(
        &self,
        on: &mut Comparison<'n>,
        base: Parts<'n>,
        revision: Parts<'n>,
        site: Site,
        step: &str,
    ) {
        on.enter(base, revision, site, Origin::Pair(self.pair, Rc::from(step)));
    }
}

/// Compares the schemas of a pair.
pub(crate) fn compare<'n>(on: &mut Comparison<'n>, pair: usize) {
    let (base, revision, site) = on.pair(pair);
    let two =
        Two { pair, site, base: View::of(&on.base, &base), revision: View::of(&on.revision, &revision) };
    if alternatives::wrapped(on, &two) {
        return;
    }
    typing::compare(on, &two);
    values::compare(on, &two);
    bounds::compare(on, &two);
    properties::compare(on, &two);
    others::compare(on, &two);
    alternatives::compare(on, &two);
    discriminator::compare(on, &two);
    lists::compare(on, &two);
    conditions::compare(on, &two);
    structure::compare(on, &two);
    super::compare::judge_schema(on, &two);
    rest(on, &two);
}

/// The keywords that the families know.
fn is_known(keyword: &str, site: Site) -> bool {
    let families = [
        typing::KEYWORDS,
        values::KEYWORDS,
        bounds::KEYWORDS,
        properties::KEYWORDS,
        others::KEYWORDS,
        alternatives::KEYWORDS,
        discriminator::KEYWORDS,
        lists::KEYWORDS,
        conditions::KEYWORDS,
        structure::KEYWORDS,
    ];
    if ["readOnly", "writeOnly"].contains(&keyword) {
        return !(site.is_parameter() || matches!(site, Site::RequestBody | Site::ResponseBody));
    }
    ["deprecated", "$id"].contains(&keyword) || families.iter().any(|family| family.contains(&keyword))
}

/// What no family knows.
fn rest<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let mut keywords: BTreeSet<&str> = two.base.keywords();
    keywords.extend(two.revision.keywords());
    keywords.retain(|keyword| !is_annotation(keyword) && !is_known(keyword, two.site));
    for keyword in keywords {
        let base: Vec<&Entry> = two.base.entries(keyword).collect();
        let revision: Vec<&Entry> = two.revision.entries(keyword).collect();
        let same = base.len() == revision.len()
            && base.iter().zip(&revision).all(|(base, revision)| value::same(&base.value, &revision.value));
        if !same {
            let message = format!("`{keyword}` changed, and no rule knows what that does");
            let facts: Vec<String> =
                base.iter().chain(&revision).map(|entry| value::shown(&entry.value)).collect();
            two.note(
                on,
                "unclassified-change",
                two.places(keyword),
                &format!("{keyword} {}", facts.join(" ")),
                message,
            );
        }
    }
}
