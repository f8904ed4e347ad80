//! Finds values for the examples: those of the contracts, or else minimal ones that the schemas accept.

use std::cell::Cell;
use std::rc::Rc;

use contract::node::{Entry, Node, SpannedString, Value};
use contract::source::Span;

use super::diff::summarized;
use super::messages::Part;
use super::templates::{FORMATS, Shown};
use crate::document::IndexedDocument;
use crate::rule::Direction;
use crate::schema::proof::{DocumentSide, Operand, Proof, ProofCache};
use crate::schema::types::JsonTypes;
use crate::schema::view::{SchemaParts, SchemaView};

/// The maximum nesting of an example.
const MAX_NESTING: usize = 6;
/// The maximum number of schemas for which one example is made.
const MAX_SCHEMAS: usize = 300;
/// The maximum number of alternatives that are tried.
const MAX_ALTERNATIVES: usize = 12;
/// The maximum length of a string.
const MAX_LENGTH: usize = 10_000;
/// The value of a message before and after a change. `None` is a message without the value.
pub(super) type BeforeAndAfter = (Option<Node>, Option<Node>);

/// Makes the examples of one change.
pub(super) struct Examples<'p, 'n> {
    proof: Proof<'p, 'n>,
    direction: Direction,
    remaining: Cell<usize>,
}

impl<'p, 'n> Examples<'p, 'n> {
    /// Prepares the examples of a change whose values are sent in a direction.
    pub(super) fn new(
        base: &'p IndexedDocument<'n>,
        revision: &'p IndexedDocument<'n>,
        cache: &'p ProofCache<'n>,
        direction: Direction,
    ) -> Self {
        let proof = Proof::new(base, revision, cache, direction);
        Self { proof, direction, remaining: Cell::new(MAX_SCHEMAS) }
    }

    /// Returns the values before and after a change, at `steps` within the parts of both documents. `details` can be a
    /// value that the change is about. Returns `None` if no value shows the change.
    pub(super) fn before_and_after(
        &self,
        shown: Shown,
        base: Option<&Part<'n>>,
        revision: Option<&Part<'n>>,
        steps: &[String],
        details: &str,
    ) -> Option<BeforeAndAfter> {
        use DocumentSide::{Base, Revision};
        match shown {
            Shown::Removed | Shown::Added => {
                let (side, part) =
                    if shown == Shown::Removed { (Base, base?) } else { (Revision, revision?) };
                let root = base.and_then(|base| self.example(Base, base));
                let root = root.or_else(|| self.example(side, part))?;
                let with = self.with_value(side, part, root, steps)?;
                let without = self.replace(side, part.schema.clone(), Some(with.clone()), steps, None)?;
                Some(if shown == Shown::Removed { (Some(with), without) } else { (without, Some(with)) })
            }
            Shown::Rejected => {
                let (before, _) = self.replaced(base?, revision?, steps, details, None)?;
                let without = self.replace(Base, base?.schema.clone(), before.clone(), steps, None)?;
                Some((before, without))
            }
            Shown::Replaced => self.replaced(base?, revision?, steps, details, None),
            Shown::Bound(keyword) => self.replaced(base?, revision?, steps, details, Some(keyword)),
            Shown::Nothing | Shown::Lines | Shown::Calls | Shown::MediaTypes | Shown::Statuses => None,
        }
    }

