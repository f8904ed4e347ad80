//! References between schemas: no cycles, limited depth and number of schemas, and `allOf` extends objects only.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Schema, Shape};
use crate::node::SpannedString;
use crate::source::Span;
use crate::type_locations;

/// The maximum nesting depth of schemas, including referenced schemas. The Rust compiler limits recursion to 128
/// levels, and a nullable schema takes two of them.
const MAX_DEPTH: usize = 32;
/// The maximum number of schemas inside one schema, including those of its bases. It limits the generated code: the
/// inline schemas of a base become types again in each schema that extends it.
const MAX_SCHEMAS: usize = 10_000;

/// Checks the references between the schemas of `components.schemas`, the bases of these schemas, and the size of all
/// schemas.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut graph = ReferenceGraph::new(document);
    let before = diagnostics.len();
    let order = graph.topological_order(diagnostics);
    if diagnostics.len() == before {
        graph.measure(&order, diagnostics);
    }
    let components = document.schemas.iter().map(|named| &named.schema);
    let inline_schemas = type_locations::inline_schemas(document).into_iter().map(|inline| inline.schema);
    for schema in components.chain(inline_schemas) {
        check_bases(document, schema, diagnostics);
    }
}

/// The reference graph of the schemas, by index. Traversal is iterative, so that long chains cannot overflow the stack.
struct ReferenceGraph<'a> {
    document: &'a Document,
    /// The index of each schema by its name.
    indexes: BTreeMap<&'a str, usize>,
    /// The references of each schema: the index of the target, and the target's name with the span of the reference.
    links: Vec<Vec<(usize, &'a SpannedString)>>,
    /// The size of each schema. Zero until it is measured, and for a schema that exceeds a limit.
    sizes: Vec<SchemaSize>,
}

/// The state of a schema in the depth-first search. A reference to a schema that is in progress closes a cycle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TraversalState {
    Unvisited,
    InProgress,
    Done,
}

/// The nesting depth of a schema, and the number of schemas in it, including itself. Referenced schemas count for the
/// depth only, and bases count for both.
#[derive(Clone, Copy, Default)]
struct SchemaSize {
    depth: usize,
    schemas: usize,
}

impl SchemaSize {
    /// Returns the size of a schema that contains both parts.
    fn with(self, part: Self) -> Self {
        Self { depth: self.depth.max(part.depth), schemas: self.schemas.saturating_add(part.schemas) }
    }

    /// Returns a diagnostic if the size exceeds a limit.
    fn limit_diagnostic(self, name: &str, span: Span) -> Option<Diagnostic> {
        let message = if self.depth > MAX_DEPTH {
            format!("`{name}` is nested deeper than {MAX_DEPTH} schemas")
        } else if self.schemas > MAX_SCHEMAS {
            format!("`{name}` contains more than {MAX_SCHEMAS} schemas, including those of its bases")
        } else {
            return None;
        };
        let help = "replace nested objects with their ids";
        Some(Diagnostic::error(Code::UnsupportedKeyword, span, message, help))
    }
}

impl<'a> ReferenceGraph<'a> {
    fn new(document: &'a Document) -> Self {
        let schemas = document.schemas.iter().enumerate();
        let indexes: BTreeMap<&str, usize> = schemas.map(|(at, named)| (&*named.name.text, at)).collect();
        let links = document.schemas.iter().map(|named| {
            let mut targets = Vec::new();
            collect_references(&named.schema, &mut targets);
            targets.into_iter().filter_map(|name| Some((*indexes.get(&**name)?, name))).collect()
        });
        let links = links.collect();
        let sizes = vec![SchemaSize::default(); document.schemas.len()];
        Self { document, indexes, links, sizes }
    }

    /// Returns the schemas in topological order: each after those that it references. Reports cycles.
    fn topological_order(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<usize> {
        let mut states = vec![TraversalState::Unvisited; self.links.len()];
        let mut order = Vec::new();
        let mut cycles = BTreeSet::new();
        for start in 0..self.links.len() {
            if states[start] != TraversalState::Unvisited {
                continue;
            }
            states[start] = TraversalState::InProgress;
            let mut stack = vec![(start, self.links[start].iter())];
            while let Some((at, links)) = stack.last_mut() {
                let Some((target, _)) = links.next() else {
                    states[*at] = TraversalState::Done;
                    order.push(*at);
                    stack.pop();
                    continue;
                };
                match states[*target] {
                    TraversalState::Unvisited => {
                        states[*target] = TraversalState::InProgress;
                        stack.push((*target, self.links[*target].iter()));
                    }
                    TraversalState::InProgress => {
                        let path = stack.iter().map(|(at, _)| *at).skip_while(|at| at != target).collect();
                        let cycle = self.rotated_to_first_name(path);
                        if cycles.insert(cycle.clone()) {
                            diagnostics.extend(self.cycle_diagnostic(&cycle));
                        }
                    }
                    TraversalState::Done => {}
                }
            }
        }
        order
    }

    fn name(&self, index: usize) -> &'a SpannedString {
        &self.document.schemas[index].name
    }

    /// Rotates a cycle so that it starts with the alphabetically first schema.
    fn rotated_to_first_name(&self, mut cycle: Vec<usize>) -> Vec<usize> {
        let names = cycle.iter().map(|at| &*self.name(*at).text);
        let first = names.enumerate().min_by_key(|(_, name)| *name).map_or(0, |(at, _)| at);
        cycle.rotate_left(first);
        cycle
    }

