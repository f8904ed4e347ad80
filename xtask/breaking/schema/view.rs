//! The effective schema: references resolved, `allOf` merged, and `nullable` of OpenAPI 3.0 treated as the type `null`.
//!
//! Schemas that differ only in this notation have equivalent views. Each node that is merged is a subschema: a keyword
//! such as `items` depends only on the keywords of the same subschema.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::Version;

use super::types::JsonTypes;
use super::value::is_equal;
use super::{is_annotation, null};
use crate::document::IndexedDocument;

/// The nodes that together form a schema: a value must match each of them. There are several, for example, if the parts
/// of `allOf` define the same property, and none for a schema that accepts every value.
#[derive(Clone, Debug)]
pub(crate) struct SchemaParts<'n> {
    /// The nodes.
    pub nodes: Vec<&'n Node>,
    /// The position of the schema.
    pub span: Span,
}

impl<'n> SchemaParts<'n> {
    /// Creates a schema of one node.
    pub(crate) fn of_node(node: &'n Node, span: Span) -> Self {
        Self { nodes: vec![node], span }
    }

    /// Creates the schema under a key.
    pub(crate) fn of_entry(entry: &'n Entry) -> Self {
        Self::of_node(&entry.value, entry.key.span)
    }

    /// Creates a schema that accepts every value.
    pub(crate) const fn any(span: Span) -> Self {
        Self { nodes: Vec::new(), span }
    }

    /// Returns the identity of the schema: the addresses of its nodes.
    pub(crate) fn address(&self) -> Vec<usize> {
        self.nodes.iter().map(|node| std::ptr::from_ref(*node) as usize).collect()
    }
}

/// Alternatives of `oneOf` or `anyOf`, without `null`.
#[derive(Clone, Debug)]
pub(crate) struct Alternatives<'n> {
    /// The alternatives.
    pub members: Vec<&'n Node>,
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
    /// All `oneOf` keywords; a value must match each of them.
    pub one_of: Vec<Alternatives<'n>>,
    /// All `anyOf` keywords; a value must match each of them.
    pub any_of: Vec<Alternatives<'n>>,
    /// `oneOf` and `anyOf` keywords that are equivalent to enums.
    pub constant_lists: Vec<ConstantList<'n>>,
    /// The schema's own discriminators, without inherited ones.
    discriminators: Vec<&'n Entry>,
    /// The remaining keywords and all discriminators, each with the number of its subschema. `$ref` and `allOf` are
    /// resolved.
    keywords: Vec<(usize, &'n Entry)>,
}

impl<'n> SchemaView<'n> {
    /// Computes the effective schema.
    pub(crate) fn of(side: &IndexedDocument<'n>, parts: &SchemaParts<'n>) -> Self {
        let mut reader = SchemaReader {
            side,
            view: Self {
                span: parts.span,
                name: None,
                rejects_everything: false,
                types: JsonTypes::ANY,
                type_span: None,
                accepts_null: true,
                one_of: Vec::new(),
                any_of: Vec::new(),
                constant_lists: Vec::new(),
                discriminators: Vec::new(),
                keywords: Vec::new(),
            },
            types: JsonTypes::ANY,
            pending: parts
                .nodes
                .iter()
                .rev()
                .map(|node| PendingNode { node, null_allowed: false, inherited: false })
                .collect(),
            read: HashMap::new(),
        };
        reader.run();
        reader.finish()
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
        (!nodes.is_empty()).then(|| SchemaParts { nodes, span: self.position(keyword) })
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
        let mut properties: BTreeMap<&str, SchemaParts<'_>> = BTreeMap::new();
        for entry in self.entries("properties").filter_map(|entry| entry.value.entries()).flatten() {
            properties
                .entry(entry.key.text.as_str())
                .and_modify(|parts| parts.nodes.push(&entry.value))
                .or_insert_with(|| SchemaParts::of_entry(entry));
        }
        properties
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

/// Whether a schema is `true` or empty, so that it accepts every value.
pub(crate) fn accepts_everything(node: &Node) -> bool {
    match &node.value {
        Value::Bool(accepts) => *accepts,
        Value::Mapping(entries) => entries.is_empty(),
        _ => false,
    }
}

/// The state of reading a schema.
struct SchemaReader<'a, 'n> {
    side: &'a IndexedDocument<'n>,
    view: SchemaView<'n>,
    types: JsonTypes,
    /// Nodes that are not read yet, the next one last. An explicit stack is used so that long chains of references do
    /// not overflow the call stack.
    pending: Vec<PendingNode<'n>>,
    /// The nodes that were read, by address, each with its `null_allowed` flag.
    read: HashMap<usize, bool>,
}

/// A node that is not read yet.
struct PendingNode<'n> {
    node: &'n Node,
    /// Whether an enclosing schema accepts `null`, so that the node's own constraints on `null` do not apply.
    null_allowed: bool,
    /// Whether a named schema inherits the node by `allOf`.
    inherited: bool,
}

impl<'n> SchemaReader<'_, 'n> {
    fn run(&mut self) {
        let mut subschema = 0;
        while let Some(PendingNode { node, null_allowed, inherited }) = self.pending.pop() {
            let address = std::ptr::from_ref(node) as usize;
            let null_only = match self.read.get(&address) {
                None => false,
                Some(was_null_allowed) if *was_null_allowed && !null_allowed => true,
                // The node was already read with at least the same constraints.
                Some(_) => continue,
            };
            self.read.insert(address, null_allowed);
            match &node.value {
                Value::Bool(false) => self.view.rejects_everything = true,
                Value::Mapping(entries) => {
                    self.read_mapping(subschema, entries, (null_allowed, inherited), null_only)
                }
                _ => {}
            }
            subschema += usize::from(!null_only);
        }
    }

