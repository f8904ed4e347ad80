//! References among schemas: no circles, no depth and no number of types that a contract cannot need, and `allOf` begins with
//! an object.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Schema, Shape};
use crate::node::Text;
use crate::sites;
use crate::source::Span;

/// How deep schemas may nest, those that are referred to included. The compiler follows types no more than 128 deep, and
/// each schema takes two levels where it may be null.
const DEEPEST: usize = 32;
/// How many types one schema may become, those of what it extends included.
const MOST_TYPES: usize = 10_000;

/// Judges every schema of `components.schemas`.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut graph = Graph::new(document);
    let before = findings.len();
    let order = graph.order(findings);
    if findings.len() == before {
        graph.measure(&order, findings);
    }
    for named in &document.schemas {
        base(document, &named.schema, findings);
    }
}

/// The schemas by their numbers, and the references from each. Following them takes no stack, however many there are.
struct Graph<'a> {
    document: &'a Document,
    numbers: BTreeMap<&'a str, usize>,
    links: Vec<Vec<(usize, &'a Text)>>,
    extents: Vec<Extent>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    None,
    Open,
    Done,
}

/// What a schema is made of: how deep it nests, and how many types it becomes.
#[derive(Clone, Copy, Default)]
struct Extent {
    deep: usize,
    types: usize,
}

impl Extent {
    fn with(self, part: Self) -> Self {
        Self { deep: self.deep.max(part.deep), types: self.types.saturating_add(part.types) }
    }

    fn too_large(self, name: &str, span: Span) -> Option<Diagnostic> {
        let message = if self.deep > DEEPEST {
            format!("`{name}` nests more than {DEEPEST} schemas deep")
        } else if self.types > MOST_TYPES {
            format!("`{name}` becomes more than {MOST_TYPES} types with what it extends")
        } else {
            return None;
        };
        let help = "name inner things by their ids, and let clients fetch them";
        Some(Diagnostic::error(Code::UnsupportedKeyword, span, message, help))
    }
}

impl<'a> Graph<'a> {
    fn new(document: &'a Document) -> Self {
        let schemas = document.schemas.iter().enumerate();
        let numbers: BTreeMap<&str, usize> = schemas.map(|(at, named)| (&*named.name.text, at)).collect();
        let links = document.schemas.iter().map(|named| {
            let mut targets = Vec::new();
            references(&named.schema, &mut targets);
            targets.into_iter().filter_map(|name| Some((*numbers.get(&**name)?, name))).collect()
        });
        let links = links.collect();
        let extents = vec![Extent::default(); document.schemas.len()];
        Self { document, numbers, links, extents }
    }

    /// Every schema after those that it refers to. Reports references that close a circle.
    fn order(&self, findings: &mut Vec<Diagnostic>) -> Vec<usize> {
        let mut visits = vec![Visit::None; self.links.len()];
        let mut order = Vec::new();
        let mut circles = BTreeSet::new();
        for start in 0..self.links.len() {
            if visits[start] != Visit::None {
                continue;
            }
            visits[start] = Visit::Open;
            let mut trail = vec![(start, self.links[start].iter())];
            while let Some((at, links)) = trail.last_mut() {
                let Some((target, _)) = links.next() else {
                    visits[*at] = Visit::Done;
                    order.push(*at);
                    trail.pop();
                    continue;
                };
                match visits[*target] {
                    Visit::None => {
                        visits[*target] = Visit::Open;
                        trail.push((*target, self.links[*target].iter()));
                    }
                    Visit::Open => {
                        let way = trail.iter().map(|(at, _)| *at).skip_while(|at| at != target).collect();
                        let circle = self.in_order_of_names(way);
                        if circles.insert(circle.clone()) {
                            findings.extend(self.circle(&circle));
                        }
                    }
                    Visit::Done => {}
                }
            }
        }
        order
    }

