//! Names that must be unique: operation ids, and every name in the generated Rust code.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, ObjectShape, Operation, Parameter, Schema, Shape, Tag};
use crate::node::SpannedString;
use crate::rust_name::{self, is_identifier, snake_case, upper_camel_case};
use crate::source::Span;
use crate::type_locations::{self, TypeLocation};

/// Modules of the generated folder that are not tags, and crates that generated files refer to.
pub(crate) const MODULES: [&str; 11] = [
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

/// Names that the file of operations declares besides the operations.
const OPERATION_ITEMS: [&str; 3] = ["Contract", "Credential", "Operations"];

/// Names that the generated file of a tag imports or uses in addition to the trait.
pub(crate) const IMPORTS: [&str; 22] = [
    "Base64",
    "Bytes",
    "Call",
    "Date",
    "Future",
    "Json",
    "LineStream",
    "Lines",
    "NoBody",
    "OperationResponse",
    "Option",
    "ResponseParts",
    "Result",
    "Send",
    "Service",
    "StatusCode",
    "String",
    "Text",
    "Timestamp",
    "TypedBytes",
    "Uuid",
    "Vec",
];

/// Names that the files of schemas and events use or declare.
pub(crate) const SCHEMA_ITEMS: [&str; 13] = [
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

/// Checks the operation ids and tags of operations and webhooks.
pub(super) fn check_operations(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let (operations, webhooks) = (&document.operations, &document.webhooks);
    let mut ids: BTreeMap<&str, &SpannedString> = BTreeMap::new();
    for id in
        operations.iter().map(|operation| &operation.id).chain(webhooks.iter().map(|webhook| &webhook.id))
    {
        if let Some(first) = ids.get(&**id) {
            diagnostics.push(
                Diagnostic::error(
                    Code::DuplicateOperationId,
                    id.span,
                    format!("duplicate operation id `{}`", id.text),
                    "give each operation a unique `operationId`: it names the generated methods and types",
                )
                .with_related(first.span, "first used here"),
            );
        } else {
            ids.insert(id, id);
        }
    }
    for tag_name in operations
        .iter()
        .map(|operation| &operation.tag)
        .chain(webhooks.iter().flat_map(|webhook| &webhook.tags))
    {
        if !document.tags.iter().any(|tag| tag.name.text == tag_name.text) {
            diagnostics.push(Diagnostic::error(
                Code::UnresolvedRef,
                tag_name.span,
                format!("unknown tag `{}`", tag_name.text),
                "add it to `tags`, or use a declared tag",
            ));
        }
    }
}

/// Checks the names that the generator creates.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut scope = NameScope::new("modules", diagnostics);
    MODULES.iter().for_each(|module| scope.reserve(module));
    tags_with_operations(document)
        .for_each(|tag| scope.add(snake_case(&tag.name), &tag.name.text, tag.name.span));

    let mut scope = NameScope::new("traits", diagnostics);
    IMPORTS.iter().for_each(|import| scope.reserve(import));
    tags_with_operations(document).for_each(|tag| {
        scope.add_unless_reported(upper_camel_case(&tag.name), &tag.name.text, tag.name.span)
    });

    let mut scope = NameScope::new("variants", diagnostics);
    document.webhooks.iter().for_each(|webhook| {
        scope.add(upper_camel_case(&webhook.name), &webhook.name.text, webhook.name.span)
    });

    let mut scope = NameScope::new("operations", diagnostics);
    OPERATION_ITEMS.iter().for_each(|item| scope.reserve(item));
    distinct_names(document, |operation| Some(&operation.id))
        .for_each(|id| scope.add(upper_camel_case(id), &id.text, id.span));

    let mut scope = NameScope::new("scopes", diagnostics);
    distinct_names(document, |operation| operation.access.as_ref()?.scope.as_ref())
        .for_each(|scope_name| scope.add(upper_camel_case(scope_name), &scope_name.text, scope_name.span));

    for operation in &document.operations {
        let mut scope = NameScope::new("fields of a request", diagnostics);
        if operation.body.is_some() {
            scope.reserve("body");
        }
        for parameter in &operation.parameters {
            scope.add(snake_case(&parameter.name), &parameter.name.text, parameter.name.span);
        }
    }
    let mut scope = NameScope::new("defaults of parameters", diagnostics);
    for operation in &document.operations {
        let has_default =
            |parameter: &&Parameter| !parameter.required && document.default_of(&parameter.schema).is_some();
        for Parameter { name, .. } in operation.parameters.iter().filter(has_default) {
            let rust = rust_name::parameter_default_function(&operation.id, name);
            scope.add_unchecked(rust, &format!("{} {}", operation.id.text, name.text), name.span);
        }
    }
    check_types(document, diagnostics);
    for named in &document.schemas {
        check_members(document, &named.schema, diagnostics);
    }
    for inline in type_locations::inline_schemas(document) {
        check_members(document, inline.schema, diagnostics);
    }
}

/// Returns the distinct names of operations.
fn distinct_names<'a>(
    document: &'a Document,
    name: impl Fn(&'a Operation) -> Option<&'a SpannedString>,
) -> impl Iterator<Item = &'a SpannedString> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    document.operations.iter().filter_map(name).filter(move |name| seen.insert(&name.text))
}