    fn cycle_diagnostic(&self, cycle: &[usize]) -> Option<Diagnostic> {
        let (first, last) = (*cycle.first()?, *cycle.last()?);
        let (_, closing) = self.links[last].iter().find(|(target, _)| *target == first)?;
        let names: Vec<_> = cycle.iter().chain([&first]).map(|at| &*self.name(*at).text).collect();
        let message = format!("the schema contains itself: {}", names.join(" -> "));
        let help = "break the cycle: replace the nested object with its id";
        let diagnostic = Diagnostic::error(Code::CyclicRef, closing.span, message, help);
        Some(diagnostic.with_related(self.name(first).span, "this schema"))
    }

    /// Measures the schemas of `components.schemas` in topological order, then those of operations and webhooks.
    /// Reports a schema that is too large, but not the schemas that are too large only because they reference it.
    fn measure(&mut self, order: &[usize], diagnostics: &mut Vec<Diagnostic>) {
        for at in order {
            let named = &self.document.schemas[*at];
            let size = self.size(&named.schema);
            match size.limit_diagnostic(&named.name, named.name.span) {
                Some(diagnostic) => diagnostics.push(diagnostic),
                None => self.sizes[*at] = size,
            }
        }
        for inline in type_locations::inline_schemas(self.document) {
            let size = self.size(inline.schema);
            diagnostics.extend(size.limit_diagnostic(&inline.location.origin, inline.schema.span));
        }
    }

    /// Returns the size of a schema. The schemas that it references must already be measured.
    fn size(&self, schema: &Schema) -> SchemaSize {
        let named = |name: &SpannedString| {
            self.indexes.get(&**name).map_or(SchemaSize::default(), |at| self.sizes[*at])
        };
        let inside = match &schema.shape {
            // The types of a referenced schema are generated once, regardless of the number of references.
            Shape::Reference(name) => SchemaSize { schemas: 0, ..named(name) },
            Shape::Object(object) => {
                let bases = object.bases().map(named).fold(SchemaSize::default(), SchemaSize::with);
                let own = object.own_properties().map(|property| self.size(&property.schema));
                own.fold(bases, SchemaSize::with)
            }
            Shape::Union(union) => {
                let members = union.members.iter().map(|member| self.size(&member.schema));
                members.fold(SchemaSize::default(), SchemaSize::with)
            }
            Shape::Map(map) => self.size(&map.values),
            Shape::Array(array) => self.size(&array.items),
            _ => SchemaSize::default(),
        };
        SchemaSize { depth: inside.depth + 1, schemas: inside.schemas.saturating_add(1) }
    }
}

/// Collects the names of the schemas that a schema references directly.
fn collect_references<'a>(schema: &'a Schema, targets: &mut Vec<&'a SpannedString>) {
    match &schema.shape {
        Shape::Reference(name) => targets.push(name),
        Shape::Object(object) => {
            targets.extend(object.bases());
            object.own_properties().for_each(|property| collect_references(&property.schema, targets));
        }
        Shape::Union(union) => {
            union.members.iter().for_each(|member| collect_references(&member.schema, targets))
        }
        Shape::Map(map) => collect_references(&map.values, targets),
        Shape::Array(array) => collect_references(&array.items, targets),
        Shape::Any
        | Shape::String(_)
        | Shape::Enum(_)
        | Shape::IntegerEnum(_)
        | Shape::Integer(_)
        | Shape::Number(_)
        | Shape::Boolean => {}
    }
}

/// Checks the bases of `allOf`: objects that allow additional properties. If all of them could be null, null would be
/// valid for the schema that extends them, which its Rust type cannot express.
fn check_bases(document: &Document, schema: &Schema, diagnostics: &mut Vec<Diagnostic>) {
    match &schema.shape {
        Shape::Object(object) => {
            object.bases().for_each(|name| check_base(document, name, diagnostics));
            object.own_properties().for_each(|property| check_bases(document, &property.schema, diagnostics));
        }
        Shape::Array(array) => check_bases(document, &array.items, diagnostics),
        Shape::Map(map) => check_bases(document, &map.values, diagnostics),
        Shape::Union(union) => {
            union.members.iter().for_each(|member| check_bases(document, &member.schema, diagnostics));
        }
        _ => {}
    }
}

fn check_base(document: &Document, name: &SpannedString, diagnostics: &mut Vec<Diagnostic>) {
    let Some(target) = document.schema(name) else { return };
    let (message, help) = match &target.shape {
        Shape::Object(object) if !object.closed && !target.nullable => return,
        Shape::Object(object) if object.closed => (
            format!("`{}` is extended, but rejects other properties", name.text),
            "replace its `additionalProperties: false` with `unevaluatedProperties: false` next to `allOf`",
        ),
        Shape::Object(_) => (
            format!("`{}` is extended, but can be null", name.text),
            "remove null from its type; where null is valid, write `oneOf` with the schema and `type: 'null'`",
        ),
        Shape::Reference(target) => (
            format!("`{}` is extended, but is only a reference to `{}`", name.text, target.text),
            "extend the target of the reference",
        ),
        _ => (
            format!("`{}` is extended, but is not an object with properties", name.text),
            "extend an object with `properties` or `allOf`",
        ),
    };
    diagnostics.push(Diagnostic::error(Code::UnsupportedKeyword, name.span, message, help));
}
