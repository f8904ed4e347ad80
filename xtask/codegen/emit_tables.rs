//! Generates the tables of a contract: its scopes, event types and chosen string enums, as plain Rust without a
//! dependency, for crates that the code of the API depends on.

use contract::model::{Document, Schema, Shape};
use contract::rust_name;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Tables;
use super::attributes::docs;

/// A value of a table: its name in the contract, and its documentation.
type Row<'a> = (&'a str, TokenStream);

/// Generates the items of the tables.
pub(crate) fn tables(document: &Document, tables: &Tables<'_>) -> TokenStream {
    let scopes = scopes(document).into_iter().map(|scope| (scope, operations_with_scope(document, scope)));
    let scopes =
        table(&format_ident!("Scope"), &docs(None, "A scope of the contract."), &Vec::from_iter(scopes));
    let events = document.webhooks.iter();
    let events = events.map(|event| (&*event.name.text, docs(event.summary.as_deref(), &event.name)));
    let events = Vec::from_iter(events);
    let events = (!events.is_empty()).then(|| {
        let table =
            table(&format_ident!("EventType"), &docs(None, "An event type of the contract."), &events);
        let fields = event_fields(document);
        quote!(#table #fields)
    });
    let enums = tables.enums.iter().map(|name| string_enum(document, name));
    quote!(#scopes #events #(#enums)*)
}

/// Generates the table of the fields that events of each type contain in `data`.
fn event_fields(document: &Document) -> TokenStream {
    let arms = document.webhooks.iter().map(|webhook| {
        let ident = format_ident!("{}", rust_name::upper_camel_case(&webhook.name.text));
        let mut fields = Vec::new();
        let data = property(document, &webhook.content.schema, "data");
        data.into_iter().for_each(|data| collect_fields(document, data, "", &mut fields));
        let (pointers, kinds): (Vec<String>, Vec<&str>) = fields.into_iter().unzip();
        let kinds = kinds.into_iter().map(|kind| format_ident!("{kind}"));
        quote!(Self::#ident => &[#((#pointers, FieldKind::#kinds)),*],)
    });
    quote! {
        /// The kind of a field in the data of an event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum FieldKind {
            /// `true` or `false`.
            Boolean,
            /// An integer.
            Integer,
            /// A string, except for timestamps.
            Text,
            /// A timestamp.
            Timestamp,
            /// A list of strings.
            TextList,
            /// An object with arbitrary keys and strings as values.
            TextMap,
            /// Any other list.
            List,
            /// Any other value.
            Object,
        }

        impl EventType {
            /// Returns the fields of the event's data: the JSON pointer and the kind of each. Contains the fields of objects,
            /// but not those of objects in lists.
            pub const fn fields(self) -> &'static [(&'static str, FieldKind)] {
                match self { #(#arms)* }
            }
        }
    }
}

/// Returns the schema of a property of an object.
fn property<'a>(document: &'a Document, schema: &'a Schema, name: &str) -> Option<&'a Schema> {
    let Some(Shape::Object(object)) = document.shape(schema) else { return None };
    let property = document.properties(object).into_iter().find(|property| property.name.text == name);
    property.map(|property| &property.schema)
}

/// Adds the fields of an object to `fields`, each with the name of its kind.
fn collect_fields<'a>(
    document: &'a Document,
    object: &'a Schema,
    pointer: &str,
    fields: &mut Vec<(String, &'static str)>,
) {
    let Some(Shape::Object(object)) = document.shape(object) else { return };
    for property in document.properties(object) {
        let pointer = format!("{pointer}/{}", property.name.text.replace('~', "~0").replace('/', "~1"));
        let is_text = |schema| matches!(document.shape(schema), Some(Shape::String(_) | Shape::Enum(_)));
        let kind = match document.shape(&property.schema) {
            Some(Shape::Boolean) => "Boolean",
            Some(Shape::Integer(_) | Shape::IntegerEnum(_)) => "Integer",
            Some(Shape::String(text)) if text.rust_type() == Some("Timestamp") => "Timestamp",
            Some(Shape::String(_) | Shape::Enum(_)) => "Text",
            Some(Shape::Array(list)) if is_text(&list.items) => "TextList",
            Some(Shape::Array(_)) => "List",
            Some(Shape::Map(map)) if is_text(&map.values) => "TextMap",
            _ => "Object",
        };
        fields.push((pointer.clone(), kind));
        collect_fields(document, &property.schema, &pointer, fields);
    }
}

/// Returns the scopes that operations require, in the order of the contract.
pub(crate) fn scopes(document: &Document) -> Vec<&str> {
    let mut scopes: Vec<&str> = Vec::new();
    for scope in
        document.operations.iter().filter_map(|operation| operation.access.as_ref()?.scope.as_deref())
    {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// Generates the documentation of a scope: the operations that require it.
fn operations_with_scope(document: &Document, scope: &str) -> TokenStream {
    let requires = |access: &&contract::model::Access| access.scope.as_deref() == Some(scope);
    let operations =
        document.operations.iter().filter(|operation| operation.access.as_ref().filter(requires).is_some());
    let names: Vec<String> = operations.map(|operation| format!("`{}`", &*operation.id)).collect();
    docs(None, &format!("Required by {}.", names.join(" and ")))
}

/// Generates a string enum of `components.schemas`.
///
/// # Panics
/// Panics when the contract has no such enum. Only the contracts of the project have tables.
fn string_enum(document: &Document, name: &str) -> TokenStream {
    let schema = document.schema(name).unwrap_or_else(|| panic!("the contract has no schema `{name}`"));
    let Shape::Enum(shape) = &schema.shape else { panic!("`{name}` is not a string enum") };
    let rows = shape.values.iter().map(|value| (&**value, docs(None, &format!("`{}`.", &**value))));
    table(
        &format_ident!("{}", rust_name::upper_camel_case(name)),
        &docs(schema.description.as_deref(), name),
        &Vec::from_iter(rows),
    )
}

/// Generates an enum with one variant for each row.
fn table(name: &Ident, about: &TokenStream, rows: &[Row<'_>]) -> TokenStream {
    let idents: Vec<_> =
        rows.iter().map(|(text, _)| format_ident!("{}", rust_name::upper_camel_case(text))).collect();
    let (texts, abouts): (Vec<&str>, Vec<&TokenStream>) =
        rows.iter().map(|(text, about)| (*text, about)).unzip();
    quote! {
        #about
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum #name { #(#abouts #idents,)* }

        impl #name {
            /// All values, in the order of the contract.
            pub const ALL: &'static [Self] = &[#(Self::#idents),*];

            /// The names of all values, in the order of the contract.
            pub const NAMES: &'static [&'static str] = &[#(#texts),*];

            /// Returns the name of the value in the contract.
            pub const fn as_str(self) -> &'static str {
                match self { #(Self::#idents => #texts,)* }
            }
        }
    }
}
