//! The effective schema: references resolved, `allOf` merged, and `nullable` of OpenAPI 3.0 treated as the type `null`.
//!
//! Schemas that differ only in this notation have equivalent views. Each node that is merged is a subschema: a keyword
//! such as `items` depends only on the keywords of the same subschema.

use std::collections::{BTreeMap, BTreeSet};

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::equality::unwrap;
use super::is_annotation;
use super::null::NullDecision;
use super::reader::SchemaReader;
use super::types::JsonTypes;
use crate::document::IndexedDocument;

/// The nodes that together form a schema: a value must match each of them. There are several, for example, if the parts
/// of `allOf` define the same property, and none for a schema that accepts every value.
#[derive(Clone, Debug)]
pub(crate) struct SchemaParts<'n> {
    /// The nodes.
    pub nodes: Vec<&'n Node>,
    /// For lists of alternatives in the nodes, the alternative that replaces the list. Thus a schema is split into one
    /// for each alternative, which contains the keywords next to the list.
    pub selected: Vec<SelectedAlternative<'n>>,
    /// The position of the schema.
    pub span: Span,
}

/// A list of alternatives (the value of `oneOf` or `anyOf`) and the alternative that replaces it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelectedAlternative<'n> {
    /// The list.
    pub list: &'n Node,
    /// The alternative.
    pub member: &'n Node,
}

impl<'n> SchemaParts<'n> {
    /// Creates a schema of one node.
    pub(crate) fn of_node(node: &'n Node, span: Span) -> Self {
        Self { nodes: vec![node], selected: Vec::new(), span }
    }

    /// Creates a schema of several nodes.
    pub(crate) const fn of_nodes(nodes: Vec<&'n Node>, span: Span) -> Self {
        Self { nodes, selected: Vec::new(), span }
    }

    /// Creates the schema under a key.
    pub(crate) fn of_entry(entry: &'n Entry) -> Self {
        Self::of_node(&entry.value, entry.key.span)
    }

    /// Creates a schema that accepts every value.
    pub(crate) const fn any(span: Span) -> Self {
        Self { nodes: Vec::new(), selected: Vec::new(), span }
    }

    /// Replaces a list of alternatives by one of them.
    pub(crate) fn select(&self, list: &'n Node, member: &'n Node) -> Self {
        let mut parts = self.clone();
        parts.selected.push(SelectedAlternative { list, member });
        parts
    }

    /// Returns the identity of the schema: the addresses of its nodes and of the selected alternatives.
    pub(crate) fn address(&self) -> Vec<usize> {
        let selected = self.selected.iter().flat_map(|selected| [selected.list, selected.member]);
        self.nodes.iter().copied().chain(selected).map(|node| std::ptr::from_ref(node) as usize).collect()
    }
}

/// Alternatives of `oneOf` or `anyOf`, without `null`.
#[derive(Clone, Debug)]
pub(crate) struct Alternatives<'n> {
    /// The alternatives.
    pub members: Vec<&'n Node>,
    /// The list, including `null`.
    pub list: &'n Node,
    /// The position of the keyword.
    pub span: Span,
}

/// Alternatives that are all constants, which are equivalent to an enum.
#[derive(Clone, Debug)]
pub(crate) struct ConstantList<'n> {
    /// The values.
    pub values: Vec<&'n Node>,
    /// The position of the keyword.
    pub span: Span,
}

/// An effective schema.
#[derive(Debug)]
pub(crate) struct SchemaView<'n> {
    /// The position of the schema.
    pub span: Span,
    /// The last segment of the schema's `$ref`, such as the name of a component; `None` if the schema is not a
    /// reference.
    pub name: Option<&'n str>,
    /// Whether the schema, or one of its subschemas, is `false`, so that no value is valid.
    pub rejects_everything: bool,
    /// The accepted types, without `null`.
    pub types: JsonTypes,
    /// The position of a `type` keyword, if there is one.
    pub type_span: Option<Span>,
    /// Whether `null` is valid.
    pub accepts_null: bool,
    /// What accepts or rejects `null`. `None` if no keyword mentions it.
    pub(super) null_decision: Option<NullDecision<'n>>,
    /// All `oneOf` keywords; a value must match each of them.
    pub one_of: Vec<Alternatives<'n>>,
    /// All `anyOf` keywords; a value must match each of them.
    pub any_of: Vec<Alternatives<'n>>,
    /// `oneOf` and `anyOf` keywords that are equivalent to enums.
    pub constant_lists: Vec<ConstantList<'n>>,
    /// Whether the schema has a list with a single alternative, which was merged.
    pub has_merged_list: bool,
    /// The schema's own discriminators, without inherited ones.
    pub(super) discriminators: Vec<&'n Entry>,
    /// The remaining keywords and all discriminators, each with the number of its subschema. `$ref` and `allOf` are
    /// resolved.
    pub(super) keywords: Vec<(usize, &'n Entry)>,
}

impl<'n> SchemaView<'n> {
    /// Computes the effective schema. A list with a single alternative is merged.
    pub(crate) fn of(side: &IndexedDocument<'n>, parts: &SchemaParts<'n>) -> Self {
        SchemaReader::read(side, parts, false)
    }

    /// Computes the effective schema, and keeps lists with a single alternative.
    pub(crate) fn with_single_alternatives(side: &IndexedDocument<'n>, parts: &SchemaParts<'n>) -> Self {
        SchemaReader::read(side, parts, true)
    }

