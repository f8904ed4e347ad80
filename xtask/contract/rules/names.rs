//! Names that must differ: operation ids, and everything that becomes a name in Rust.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, ObjectShape, Operation, Parameter, Schema, Shape, Tag};
use crate::node::Text;
use crate::rust_name::{self, can_be_written, lower, upper};
use crate::sites::{self, Site};
use crate::source::Span;

/// Modules of the generated folder that are not tags, and crates that its files name.
const MODULES: [&str; 11] = [
    "adapter",
    "bytes",
    "contract_runtime",
    "document",
    "events",
    "operations",
    "poem_openapi",
    "schemas",
    "serde",
    "serde_json",
    "std",
];

/// What the file of operations defines beside them.
const TABLES: [&str; 3] = ["Contract", "Credential", "Operations"];

/// Names that generated files import or use beside a tag's trait.
const IMPORTS: [&str; 17] = [
    "Answer",
    "Base64",
    "Bytes",
    "Call",
    "Date",
    "Future",
    "Json",
    "Option",
    "Parts",
    "Result",
    "Send",
    "Service",
    "String",
    "Text",
    "Timestamp",
    "Uuid",
    "Vec",
];

/// Names that the files of schemas and events use or define themselves.
const USED: [&str; 13] = [
    "Base64",
    "Date",
    "Event",
    "From",
    "Iterator",
    "MaybeUndefined",
    "None",
    "Option",
    "String",
    "Timestamp",
    "TryFrom",
    "Uuid",
    "Vec",
];

/// Judges operation ids and tags, those of webhooks included.
pub(super) fn operations(document: &Document, findings: &mut Vec<Diagnostic>) {
    let (operations, webhooks) = (&document.operations, &document.webhooks);
    let mut ids: BTreeMap<&str, &Text> = BTreeMap::new();
    for id in operations.iter().map(|one| &one.id).chain(webhooks.iter().map(|one| &one.id)) {
        if let Some(first) = ids.get(&**id) {
            findings.push(
                Diagnostic::error(
                    Code::DuplicateOperationId,
                    id.span,
                    format!("two operations are called `{}`", id.text),
                    "give each its own `operationId`: methods and types are named after it",
                )
                .related(first.span, "the first one"),
            );
        } else {
            ids.insert(id, id);
        }
    }
    for named in operations.iter().map(|one| &one.tag).chain(webhooks.iter().flat_map(|one| &one.tags)) {
        if !document.tags.iter().any(|tag| tag.name.text == named.text) {
            findings.push(Diagnostic::error(
                Code::UnresolvedRef,
                named.span,
                format!("there is no tag `{}`", named.text),
                "add it to `tags`, or name one of those",
            ));
        }
    }
}

/// Judges the names that the generator will write.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut scope = Scope::new("modules", findings);
    MODULES.iter().for_each(|module| scope.reserve(module));
    served(document).for_each(|tag| scope.add(lower(&tag.name), &tag.name.text, tag.name.span));

    let mut scope = Scope::new("traits", findings);
    IMPORTS.iter().for_each(|import| scope.reserve(import));
    served(document).for_each(|tag| scope.add_quietly(upper(&tag.name), &tag.name.text, tag.name.span));

    let mut scope = Scope::new("variants", findings);
    document
        .webhooks
        .iter()
        .for_each(|webhook| scope.add(upper(&webhook.name), &webhook.name.text, webhook.name.span));

    let mut scope = Scope::new("operations", findings);
    TABLES.iter().for_each(|table| scope.reserve(table));
    distinct(document, |operation| &operation.id).for_each(|id| scope.add(upper(id), &id.text, id.span));

    let mut scope = Scope::new("scopes", findings);
    distinct(document, |operation| &operation.scope)
        .for_each(|one| scope.add(upper(one), &one.text, one.span));

    for operation in &document.operations {
        let mut scope = Scope::new("fields of one request", findings);
        if operation.body.is_some() {
            scope.reserve("body");
        }
        for parameter in &operation.parameters {
            scope.add(lower(&parameter.name), &parameter.name.text, parameter.name.span);
        }
    }
    let mut scope = Scope::new("defaults of parameters", findings);
    for operation in &document.operations {
        let defaulted = |one: &&Parameter| !one.required && document.default_of(&one.schema).is_some();
        for Parameter { name, .. } in operation.parameters.iter().filter(defaulted) {
            let rust = rust_name::default_of_parameter(&operation.id, name);
            scope.take(rust, &format!("{} {}", operation.id.text, name.text), name.span);
        }
    }
    types(document, findings);
    for named in &document.schemas {
        inside(document, &named.schema, findings);
    }
    for inline in sites::inline(document) {
        inside(document, inline.schema, findings);
    }
}

/// What operations are called in some way, each once.
fn distinct<'a>(
    document: &'a Document,
    name: impl Fn(&'a Operation) -> &'a Text,
) -> impl Iterator<Item = &'a Text> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    document.operations.iter().map(name).filter(move |name| seen.insert(&name.text))
}

/// The tags that have operations; the others become nothing.
fn served(document: &Document) -> impl Iterator<Item = &Tag> {
    let used = |tag: &&Tag| document.operations.iter().any(|operation| operation.tag.text == tag.name.text);
    document.tags.iter().filter(used)
}