    fn replaced(
        &self,
        base: &Part<'n>,
        revision: &Part<'n>,
        steps: &[String],
        details: &str,
        bound: Option<&str>,
    ) -> Option<BeforeAndAfter> {
        use DocumentSide::{Base, Revision};
        let old = Operand::new(Base, self.schema_at(Base, base.schema.clone(), steps)?);
        let new = Operand::new(Revision, self.schema_at(Revision, revision.schema.clone(), steps)?);
        let root = self.example(Base, base)?;
        // Whether a value has a format is unknown.
        let is_valid = |schema, value: &Node| self.proof.accepts(schema, value) != Some(false);
        let is_invalid = |schema, value: &Node| self.proof.accepts(schema, value) == Some(false);
        let named = (!details.is_empty()).then(|| value_of(details));
        let values = |schema: &Operand<'n>| {
            let view = self.proof.view(schema);
            let part = if schema.side == Base { base } else { revision };
            let own = part.example.and_then(|example| value_at(example, steps));
            let shown = own.or_else(|| value_at(&root, steps)).cloned();
            let shown: Vec<Node> = shown.into_iter().chain(listed_values(&view)).collect();
            let bounds = view.entries(bound.unwrap_or_default()).map(|entry| entry.value.clone());
            let mut values: Vec<Node> = bounds.collect();
            values.extend(named.clone().filter(|named| self.proof.accepts(schema, named) == Some(true)));
            let similar: Vec<Node> = shown.iter().flat_map(variations).collect();
            values.extend(shown.into_iter().chain(similar));
            values.extend(self.candidates(schema.side, &schema.parts, 0));
            values.into_iter()
        };
        let (before, after) = match self.direction {
            Direction::Request => (
                values(&old).find(|value| is_valid(&old, value) && is_invalid(&new, value))?,
                values(&new).find(|value| is_valid(&new, value))?,
            ),
            Direction::Response => (
                values(&old).find(|value| is_valid(&old, value))?,
                values(&new).find(|value| is_valid(&new, value) && is_invalid(&old, value))?,
            ),
        };
        let root_with = |value: Node| {
            self.replace(Base, base.schema.clone(), Some(root.clone()), steps, Some(summarized(&value)))
        };
        Some((root_with(before)?, root_with(after)?))
    }

    /// Returns the value at `steps`: that of the part's example, or else one that the schema accepts.
    pub(super) fn value(&self, side: DocumentSide, part: &Part<'n>, steps: &[String]) -> Option<Node> {
        let own = part.example.and_then(|example| value_at(example, steps)).cloned();
        own.or_else(|| {
            let schema = self.schema_at(side, part.schema.clone(), steps)?;
            self.candidates(side, &schema, 0).into_iter().next()
        })
    }

    /// Returns the schema at `steps` with its references resolved.
    pub(super) fn view_at(
        &self,
        side: DocumentSide,
        part: &Part<'n>,
        steps: &[String],
    ) -> Option<Rc<SchemaView<'n>>> {
        Some(self.proof.view(&Operand::new(side, self.schema_at(side, part.schema.clone(), steps)?)))
    }

    /// Returns the effective schema.
    pub(super) fn view(&self, side: DocumentSide, schema: &SchemaParts<'n>) -> Rc<SchemaView<'n>> {
        self.proof.view(&Operand::new(side, schema.clone()))
    }

    /// Returns the example of a part of a message.
    pub(super) fn example(&self, side: DocumentSide, part: &Part<'n>) -> Option<Node> {
        part.example.cloned().or_else(|| self.candidates(side, &part.schema, 0).into_iter().next())
    }

    /// Adds a value at `steps`, unless there is one.
    pub(super) fn with_value(
        &self,
        side: DocumentSide,
        part: &Part<'n>,
        root: Node,
        steps: &[String],
    ) -> Option<Node> {
        if value_at(&root, steps).is_some() {
            return Some(root);
        }
        let value = self.value(side, part, steps)?;
        self.replace(side, part.schema.clone(), Some(root), steps, Some(value))?
    }

    /// Replaces, adds or removes the value at `steps`. Returns `None` if the steps do not lead to a value.
    pub(super) fn replace(
        &self,
        side: DocumentSide,
        schema: SchemaParts<'n>,
        value: Option<Node>,
        steps: &[String],
        new: Option<Node>,
    ) -> Option<Option<Node>> {
        let Some((step, steps)) = steps.split_first() else { return Some(new) };
        if is_alternative(step) {
            return self.replace(side, self.child(side, &schema, step)?, value, steps, new);
        }
        let is_container = |value: &Node| match item_index(step) {
            Some(_) => value.items().is_some(),
            None => value.entries().is_some(),
        };
        let made = || self.candidates(side, &schema, 0).into_iter().find(is_container);
        let mut container = value.filter(is_container).or_else(made)?;
        let old = child_of(&container, step).cloned();
        let child = self.child(side, &schema, step).unwrap_or_else(|| SchemaParts::any(schema.span));
        let changed = self.replace(side, child, old, steps, new)?;
        match &mut container.value {
            Value::Mapping(entries) => {
                let index = entries.iter().position(|entry| entry.key.text == *step);
                match (index, changed) {
                    (Some(index), Some(value)) => entries[index].value = value,
                    (Some(index), None) => drop(entries.remove(index)),
                    (None, Some(value)) => entries.push(entry(step, value)),
                    (None, None) => {}
                }
            }
            Value::Sequence(items) => {
                let index = item_index(step)?.min(items.len());
                items.splice(index..(index + 1).min(items.len()), changed);
            }
            _ => return None,
        }
        Some(Some(container))
    }

    /// Returns the schema at `steps`.
    fn schema_at(
        &self,
        side: DocumentSide,
        schema: SchemaParts<'n>,
        steps: &[String],
    ) -> Option<SchemaParts<'n>> {
        steps.iter().try_fold(schema, |schema, step| self.child(side, &schema, step))
    }

    /// Returns the schema of a property, an item or an alternative. A property can be declared in an alternative.
    fn child(&self, side: DocumentSide, schema: &SchemaParts<'n>, step: &str) -> Option<SchemaParts<'n>> {
        let view = self.proof.view(&Operand::new(side, schema.clone()));
        let lists = view.one_of.iter().chain(&view.any_of);
        let mut alternatives =
            lists.flat_map(|list| list.members.iter().map(move |member| (list.list, *member)));
        if is_alternative(step) {
            // An alternative that only one of the documents has stands for the whole schema.
            let selected = alternatives.find(|(_, member)| crate::schema::label(member) == step);
            return Some(
                selected.map_or_else(|| schema.clone(), |(list, member)| schema.select(list, member)),
            );
        }
        let own = match item_index(step) {
            Some(_) => view.parts("items"),
            None => view.properties().remove(step),
        };
        let remaining = self.remaining.get();
        self.remaining.set(remaining.saturating_sub(1));
        own.or_else(|| {
            let mut alternatives = alternatives.take(if remaining == 0 { 0 } else { MAX_ALTERNATIVES });
            alternatives.find_map(|(list, member)| self.child(side, &schema.select(list, member), step))
        })
    }

    /// Returns values that a schema accepts. Values of the contract come first, and `null` last.
    fn candidates(&self, side: DocumentSide, schema: &SchemaParts<'n>, nesting: usize) -> Vec<Node> {
        let remaining = self.remaining.get();
        if remaining == 0 || nesting > MAX_NESTING {
            return Vec::new();
        }
        self.remaining.set(remaining - 1);
        let operand = Operand::new(side, schema.clone());
        let view = self.proof.view(&operand);
        let mut values = listed_values(&view);
        let lists = view.one_of.iter().chain(&view.any_of);
        let members = lists.flat_map(|list| list.members.iter().map(move |member| (list.list, *member)));
        for (list, member) in members.take(MAX_ALTERNATIVES) {
            values.extend(self.candidates(side, &schema.select(list, member), nesting + 1));
        }
        if !view.types.is_any() {
            values.extend(self.object(&operand, &view, nesting));
            values.extend(self.list(side, &view, nesting));
        }
        let formats = view.entries("format").filter_map(|entry| entry.value.as_str());
        let of_format = |format: &str| FORMATS.iter().find(|(name, _)| *name == format);
        values.extend(formats.filter_map(of_format).map(|(_, example)| Node::string(*example)));
        let bounds = ["maximum", "minimum"].into_iter().flat_map(|keyword| view.entries(keyword));
        values.extend(bounds.map(|entry| entry.value.clone()));
        values.extend([Node::string("text"), Node::without_span(Value::Integer(1))]);
        // A pattern can describe a format.
        let by_pattern = FORMATS.iter().filter(|_| view.entry("pattern").is_some());
        values.extend(by_pattern.map(|(_, example)| Node::string(*example)));
        let lengths = ["minLength", "maxLength"].into_iter().flat_map(|keyword| view.entries(keyword));
        let lengths = lengths.filter_map(|entry| number(&entry.value));
        values.extend(
            lengths.filter(|length| *length <= MAX_LENGTH).map(|length| Node::string("a".repeat(length))),
        );
        // Found values come last: they are valid for certain, but may be empty lists and strings.
        let made = values.len();
        values.extend(self.proof.examples(&operand, 0).into_iter().filter(is_printable));
        values.push(Node::without_span(Value::Null));
        let judged = values.into_iter().enumerate().filter_map(|(index, value)| {
            let accepts = self.proof.accepts(&operand, &value);
            (accepts != Some(false)).then_some(((index >= made, accepts.is_none()), value))
        });
        let mut judged: Vec<((bool, bool), Node)> = judged.collect();
        judged.sort_by_key(|(order, _)| *order);
        judged.into_iter().map(|(_, value)| value).collect()
    }

    /// Returns an object with the required properties.
    fn object(&self, operand: &Operand<'n>, view: &SchemaView<'n>, nesting: usize) -> Option<Node> {
        if !view.types.contains(JsonTypes::OBJECT) {
            return None;
        }
        let mut properties = view.properties();
        let mut property = |name: &'n str| {
            let schema = properties.remove(name).unwrap_or_else(|| SchemaParts::any(view.span));
            let value = self.candidates(operand.side, &schema, nesting + 1).into_iter().next()?;
            Some(entry(name, value))
        };
        let required = self.proof.required_names(operand, view);
        let declared = declared_names(view);
        let others = required.iter().filter(|name| !declared.contains(name));
        let names = declared.iter().filter(|name| required.contains(name)).chain(others).copied();
        let entries = names.map(&mut property).collect::<Option<Vec<Entry>>>()?;
        Some(Node::without_span(Value::Mapping(entries)))
    }

    /// Returns a list with one item.
    fn list(&self, side: DocumentSide, view: &SchemaView<'n>, nesting: usize) -> Option<Node> {
        if !view.types.contains(JsonTypes::ARRAY) {
            return None;
        }
        let item = self.candidates(side, &view.parts("items")?, nesting + 1).into_iter().next()?;
        Some(Node::without_span(Value::Sequence(vec![item])))
    }
}

