//! Chooses the Rust types of the contract's schemas, with their names and modules.
//!
//! [`super::emit_schemas`] generates the types themselves.

use std::collections::BTreeSet;

use contract::model::{Document, EnumShape, IntegerEnumShape, Method, Property, Schema, Shape, UnionShape};
use contract::rust_name;
use contract::type_locations::{self, InlineSchema, TypeLocation};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The generated module that contains a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeModule {
    /// Types that operations use. They implement the traits of poem-openapi and serde.
    Schemas,
    /// Types of operations that a lower crate contains, and that `schemas` exports again. They implement the same traits.
    Lower,
    /// Types that only events use. They implement the traits of serde.
    Events,
}

/// A type to generate.
pub(crate) struct TypeItem<'a> {
    /// The name in Rust.
    pub name: Ident,
    /// The name in the contract; for an inline schema, its location.
    pub origin: String,
    /// The schema of the type.
    pub schema: &'a Schema,
    /// The contents of the type.
    pub kind: TypeKind<'a>,
    /// Whether an absent property differs from null, as in PATCH bodies.
    pub keeps_absent: bool,
}

/// The kind of a type to generate.
pub(crate) enum TypeKind<'a> {
    /// A struct with all its properties, including inherited ones. `closed`: other properties are rejected.
    Struct { properties: Vec<&'a Property>, closed: bool },
    /// An enum of strings.
    Enum(&'a EnumShape),
    /// An enum of integers.
    IntegerEnum(&'a IntegerEnumShape),
    /// An enum with one variant for each member of a union.
    Union(&'a UnionShape),
}

/// The types of a contract.
pub(crate) struct RustTypes<'a> {
    document: &'a Document,
    /// The names in `components.schemas` that operations use, directly or through references.
    used_by_operations: BTreeSet<&'a str>,
    /// The names that only webhooks use.
    used_only_by_webhooks: BTreeSet<&'a str>,
    /// The names whose types a lower crate contains.
    lower: BTreeSet<&'a str>,
    /// The names whose types distinguish an absent property from null: those of PATCH bodies, and those in `lower`.
    keep_absent: BTreeSet<&'a str>,
}

impl<'a> RustTypes<'a> {
    /// Determines which schemas are used by operations, webhooks and PATCH bodies. A lower crate contains the types of the schema
    /// `lower_root` and of those that it references.
    pub(crate) fn new(document: &'a Document, lower_root: Option<&'a str>) -> Self {
        let (mut used_by_operations, mut used_by_webhooks) = (BTreeSet::new(), BTreeSet::new());
        for operation in &document.operations {
            let parameters = operation.parameters.iter().map(|parameter| &parameter.schema);
            let body = operation.body.iter().map(|body| &body.content.schema);
            let responses = operation.responses.iter().filter_map(|response| response.content.as_ref());
            for schema in parameters.chain(body).chain(responses.map(|content| &content.schema)) {
                collect_references(document, schema, &mut used_by_operations);
            }
        }
        for webhook in &document.webhooks {
            collect_references(document, &webhook.content.schema, &mut used_by_webhooks);
        }
        let used_only_by_webhooks = used_by_webhooks.difference(&used_by_operations).copied().collect();
        let mut lower = BTreeSet::new();
        if let Some((name, schema)) = lower_root.and_then(|name| Some((name, document.schema(name)?))) {
            lower.insert(name);
            collect_references(document, schema, &mut lower);
        }
        let mut keep_absent = lower.clone();
        for operation in document.operations.iter().filter(|operation| operation.method == Method::Patch) {
            operation
                .body
                .iter()
                .for_each(|body| collect_references(document, &body.content.schema, &mut keep_absent));
        }
        Self { document, used_by_operations, used_only_by_webhooks, lower, keep_absent }
    }

    /// Returns whether a lower crate contains the type of a schema of `components.schemas`.
    pub(crate) fn is_lower(&self, name: &str) -> bool {
        self.lower.contains(name)
    }

    /// Returns the types of a module: those of `components.schemas` in document order, each followed by its inline
    /// types, then the inline types of operations or webhooks.
    pub(crate) fn items(&self, module: TypeModule) -> Vec<TypeItem<'a>> {
        let mut items = Vec::new();
        for named in &self.document.schemas {
            let name = &*named.name.text;
            let is_in_module = match module {
                TypeModule::Schemas => self.used_by_operations.contains(name) && !self.lower.contains(name),
                TypeModule::Lower => self.lower.contains(name),
                TypeModule::Events => self.used_only_by_webhooks.contains(name),
            };
            if is_in_module {
                let location = TypeLocation::of_schema(name, self.keep_absent.contains(name));
                self.collect(&named.schema, &location, &mut items);
            }
        }
        let is_in_module = |inline: &InlineSchema<'_>| match module {
            TypeModule::Schemas => !inline.in_webhook,
            TypeModule::Events => inline.in_webhook,
            TypeModule::Lower => false,
        };
        for inline in type_locations::inline_schemas(self.document).into_iter().filter(is_in_module) {
            self.collect(inline.schema, &inline.location, &mut items);
        }
        items
    }

    /// Adds the types that a schema defines. A reference defines none.
    fn collect(&self, schema: &'a Schema, location: &TypeLocation, items: &mut Vec<TypeItem<'a>>) {
        let kind = match &schema.shape {
            Shape::Object(object) => {
                Some(TypeKind::Struct { properties: self.document.properties(object), closed: object.closed })
            }
            Shape::Enum(shape) => Some(TypeKind::Enum(shape)),
            Shape::IntegerEnum(shape) => Some(TypeKind::IntegerEnum(shape)),
            Shape::Union(union) => Some(TypeKind::Union(union)),
            _ => None,
        };
        if let Some(kind) = kind {
            let (name, origin) = (format_ident!("{}", location.type_name), location.origin.clone());
            items.push(TypeItem { name, origin, schema, kind, keeps_absent: location.keeps_absent });
        }
        match &schema.shape {
            Shape::Object(object) => {
                for property in self.document.properties(object) {
                    self.collect(&property.schema, &location.named_child(&property.name, "."), items);
                }
            }
            Shape::Union(union) => {
                for member in &union.members {
                    self.collect(&member.schema, &location.named_child(&member.name, " as "), items);
                }
            }
            Shape::Array(array) => self.collect(&array.items, &location.unnamed_child("Item", "[]"), items),
            Shape::Map(map) => self.collect(&map.values, &location.unnamed_child("Value", ".*"), items),
            _ => {}
        }
    }

    /// Returns the type of a schema, without the `Option` of a nullable schema. `owner` is the name of an inline type.
    /// `from` is the module in which the type is written, or `None` for any other generated file.
    pub(crate) fn inner_type(&self, schema: &Schema, owner: &str, from: Option<TypeModule>) -> TokenStream {
        match &schema.shape {
            Shape::Reference(name) => {
                let Some(target) = self.document.schema(name) else { return quote!(serde_json::Value) };
                if has_own_type(&target.shape) {
                    self.type_path(name, from)
                } else {
                    self.inner_type(target, &rust_name::upper_camel_case(name), from)
                }
            }
            Shape::Any => quote!(serde_json::Value),
            Shape::Object(_) | Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Union(_) => {
                // An inline type is in the module in which it is written. Other files use those of `schemas`.
                let ident = format_ident!("{owner}");
                if from.is_some() { quote!(#ident) } else { quote!(schemas::#ident) }
            }
            Shape::Array(array) => {
                let items = self.full_type(&array.items, &format!("{owner}Item"), from);
                quote!(Vec<#items>)
            }
            Shape::Map(map) => {
                let values = self.full_type(&map.values, &format!("{owner}Value"), from);
                quote!(std::collections::BTreeMap<String, #values>)
            }
            Shape::String(string) => {
                let ident = format_ident!("{}", string.rust_type().unwrap_or("String"));
                quote!(#ident)
            }
            Shape::Integer(number) if number.format.as_deref() == Some("int32") => quote!(i32),
            Shape::Integer(_) => quote!(i64),
            Shape::Number(number) if number.format.as_deref() == Some("float") => quote!(f32),
            Shape::Number(_) => quote!(f64),
            Shape::Boolean => quote!(bool),
        }
    }

    /// Returns the type of a schema: an `Option` if the schema is nullable.
    pub(crate) fn full_type(&self, schema: &Schema, owner: &str, from: Option<TypeModule>) -> TokenStream {
        let inner_type = self.inner_type(schema, owner, from);
        if self.is_nullable(schema) { quote!(Option<#inner_type>) } else { inner_type }
    }

    /// Returns whether a schema, or one that its references lead to, is nullable.
    pub(crate) fn is_nullable(&self, schema: &Schema) -> bool {
        self.document.is_nullable(schema)
    }

    fn type_path(&self, name: &str, from: Option<TypeModule>) -> TokenStream {
        let ident = format_ident!("{}", rust_name::upper_camel_case(name));
        let used_by_operations = self.used_by_operations.contains(name);
        match from {
            Some(TypeModule::Schemas | TypeModule::Lower) if used_by_operations => quote!(#ident),
            Some(TypeModule::Events) if !used_by_operations => quote!(#ident),
            _ if used_by_operations => quote!(schemas::#ident),
            _ => quote!(events::#ident),
        }
    }
}

/// Returns whether a Rust type is generated for a shape.
fn has_own_type(shape: &Shape) -> bool {
    matches!(shape, Shape::Object(_) | Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Union(_))
}

/// Collects the names of all schemas that a schema references, directly or indirectly. The properties of a base object
/// are copied into the derived object, so the base itself is not collected.
fn collect_references<'a>(document: &'a Document, schema: &'a Schema, names: &mut BTreeSet<&'a str>) {
    match &schema.shape {
        Shape::Reference(name) => {
            if names.insert(name)
                && let Some(target) = document.schema(name)
            {
                collect_references(document, target, names);
            }
        }
        Shape::Object(object) => {
            for property in document.properties(object) {
                collect_references(document, &property.schema, names);
            }
        }
        Shape::Array(array) => collect_references(document, &array.items, names),
        Shape::Map(map) => collect_references(document, &map.values, names),
        Shape::Union(union) => {
            union.members.iter().for_each(|member| collect_references(document, &member.schema, names));
        }
        Shape::Any
        | Shape::String(_)
        | Shape::Enum(_)
        | Shape::IntegerEnum(_)
        | Shape::Integer(_)
        | Shape::Number(_)
        | Shape::Boolean => {}
    }
}
