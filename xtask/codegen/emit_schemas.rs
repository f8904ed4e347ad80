//! Generates `schemas.rs` and the types of `events.rs`: one type for each schema.

use contract::model::{Document, EnumShape, Property, Schema};
use contract::rust_name;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::attributes::{default_expression, docs, validators};
use super::emit_unions;
use super::imports;
use super::types::{RustTypes, TypeItem, TypeKind, TypeModule};

/// The variable that poem-openapi's derive macro uses in the scope of the fields.
const RESERVED: [&str; 1] = ["obj"];

/// Generates the items of `schemas.rs`. `lower` is the path of the module of a lower crate that contains some of the types.
pub(crate) fn schemas(document: &Document, types: &RustTypes<'_>, lower: Option<&str>) -> TokenStream {
    let items = items(document, types, TypeModule::Schemas);
    let scalars = imports::scalar_imports(&items);
    let lower = lower.map(|path| {
        let path: syn::Path = syn::parse_str(path).expect("the configuration contains a valid path");
        quote!(pub use #path::*;)
    });
    quote!(#lower #scalars #items)
}

/// Generates the module of a lower crate: types, and the file with their schemas.
pub(crate) fn lower(document: &Document, types: &RustTypes<'_>, schemas_file: &str) -> TokenStream {
    let items = items(document, types, TypeModule::Lower);
    let scalars = imports::scalar_imports(&items);
    quote! {
        #scalars

        /// The schemas of the types as JSON, at the same JSON pointers as in the contract.
        pub const SCHEMAS: &str = include_str!(#schemas_file);

        #items
    }
}

/// Generates every type of a module.
pub(crate) fn items(document: &Document, types: &RustTypes<'_>, module: TypeModule) -> TokenStream {
    types.items(module).iter().map(|item| ItemWriter { document, types, module, item }.write()).collect()
}

/// Generates one type.
struct ItemWriter<'a> {
    document: &'a Document,
    types: &'a RustTypes<'a>,
    module: TypeModule,
    item: &'a TypeItem<'a>,
}

impl ItemWriter<'_> {
    fn write(&self) -> TokenStream {
        match &self.item.kind {
            TypeKind::Struct { properties, closed } => self.structure(properties, *closed),
            TypeKind::Enum(shape) => self.enumeration(shape),
            TypeKind::IntegerEnum(shape) => emit_unions::integer_enum(self.module, self.item, shape),
            TypeKind::Union(shape) => emit_unions::union(self.types, self.module, self.item, shape),
        }
    }

    fn docs(&self) -> TokenStream {
        docs(self.item.schema.description.as_deref(), &format!("`{}`.", self.item.origin))
    }

    fn derives_api_traits(&self) -> bool {
        self.module != TypeModule::Events
    }

    fn structure(&self, properties: &[&Property], closed: bool) -> TokenStream {
        let (docs, name) = (self.docs(), &self.item.name);
        let mut defaults = TokenStream::new();
        let fields: Vec<_> = properties.iter().map(|property| self.field(property, &mut defaults)).collect();
        let derive = self.derives_api_traits().then(|| quote!(poem_openapi::Object,));
        let oai = (closed && self.derives_api_traits()).then(|| quote!(#[oai(deny_unknown_fields)]));
        let serde = closed.then(|| quote!(#[serde(deny_unknown_fields)]));
        quote! {
            #docs
            #[derive(Debug, Clone, PartialEq, #derive serde::Serialize, serde::Deserialize)]
            #oai
            #serde
            pub struct #name { #(#fields)* }
            #defaults
        }
    }

    fn field(&self, property: &Property, defaults: &mut TokenStream) -> TokenStream {
        let name = &*property.name;
        let rust_field = rust_name::variable(name, &RESERVED);
        let ident: syn::Ident = syn::parse_str(&rust_field).expect("`rust_name` returns a valid identifier");
        let docs = docs(self.description(&property.schema), &format!("`{name}`."));
        let owner = format!("{}{}", self.item.name, rust_name::upper_camel_case(name));
        let scope = (&*owner, Some(self.module));
        let (mut serde, mut oai) = (Vec::new(), Vec::new());
        if rust_field.trim_start_matches("r#") != name {
            serde.push(quote!(rename = #name));
            oai.push(quote!(rename = #name));
        }
        let nullable = self.types.is_nullable(&property.schema);
        oai.extend(nullable.then(|| quote!(nullable)));
        let inner_type = self.types.inner_type(&property.schema, &owner, Some(self.module));
        let default = default_expression(self.types, self.document, &property.schema, scope);
        let ty = match default.filter(|_| !property.required) {
            Some(expression) => {
                let function = rust_name::default_function(&owner);
                let ident = format_ident!("{function}");
                let (ty, expression) = if nullable {
                    (quote!(Option<#inner_type>), quote!(Some(#expression)))
                } else {
                    (inner_type, expression)
                };
                defaults.extend(quote!(fn #ident() -> #ty { #expression }));
                serde.push(quote!(default = #function));
                oai.push(quote!(default = #function));
                ty
            }
            None if property.required && !nullable => inner_type,
            None if !property.required && nullable && self.item.keeps_absent => {
                serde.push(quote!(default, skip_serializing_if = "MaybeUndefined::is_undefined"));
                oai.push(quote!(skip_serializing_if = "MaybeUndefined::is_undefined"));
                quote!(MaybeUndefined<#inner_type>)
            }
            None => {
                if !property.required {
                    serde.push(quote!(skip_serializing_if = "Option::is_none"));
                    oai.push(quote!(skip_serializing_if_is_none));
                }
                quote!(Option<#inner_type>)
            }
        };
        let validators = validators(self.document, &property.schema);
        oai.extend((!validators.is_empty()).then(|| quote!(validator(#(#validators),*))));
        oai.extend(property.schema.deprecated.then(|| quote!(deprecated)));
        let oai = (self.derives_api_traits() && !oai.is_empty()).then(|| quote!(#[oai(#(#oai),*)]));
        let serde = (!serde.is_empty()).then(|| quote!(#[serde(#(#serde),*)]));
        quote!(#docs #oai #serde pub #ident: #ty,)
    }

    /// Returns the description of a schema, or else the description of the schema that it references.
    fn description<'s>(&'s self, schema: &'s Schema) -> Option<&'s str> {
        schema.description.as_deref().or_else(|| self.document.resolve(schema)?.description.as_deref())
    }

    fn enumeration(&self, shape: &EnumShape) -> TokenStream {
        let (docs, name) = (self.docs(), &self.item.name);
        let values: Vec<&str> = shape.values.iter().map(|value| &**value).collect();
        let idents: Vec<_> =
            values.iter().map(|value| format_ident!("{}", rust_name::upper_camel_case(value))).collect();
        // An enum with a single value can only default to it.
        let has_one_value = values.len() == 1;
        let derive = self.derives_api_traits().then(|| quote!(poem_openapi::Enum,));
        let derive_default = has_one_value.then(|| quote!(Default,));
        let variants = values.iter().zip(&idents).map(|(value, ident)| {
            let about = format!(" `{value}`.");
            let oai = self.derives_api_traits().then(|| quote!(#[oai(rename = #value)]));
            let default = has_one_value.then(|| quote!(#[default]));
            quote!(#[doc = #about] #oai #default #[serde(rename = #value)] #ident,)
        });
        quote! {
            #docs
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, #derive_default #derive serde::Serialize, serde::Deserialize)]
            pub enum #name { #(#variants)* }

            impl #name {
                /// All values, in the order of the contract.
                pub const ALL: &'static [Self] = &[#(Self::#idents),*];

                /// Returns the value as a string.
                pub const fn as_str(self) -> &'static str {
                    match self { #(Self::#idents => #values,)* }
                }
            }
        }
    }
}
