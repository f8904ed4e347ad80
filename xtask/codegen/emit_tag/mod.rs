//! Generates one file for each tag: the trait of the tag, and a request struct and a response enum for each operation.

mod response;

use contract::model::{Body, Document, MediaType, Operation, Parameter, Tag};
use contract::rust_name;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::ContractConfig;
use super::attributes::{default_expression, deprecation_note, docs, docs_with_summary};
use super::imports;
use super::types::RustTypes;

use response::response;

/// Generates the items of the file of a tag.
pub(crate) fn tag(
    document: &Document,
    types: &RustTypes<'_>,
    tag: &Tag,
    config: &ContractConfig<'_>,
) -> TokenStream {
    let name = format_ident!("{}", rust_name::upper_camel_case(&tag.name));
    let middleware_headers = config.middleware_headers;
    let about = docs(tag.description.as_deref(), &format!("The operations of `{}`.", tag.name.text));
    let operations: Vec<_> = operations_of_tag(document, tag).collect();
    let methods = operations.iter().map(|operation| method(operation));
    let items: TokenStream = operations
        .iter()
        .map(|operation| {
            let (request, response) = (
                request(document, types, operation),
                response(document, types, operation, middleware_headers),
            );
            quote!(#request #response)
        })
        .collect();
    let scalars = imports::scalar_imports(&items);
    let payload = imports::import(
        "payload",
        &["Bytes", "Json", "LineStream", "Lines", "NoBody", "Text", "TypedBytes"],
        &items,
    );
    let response = imports::import("response", &["OperationResponse", "ResponseParts", "StatusCode"], &items);
    let schemas = imports::contains_name(&items, "schemas").then(|| {
        quote!(
            use super::schemas;
        )
    });
    quote! {
        #schemas
        #response
        use contract_runtime::call::Call;
        use contract_runtime::service::Service;
        #payload
        #scalars

        #about
        pub trait #name: Service { #(#methods)* }

        #items
    }
}

/// Returns the operations of a tag, in document order.
pub(crate) fn operations_of_tag<'a>(
    document: &'a Document,
    tag: &'a Tag,
) -> impl Iterator<Item = &'a Operation> {
    document.operations.iter().filter(|operation| operation.tag.text == tag.name.text)
}

/// Returns the names of the method, the request type and the response type of an operation.
pub(crate) fn item_names(operation: &Operation) -> (Ident, Ident, Ident) {
    let upper = rust_name::upper_camel_case(&operation.id);
    let method = syn::parse_str(&rust_name::snake_case(&operation.id))
        .expect("`rust_name` returns a valid identifier");
    (method, format_ident!("{upper}Request"), format_ident!("{upper}Response"))
}

fn method(operation: &Operation) -> TokenStream {
    let (name, request, response) = item_names(operation);
    let about =
        docs_with_summary(operation.summary.as_deref(), operation.description.as_deref(), &operation.id);
    let deprecated = deprecation_note(operation.deprecated);
    quote! {
        #about
        #deprecated
        fn #name(
            &self,
            call: Call<Self::Caller>,
            request: #request,
        ) -> impl Future<Output = Result<#response, Self::Error>> + Send;
    }
}

fn request(document: &Document, types: &RustTypes<'_>, operation: &Operation) -> TokenStream {
    let (_, name, _) = item_names(operation);
    let about = format!(" The parameters and the body of a request of `{}`.", operation.id.text);
    let fields = operation.parameters.iter().map(|parameter| {
        let ident = field_name(parameter);
        let ty = parameter_type(document, types, operation, parameter);
        let fallback = format!("`{}`.", parameter.name.text);
        let about = docs(parameter.description.as_deref(), &fallback);
        quote!(#about pub #ident: #ty,)
    });
    let body = operation.body.as_ref().map(|body| {
        let owner = rust_name::upper_camel_case(&operation.id) + "Body";
        let ty = match body.content.media_type {
            MediaType::Json => types.full_type(&body.content.schema, &owner, None),
            MediaType::Lines => {
                let ty = types.full_type(&body.content.schema, &owner, None);
                quote!(Lines<#ty>)
            }
            MediaType::Text => quote!(String),
            MediaType::Bytes => quote!(bytes::Bytes),
        };
        let ty = if is_optional(body) { quote!(Option<#ty>) } else { ty };
        quote! {
            /// The request body.
            pub body: #ty,
        }
    });
    // A stream can be neither copied nor compared.
    let is_stream = operation.body.as_ref().is_some_and(|body| body.content.media_type == MediaType::Lines);
    let derive = if is_stream { quote!(Debug) } else { quote!(Debug, Clone, PartialEq) };
    quote! {
        #[doc = #about]
        #[derive(#derive)]
        pub struct #name { #(#fields)* #body }
    }
}

/// Returns whether requests without the body are valid. A stream can have no lines.
pub(crate) fn is_optional(body: &Body) -> bool {
    !body.required && body.content.media_type != MediaType::Lines
}

/// Returns the name of the request field of a parameter.
pub(crate) fn field_name(parameter: &Parameter) -> Ident {
    syn::parse_str(&rust_name::snake_case(&parameter.name)).expect("`rust_name` returns a valid identifier")
}

/// Returns the type of a parameter: an `Option` if the parameter is optional and has no default.
pub(crate) fn parameter_type(
    document: &Document,
    types: &RustTypes<'_>,
    operation: &Operation,
    parameter: &Parameter,
) -> TokenStream {
    let owner = rust_name::upper_camel_case(&operation.id) + &rust_name::upper_camel_case(&parameter.name);
    let inner_type = types.inner_type(&parameter.schema, &owner, None);
    let has_default = default_expression(types, document, &parameter.schema, (&owner, None)).is_some();
    if parameter.required || has_default { inner_type } else { quote!(Option<#inner_type>) }
}