/// The types of all schemas, those written inside others and at operations included, and the defaults of their fields.
fn types(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut found = Found::default();
    for named in &document.schemas {
        let site = Site::named(&named.name, false);
        written_in_rust(&site.owner, &named.name, named.name.span, findings);
        if !is_type(&named.schema.shape) {
            found.types.push((site.owner.clone(), site.origin.clone(), named.name.span));
        }
        found.written(document, &named.schema, &site, named.name.span);
    }
    for inline in sites::inline(document) {
        found.written(document, inline.schema, &inline.site, inline.schema.span);
    }
    let before = findings.len();
    let mut scope = Scope::new("types", findings);
    USED.iter().for_each(|used| scope.reserve(used));
    // What these names are put together of is judged where each part stands.
    found.types.into_iter().for_each(|(rust, name, span)| scope.take(rust, &name, span));
    // The fields of types that share a name share theirs, too.
    if findings.len() == before {
        let mut scope = Scope::new("defaults", findings);
        found.defaults.into_iter().for_each(|(rust, name, span)| scope.take(rust, &name, span));
    }
}

fn is_type(shape: &Shape) -> bool {
    matches!(shape, Shape::Object(_) | Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Union(_))
}

/// Names of Rust, each with the name or the place that it comes from.
#[derive(Default)]
struct Found {
    types: Vec<(String, String, Span)>,
    defaults: Vec<(String, String, Span)>,
}

impl Found {
    /// Adds the type of a schema that stands at this site, and those of the schemas inside it.
    fn written(&mut self, document: &Document, schema: &Schema, site: &Site, span: Span) {
        if is_type(&schema.shape) {
            self.types.push((site.owner.clone(), site.origin.clone(), span));
        }
        let mut below = |schema: &Schema, site: &Site| self.written(document, schema, site, schema.span);
        match &schema.shape {
            Shape::Object(object) => {
                for property in document.properties(object) {
                    let site = site.below(&property.name, ".");
                    self.written(document, &property.schema, &site, property.schema.span);
                    if !property.required && document.default_of(&property.schema).is_some() {
                        let rust = rust_name::default(&site.owner);
                        self.defaults.push((rust, site.origin, property.name.span));
                    }
                }
            }
            Shape::Union(union) => {
                for member in &union.members {
                    below(&member.schema, &site.below(&member.name, " as "));
                }
            }
            Shape::Array(array) => below(&array.items, &site.inside("Item", "[]")),
            Shape::Map(map) => below(&map.values, &site.inside("Value", ".*")),
            _ => {}
        }
    }
}

/// Whether Rust can write the name that something gets; reports once what it cannot.
fn written_in_rust(rust: &str, name: &str, span: Span, findings: &mut Vec<Diagnostic>) -> bool {
    let can = can_be_written(rust);
    if !can && !findings.iter().any(|known| known.code == Code::NoRustName && known.span == span) {
        let rust = rust.trim_start_matches("r#");
        let message = format!("`{name}` would be called `{rust}`, which is no name in Rust");
        let help = "write it in letters, digits and `_`: what is generated for it is called after it";
        findings.push(Diagnostic::error(Code::NoRustName, span, message, help));
    }
    can
}

/// The fields and variants of a schema, and of those written inside it.
fn inside(document: &Document, schema: &Schema, findings: &mut Vec<Diagnostic>) {
    match &schema.shape {
        Shape::Object(object) => fields(document, object, findings),
        Shape::Enum(shape) => {
            let mut scope = Scope::new("variants", findings);
            shape.values.iter().for_each(|value: &Text| scope.add(upper(value), &value.text, value.span));
        }
        Shape::IntegerEnum(shape) => {
            let mut scope = Scope::new("variants", findings);
            for (value, span) in &shape.values {
                scope.add(upper(&value.to_string()), &value.to_string(), *span);
            }
        }
        Shape::Union(union) => {
            let mut scope = Scope::new("variants", findings);
            for member in &union.members {
                scope.add(upper(&member.name), &member.name.text, member.name.span);
            }
            union.members.iter().for_each(|member| inside(document, &member.schema, findings));
        }
        Shape::Array(array) => inside(document, &array.items, findings),
        Shape::Map(map) => inside(document, &map.values, findings),
        _ => {}
    }
}

fn fields(document: &Document, object: &ObjectShape, findings: &mut Vec<Diagnostic>) {
    let mut scope = Scope::new("fields", findings);
    for property in document.properties(object) {
        scope.add(lower(&property.name), &property.name.text, property.name.span);
    }
    for property in object.own() {
        inside(document, &property.schema, findings);
    }
}

/// Names of Rust that must differ from each other.
struct Scope<'f> {
    what: &'static str,
    taken: BTreeMap<String, (String, Option<Span>)>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'f> Scope<'f> {
    fn new(what: &'static str, findings: &'f mut Vec<Diagnostic>) -> Self {
        Self { what, taken: BTreeMap::new(), findings }
    }

    /// Takes a name for something that stands in no contract.
    fn reserve(&mut self, rust: &str) {
        self.taken.insert(rust.to_owned(), (format!("the generator's own `{rust}`"), None));
    }

    /// Takes a name whose clash with its like was reported in another scope.
    fn add_quietly(&mut self, rust: String, name: &str, span: Span) {
        if self.taken.get(&rust).is_none_or(|(_, place)| place.is_none()) {
            self.add(rust, name, span);
        }
    }

    /// Takes a name that must be one.
    fn add(&mut self, rust: String, name: &str, span: Span) {
        if written_in_rust(&rust, name, span, self.findings) {
            self.take(rust, name, span);
        }
    }

    fn take(&mut self, rust: String, name: &str, span: Span) {
        let Some((other, place)) = self.taken.get(&rust) else {
            self.taken.insert(rust, (format!("`{name}`"), Some(span)));
            return;
        };
        let finding = Diagnostic::error(
            Code::RustNameCollision,
            span,
            format!("`{name}` and {other} would both be called `{rust}` in Rust ({})", self.what),
            "rename one of the two",
        );
        let finding = match place {
            Some(place) if *place != span => finding.related(*place, "the other one"),
            _ => finding,
        };
        self.findings.push(finding);
    }
}