/// Returns the tags that have operations. The generator ignores the others.
fn tags_with_operations(document: &Document) -> impl Iterator<Item = &Tag> {
    let has_operations =
        |tag: &&Tag| document.operations.iter().any(|operation| operation.tag.text == tag.name.text);
    document.tags.iter().filter(has_operations)
}

/// Checks the types of all schemas, including inline schemas, and the default functions of their fields.
fn check_types(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut names = RustNames::default();
    for named in &document.schemas {
        let location = TypeLocation::of_schema(&named.name, false);
        check_identifier(&location.type_name, &named.name, named.name.span, diagnostics);
        if !has_own_type(&named.schema.shape) {
            names.types.push((location.type_name.clone(), location.origin.clone(), named.name.span));
        }
        names.add_types(document, &named.schema, &location, named.name.span);
    }
    for inline in type_locations::inline_schemas(document) {
        names.add_types(document, inline.schema, &inline.location, inline.schema.span);
    }
    let before = diagnostics.len();
    let mut scope = NameScope::new("types", diagnostics);
    SCHEMA_ITEMS.iter().for_each(|item| scope.reserve(item));
    // Each part of these names is validated separately.
    names.types.into_iter().for_each(|(rust, name, span)| scope.add_unchecked(rust, &name, span));
    // If two types have the same name, the names of their fields collide, too.
    if diagnostics.len() == before {
        let mut scope = NameScope::new("defaults", diagnostics);
        names.defaults.into_iter().for_each(|(rust, name, span)| scope.add_unchecked(rust, &name, span));
    }
}

/// Returns whether the generator declares a struct or an enum for a shape.
fn has_own_type(shape: &Shape) -> bool {
    matches!(shape, Shape::Object(_) | Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Union(_))
}

/// Rust names, each with the location in the contract that it comes from, and the span of that location.
#[derive(Default)]
struct RustNames {
    types: Vec<(String, String, Span)>,
    defaults: Vec<(String, String, Span)>,
}

impl RustNames {
    /// Adds the type of a schema at this location, the types of the schemas inside it, and the default functions of
    /// their fields.
    fn add_types(&mut self, document: &Document, schema: &Schema, location: &TypeLocation, span: Span) {
        if has_own_type(&schema.shape) {
            self.types.push((location.type_name.clone(), location.origin.clone(), span));
        }
        let mut add_nested = |schema: &Schema, location: &TypeLocation| {
            self.add_types(document, schema, location, schema.span)
        };
        match &schema.shape {
            Shape::Object(object) => {
                for property in document.properties(object) {
                    let location = location.named_child(&property.name, ".");
                    self.add_types(document, &property.schema, &location, property.schema.span);
                    if !property.required && document.default_of(&property.schema).is_some() {
                        let rust = rust_name::default_function(&location.type_name);
                        self.defaults.push((rust, location.origin, property.name.span));
                    }
                }
            }
            Shape::Union(union) => {
                for member in &union.members {
                    add_nested(&member.schema, &location.named_child(&member.name, " as "));
                }
            }
            Shape::Array(array) => add_nested(&array.items, &location.unnamed_child("Item", "[]")),
            Shape::Map(map) => add_nested(&map.values, &location.unnamed_child("Value", ".*")),
            _ => {}
        }
    }
}

