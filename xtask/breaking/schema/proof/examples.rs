//! Finds examples of the values that a schema accepts, and among them values that another schema rejects.
//!
//! An example is only a candidate: it satisfies the most frequent keywords. `accepts` decides whether a schema accepts it.

use std::collections::BTreeSet;

use contract::node::{Entry, Node, SpannedString, Value};
use contract::source::Span;

use super::included::listed_values;
use super::{Operand, Proof, bounds};
use crate::schema::bounds::{COUNTS, range, steps};
use crate::schema::items::ItemSchemas;
use crate::schema::patterns;
use crate::schema::property_schemas::SchemaProperties;
use crate::schema::types::JsonTypes;
use crate::schema::view::SchemaView;

/// The maximum nesting of lists and objects in an example.
const MAX_NESTING: usize = 3;
/// The maximum number of examples of one schema.
const MAX_EXAMPLES: usize = 12;
/// The maximum number of characters of a string in an example.
const MAX_LENGTH: usize = 1_000;
/// The maximum number of items of a list in an example.
const MAX_ITEMS: usize = 20;

impl<'n> Proof<'_, 'n> {
    /// Finds a value that the schema `narrow` accepts and `wide` rejects, among the examples of the values that another
    /// schema accepts. One of the alternatives accepts the value and declares its properties, because clients do not
    /// send others. As text in a URL or header (`is_text`), a value can also be a string or number with the same text.
    pub(crate) fn counterexample(
        &self,
        (narrow, wide): (&Operand<'n>, &Operand<'n>),
        examples_of: &Operand<'n>,
        alternatives: &[Operand<'n>],
        is_text: bool,
    ) -> Option<Node> {
        let is_sent = |value: &Node| {
            let mut alternatives = alternatives.iter();
            alternatives
                .any(|schema| self.accepts(schema, value) == Some(true) && self.declares(schema, value))
        };
        let is_rejected = |value: &Node| self.accepts(wide, value) == Some(false);
        let are_all_rejected = |value: &Node| match is_text {
            true => meanings(value).is_some_and(|values| values.iter().all(is_rejected)),
            false => is_rejected(value),
        };
        let is_counterexample = |value: &Node| {
            is_sent(value) && self.accepts(narrow, value) == Some(true) && are_all_rejected(value)
        };
        self.examples(examples_of, 0).into_iter().find(is_counterexample)
    }

    /// Whether a schema that accepts a value declares all its properties.
    fn declares(&self, schema: &Operand<'n>, value: &Node) -> bool {
        let view = self.view(schema);
        if let Some(alternatives) = view.one_of.first().or(view.any_of.first()) {
            return alternatives.members.iter().any(|member| {
                let selected = schema.select(alternatives.list, member);
                self.accepts(&selected, value) == Some(true) && self.declares(&selected, value)
            });
        }
        match &value.value {
            Value::Mapping(entries) => {
                let properties = SchemaProperties::of(&view);
                entries.iter().all(|entry| {
                    let property = properties.get(&entry.key.text);
                    let is_declared = property.is_declared || !property.accepts_everything();
                    is_declared && self.declares(&schema.with_nodes(property.parts.nodes), &entry.value)
                })
            }
            Value::Sequence(items) => items.iter().enumerate().all(|(index, item)| {
                let nodes = ItemSchemas::without_unevaluated(&view, index).0.parts.nodes;
                self.declares(&schema.with_nodes(nodes), item)
            }),
            _ => true,
        }
    }

    /// Returns examples of the values that a schema accepts, without `null`.
    pub(crate) fn examples(&self, schema: &Operand<'n>, nesting: usize) -> Vec<Node> {
        let remaining = self.remaining_examples.get();
        if remaining == 0 {
            return Vec::new();
        }
        self.remaining_examples.set(remaining - 1);
        let view = self.view(schema);
        let types = schema.types.and(view.types).without_null();
        if view.rejects_everything {
            return Vec::new();
        }
        let mut examples = if let Some(values) = listed_values(&view, types) {
            values
        } else if let Some(alternatives) = view.one_of.first().or(view.any_of.first()) {
            let examples = |member| self.examples(&schema.select(alternatives.list, member), nesting);
            alternatives.members.iter().take(MAX_EXAMPLES).copied().flat_map(examples).collect()
        } else {
            types.each().flat_map(|single| self.examples_of_type(schema, &view, single, nesting)).collect()
        };
        examples.truncate(MAX_EXAMPLES);
        examples
    }

    fn examples_of_type(
        &self,
        schema: &Operand<'n>,
        view: &SchemaView<'n>,
        single_type: JsonTypes,
        nesting: usize,
    ) -> Vec<Node> {
        match single_type {
            JsonTypes::BOOLEAN => [false, true].map(|flag| Node::without_span(Value::Bool(flag))).to_vec(),
            JsonTypes::STRING => strings(view).into_iter().map(Node::string).collect(),
            JsonTypes::ARRAY if nesting < MAX_NESTING => self.lists(schema, view, nesting),
            JsonTypes::OBJECT if nesting < MAX_NESTING => self.objects(schema, view, nesting),
            JsonTypes::ARRAY | JsonTypes::OBJECT => Vec::new(),
            single_type => numbers(view, single_type != JsonTypes::FRACTION),
        }
    }

    /// Returns an example of the values that match all of several schemas, or `None` if none is found.
    fn first_example(&self, schema: &Operand<'n>, nodes: Vec<&'n Node>, nesting: usize) -> Option<Node> {
        if nodes.is_empty() {
            return Some(Node::without_span(Value::Integer(0)));
        }
        self.examples(&schema.with_nodes(nodes), nesting + 1).into_iter().next()
    }

    /// Returns lists with the minimum number of items, and with one item.
    fn lists(&self, schema: &Operand<'n>, view: &SchemaView<'n>, nesting: usize) -> Vec<Node> {
        let item = |index| {
            let nodes = ItemSchemas::without_unevaluated(view, index).0.parts.nodes;
            self.first_example(schema, nodes, nesting)
        };
        let least = count(view, "minItems").unwrap_or(0);
        let lists = [least, least.max(1)].into_iter().filter(|length| *length <= MAX_ITEMS);
        let lists = lists.filter_map(|length| (0..length).map(item).collect::<Option<Vec<Node>>>());
        lists.map(|items| Node::without_span(Value::Sequence(items))).collect()
    }

    /// Returns an object with the required properties, and one with all declared properties.
    fn objects(&self, schema: &Operand<'n>, view: &SchemaView<'n>, nesting: usize) -> Vec<Node> {
        let properties = SchemaProperties::of(view);
        let property = |name: &'n str| {
            let value = self.first_example(schema, properties.get_certain(name), nesting)?;
            let key = SpannedString { text: name.to_owned(), span: Span { start: 0, end: 0 } };
            Some(Entry { key, value })
        };
        let required: BTreeSet<&str> = self.required_names(schema, view).into_iter().collect();
        let Some(least) = required.iter().copied().map(property).collect::<Option<Vec<Entry>>>() else {
            return Vec::new();
        };
        let optional = properties.names().into_iter().filter(|name| !required.contains(name));
        let all = least.iter().cloned().chain(optional.filter_map(property)).collect();
        [least, all].map(|entries| Node::without_span(Value::Mapping(entries))).to_vec()
    }
}

