//! Proves inclusion for the items of arrays.

use contract::node::{Entry, Value};

use super::{Operand, Proof};
use crate::schema::items::{CONTAINS_KEYWORDS, ItemSchemas, has_no_effect, prefix_length};
use crate::schema::keyword_groups::KeywordGroup;
use crate::schema::view::SchemaView;

impl<'n> Proof<'_, 'n> {
    /// Whether the wide schema accepts all arrays of the narrow schema, as far as the keywords about items are concerned.
    pub(super) fn are_items_included(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        if wide_view.parts("unevaluatedItems").is_some() {
            return false;
        }
        // The last index stands for all further items.
        let last = prefix_length(narrow_view).max(prefix_length(wide_view));
        let are_items_included = (0..=last).all(|index| {
            let nodes = |view: &SchemaView<'n>| ItemSchemas::without_unevaluated(view, index).0.parts.nodes;
            self.are_nodes_included(narrow, nodes(narrow_view), wide, nodes(wide_view))
        });
        are_items_included && self.is_contains_included(narrow, narrow_view, wide, wide_view)
    }

    /// Whether each `contains` of the wide schema follows from one of the narrow schema.
    fn is_contains_included(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let narrow_groups = KeywordGroup::all(narrow_view, CONTAINS_KEYWORDS);
        let mut wide_groups = KeywordGroup::all(wide_view, CONTAINS_KEYWORDS);
        wide_groups.retain(|group| !has_no_effect(group));
        wide_groups.iter().all(|wide_group| {
            let wide_schema = wide.with_nodes(vec![&wide_group.keyword.value]);
            narrow_groups.iter().any(|narrow_group| {
                let narrow_schema = narrow.with_nodes(vec![&narrow_group.keyword.value]);
                let (narrow_minimum, narrow_maximum) = counts(narrow_group);
                let (wide_minimum, wide_maximum) = counts(wide_group);
                let is_minimum_included = wide_minimum <= 0
                    || narrow_minimum >= wide_minimum && self.is_part_included(&narrow_schema, &wide_schema);
                let is_maximum_included = wide_maximum.is_none_or(|wide_maximum| {
                    narrow_maximum.is_some_and(|narrow_maximum| narrow_maximum <= wide_maximum)
                        && self.is_part_included(&wide_schema, &narrow_schema)
                });
                is_minimum_included && is_maximum_included
            })
        })
    }
}

/// Returns `minContains`, or else its default, and `maxContains`.
fn counts(group: &KeywordGroup<'_>) -> (i64, Option<i64>) {
    let count = |entry: Option<&Entry>| match entry?.value.value {
        Value::Integer(count) => Some(count),
        _ => None,
    };
    let [minimum, maximum] = group.dependents;
    (count(minimum).unwrap_or(1), count(maximum))
}