/// Returns whether the name is a Rust identifier. Reports an invalid name once.
fn check_identifier(rust: &str, name: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let valid = is_identifier(rust);
    if !valid
        && !diagnostics.iter().any(|reported| reported.code == Code::NoRustName && reported.span == span)
    {
        let rust = rust.trim_start_matches("r#");
        let message = format!("`{name}` would be named `{rust}`, which is not a valid Rust identifier");
        let help = "use letters, digits and `_`: the generated code uses the name";
        diagnostics.push(Diagnostic::error(Code::NoRustName, span, message, help));
    }
    valid
}

/// Checks the fields and variants of a schema and of the schemas inside it.
fn check_members(document: &Document, schema: &Schema, diagnostics: &mut Vec<Diagnostic>) {
    match &schema.shape {
        Shape::Object(object) => check_fields(document, object, diagnostics),
        Shape::Enum(shape) => {
            let mut scope = NameScope::new("variants", diagnostics);
            shape.values.iter().for_each(|value: &SpannedString| {
                scope.add(upper_camel_case(value), &value.text, value.span)
            });
        }
        Shape::IntegerEnum(shape) => {
            let mut scope = NameScope::new("variants", diagnostics);
            for (value, span) in &shape.values {
                scope.add(upper_camel_case(&value.to_string()), &value.to_string(), *span);
            }
        }
        Shape::Union(union) => {
            let mut scope = NameScope::new("variants", diagnostics);
            for member in &union.members {
                scope.add(upper_camel_case(&member.name), &member.name.text, member.name.span);
            }
            union.members.iter().for_each(|member| check_members(document, &member.schema, diagnostics));
        }
        Shape::Array(array) => check_members(document, &array.items, diagnostics),
        Shape::Map(map) => check_members(document, &map.values, diagnostics),
        _ => {}
    }
}

fn check_fields(document: &Document, object: &ObjectShape, diagnostics: &mut Vec<Diagnostic>) {
    let mut scope = NameScope::new("fields", diagnostics);
    for property in document.properties(object) {
        scope.add(snake_case(&property.name), &property.name.text, property.name.span);
    }
    for property in object.own_properties() {
        check_members(document, &property.schema, diagnostics);
    }
}

/// Rust names that must be unique.
struct NameScope<'f> {
    /// The kind of names in plural, for messages.
    kind: &'static str,
    /// The Rust names, each with its description for messages and its span. A reserved name has no span.
    names: BTreeMap<String, (String, Option<Span>)>,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl<'f> NameScope<'f> {
    fn new(kind: &'static str, diagnostics: &'f mut Vec<Diagnostic>) -> Self {
        Self { kind, names: BTreeMap::new(), diagnostics }
    }

    /// Reserves a name that does not come from the contract.
    fn reserve(&mut self, rust: &str) {
        self.names.insert(rust.to_owned(), (format!("the reserved name `{rust}`"), None));
    }

    /// Adds a name, but reports only a collision with a reserved name. Collisions between tags are already reported for
    /// their modules.
    fn add_unless_reported(&mut self, rust: String, name: &str, span: Span) {
        if self.names.get(&rust).is_none_or(|(_, span)| span.is_none()) {
            self.add(rust, name, span);
        }
    }

    /// Adds a name that must be an identifier.
    fn add(&mut self, rust: String, name: &str, span: Span) {
        if check_identifier(&rust, name, span, self.diagnostics) {
            self.add_unchecked(rust, name, span);
        }
    }

    /// Adds a name without checking whether it is an identifier. Reports a collision.
    fn add_unchecked(&mut self, rust: String, name: &str, span: Span) {
        let Some((other, other_span)) = self.names.get(&rust) else {
            self.names.insert(rust, (format!("`{name}`"), Some(span)));
            return;
        };
        let diagnostic = Diagnostic::error(
            Code::RustNameCollision,
            span,
            format!("`{name}` and {other} would both be named `{rust}` in Rust ({})", self.kind),
            "rename one of them",
        );
        let diagnostic = match other_span {
            Some(other_span) if *other_span != span => {
                diagnostic.with_related(*other_span, "first used here")
            }
            _ => diagnostic,
        };
        self.diagnostics.push(diagnostic);
    }
}
