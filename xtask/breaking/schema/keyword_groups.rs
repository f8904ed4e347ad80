//! Groups of keywords that depend on each other: `if` with `then` and `else`, `contains` with `minContains` and
//! `maxContains`.
//!
//! This module matches the groups of base and revision. Its callers compare the matched groups.

use contract::node::Entry;

use super::structure::is_equivalent_schema;
use super::view::{SchemaParts, SchemaView};
use crate::compare::{Comparison, take_matches};

/// A keyword and two that depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeywordGroup<'n> {
    /// The keyword without which the others have no effect.
    pub keyword: &'n Entry,
    /// The dependent keywords.
    pub dependents: [Option<&'n Entry>; 2],
}

impl<'n> KeywordGroup<'n> {
    /// Returns the groups of a schema: one for each subschema with the main keyword.
    pub(super) fn all(
        view: &SchemaView<'n>,
        [keyword, first_dependent, second_dependent]: [&str; 3],
    ) -> Vec<Self> {
        let groups = view.subschemas().filter_map(|subschema| {
            Some(Self {
                keyword: subschema.entry(keyword)?,
                dependents: [subschema.entry(first_dependent), subschema.entry(second_dependent)],
            })
        });
        groups.collect()
    }

    fn entries(&self) -> [Option<&'n Entry>; 3] {
        [Some(self.keyword), self.dependents[0], self.dependents[1]]
    }
}

/// Matches the groups of both schemas: groups with an equal main keyword first, then the remaining ones in their order.
/// Equal groups are left out. A group without a match is returned alone.
pub(super) fn match_groups<'n>(
    comparison: &Comparison<'n>,
    mut base: Vec<KeywordGroup<'n>>,
    mut revision: Vec<KeywordGroup<'n>>,
) -> Vec<(Option<KeywordGroup<'n>>, Option<KeywordGroup<'n>>)> {
    take_matches(&mut base, &mut revision, |before, after| {
        before
            .entries()
            .iter()
            .zip(after.entries())
            .all(|(before, after)| is_equal(comparison, *before, after))
    });
    let mut pairs = take_matches(&mut base, &mut revision, |before, after| {
        is_equal(comparison, Some(before.keyword), Some(after.keyword))
    });
    pairs.extend(take_matches(&mut base, &mut revision, |_, _| true));
    let mut matched: Vec<_> = pairs.into_iter().map(|(before, after)| (Some(before), Some(after))).collect();
    matched.extend(base.into_iter().map(|group| (Some(group), None)));
    matched.extend(revision.into_iter().map(|group| (None, Some(group))));
    matched
}

fn is_equal<'n>(comparison: &Comparison<'n>, before: Option<&'n Entry>, after: Option<&'n Entry>) -> bool {
    match (before, after) {
        (None, None) => true,
        (Some(before), Some(after)) => {
            is_equivalent_schema(comparison, &SchemaParts::of_entry(before), &SchemaParts::of_entry(after))
        }
        _ => false,
    }
}
