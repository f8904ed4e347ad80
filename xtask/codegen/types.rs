//! Which Rust types stand for the contract's schemas.
//!
//! Owns the choice of types, their names and their modules. It never writes an item; [`super::emit_schemas`] does.

use std::collections::BTreeSet;

use contract::model::{Document, EnumShape, IntegerEnumShape, Method, Property, Schema, Shape, UnionShape};
use contract::rust_name;
use contract::sites::{self, Inline, Site};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The module in which a type stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Module {
    /// Reached by operations: known to poem-openapi and serde.
    Schemas,
    /// Reached by events only: known to serde.
    Events,
}

/// A type to be written.
pub(crate) struct TypeItem<'a> {
    /// Its name in Rust.
    pub name: Ident,
    /// Its name in the contract, or the place it stands at.
    pub origin: String,
    /// The schema it stands for.
    pub schema: &'a Schema,
    /// What it is made of.
    pub kind: TypeKind<'a>,
    /// Whether it stands in a body of PATCH, where absent and null differ.
    pub patch: bool,
}

/// The kinds of types to be written.
pub(crate) enum TypeKind<'a> {
    /// A struct, with every property that it has, inherited ones first.
    Struct { properties: Vec<&'a Property>, closed: bool },
    /// An enum of strings.
    Enum(&'a EnumShape),
    /// An enum of whole numbers.
    IntegerEnum(&'a IntegerEnumShape),
    /// One of several types.
    Union(&'a UnionShape),
}

/// The types of a contract.
pub(crate) struct Types<'a> {
    document: &'a Document,
    /// The names of `components.schemas` that operations reach.
    reached: BTreeSet<&'a str>,
    /// And those that webhooks reach besides.
    sent: BTreeSet<&'a str>,
    /// Those that the bodies of PATCH reach, where absent and null differ.
    patches: BTreeSet<&'a str>,
}

impl<'a> Types<'a> {
    /// Finds out which schemas are reached from where.
    pub(crate) fn new(document: &'a Document) -> Self {
        let (mut reached, mut sent) = (BTreeSet::new(), BTreeSet::new());
        for operation in &document.operations {
            let parameters = operation.parameters.iter().map(|parameter| &parameter.schema);
            let body = operation.body.iter().map(|body| &body.content.schema);
            let responses = operation.responses.iter().filter_map(|response| response.content.as_ref());
            for schema in parameters.chain(body).chain(responses.map(|content| &content.schema)) {
                reach(document, schema, &mut reached);
            }
        }
        for webhook in &document.webhooks {
            reach(document, &webhook.content.schema, &mut sent);
        }
        let sent = sent.difference(&reached).copied().collect();
        let mut patches = BTreeSet::new();
        for operation in document.operations.iter().filter(|operation| operation.method == Method::Patch) {
            operation.body.iter().for_each(|body| reach(document, &body.content.schema, &mut patches));
        }
        Self { document, reached, sent, patches }
    }

    /// The types of a module, in document order, each followed by those written inside it.
    pub(crate) fn items(&self, module: Module) -> Vec<TypeItem<'a>> {
        let mut items = Vec::new();
        for named in &self.document.schemas {
            let name = &*named.name.text;
            let here = match module {
                Module::Schemas => self.reached.contains(name),
                Module::Events => self.sent.contains(name),
            };
            if here {
                let site = Site::named(name, self.patches.contains(name));
                self.collect(&named.schema, &site, &mut items);
            }
        }
        let here = |inline: &Inline<'_>| inline.sent == (module == Module::Events);
        for inline in sites::inline(self.document).into_iter().filter(here) {
            self.collect(inline.schema, &inline.site, &mut items);
        }
        items
    }

    /// Adds the types that a schema needs, when it stands for itself and is not a reference.
    fn collect(&self, schema: &'a Schema, site: &Site, items: &mut Vec<TypeItem<'a>>) {
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
            let (name, origin) = (format_ident!("{}", site.owner), site.origin.clone());
            items.push(TypeItem { name, origin, schema, kind, patch: site.patch });
        }
        match &schema.shape {
            Shape::Object(object) => {
                for property in self.document.properties(object) {
                    self.collect(&property.schema, &site.below(&property.name, "."), items);
                }
            }
            Shape::Union(union) => {
                for member in &union.members {
                    self.collect(&member.schema, &site.below(&member.name, " as "), items);
                }
            }
            Shape::Array(array) => self.collect(&array.items, &site.inside("Item", "[]"), items),
            Shape::Map(map) => self.collect(&map.values, &site.inside("Value", ".*"), items),
            _ => {}
        }
    }

    /// The type of a schema as a module names it, without regard to null. `owner` names what is written inside.
    pub(crate) fn bare(&self, schema: &Schema, owner: &str, from: Option<Module>) -> TokenStream {
        match &schema.shape {
            Shape::Reference(name) => {
                let Some(target) = self.document.schema(name) else { return quote!(serde_json::Value) };
                if stands_for_itself(&target.shape) {
                    self.path(name, from)
                } else {
                    self.bare(target, &rust_name::upper(name), from)
                }
            }
            Shape::Any => quote!(serde_json::Value),
            Shape::Object(_) | Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Union(_) => {
                // A type written inside another stands where its owner stands.
                let ident = format_ident!("{owner}");
                if from.is_some() { quote!(#ident) } else { quote!(schemas::#ident) }
            }
            Shape::Array(array) => {
                let items = self.full(&array.items, &format!("{owner}Item"), from);
                quote!(Vec<#items>)
            }
            Shape::Map(map) => {
                let values = self.full(&map.values, &format!("{owner}Value"), from);
                quote!(std::collections::BTreeMap<String, #values>)
            }
            Shape::String(string) => {
                let ident = format_ident!("{}", string.scalar().unwrap_or("String"));
                quote!(#ident)
            }
            Shape::Integer(number) if number.format.as_deref() == Some("int32") => quote!(i32),
            Shape::Integer(_) => quote!(i64),
            Shape::Number(number) if number.format.as_deref() == Some("float") => quote!(f32),
            Shape::Number(_) => quote!(f64),
            Shape::Boolean => quote!(bool),
        }
    }

    /// The type of a schema; an `Option` when null is a value of it.
    pub(crate) fn full(&self, schema: &Schema, owner: &str, from: Option<Module>) -> TokenStream {
        let bare = self.bare(schema, owner, from);
        if self.nullable(schema) { quote!(Option<#bare>) } else { bare }
    }

    /// Whether null is a value of a schema, or of what it stands for.
    pub(crate) fn nullable(&self, schema: &Schema) -> bool {
        schema.nullable || self.document.resolve(schema).is_some_and(|target| target.nullable)
    }

    fn path(&self, name: &str, from: Option<Module>) -> TokenStream {
        let ident = format_ident!("{}", rust_name::upper(name));
        let home = if self.reached.contains(name) { Module::Schemas } else { Module::Events };
        match (home, from) {
            (home, Some(here)) if home == here => quote!(#ident),
            (Module::Schemas, _) => quote!(schemas::#ident),
            (Module::Events, _) => quote!(events::#ident),
        }
    }
}

/// Whether a shape is a type of its own.
fn stands_for_itself(shape: &Shape) -> bool {
    matches!(shape, Shape::Object(_) | Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Union(_))
}

/// Collects the names of every schema that a schema leads to. The base of an object is written into the object, so it is
/// reached only by who names it.
fn reach<'a>(document: &'a Document, schema: &'a Schema, names: &mut BTreeSet<&'a str>) {
    match &schema.shape {
        Shape::Reference(name) => {
            if names.insert(name)
                && let Some(target) = document.schema(name)
            {
                reach(document, target, names);
            }
        }
        Shape::Object(object) => {
            for property in document.properties(object) {
                reach(document, &property.schema, names);
            }
        }
        Shape::Array(array) => reach(document, &array.items, names),
        Shape::Map(map) => reach(document, &map.values, names),
        Shape::Union(union) => {
            union.members.iter().for_each(|member| reach(document, &member.schema, names));
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