    /// Returns the number of lists of alternatives.
    pub(crate) const fn list_count(&self) -> usize {
        self.one_of.len() + self.any_of.len()
    }

    /// Whether the schema has alternatives.
    pub(crate) const fn has_alternatives(&self) -> bool {
        self.list_count() > 0
    }

    /// Returns all entries of a keyword.
    pub(crate) fn entries<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'n Entry> + use<'a, 'n> {
        self.keywords.iter().map(|(_, entry)| *entry).filter(move |entry| entry.key.text == keyword)
    }

    /// Returns the first entry of a keyword.
    pub(crate) fn entry(&self, keyword: &str) -> Option<&'n Entry> {
        self.keywords.iter().map(|(_, entry)| *entry).find(|entry| entry.key.text == keyword)
    }

    /// Whether a keyword is `true` in any subschema.
    pub(crate) fn is_true(&self, keyword: &str) -> bool {
        self.entries(keyword).any(|entry| matches!(entry.value.value, Value::Bool(true)))
    }

    /// Returns the subschemas that have keywords, each with its keywords.
    pub(crate) fn subschemas(&self) -> impl Iterator<Item = Subschema<'_, 'n>> {
        self.keywords.chunk_by(|(left, _), (right, _)| left == right).map(Subschema)
    }

    /// Returns the schemas under a keyword, without those that accept every value. Returns `None` if no schema remains.
    pub(crate) fn parts(&self, keyword: &str) -> Option<SchemaParts<'n>> {
        let nodes: Vec<&Node> = self
            .entries(keyword)
            .map(|entry| &entry.value)
            .filter(|node| !accepts_everything(node))
            .collect();
        (!nodes.is_empty()).then(|| SchemaParts::of_nodes(nodes, self.position(keyword)))
    }

    /// Returns the names of the keywords that are not resolved into other fields, as `type` and `oneOf` are.
    pub(crate) fn keywords(&self) -> BTreeSet<&'n str> {
        self.keywords.iter().map(|(_, entry)| entry.key.text.as_str()).collect()
    }

    /// Returns the position of a keyword, or that of the schema if it lacks the keyword.
    pub(crate) fn position(&self, keyword: &str) -> Span {
        self.entry(keyword).map_or(self.span, |entry| entry.key.span)
    }

    /// Whether a bound is exclusive in the notation of OpenAPI 3.0: `exclusiveMinimum: true` next to `minimum`. `flag`
    /// is the name of the exclusive keyword.
    pub(crate) fn is_flagged_exclusive(&self, bound: &Entry, flag: &str) -> bool {
        let subschema = self
            .keywords
            .iter()
            .find(|(_, entry)| std::ptr::eq(*entry, bound))
            .map(|(subschema, _)| *subschema);
        self.keywords.iter().any(|(number, entry)| {
            Some(*number) == subschema
                && entry.key.text == flag
                && matches!(entry.value.value, Value::Bool(true))
        })
    }

    /// Whether a discriminator is the schema's own, not an inherited one.
    pub(crate) fn is_own_discriminator(&self, discriminator: &Entry) -> bool {
        self.discriminators.iter().any(|own| std::ptr::eq(*own, discriminator))
    }

    /// Returns the declared properties with their schemas.
    pub(crate) fn properties(&self) -> BTreeMap<&'n str, SchemaParts<'n>> {
        self.named_schemas("properties")
    }

    /// Returns the values under a keyword whose value is a mapping, by name. Values of several subschemas are merged.
    pub(crate) fn named_schemas(&self, keyword: &str) -> BTreeMap<&'n str, SchemaParts<'n>> {
        let mut named: BTreeMap<&str, SchemaParts<'_>> = BTreeMap::new();
        for entry in self.entries(keyword).filter_map(|entry| entry.value.entries()).flatten() {
            named
                .entry(entry.key.text.as_str())
                .and_modify(|parts| parts.nodes.push(&entry.value))
                .or_insert_with(|| SchemaParts::of_entry(entry));
        }
        named
    }

    /// Returns the names of the required properties, each with its position.
    pub(crate) fn required(&self) -> BTreeMap<&'n str, Span> {
        let names = self.entries("required").filter_map(|entry| entry.value.items()).flatten();
        names.filter_map(|name| Some((name.as_str()?, name.span))).collect()
    }
}

/// One subschema of a schema.
#[derive(Clone, Copy)]
pub(crate) struct Subschema<'a, 'n>(&'a [(usize, &'n Entry)]);

impl<'n> Subschema<'_, 'n> {
    /// Returns the entry of a keyword.
    pub(crate) fn entry(&self, keyword: &str) -> Option<&'n Entry> {
        self.0.iter().map(|(_, entry)| *entry).find(|entry| entry.key.text == keyword)
    }
}

/// Whether a schema is `true` or has only annotations, so that it accepts every value.
pub(crate) fn accepts_everything(node: &Node) -> bool {
    // Some extensions, such as `x-sunset`, are compared.
    let has_no_effect = |entry: &Entry| is_annotation(&entry.key.text) && !entry.key.text.starts_with("x-");
    match &node.value {
        Value::Bool(accepts) => *accepts,
        Value::Mapping(entries) => entries.iter().all(has_no_effect),
        _ => false,
    }
}

/// Like [`accepts_everything`], for schemas that may refer to others.
pub(crate) fn all_accept_everything<'n>(side: &IndexedDocument<'n>, parts: &SchemaParts<'n>) -> bool {
    parts.nodes.iter().all(|node| accepts_everything(unwrap(side, node)))
}
