//! Decides whether a schema accepts a value.

use contract::node::{Entry, Node, Value};

use super::{MAX_DEPTH, Operand, Proof, bounds};
use crate::schema::items::ItemSchemas;
use crate::schema::property_schemas::SchemaProperties;
use crate::schema::types::JsonTypes;
use crate::schema::view::{Alternatives, SchemaView};
use crate::schema::{is_annotation, patterns, typing, value};

/// Keywords that do not constrain values, or that the view of a schema resolves.
const IGNORED_KEYWORDS: [&str; 7] =
    ["default", "deprecated", "discriminator", "readOnly", "writeOnly", "$id", "nullable"];

/// Returns the conjunction of results, where `None` is unknown.
fn all(results: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut conjunction = Some(true);
    for result in results {
        match result {
            Some(false) => return Some(false),
            None => conjunction = None,
            Some(true) => {}
        }
    }
    conjunction
}

impl<'n> Proof<'_, 'n> {
    /// Whether a schema accepts a value, or `None` if this is not decided.
    pub(crate) fn accepts(&self, schema: &Operand<'n>, instance: &Node) -> Option<bool> {
        let remaining = self.remaining_evaluations.get();
        if self.evaluation_depth.get() >= MAX_DEPTH || remaining == 0 {
            return None;
        }
        self.remaining_evaluations.set(remaining - 1);
        self.cache.use_step();
        self.evaluation_depth.set(self.evaluation_depth.get() + 1);
        let accepts = self.all_keywords_accept(schema, instance);
        self.evaluation_depth.set(self.evaluation_depth.get() - 1);
        accepts
    }

    fn all_keywords_accept(&self, schema: &Operand<'n>, instance: &Node) -> Option<bool> {
        let view = self.view(schema);
        if view.rejects_everything {
            return Some(false);
        }
        if matches!(instance.value, Value::Null) {
            return Some(view.accepts_null);
        }
        let instance_type = JsonTypes::of_number_or_value(instance);
        if !view.types.contains(instance_type) || !schema.types.contains(instance_type) {
            return Some(false);
        }
        let is_listed =
            |values: &[&Node]| Some(values.iter().any(|listed| value::is_equal(listed, instance)));
        let constant_lists = view.constant_lists.iter().map(|list| is_listed(&list.values));
        let keywords = view.keywords().into_iter().filter(|keyword| !is_annotation(keyword));
        let entries = keywords.flat_map(|keyword| view.entries(keyword).collect::<Vec<_>>());
        let simple = entries.map(|entry| self.keyword_accepts(schema, &view, entry, instance));
        all(constant_lists
            .chain(simple)
            .chain(view.any_of.iter().map(|list| self.alternatives_accept(schema, list, instance, false)))
            .chain(view.one_of.iter().map(|list| self.alternatives_accept(schema, list, instance, true)))
            .chain(self.parts_accept(schema, &view, instance)))
    }

    fn alternatives_accept(
        &self,
        schema: &Operand<'n>,
        alternatives: &Alternatives<'n>,
        instance: &Node,
        exactly_one: bool,
    ) -> Option<bool> {
        let members = alternatives.members.iter();
        let results: Vec<Option<bool>> =
            members.map(|member| self.accepts(&schema.with_nodes(vec![member]), instance)).collect();
        let accepting = results.iter().filter(|result| **result == Some(true)).count();
        let unknown = results.iter().filter(|result| result.is_none()).count();
        match (accepting, unknown) {
            (0, 0) => Some(false),
            (1.., _) if !exactly_one => Some(true),
            (1, 0) => Some(true),
            (2.., _) => Some(false),
            _ => None,
        }
    }

    /// Whether a keyword that does not concern the parts of a value accepts it.
    fn keyword_accepts(
        &self,
        schema: &Operand<'n>,
        view: &SchemaView<'n>,
        entry: &'n Entry,
        instance: &Node,
    ) -> Option<bool> {
        let keyword = entry.key.text.as_str();
        match (keyword, &instance.value) {
            ("const", _) => Some(value::is_equal(&entry.value, instance)),
            ("enum", _) => Some(entry.value.items()?.iter().any(|listed| value::is_equal(listed, instance))),
            ("maximum" | "minimum" | "exclusiveMaximum" | "exclusiveMinimum" | "multipleOf", _) => {
                Some(value::number(instance).is_none_or(|number| bounds::accepts_number(view, number)))
            }
            (
                "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties",
                instance,
            ) => Some(bounds::accepts_count(view, instance)),
            ("pattern", Value::String(text)) => {
                Some(patterns::compile(entry.value.as_str()?)?.is_match(text))
            }
            ("format", _) => typing::format_accepts(entry.value.as_str()?, instance),
            ("not", _) => {
                self.accepts(&schema.with_nodes(vec![&entry.value]), instance).map(|accepts| !accepts)
            }
            ("required", Value::Mapping(_)) => {
                let names = entry.value.items()?.iter().filter_map(Node::as_str);
                // A property that is never sent can be missing.
                let required = self.required_names(schema, view);
                all(names.map(|name| match (instance.get(name), required.contains(&name)) {
                    (Some(_), _) => Some(true),
                    (None, true) => Some(false),
                    (None, false) => None,
                }))
            }
            ("pattern" | "contentEncoding" | "contentMediaType" | "contentSchema", instance) => {
                (!matches!(instance, Value::String(_))).then_some(true)
            }
            (
                "properties"
                | "additionalProperties"
                | "patternProperties"
                | "items"
                | "prefixItems"
                | "required",
                _,
            ) => Some(true),
            ("uniqueItems" | "contains" | "minContains" | "maxContains" | "unevaluatedItems", instance) => {
                (!matches!(instance, Value::Sequence(_))).then_some(true)
            }
            (
                "propertyNames" | "dependentRequired" | "dependentSchemas" | "unevaluatedProperties",
                instance,
            ) => (!matches!(instance, Value::Mapping(_))).then_some(true),
            _ => IGNORED_KEYWORDS.contains(&keyword).then_some(true),
        }
    }

    /// Returns whether each part of the value (property or item) is accepted.
    fn parts_accept(
        &self,
        schema: &Operand<'n>,
        view: &SchemaView<'n>,
        instance: &Node,
    ) -> Vec<Option<bool>> {
        let accepts = |nodes: Vec<&'n Node>, part: &Node| {
            if nodes.is_empty() { Some(true) } else { self.accepts(&schema.with_nodes(nodes), part) }
        };
        match &instance.value {
            Value::Mapping(entries) => {
                let properties = SchemaProperties::of(view);
                let of_entry = |entry: &Entry| accepts(properties.get_certain(&entry.key.text), &entry.value);
                let unsupported = properties.has_unsupported_pattern().then_some(None);
                entries.iter().map(of_entry).chain(unsupported).collect()
            }
            Value::Sequence(items) => {
                let of_item = |(index, item): (usize, &Node)| {
                    accepts(ItemSchemas::without_unevaluated(view, index).0.parts.nodes, item)
                };
                items.iter().enumerate().map(of_item).collect()
            }
            _ => Vec::new(),
        }
    }
}