    /// Reads a mapping. With `null_only`, only its constraints on `null` are read.
    fn read_mapping(
        &mut self,
        subschema: usize,
        entries: &'n [Entry],
        (null_allowed, inherited): (bool, bool),
        null_only: bool,
    ) {
        let version = self.side.document.version;
        if let Some(reference) = entries.iter().find(|entry| entry.key.text == "$ref")
            && let Some(target) = reference.value.as_str()
        {
            if subschema == 0 && !null_only {
                self.view.name = target.rsplit('/').next();
                // A missing keyword of a shared schema is reported once, at the schema.
                self.view.span = self.side.target_position(target).unwrap_or(self.view.span);
            }
            self.pending.extend(self.side.resolve(target).map(|node| PendingNode {
                node,
                null_allowed,
                inherited,
            }));
            // OpenAPI 3.0 ignores siblings of `$ref`.
            if version == Version::V30 {
                return;
            }
        }
        let null_allowed = null_allowed || null::is_nullable(entries, version);
        if !null_allowed {
            self.view.accepts_null &= entries.iter().all(|entry| null::accepts_null(self.side, entry));
        }
        for entry in entries {
            match entry.key.text.as_str() {
                "$ref" => {}
                "allOf" => {
                    let items = entry.value.items().unwrap_or_default();
                    // A single reference in `allOf`, without `properties` next to it, is another notation of the
                    // referenced schema itself.
                    let is_extension =
                        items.len() > 1 || entries.iter().any(|entry| entry.key.text == "properties");
                    let inherited = inherited || is_extension && self.view.name.is_some();
                    self.pending.extend(items.iter().rev().map(|node| PendingNode {
                        node,
                        null_allowed,
                        inherited,
                    }));
                }
                "oneOf" | "anyOf" => self.read_alternatives(entry, (null_allowed, inherited), null_only),
                _ if null_only => {}
                "type" => {
                    self.types = self.types.and(JsonTypes::of_keyword(&entry.value));
                    self.view.type_span = Some(entry.key.span);
                }
                "nullable" if version == Version::V30 => {}
                keyword => {
                    if keyword == "discriminator" && !inherited {
                        self.view.discriminators.push(entry);
                    }
                    self.view.keywords.push((subschema, entry));
                }
            }
        }
    }

    /// Reads `oneOf` or `anyOf`. An alternative that accepts only `null` is left out, and the others need not accept
    /// `null` then. A single remaining alternative is merged, and constants become an enum.
    fn read_alternatives(
        &mut self,
        entry: &'n Entry,
        (null_allowed, inherited): (bool, bool),
        null_only: bool,
    ) {
        let all = entry.value.items().unwrap_or_default();
        let members: Vec<&Node> =
            all.iter().filter(|member| !null::accepts_only_null(self.side, member)).collect();
        let null_allowed = null_allowed || members.len() < all.len();
        match members.as_slice() {
            [only] => self.pending.push(PendingNode { node: only, null_allowed, inherited }),
            [] if !all.is_empty() => self.types = self.types.and(JsonTypes::NULL),
            members => {
                self.view.accepts_null &= null_allowed || null::any_accepts_null(self.side, members);
                if null_only {
                    return;
                }
                if let Some((values, types)) = constants(members, entry.key.text == "oneOf") {
                    self.types = self.types.and(types);
                    self.view.constant_lists.push(ConstantList { values, span: entry.key.span });
                    return;
                }
                let alternatives =
                    if entry.key.text == "oneOf" { &mut self.view.one_of } else { &mut self.view.any_of };
                alternatives.push(Alternatives { members: members.to_vec(), span: entry.key.span });
            }
        }
    }

    fn finish(mut self) -> SchemaView<'n> {
        self.view.accepts_null &= !self.view.rejects_everything;
        self.view.types = self.types.without_null();
        self.view
    }
}

/// Returns the values of alternatives that are all constants, and their declared types. Returns `None` if an
/// alternative is not a constant, or if `distinct` is true, as for `oneOf`, and a value occurs twice.
fn constants<'n>(members: &[&'n Node], distinct: bool) -> Option<(Vec<&'n Node>, JsonTypes)> {
    let mut values: Vec<&Node> = Vec::new();
    let mut types = Some(JsonTypes::NONE);
    for member in members {
        let (declared_types, member_values) = constant(member)?;
        types = types.zip(declared_types).map(|(types, declared)| types.or(declared));
        for value in member_values {
            let is_repeated = values.iter().any(|previous| is_equal(previous, value));
            if is_repeated && distinct {
                return None;
            }
            values.push(value);
        }
    }
    Some((values, types.unwrap_or(JsonTypes::ANY)))
}

/// Returns the declared types and the values of a schema that has only `enum` or `const`, possibly with `type` and
/// annotations. Returns `None` for other schemas, or if a value does not have a declared type.
fn constant(member: &Node) -> Option<(Option<JsonTypes>, Vec<&Node>)> {
    let (mut types, mut values) = (None, None);
    for entry in member.entries()? {
        match entry.key.text.as_str() {
            "type" => types = Some(JsonTypes::of_keyword(&entry.value)),
            "const" if values.is_none() => values = Some(vec![&entry.value]),
            "enum" if values.is_none() => values = Some(entry.value.items()?.iter().collect()),
            key if is_annotation(key) => {}
            _ => return None,
        }
    }
    let values: Vec<&Node> = values?;
    let match_types =
        types.is_none_or(|types| values.iter().all(|value| types.contains(JsonTypes::of_value(value))));
    match_types.then_some((types, values))
}
