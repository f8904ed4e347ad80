//! `operations.rs`: the contract as static tables.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::attributes::docs;
use crate::contract::model::{Document, Location, Operation, Parameter, Shape};
use crate::contract::rust_name;

/// The items of `operations.rs`.
pub fn operations(document: &Document) -> TokenStream {
    let items = document.operations.iter().map(|operation| table(document, operation));
    let statics =
        document.operations.iter().map(|operation| format_ident!("{}", rust_name::constant(&operation.id)));
    quote! {
        use crate::api::contract::{Body, Describes, Operation, Parameter, ParameterKind, Place};

        /// Every operation, in the order of the contract.
        pub static OPERATIONS: &[&Operation] = &[#(&#statics),*];

        #(#items)*
    }
}

fn table(document: &Document, operation: &Operation) -> TokenStream {
    let marker = format_ident!("{}", rust_name::upper(&operation.id));
    let table = format_ident!("{}", rust_name::constant(&operation.id));
    let (id, path, tag, scope) = (&*operation.id, &*operation.path, &*operation.tag, &*operation.scope);
    let method = operation.method.key().to_uppercase();
    let about = docs(operation.summary.as_deref(), id);
    let table_about = format!(" The description of [`{marker}`].");
    let parameters = operation.parameters.iter().map(|parameter| row(document, parameter));
    let body = match &operation.body {
        None => quote!(None),
        Some(body) => {
            let (required, media_type) = (body.required, &*body.content.media_type);
            let schema = &body.content.schema.pointer;
            quote!(Some(Body { required: #required, media_type: #media_type, schema: #schema }))
        }
    };
    let statuses =
        operation.responses.iter().map(|response| proc_macro2::Literal::u16_unsuffixed(response.status));
    quote! {
        #about
        #[derive(Debug, Clone, Copy)]
        pub struct #marker;

        impl Describes for #marker {
            const OPERATION: &'static Operation = &#table;
        }

        #[doc = #table_about]
        pub static #table: Operation = Operation {
            id: #id,
            method: #method,
            path: #path,
            tag: #tag,
            scope: Some(#scope),
            parameters: &[#(#parameters),*],
            body: #body,
            statuses: &[#(#statuses),*],
        };
    }
}

fn row(document: &Document, parameter: &Parameter) -> TokenStream {
    let (name, required, schema) = (&*parameter.name, parameter.required, &parameter.schema.pointer);
    let place = match parameter.location {
        Location::Path => quote!(Path),
        Location::Query => quote!(Query),
        Location::Header => quote!(Header),
    };
    let kind = match document.resolve(&parameter.schema).shape {
        Shape::Integer(_) => quote!(Integer),
        Shape::Number(_) => quote!(Number),
        Shape::Boolean => quote!(Boolean),
        _ => quote!(String),
    };
    quote! {
        Parameter {
            name: #name,
            place: Place::#place,
            required: #required,
            schema: #schema,
            kind: ParameterKind::#kind,
        }
    }
}