    fn name(&self, number: usize) -> &'a Text {
        &self.document.schemas[number].name
    }

    /// A circle, beginning with the schema that comes first in the alphabet.
    fn in_order_of_names(&self, mut circle: Vec<usize>) -> Vec<usize> {
        let names = circle.iter().map(|at| &*self.name(*at).text);
        let first = names.enumerate().min_by_key(|(_, name)| *name).map_or(0, |(at, _)| at);
        circle.rotate_left(first);
        circle
    }

    fn circle(&self, circle: &[usize]) -> Option<Diagnostic> {
        let (first, last) = (*circle.first()?, *circle.last()?);
        let (_, closing) = self.links[last].iter().find(|(target, _)| *target == first)?;
        let names: Vec<_> = circle.iter().chain([&first]).map(|at| &*self.name(*at).text).collect();
        let message = format!("the schema contains itself: {}", names.join(" -> "));
        let help = "cut the circle: name the inner thing by its id, and let clients fetch it";
        let finding = Diagnostic::error(Code::CyclicRef, closing.span, message, help);
        Some(finding.related(self.name(first).span, "this schema"))
    }

    /// Measures every schema, in an order in which those that it refers to come first. Reports the first ones that are too
    /// large, and not those that are too large by referring to them.
    fn measure(&mut self, order: &[usize], findings: &mut Vec<Diagnostic>) {
        for at in order {
            let named = &self.document.schemas[*at];
            let extent = self.extent(&named.schema);
            match extent.too_large(&named.name, named.name.span) {
                Some(finding) => findings.push(finding),
                None => self.extents[*at] = extent,
            }
        }
        for inline in sites::inline(self.document) {
            let extent = self.extent(inline.schema);
            findings.extend(extent.too_large(&inline.site.origin, inline.schema.span));
        }
    }

    fn extent(&self, schema: &Schema) -> Extent {
        let named = |name: &Text| self.numbers.get(&**name).map_or(Extent::default(), |at| self.extents[*at]);
        let inside = match &schema.shape {
            // What is referred to is written once, whoever refers to it.
            Shape::Reference(name) => Extent { types: 0, ..named(name) },
            Shape::Object(object) => {
                let bases = object.bases().map(named).fold(Extent::default(), Extent::with);
                let own = object.own().map(|property| self.extent(&property.schema));
                own.fold(bases, Extent::with)
            }
            Shape::Union(union) => {
                let members = union.members.iter().map(|member| self.extent(&member.schema));
                members.fold(Extent::default(), Extent::with)
            }
            Shape::Map(map) => self.extent(&map.values),
            Shape::Array(array) => self.extent(&array.items),
            _ => Extent::default(),
        };
        Extent { deep: inside.deep + 1, types: inside.types.saturating_add(1) }
    }
}

fn references<'a>(schema: &'a Schema, targets: &mut Vec<&'a Text>) {
    match &schema.shape {
        Shape::Reference(name) => targets.push(name),
        Shape::Object(object) => {
            targets.extend(object.bases());
            object.own().for_each(|property| references(&property.schema, targets));
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

/// What an `allOf` of schemas extends: objects that are open, since a closed one refuses what the others add.
fn base(document: &Document, schema: &Schema, findings: &mut Vec<Diagnostic>) {
    match &schema.shape {
        Shape::Object(object) => {
            object.bases().for_each(|name| extended(document, name, findings));
            object.own().for_each(|property| base(document, &property.schema, findings));
        }
        Shape::Array(array) => base(document, &array.items, findings),
        Shape::Map(map) => base(document, &map.values, findings),
        Shape::Union(union) => {
            union.members.iter().for_each(|member| base(document, &member.schema, findings));
        }
        _ => {}
    }
}

fn extended(document: &Document, name: &Text, findings: &mut Vec<Diagnostic>) {
    let Some(target) = document.schema(name) else { return };
    let (message, help) = match &target.shape {
        Shape::Object(object) if !object.closed && !target.nullable => return,
        Shape::Object(object) if object.closed => (
            format!("`{}` is extended and refuses other properties", name.text),
            "leave its `additionalProperties: false` out, and write `unevaluatedProperties: false` beside `allOf`",
        ),
        _ => (
            format!("`{}` is extended and is not an object with properties", name.text),
            "extend an object, written with `properties` or with `allOf`",
        ),
    };
    findings.push(Diagnostic::error(Code::UnsupportedKeyword, name.span, message, help));
}