/// Returns the names of the declared properties in their order.
pub(super) fn declared_names<'n>(view: &SchemaView<'n>) -> Vec<&'n str> {
    let properties = view.entries("properties").filter_map(|entry| entry.value.entries()).flatten();
    properties.map(|entry| entry.key.text.as_str()).collect()
}

/// Returns the values that a schema lists: its examples, default, constant and enum.
fn listed_values(view: &SchemaView<'_>) -> Vec<Node> {
    let single = ["example", "default", "const"].into_iter().flat_map(|keyword| view.entries(keyword));
    let lists = ["examples", "enum"].into_iter().flat_map(|keyword| view.entries(keyword));
    let items = lists.filter_map(|entry| entry.value.items()).flatten();
    let constants = view.constant_lists.iter().flat_map(|list| list.values.iter().copied());
    single.map(|entry| &entry.value).chain(items).chain(constants).cloned().collect()
}

/// Returns strings that differ little from a string: each without one of its other characters than letters and digits.
fn variations(value: &Node) -> Vec<Node> {
    let text = value.as_str().unwrap_or_default();
    let others = text.char_indices().rev().filter(|(_, character)| !character.is_alphanumeric());
    let others = others.take(MAX_ALTERNATIVES);
    let without = |(at, other): (usize, char)| format!("{}{}", &text[..at], &text[at + other.len_utf8()..]);
    others.map(without).map(Node::string).collect()
}

