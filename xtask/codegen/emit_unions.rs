//! Generates the types that poem-openapi's derive macros do not support: unions and integer enums.
//!
//! poem-openapi's `Union` rejects every value of a closed object, and its `Enum` supports only strings. Therefore serde
//! parses and serializes these types, and generated trait implementations describe them to poem-openapi.

use contract::model::{IntegerEnumShape, UnionShape};
use contract::rust_name;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::attributes::docs;
use super::types::{RustTypes, TypeItem, TypeModule};

/// Generates a union: an enum with one variant for each member.
pub(crate) fn union(
    types: &RustTypes<'_>,
    module: TypeModule,
    item: &TypeItem<'_>,
    shape: &UnionShape,
) -> TokenStream {
    let name = &item.name;
    let docs = docs(item.schema.description.as_deref(), &format!("`{}`.", item.origin));
    let idents: Vec<Ident> = shape
        .members
        .iter()
        .map(|member| format_ident!("{}", rust_name::upper_camel_case(&member.name)))
        .collect();
    let member_types: Vec<TokenStream> = shape
        .members
        .iter()
        .zip(&idents)
        .map(|(member, ident)| types.full_type(&member.schema, &format!("{name}{ident}"), Some(module)))
        .collect();
    let variants =
        shape.members.iter().zip(idents.iter().zip(&member_types)).map(|(member, (ident, member_type))| {
            let about = format!(" `{}`.", member.name.text);
            quote!(#[doc = #about] #ident(#member_type),)
        });
    let api = (module != TypeModule::Events).then(|| {
        let discriminator = shape.discriminator.as_ref().map(|property| {
            let property = &property.text;
            let mapping = shape.members.iter().zip(&member_types).map(|(member, member_type)| {
                let value = &member.name.text;
                quote!((#value.to_owned(), format!("#/components/schemas/{}", <#member_type as poem_openapi::types::Type>::name())))
            });
            quote! {
                discriminator: Some(poem_openapi::registry::MetaDiscriminatorObject {
                    property_name: #property,
                    mapping: vec![#(#mapping),*],
                }),
            }
        });
        poem_openapi_impls(
            name,
            &quote! {
                poem_openapi::registry::MetaSchema {
                    one_of: vec![#(<#member_types as poem_openapi::types::Type>::schema_ref()),*],
                    #discriminator
                    ..poem_openapi::registry::MetaSchema::ANY
                }
            },
            &quote!(#(<#member_types as poem_openapi::types::Type>::register(registry);)*),
        )
    });
    let discriminator = shape.discriminator.as_ref().map(|property| &property.text);
    let derive_deserialize = discriminator.is_none().then(|| quote!(serde::Deserialize));
    let deserialize = discriminator.map(|property| {
        let values = shape.members.iter().map(|member| &member.name.text);
        deserialize_impl(
            name,
            property,
            quote!(#(Some(#values) => serde_json::from_value(value).map(Self::#idents),)*),
        )
    });
    quote! {
        #docs
        #[derive(Debug, Clone, PartialEq, serde::Serialize, #derive_deserialize)]
        #[serde(untagged)]
        pub enum #name { #(#variants)* }

        #deserialize

        #api
    }
}

/// Generates the conversion from JSON for a union with a discriminator. With `untagged`, serde would try one member after the other.
fn deserialize_impl(name: &Ident, discriminator: &str, arms: TokenStream) -> TokenStream {
    quote! {
        impl<'de> serde::Deserialize<'de> for #name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let member = match value.get(#discriminator).and_then(serde_json::Value::as_str) {
                    #arms
                    _ => return Err(serde::de::Error::custom(concat!("unknown value of `", #discriminator, "`"))),
                };
                member.map_err(serde::de::Error::custom)
            }
        }
    }
}

/// Generates an enum of integers.
pub(crate) fn integer_enum(module: TypeModule, item: &TypeItem<'_>, shape: &IntegerEnumShape) -> TokenStream {
    let name = &item.name;
    let docs = docs(item.schema.description.as_deref(), &format!("`{}`.", item.origin));
    let values: Vec<Literal> =
        shape.values.iter().map(|(value, _)| Literal::i64_unsuffixed(*value)).collect();
    let idents: Vec<Ident> = shape
        .values
        .iter()
        .map(|(value, _)| format_ident!("{}", rust_name::upper_camel_case(&value.to_string())))
        .collect();
    let variants = idents.iter().zip(&values).map(|(ident, value)| {
        let about = format!(" `{value}`.");
        quote!(#[doc = #about] #ident,)
    });
    let api = (module != TypeModule::Events).then(|| {
        let impls = poem_openapi_impls(
            name,
            &quote! {
                poem_openapi::registry::MetaSchema {
                    enum_items: vec![#(serde_json::Value::from(#values)),*],
                    ..poem_openapi::registry::MetaSchema::new("integer")
                }
            },
            &TokenStream::new(),
        );
        quote! {
            #impls

            impl poem_openapi::types::ParseFromParameter for #name {
                fn parse_from_parameter(text: &str) -> poem_openapi::types::ParseResult<Self> {
                    let value: i64 = text.parse().map_err(poem_openapi::types::ParseError::custom)?;
                    Self::try_from(value).map_err(poem_openapi::types::ParseError::custom)
                }
            }
        }
    });
    quote! {
        #docs
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(into = "i64", try_from = "i64")]
        pub enum #name { #(#variants)* }

        impl #name {
            /// All values, in the order of the contract.
            pub const ALL: &'static [Self] = &[#(Self::#idents),*];
        }

        impl From<#name> for i64 {
            fn from(value: #name) -> Self {
                match value { #(#name::#idents => #values,)* }
            }
        }

        impl TryFrom<i64> for #name {
            type Error = &'static str;

            fn try_from(value: i64) -> std::result::Result<Self, Self::Error> {
                match value {
                    #(#values => Ok(Self::#idents),)*
                    _ => Err("is not an allowed value"),
                }
            }
        }

        #api
    }
}

/// Generates the poem-openapi traits of a type that serde parses and serializes.
fn poem_openapi_impls(name: &Ident, meta: &TokenStream, register: &TokenStream) -> TokenStream {
    let ty = name.to_string();
    let registry = if register.is_empty() { quote!(_) } else { quote!(registry) };
    quote! {
        impl poem_openapi::types::Type for #name {
            const IS_REQUIRED: bool = true;
            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> std::borrow::Cow<'static, str> {
                #ty.into()
            }

            fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
                poem_openapi::registry::MetaSchemaRef::Reference(#ty.to_owned())
            }

            fn register(registry: &mut poem_openapi::registry::Registry) {
                registry.create_schema::<Self, _>(#ty.to_owned(), |#registry| {
                    #register
                    #meta
                });
            }

            fn as_raw_value(&self) -> Option<&Self::RawValueType> {
                Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> std::boxed::Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
                std::boxed::Box::new(std::iter::once(self))
            }
        }

        impl poem_openapi::types::ParseFromJSON for #name {
            fn parse_from_json(value: Option<serde_json::Value>) -> poem_openapi::types::ParseResult<Self> {
                serde_json::from_value(value.unwrap_or_default()).map_err(poem_openapi::types::ParseError::custom)
            }
        }

        impl poem_openapi::types::ToJSON for #name {
            fn to_json(&self) -> Option<serde_json::Value> {
                serde_json::to_value(self).ok()
            }
        }
    }
}
