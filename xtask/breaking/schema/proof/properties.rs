//! Proves inclusion for the properties of objects.

use std::collections::BTreeSet;

use contract::node::{Node, Value};

use super::{Operand, Proof};
use crate::schema::property_schemas::SchemaProperties;
use crate::schema::types::JsonTypes;
use crate::schema::view::{SchemaParts, SchemaView, accepts_everything};

impl<'n> Proof<'_, 'n> {
    /// Whether the wide schema accepts all objects of the narrow schema, as far as the keywords about properties are
    /// concerned.
    pub(super) fn are_properties_included(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let (narrow_properties, wide_properties) =
            (SchemaProperties::of(narrow_view), SchemaProperties::of(wide_view));
        if wide_properties.has_unsupported_pattern() || wide_view.parts("unevaluatedProperties").is_some() {
            return false;
        }
        let required: BTreeSet<&str> = self.required_names(narrow, narrow_view).into_iter().collect();
        if !self.required_names(wide, wide_view).iter().all(|name| required.contains(name)) {
            return false;
        }
        let mut names = narrow_properties.names();
        names.extend(wide_properties.names());
        let are_declared_included = names.into_iter().all(|name| {
            let wide_nodes = wide_properties.get(name).parts.nodes;
            self.are_nodes_included(narrow, narrow_properties.get_certain(name), wide, wide_nodes)
        });
        are_declared_included
            && wide_properties.patterns().all(|(pattern, node)| {
                let narrow_nodes = narrow_properties.certain_for_pattern(pattern);
                self.are_nodes_included(narrow, narrow_nodes, wide, vec![node])
            })
            && wide_properties.additional().all(|(patterns, node)| {
                let narrow_nodes = narrow_properties.certain_for_others(&patterns);
                self.are_nodes_included(narrow, narrow_nodes, wide, vec![node])
            })
            && self.are_names_included(narrow, narrow_view, wide, wide_view)
            && self.are_dependencies_included(narrow, narrow_view, wide, wide_view)
    }

    /// Whether the wide nodes together accept all values that the narrow nodes together accept.
    pub(super) fn are_nodes_included(
        &mut self,
        narrow: &Operand<'n>,
        narrow_nodes: Vec<&'n Node>,
        wide: &Operand<'n>,
        mut wide_nodes: Vec<&'n Node>,
    ) -> bool {
        wide_nodes.retain(|node| !accepts_everything(node));
        // A property that the narrow schema rejects is not sent.
        wide_nodes.is_empty()
            || narrow_nodes.iter().any(|node| matches!(node.value, Value::Bool(false)))
            || self.is_part_included(&narrow.with_nodes(narrow_nodes), &wide.with_nodes(wide_nodes))
    }

    fn are_names_included(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let names = |view: &SchemaView<'n>| -> Vec<&'n Node> {
            view.parts("propertyNames").map(|parts| parts.nodes).unwrap_or_default()
        };
        let narrow_names = narrow.with_nodes(names(narrow_view)).with_types(JsonTypes::STRING);
        let wide_names = wide.with_nodes(names(wide_view));
        self.nesting += 1;
        let are_included = self.is_included_without_null(&narrow_names, &wide_names);
        self.nesting -= 1;
        are_included
    }

    fn are_dependencies_included(
        &mut self,
        narrow: &Operand<'n>,
        narrow_view: &SchemaView<'n>,
        wide: &Operand<'n>,
        wide_view: &SchemaView<'n>,
    ) -> bool {
        let listed = |parts: &SchemaParts<'n>| -> BTreeSet<&'n str> {
            parts.nodes.iter().filter_map(|node| node.items()).flatten().filter_map(Node::as_str).collect()
        };
        let (narrow_names, wide_names) =
            (narrow_view.named_schemas("dependentRequired"), wide_view.named_schemas("dependentRequired"));
        let are_names_included = wide_names.iter().all(|(name, wide)| {
            let required = narrow_names.get(name).map(listed).unwrap_or_default();
            listed(wide).is_subset(&required)
        });
        let (narrow_schemas, wide_schemas) =
            (narrow_view.named_schemas("dependentSchemas"), wide_view.named_schemas("dependentSchemas"));
        are_names_included
            && wide_schemas.into_iter().all(|(name, wide_parts)| {
                let narrow_nodes =
                    narrow_schemas.get(name).map(|parts| parts.nodes.clone()).unwrap_or_default();
                // The dependent schemas apply to the same object, so this is not a part of the value.
                let (narrow, wide) = (narrow.with_nodes(narrow_nodes), wide.with_nodes(wide_parts.nodes));
                self.is_included_without_null(&narrow, &wide)
            })
    }
}
