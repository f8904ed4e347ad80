//! Reads a schema into a [`SchemaView`]: resolves references, merges `allOf`, and separates `null`.

use std::collections::HashMap;

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::Version;

use super::equality::unwrap;
use super::null::NullDecision;
use super::types::JsonTypes;
use super::value::ValueSet;
use super::view::{Alternatives, ConstantList, SchemaParts, SchemaView, SelectedAlternative};
use super::{is_annotation, null};
use crate::document::IndexedDocument;

/// The state of reading a schema.
pub(super) struct SchemaReader<'a, 'n> {
    side: &'a IndexedDocument<'n>,
    view: SchemaView<'n>,
    /// The alternatives that replace their lists.
    selected: &'a [SelectedAlternative<'n>],
    /// Whether lists that are written with a single alternative are kept instead of merged.
    keeps_single_alternatives: bool,
    types: JsonTypes,
    /// Nodes that are not read yet, the next one last. An explicit stack is used so that long chains of references do
    /// not overflow the call stack.
    pending: Vec<PendingNode<'n>>,
    /// The nodes that were read, by address, each with its `null_allowed` flag.
    visited: HashMap<usize, bool>,
    /// The references that were followed, each with the index of the one that led to it.
    references: Vec<(&'n str, Option<usize>)>,
}

/// A node that is not read yet.
struct PendingNode<'n> {
    node: &'n Node,
    inclusion: Inclusion,
}

/// How a node is included in the schema.
#[derive(Clone, Copy)]
struct Inclusion {
    /// Whether `nullable: true` (OpenAPI 3.0) of an enclosing schema, or a `null` alternative next to this one, accepts `null`, so
    /// that the node's own constraints on `null` do not apply.
    null_allowed: bool,
    /// Whether a named schema inherits the node by `allOf`.
    inherited: bool,
    /// The index of the reference that leads to the node.
    reference: Option<usize>,
}

