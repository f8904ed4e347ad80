//! References between schemas: no cycles, limited depth and number of types, and `allOf` extends objects only.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Schema, Shape};
use crate::node::SpannedString;
use crate::source::Span;
use crate::type_locations;

/// The maximum nesting depth of schemas, including referenced schemas. The recursion limit of the compiler is 128, and
/// a nullable schema takes two levels.
const MAX_DEPTH: usize = 32;
/// The maximum number of types that one schema can become, including those of its bases.
const MAX_TYPES: usize = 10_000;

/// Checks every schema of `components.schemas`.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut graph = ReferenceGraph::new(document);
    let before = diagnostics.len();
    let order = graph.topological_order(diagnostics);
    if diagnostics.len() == before {
        graph.measure(&order, diagnostics);
    }
    for named in &document.schemas {
        check_bases(document, &named.schema, diagnostics);
    }
}

/// The reference graph of the schemas, by index. Traversal is iterative, so that long chains cannot overflow the stack.
struct ReferenceGraph<'a> {
    document: &'a Document,
    numbers: BTreeMap<&'a str, usize>,
    links: Vec<Vec<(usize, &'a SpannedString)>>,
    sizes: Vec<SchemaSize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TraversalState {
    None,
    Open,
    Done,
}

/// The nesting depth of a schema, and the number of types that it becomes.
#[derive(Clone, Copy, Default)]
struct SchemaSize {
    depth: usize,
    types: usize,
}

impl SchemaSize {
    fn with(self, part: Self) -> Self {
        Self { depth: self.depth.max(part.depth), types: self.types.saturating_add(part.types) }
    }

    fn too_large(self, name: &str, span: Span) -> Option<Diagnostic> {
        let message = if self.depth > MAX_DEPTH {
            format!("`{name}` is nested deeper than {MAX_DEPTH} schemas")
        } else if self.types > MAX_TYPES {
            format!("`{name}` becomes more than {MAX_TYPES} types, including its bases")
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
        let numbers: BTreeMap<&str, usize> = schemas.map(|(at, named)| (&*named.name.text, at)).collect();
        let links = document.schemas.iter().map(|named| {
            let mut targets = Vec::new();
            references(&named.schema, &mut targets);
            targets.into_iter().filter_map(|name| Some((*numbers.get(&**name)?, name))).collect()
        });
        let links = links.collect();
        let sizes = vec![SchemaSize::default(); document.schemas.len()];
        Self { document, numbers, links, sizes }
    }

    /// Returns the schemas in topological order: each after those that it references. Reports cycles.
    fn topological_order(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<usize> {
        let mut states = vec![TraversalState::None; self.links.len()];
        let mut order = Vec::new();
        let mut cycles = BTreeSet::new();
        for start in 0..self.links.len() {
            if states[start] != TraversalState::None {
                continue;
            }
            states[start] = TraversalState::Open;
            let mut stack = vec![(start, self.links[start].iter())];
            while let Some((at, links)) = stack.last_mut() {
                let Some((target, _)) = links.next() else {
                    states[*at] = TraversalState::Done;
                    order.push(*at);
                    stack.pop();
                    continue;
                };
                match states[*target] {
                    TraversalState::None => {
                        states[*target] = TraversalState::Open;
                        stack.push((*target, self.links[*target].iter()));
                    }
                    TraversalState::Open => {
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

    fn name(&self, number: usize) -> &'a SpannedString {
        &self.document.schemas[number].name
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

    /// Measures every schema in topological order. Reports a schema that is too large, but not the schemas that are too
    /// large only because they reference it.
    fn measure(&mut self, order: &[usize], diagnostics: &mut Vec<Diagnostic>) {
        for at in order {
            let named = &self.document.schemas[*at];
            let size = self.size(&named.schema);
            match size.too_large(&named.name, named.name.span) {
                Some(diagnostic) => diagnostics.push(diagnostic),
                None => self.sizes[*at] = size,
            }
        }
        for inline in type_locations::inline_schemas(self.document) {
            let size = self.size(inline.schema);
            diagnostics.extend(size.too_large(&inline.location.origin, inline.schema.span));
        }
    }

    fn size(&self, schema: &Schema) -> SchemaSize {
        let named = |name: &SpannedString| {
            self.numbers.get(&**name).map_or(SchemaSize::default(), |at| self.sizes[*at])
        };
        let inside = match &schema.shape {
            // A referenced schema becomes a type once, independent of the number of references.
            Shape::Reference(name) => SchemaSize { types: 0, ..named(name) },
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
        SchemaSize { depth: inside.depth + 1, types: inside.types.saturating_add(1) }
    }
}

fn references<'a>(schema: &'a Schema, targets: &mut Vec<&'a SpannedString>) {
    match &schema.shape {
        Shape::Reference(name) => targets.push(name),
        Shape::Object(object) => {
            targets.extend(object.bases());
            object.own_properties().for_each(|property| references(&property.schema, targets));
        }
        Shape::Union(union) => union.members.iter().for_each(|member| references(&member.schema, targets)),
        Shape::Map(map) => references(&map.values, targets),
        Shape::Array(array) => references(&array.items, targets),
        Shape::Any
        | Shape::String(_)
        | Shape::Enum(_)
        | Shape::IntegerEnum(_)
        | Shape::Integer(_)
        | Shape::Number(_)
        | Shape::Boolean => {}
    }
}

/// Checks the bases of `allOf`: objects that allow additional properties.
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
        _ => (
            format!("`{}` is extended, but is not an object with properties", name.text),
            "extend an object with `properties` or `allOf`",
        ),
    };
    diagnostics.push(Diagnostic::error(Code::UnsupportedKeyword, name.span, message, help));
}
