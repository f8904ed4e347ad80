//! Proves inclusion for values other than `null`.

use contract::node::{Entry, Node, Value};

use super::{DocumentSide, Operand, Proof, bounds};
use crate::schema::conditions::conditions;
use crate::schema::types::JsonTypes;
use crate::schema::view::{Alternatives, SchemaParts, SchemaView};
use crate::schema::{is_annotation, is_compared, patterns, typing};

/// Keywords that are compared, but about which nothing is proven.
const UNPROVEN_KEYWORDS: [&str; 3] = ["contentEncoding", "contentMediaType", "contentSchema"];

/// Keywords that do not constrain values and that no module compares.
const KEYWORDS_WITHOUT_EFFECT: [&str; 4] = ["deprecated", "readOnly", "writeOnly", "$id"];

impl<'n> Proof<'_, 'n> {
    /// Proves that a schema accepts every value except `null` that another one accepts. If that fails for the schema as a
    /// whole, it is split into its alternatives or types.
    pub(super) fn prove_inclusion(&mut self, narrow: &Operand<'n>, wide: &Operand<'n>) -> bool {
        let (narrow_view, wide_view) = (self.view(narrow), self.view(wide));
        let types = narrow.types.and(narrow_view.types).without_null();
        if narrow_view.rejects_everything || types == JsonTypes::NONE {
            return true;
        }
        if let Some(values) = listed_values(&narrow_view, types) {
            let is_accepted = |value: &Node| {
                self.accepts(wide, value) == Some(true) || self.accepts(narrow, value) == Some(false)
            };
            if values.iter().all(is_accepted) {
                return true;
            }
        }
        if self.satisfies_all(narrow, &narrow_view, types, wide, &wide_view) {
            return true;
        }
        if let Some(alternatives) = narrow_view.one_of.first().or(narrow_view.any_of.first()) {
            return alternatives.members.iter().all(|member| {
                self.is_included_without_null(
                    &narrow.select(alternatives.list, member).with_types(types),
                    wide,
                )
            });
        }
        types.each().count() > 1
            && types.each().all(|single| self.is_included_without_null(&narrow.with_types(single), wide))
    }

    /// Whether each keyword of the wide schema accepts all values of the narrow schema that have one of the types.
    fn satisfies_all(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        types: JsonTypes,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let lists_values = ["enum", "const"].iter().any(|keyword| wide_view.entry(keyword).is_some())
            || !wide_view.constant_lists.is_empty();
        if lists_values || wide_view.rejects_everything || !wide_view.types.contains(types) {
            return false;
        }
        bounds::are_included(self.counted(narrow, narrow_view), wide_view, types)
            && satisfies_patterns(narrow_view, wide_view, types)
            && typing::are_formats_implied(narrow_view, wide_view, types)
            && self.satisfies_unknown_keywords(narrow, narrow_view, wide, wide_view)
            && self.satisfies_alternatives(&narrow.with_types(types), wide, wide_view)
            && (!types.overlaps(JsonTypes::ARRAY)
                || self.are_items_included(narrow, narrow_view, wide, wide_view))
            && (!types.overlaps(JsonTypes::OBJECT)
                || self.are_properties_included(narrow, narrow_view, wide, wide_view))
            && self.satisfies_not(&narrow.with_types(types), narrow_view, wide, wide_view)
            && self.satisfies_conditions(narrow, narrow_view, wide, wide_view)
    }

    /// Whether the values match an alternative of each list; of `oneOf`, exactly one.
    fn satisfies_alternatives(
        &mut self,
        narrow: &Operand<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let member_operands = |alternatives: &Alternatives<'n>| -> Vec<Operand<'n>> {
            alternatives.members.iter().map(|member| wide.with_nodes(vec![member])).collect()
        };
        wide_view.any_of.iter().all(|alternatives| {
            member_operands(alternatives).iter().any(|member| self.is_included_without_null(narrow, member))
        }) && wide_view.one_of.iter().all(|alternatives| {
            let members = member_operands(alternatives);
            (0..members.len()).any(|index| {
                self.is_included_without_null(narrow, &members[index])
                    && (0..members.len()).all(|other| {
                        other == index || self.are_disjoint_without_null(narrow, &members[other])
                    })
            })
        })
    }

    fn satisfies_not(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        wide_view.entries("not").all(|rejected| {
            let rejected = wide.with_nodes(vec![&rejected.value]);
            narrow_view
                .entries("not")
                .any(|entry| self.is_included_without_null(&rejected, &narrow.with_nodes(vec![&entry.value])))
                || self.are_disjoint_without_null(narrow, &rejected)
        })
    }

    /// Whether each condition of the wide schema is also in the narrow schema.
    fn satisfies_conditions(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let narrow_groups = conditions(self.document(narrow.side), narrow_view);
        conditions(self.document(wide.side), wide_view).iter().all(|group| {
            narrow_groups.iter().any(|narrow_group| {
                let is_same = |left: &'n Entry, right: &'n Entry| {
                    self.is_same_entry((narrow.side, left), (wide.side, right))
                };
                let mut dependents = group.dependents.iter().zip(&narrow_group.dependents);
                is_same(narrow_group.keyword, group.keyword)
                    && dependents.all(|(wide, narrow)| match (narrow, wide) {
                        (_, None) => true,
                        (None, Some(_)) => false,
                        (Some(narrow), Some(wide)) => is_same(narrow, wide),
                    })
            })
        })
    }

    /// Whether two keywords have equal values after their references are resolved.
    fn is_same_entry(
        &self,
        (left_side, left): (DocumentSide, &'n Entry),
        (right_side, right): (DocumentSide, &'n Entry),
    ) -> bool {
        self.cache.is_same_schema(
            (self.document(left_side), &SchemaParts::of_entry(left)),
            (self.document(right_side), &SchemaParts::of_entry(right)),
        )
    }

    /// Whether each unknown keyword of the wide schema is equal in the narrow schema.
    fn satisfies_unknown_keywords(
        &self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let is_unknown = |keyword: &&str| {
            let is_known = is_compared(keyword) || KEYWORDS_WITHOUT_EFFECT.contains(keyword);
            !(is_known || is_annotation(keyword)) || UNPROVEN_KEYWORDS.contains(keyword)
        };
        wide_view.keywords().into_iter().filter(is_unknown).all(|keyword| {
            wide_view.entries(keyword).all(|wide_entry| {
                narrow_view.entries(keyword).any(|narrow_entry| {
                    self.is_same_entry((narrow.side, narrow_entry), (wide.side, wide_entry))
                })
            })
        })
    }
}

/// Returns the values that a schema lists, without `null`, or `None` if it accepts values that it does not list.
pub(super) fn listed_values(view: &SchemaView<'_>, types: JsonTypes) -> Option<Vec<Node>> {
    let enums =
        view.entries("enum").filter_map(|entry| entry.value.items()).map(|items| items.iter().collect());
    let constants = view.entries("const").map(|entry| vec![&entry.value]);
    let lists = view.constant_lists.iter().map(|list| list.values.clone());
    let shortest: Option<Vec<&Node>> = enums.chain(constants).chain(lists).min_by_key(Vec::len);
    let has_type = |value: &&Node| types.contains(JsonTypes::of_number_or_value(value));
    match shortest {
        Some(values) => Some(values.into_iter().filter(has_type).cloned().collect()),
        None if JsonTypes::BOOLEAN.contains(types) => {
            Some([false, true].map(|flag| Node::without_span(Value::Bool(flag))).to_vec())
        }
        None => None,
    }
}

/// Whether strings match the patterns of the wide schema.
fn satisfies_patterns(narrow: &SchemaView<'_>, wide: &SchemaView<'_>, types: JsonTypes) -> bool {
    let mut narrow = narrow.entries("pattern").filter_map(|entry| entry.value.as_str());
    let mut wide = wide.entries("pattern").filter_map(|entry| entry.value.as_str());
    !types.overlaps(JsonTypes::STRING)
        || patterns::is_included(&Vec::from_iter(&mut narrow), &Vec::from_iter(&mut wide)) == Some(true)
}
