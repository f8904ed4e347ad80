//! Proves that two schemas have no value in common, apart from `null`.

use contract::node::{Entry, Node, Value};

use super::included::listed_values;
use super::{Operand, Proof, bounds};
use crate::schema::patterns;
use crate::schema::property_schemas::SchemaProperties;
use crate::schema::types::JsonTypes;
use crate::schema::view::SchemaView;

/// The maximum nesting of goals about disjoint schemas.
const MAX_NESTING: usize = 24;

impl<'n> Proof<'_, 'n> {
    /// Whether two schemas provably have no value in common, apart from `null`.
    pub(super) fn are_disjoint_without_null(&mut self, left: &Operand<'n>, right: &Operand<'n>) -> bool {
        if self.remaining_goals == 0 || self.disjoint_nesting > MAX_NESTING {
            return false;
        }
        self.use_goal();
        self.disjoint_nesting += 1;
        let are_disjoint = self.prove_disjoint(left, right);
        self.disjoint_nesting -= 1;
        are_disjoint
    }

    fn prove_disjoint(&mut self, left: &Operand<'n>, right: &Operand<'n>) -> bool {
        let (left_view, right_view) = (self.view(left), self.view(right));
        let types = left.types.and(left_view.types).and(right.types).and(right_view.types).without_null();
        if left_view.rejects_everything || right_view.rejects_everything || types == JsonTypes::NONE {
            return true;
        }
        for (listing, listing_view, other) in [(left, &left_view, right), (right, &right_view, left)] {
            if let Some(values) = listed_values(listing_view, types) {
                let is_rejected = |value: &Node| {
                    self.accepts(other, value) == Some(false) || self.accepts(listing, value) == Some(false)
                };
                if values.iter().all(is_rejected) {
                    return true;
                }
            }
        }
        if types.each().all(|single| self.are_disjoint_in_type(left, &left_view, right, &right_view, single))
        {
            return true;
        }
        for (split, split_view, other) in [(left, &left_view, right), (right, &right_view, left)] {
            let lists = split_view.one_of.iter().chain(&split_view.any_of);
            for alternatives in lists {
                let is_disjoint = |member: &&'n Node| {
                    self.are_disjoint_without_null(&split.select(alternatives.list, member), other)
                };
                if alternatives.members.iter().all(is_disjoint) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether two schemas have no value of one type in common.
    fn are_disjoint_in_type(
        &mut self,
        left: &Operand<'n>,
        left_view: &SchemaView<'n>,
        right: &Operand<'n>,
        right_view: &SchemaView<'n>,
        single_type: JsonTypes,
    ) -> bool {
        let (left_counted, right_counted) = (self.counted(left, left_view), self.counted(right, right_view));
        if bounds::are_disjoint(left_counted, right_counted, single_type) {
            return true;
        }
        for (rejecting, other) in [(left_view, right), (right_view, left)] {
            let side = if std::ptr::eq(rejecting, left_view) { left } else { right };
            let includes = |entry: &'n Entry| {
                let rejected = side.with_nodes(vec![&entry.value]);
                self.is_included_without_null(&other.with_types(single_type), &rejected)
            };
            if rejecting.entries("not").any(includes) {
                return true;
            }
        }
        if single_type == JsonTypes::STRING {
            let mut all = left_view.entries("pattern").chain(right_view.entries("pattern"));
            let texts: Vec<&str> = all.by_ref().filter_map(|entry| entry.value.as_str()).collect();
            return patterns::have_common_match(&texts) == Some(false);
        }
        single_type == JsonTypes::OBJECT && self.are_properties_disjoint(left, left_view, right, right_view)
    }

    /// Whether there is a property that one of the schemas requires, and whose value cannot match both schemas.
    fn are_properties_disjoint(
        &mut self,
        left: &Operand<'n>,
        left_view: &SchemaView<'n>,
        right: &Operand<'n>,
        right_view: &SchemaView<'n>,
    ) -> bool {
        let mut required = self.required_names(left, left_view);
        required.extend(self.required_names(right, right_view));
        required.sort_unstable();
        required.dedup();
        let (left_properties, right_properties) =
            (SchemaProperties::of(left_view), SchemaProperties::of(right_view));
        required.into_iter().any(|name| {
            let (left_nodes, right_nodes) =
                (left_properties.get_certain(name), right_properties.get_certain(name));
            let is_rejected = |node: &&Node| matches!(node.value, Value::Bool(false));
            if left_nodes.iter().chain(&right_nodes).any(is_rejected) {
                return true;
            }
            if left_nodes.is_empty() || right_nodes.is_empty() {
                return false;
            }
            let (left, right) = (left.with_nodes(left_nodes), right.with_nodes(right_nodes));
            let both_accept_null = self.view(&left).accepts_null && self.view(&right).accepts_null;
            !both_accept_null && self.are_disjoint_without_null(&left, &right)
        })
    }
}