/// Whether people can read a value if it is a string.
fn is_printable(value: &Node) -> bool {
    let is_readable =
        |character: char| character == ' ' || character.is_ascii_graphic() || character.is_alphanumeric();
    value.as_str().is_none_or(|text| text.chars().all(is_readable))
}

/// Returns the value that the details of a finding are, such as that of an enum.
pub(super) fn value_of(details: &str) -> Node {
    Node::string(serde_json::from_str(details).unwrap_or_else(|_| details.to_owned()))
}

fn number(node: &Node) -> Option<usize> {
    if let Value::Integer(number) = node.value { usize::try_from(number).ok() } else { None }
}

pub(super) fn entry(name: &str, value: Node) -> Entry {
    Entry { key: SpannedString { text: name.to_owned(), span: Span { start: 0, end: 0 } }, value }
}

/// Whether a step selects an alternative, which leads to the same value.
pub(super) fn is_alternative(step: &str) -> bool {
    step.starts_with('(') && step.ends_with(')')
}

/// Returns the index of a step to an item: that of `[2]`, or 0 for `[]`.
fn item_index(step: &str) -> Option<usize> {
    let index = step.strip_prefix('[')?.strip_suffix(']')?;
    if index.is_empty() { Some(0) } else { index.parse().ok() }
}

fn child_of<'v>(value: &'v Node, step: &str) -> Option<&'v Node> {
    match item_index(step) {
        Some(index) => value.items()?.get(index),
        None => value.get(step),
    }
}

/// Returns the value at `steps`.
pub(super) fn value_at<'v>(value: &'v Node, steps: &[String]) -> Option<&'v Node> {
    let mut steps = steps.iter().filter(|step| !is_alternative(step));
    steps.try_fold(value, |value, step| child_of(value, step))
}