impl<'a, 'n> SchemaReader<'a, 'n> {
    /// Computes an effective schema.
    pub(super) fn read(
        side: &'a IndexedDocument<'n>,
        parts: &'a SchemaParts<'n>,
        keeps_single_alternatives: bool,
    ) -> SchemaView<'n> {
        let mut reader = SchemaReader {
            side,
            view: SchemaView {
                span: parts.span,
                name: None,
                rejects_everything: false,
                types: JsonTypes::ANY,
                type_span: None,
                accepts_null: true,
                null_decision: None,
                one_of: Vec::new(),
                any_of: Vec::new(),
                constant_lists: Vec::new(),
                has_merged_list: false,
                discriminators: Vec::new(),
                keywords: Vec::new(),
            },
            selected: &parts.selected,
            keeps_single_alternatives,
            types: JsonTypes::ANY,
            pending: parts
                .nodes
                .iter()
                .rev()
                .map(|node| PendingNode {
                    node,
                    inclusion: Inclusion { null_allowed: false, inherited: false, reference: None },
                })
                .collect(),
            visited: HashMap::new(),
            references: Vec::new(),
        };
        reader.run();
        reader.finish()
    }

    fn run(&mut self) {
        let mut subschema = 0;
        while let Some(PendingNode { node, inclusion }) = self.pending.pop() {
            let null_allowed = inclusion.null_allowed;
            let address = std::ptr::from_ref(node) as usize;
            let null_only = match self.visited.get(&address) {
                None => false,
                Some(was_null_allowed) if *was_null_allowed && !null_allowed => true,
                // The node was already read with at least the same constraints.
                Some(_) => continue,
            };
            self.visited.insert(address, null_allowed);
            match &node.value {
                Value::Bool(false) => self.view.rejects_everything = true,
                Value::Mapping(entries) => self.read_mapping(subschema, entries, inclusion, null_only),
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
        inclusion: Inclusion,
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
            let previous = inclusion.reference;
            let inclusion = Inclusion { reference: Some(self.references.len()), ..inclusion };
            self.references.push((target, previous));
            self.pending.extend(self.side.resolve(target).map(|node| PendingNode { node, inclusion }));
            // OpenAPI 3.0 ignores siblings of `$ref`.
            if version == Version::V30 {
                return;
            }
        }
        let null_allowed = inclusion.null_allowed || null::is_nullable(entries, version);
        let accepts_null = null_allowed || null::all_accept_null(self.side, entries);
        self.view.accepts_null &= accepts_null;
        if !inclusion.null_allowed
            && let Some(entry) = null::deciding_keyword(entries, version, accepts_null)
        {
            self.decide_null(accepts_null, entry.key.span, inclusion);
        }
        let inclusion = Inclusion { null_allowed, ..inclusion };
        for entry in entries {
            match entry.key.text.as_str() {
                "$ref" => {}
                "allOf" => {
                    let items = entry.value.items().unwrap_or_default();
                    // A single reference in `allOf`, without `properties` next to it, is another notation of the
                    // referenced schema itself.
                    let is_extension =
                        items.len() > 1 || entries.iter().any(|entry| entry.key.text == "properties");
                    let inherited = inclusion.inherited || is_extension && self.view.name.is_some();
                    let inclusion = Inclusion { inherited, ..inclusion };
                    self.pending.extend(items.iter().rev().map(|node| PendingNode { node, inclusion }));
                }
                "oneOf" | "anyOf" => self.read_alternatives(entry, inclusion, null_only),
                _ if null_only => {}
                "type" => {
                    self.types = self.types.and(JsonTypes::of_keyword(&entry.value));
                    self.view.type_span = Some(entry.key.span);
                }
                "nullable" if version == Version::V30 => {}
                keyword => {
                    if keyword == "discriminator" && !inclusion.inherited {
                        self.view.discriminators.push(entry);
                    }
                    self.view.keywords.push((subschema, entry));
                }
            }
        }
    }

    /// Reads `oneOf` or `anyOf`. An alternative that accepts only `null` is left out, and the others need not accept `null` then. A
    /// single remaining alternative is merged, unless it was the only one from the start and `keeps_single_alternatives` is set.
    /// Constants become an enum.
    fn read_alternatives(&mut self, entry: &'n Entry, inclusion: Inclusion, null_only: bool) {
        let all = entry.value.items().unwrap_or_default();
        let members: Vec<&Node> =
            all.iter().filter(|member| !null::accepts_only_null(self.side, member)).collect();
        let null_member = all.iter().find(|member| null::accepts_only_null(self.side, member));
        if let Some(member) = null_member.filter(|_| !inclusion.null_allowed) {
            self.decide_null(true, member.span, inclusion);
        }
        let null_allowed = inclusion.null_allowed || null_member.is_some();
        let inclusion = Inclusion { null_allowed, ..inclusion };
        if let Some(selected) =
            self.selected.iter().find(|selected| std::ptr::eq(selected.list, &entry.value))
        {
            self.pending.push(PendingNode { node: selected.member, inclusion });
            return;
        }
        self.view.has_merged_list |= all.len() == 1 && members.len() == 1;
        match members.as_slice() {
            [only] if all.len() > 1 || !self.keeps_single_alternatives => {
                self.pending.push(PendingNode { node: only, inclusion })
            }
            [] if !all.is_empty() => self.types = self.types.and(JsonTypes::NULL),
            members => {
                if !null_allowed && !null::any_accepts_null(self.side, members) {
                    self.view.accepts_null = false;
                    self.decide_null(false, entry.key.span, inclusion);
                }
                if null_only {
                    return;
                }
                if let Some((values, types)) = constants(self.side, members, entry.key.text == "oneOf") {
                    self.types = self.types.and(types);
                    self.view.constant_lists.push(ConstantList { values, span: entry.key.span });
                    return;
                }
                let alternatives =
                    if entry.key.text == "oneOf" { &mut self.view.one_of } else { &mut self.view.any_of };
                alternatives.push(Alternatives {
                    members: members.to_vec(),
                    list: &entry.value,
                    span: entry.key.span,
                });
            }
        }
    }

    /// Records what accepts or rejects `null`, unless an earlier decision prevails.
    fn decide_null(&mut self, accepts: bool, span: Span, inclusion: Inclusion) {
        if self.view.null_decision.as_ref().is_some_and(|decision| decision.prevails_over(accepts)) {
            return;
        }
        let previous = |index: &usize| self.references[*index].1;
        let mut references: Vec<&str> = std::iter::successors(inclusion.reference, previous)
            .map(|index| self.references[index].0)
            .collect();
        references.reverse();
        self.view.null_decision = Some(NullDecision::new(accepts, span, references));
    }

    fn finish(mut self) -> SchemaView<'n> {
        self.view.accepts_null &= !self.view.rejects_everything;
        self.view.types = self.types.without_null();
        self.view
    }
}

/// Returns the values of alternatives that are all constants, and their declared types. Returns `None` if an
/// alternative is not a constant, or if `distinct` is true, as for `oneOf`, and a value occurs twice.
fn constants<'n>(
    side: &IndexedDocument<'n>,
    members: &[&'n Node],
    distinct: bool,
) -> Option<(Vec<&'n Node>, JsonTypes)> {
    let mut values: Vec<&Node> = Vec::new();
    let mut distinct_values = ValueSet::default();
    let mut types = Some(JsonTypes::NONE);
    for member in members {
        let (declared_types, member_values) = constant(unwrap(side, member))?;
        types = types.zip(declared_types).map(|(types, declared)| types.or(declared));
        for value in member_values {
            if !distinct_values.insert(value) && distinct {
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
