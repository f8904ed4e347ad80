//! `schemas.rs`, and the types of `events.rs`: one item for each schema.

use contract::model::{Document, EnumShape, Property, Schema};
use contract::rust_name;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::attributes::{default_expression, docs, validators};
use super::emit_unions;
use super::imports;
use super::types::{Module, TypeItem, TypeKind, Types};

/// What poem-openapi's derive calls the object that it reads fields from, beside the fields themselves.
const OWN: [&str; 1] = ["obj"];

/// The items of `schemas.rs`.
pub(crate) fn schemas(document: &Document, types: &Types<'_>) -> TokenStream {
    let items = items(document, types, Module::Schemas);
    let scalars = imports::scalars(&items);
    quote!(#scalars #items)
}

/// Every type of a module.
pub(crate) fn items(document: &Document, types: &Types<'_>, module: Module) -> TokenStream {
    types.items(module).iter().map(|item| Writer { document, types, module, item }.write()).collect()
}

struct Writer<'a> {
    document: &'a Document,
    types: &'a Types<'a>,
    module: Module,
    item: &'a TypeItem<'a>,
}

impl Writer<'_> {
    fn write(&self) -> TokenStream {
        match &self.item.kind {
            TypeKind::Struct { properties, closed } => self.structure(properties, *closed),
            TypeKind::Enum(shape) => self.enumeration(shape),
            TypeKind::IntegerEnum(shape) => emit_unions::integers(self.module, self.item, shape),
            TypeKind::Union(shape) => emit_unions::union(self.types, self.module, self.item, shape),
        }
    }

    fn docs(&self) -> TokenStream {
        docs(self.item.schema.description.as_deref(), &format!("`{}`.", self.item.origin))
    }

    fn api(&self) -> bool {
        self.module == Module::Schemas
    }

    fn structure(&self, properties: &[&Property], closed: bool) -> TokenStream {
        let (docs, name) = (self.docs(), &self.item.name);
        let mut defaults = TokenStream::new();
        let fields: Vec<_> = properties.iter().map(|property| self.field(property, &mut defaults)).collect();
        let derive = self.api().then(|| quote!(poem_openapi::Object,));
        let oai = (closed && self.api()).then(|| quote!(#[oai(deny_unknown_fields)]));
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
        let lower = rust_name::apart(name, &OWN);
        let ident: syn::Ident = syn::parse_str(&lower).expect("the name was made to be an identifier");
        let docs = docs(self.description(&property.schema), &format!("`{name}`."));
        let owner = format!("{}{}", self.item.name, rust_name::upper(name));
        let inside = (&*owner, Some(self.module));
        let (mut serde, mut oai) = (Vec::new(), Vec::new());
        if lower.trim_start_matches("r#") != name {
            serde.push(quote!(rename = #name));
            oai.push(quote!(rename = #name));
        }
        let nullable = self.types.nullable(&property.schema);
        oai.extend(nullable.then(|| quote!(nullable)));
        let bare = self.types.bare(&property.schema, &owner, Some(self.module));
        let default = default_expression(self.types, self.document, &property.schema, inside);
        let ty = match default.filter(|_| !property.required) {
            Some(expression) => {
                let function = rust_name::default(&owner);
                let ident = format_ident!("{function}");
                let (ty, expression) = if nullable {
                    (quote!(Option<#bare>), quote!(Some(#expression)))
                } else {
                    (bare, expression)
                };
                defaults.extend(quote!(fn #ident() -> #ty { #expression }));
                serde.push(quote!(default = #function));
                oai.push(quote!(default = #function));
                ty
            }
            None if property.required && !nullable => bare,
            None if !property.required && nullable && self.item.patch => {
                serde.push(quote!(default, skip_serializing_if = "MaybeUndefined::is_undefined"));
                oai.push(quote!(skip_serializing_if = "MaybeUndefined::is_undefined"));
                quote!(MaybeUndefined<#bare>)
            }
            None => {
                if !property.required {
                    serde.push(quote!(skip_serializing_if = "Option::is_none"));
                    oai.push(quote!(skip_serializing_if_is_none));
                }
                quote!(Option<#bare>)
            }
        };
        let validators = validators(self.document, &property.schema);
        oai.extend((!validators.is_empty()).then(|| quote!(validator(#(#validators),*))));
        oai.extend(property.schema.deprecated.then(|| quote!(deprecated)));
        let oai = (self.api() && !oai.is_empty()).then(|| quote!(#[oai(#(#oai),*)]));
        let serde = (!serde.is_empty()).then(|| quote!(#[serde(#(#serde),*)]));
        quote!(#docs #oai #serde pub #ident: #ty,)
    }

    /// What a schema means here, or what the thing it refers to means.
    fn description<'s>(&'s self, schema: &'s Schema) -> Option<&'s str> {
        schema.description.as_deref().or_else(|| self.document.resolve(schema)?.description.as_deref())
    }

    fn enumeration(&self, shape: &EnumShape) -> TokenStream {
        let (docs, name) = (self.docs(), &self.item.name);
        let values: Vec<&str> = shape.values.iter().map(|value| &**value).collect();
        let idents: Vec<_> =
            values.iter().map(|value| format_ident!("{}", rust_name::upper(value))).collect();
        // One value has no alternative, so it is also the default.
        let single = values.len() == 1;
        let derive = self.api().then(|| quote!(poem_openapi::Enum,));
        let derive_default = single.then(|| quote!(Default,));
        let variants = values.iter().zip(&idents).map(|(value, ident)| {
            let about = format!(" `{value}`.");
            let oai = self.api().then(|| quote!(#[oai(rename = #value)]));
            let default = single.then(|| quote!(#[default]));
            quote!(#[doc = #about] #oai #default #[serde(rename = #value)] #ident,)
        });
        quote! {
            #docs
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, #derive_default #derive serde::Serialize, serde::Deserialize)]
            pub enum #name { #(#variants)* }

            impl #name {
                /// Every value, in the order of the contract.
                pub const ALL: &'static [Self] = &[#(Self::#idents),*];

                /// The value as it is written.
                pub const fn as_str(self) -> &'static str {
                    match self { #(Self::#idents => #values,)* }
                }
            }
        }
    }
}