/// Returns all values that can be meant by a text in a URL or header. Returns `None` for lists and objects.
fn meanings(value: &Node) -> Option<Vec<Node>> {
    let text = match &value.value {
        Value::String(text) => text.clone(),
        Value::Sequence(_) | Value::Mapping(_) | Value::Null => return None,
        _ => crate::schema::value::text(value),
    };
    let integer = text.parse().ok().map(Value::Integer);
    let number = || text.parse().ok().map(Value::Float);
    let boolean = text.parse().ok().map(Value::Bool);
    let other = integer.or_else(number).or(boolean).map(Node::without_span);
    Some(other.into_iter().chain([Node::string(text)]).collect())
}

/// Returns the tightest bound of a length or count.
fn count(view: &SchemaView<'_>, keyword: &str) -> Option<usize> {
    let count = COUNTS.iter().find(|count| count.keyword == keyword)?;
    let bound = count.bound(view.entries(keyword), view.span)?.value;
    // A larger bound is beyond all limits of examples.
    (0..=MAX_LENGTH).find(|length| u32::try_from(*length).map_or(f64::INFINITY, f64::from) >= bound)
}

/// Returns numbers next to zero and to the bounds of a schema.
fn numbers(view: &SchemaView<'_>, are_integers: bool) -> Vec<Node> {
    let step = steps(view).into_iter().fold(if are_integers { 1.0 } else { 0.5 }, f64::max);
    let bounds = [false, true].map(|is_upper| range(view, is_upper).map(|bound| bound.value));
    let starts = bounds.into_iter().flatten().chain([0.0]);
    let multiples =
        starts.flat_map(|start| [0.0, 1.0, -1.0, 2.0].map(|offset| ((start / step).floor() + offset) * step));
    let is_valid =
        |number: &f64| (number.fract() == 0.0) == are_integers && bounds::accepts_number(view, *number);
    multiples.filter(is_valid).map(number_node).collect()
}

fn number_node(number: f64) -> Node {
    let text = number.to_string();
    let value = text.parse().map_or(Value::Float(number), Value::Integer);
    Node::without_span(value)
}

/// Returns strings of the minimum and the maximum length. If the schema has patterns, returns a string that matches all
/// of them.
fn strings(view: &SchemaView<'_>) -> Vec<String> {
    let least = count(view, "minLength").unwrap_or(0);
    let most = count(view, "maxLength");
    let patterns: Vec<&str> = view.entries("pattern").filter_map(|entry| entry.value.as_str()).collect();
    if patterns.is_empty() {
        let lengths = BTreeSet::from([least, least.max(1), most.unwrap_or(least)]);
        return lengths.into_iter().map(|length| "a".repeat(length)).collect();
    }
    let most = most.map_or_else(String::new, |most| most.to_string());
    let length = format!(r"^[\s\S]{{{least},{most}}}$");
    let patterns: Vec<&str> = patterns.into_iter().chain([length.as_str()]).collect();
    patterns::common_match(&patterns).into_iter().collect()
}
