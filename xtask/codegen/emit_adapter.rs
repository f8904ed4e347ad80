//! `adapter.rs`: the one `#[OpenApi]` implementation over the traits of all tags.
//!
//! Two implementations that share a path would give duplicate keys in poem-openapi's own document, hence one.

use contract::model::{Document, Location, Media, Operation, Parameter, Shape, Tag};
use contract::rust_name;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::attributes::{default_expression, docs, list_validators};
use super::emit_tag::{names, of_tag, parameter_type, variable};
use super::imports;
use super::types::Types;

/// Names that a method of the adapter uses itself; `body` is kept from parameters by a rule.
const OWN: [&str; 2] = ["call", "respond"];

/// The items of `adapter.rs`, for the adapter of that name.
pub(crate) fn adapter(document: &Document, types: &Types<'_>, adapter: &str) -> TokenStream {
    let adapter = format_ident!("{adapter}");
    let tags = served(document);
    let modules: Vec<Ident> = tags.iter().map(|tag| module(tag)).collect();
    let traits: Vec<Ident> =
        tags.iter().map(|tag| format_ident!("{}", rust_name::upper(&tag.name))).collect();
    let methods: TokenStream =
        document.operations.iter().map(|operation| method(document, types, operation)).collect();
    let defaults: TokenStream =
        document.operations.iter().map(|operation| defaults(document, types, operation)).collect();
    let (tag_enum, scope_enum, scheme) = (tag_enum(&tags), scope_enum(document), scheme(document));
    let all = quote!(#methods #defaults);
    let scalars = imports::scalars(&all);
    let places = ["Cookie", "Header", "Path", "Query"];
    let parameters = imports::named("parameter", &places, &methods);
    let payload = imports::named("payload", &["Bytes", "JsonBody", "Text"], &methods);
    let schemas = imports::names(&all, "schemas").then(|| {
        quote!(
            use super::schemas;
        )
    });
    quote! {
        use poem_openapi::OpenApi;

        use super::operations;
        #schemas
        use super::{#(#modules),*};
        use contract_runtime::call::Call;
        #parameters
        #payload
        #scalars
        use contract_runtime::security::{Key, Scheme};
        use contract_runtime::service::respond;

        #tag_enum

        #scope_enum

        #scheme

        /// The API over whoever implements the traits of its tags.
        pub struct #adapter<S>(pub S);

        #[OpenApi]
        impl<S: #(#modules::#traits)+*> #adapter<S> { #methods }

        #defaults
    }
}

/// The tags that have operations, in document order.
pub(crate) fn served(document: &Document) -> Vec<&Tag> {
    document.tags.iter().filter(|tag| of_tag(document, tag).next().is_some()).collect()
}

/// The module of a tag.
pub(crate) fn module(tag: &Tag) -> Ident {
    syn::parse_str(&rust_name::lower(&tag.name)).expect("the name was made to be an identifier")
}

/// What declares the contract's security scheme.
fn scheme(document: &Document) -> TokenStream {
    let name = document.operations.first().map_or("", |operation| &operation.scheme.text);
    let about = format!(" How callers send their keys: the security scheme `{name}`.");
    quote! {
        #[doc = #about]
        pub struct Keys;

        impl Scheme for Keys {
            const NAME: &'static str = #name;
            const CREDENTIAL: contract_runtime::contract::Credential = operations::CREDENTIAL;
        }
    }
}

fn tag_enum(tags: &[&Tag]) -> TokenStream {
    let variants = tags.iter().map(|tag| {
        let (ident, name) = (format_ident!("{}", rust_name::upper(&tag.name)), &*tag.name);
        let about = docs(tag.description.as_deref(), name);
        quote!(#about #[oai(rename = #name)] #ident,)
    });
    quote! {
        /// The tags of the contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
        pub enum Tag { #(#variants)* }
    }
}

fn scope_enum(document: &Document) -> TokenStream {
    let mut scopes: Vec<&str> = Vec::new();
    for operation in &document.operations {
        if !scopes.contains(&&*operation.scope) {
            scopes.push(&operation.scope);
        }
    }
    let idents: Vec<_> = scopes.iter().map(|scope| format_ident!("{}", rust_name::upper(scope))).collect();
    let abouts = scopes.iter().map(|scope| format!(" `{scope}`."));
    quote! {
        /// The scopes of the contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, poem_openapi::OAuthScopes)]
        pub enum Scope { #(#[doc = #abouts] #[oai(rename = #scopes)] #idents,)* }

        impl Scope {
            /// Every scope, in the order of the contract.
            pub const ALL: &'static [Self] = &[#(Self::#idents),*];

            /// The scope as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { #(Self::#idents => #scopes,)* }
            }
        }
    }
}

fn method(document: &Document, types: &Types<'_>, operation: &Operation) -> TokenStream {
    let (name, request, response) = names(operation);
    let module: Ident =
        syn::parse_str(&rust_name::lower(&operation.tag)).expect("the name was made to be an identifier");
    let (id, method) = (&*operation.id, operation.method.key());
    let path = operation.path.replace('{', ":").replace('}', "");
    let tag = format!("Tag::{}", rust_name::upper(&operation.tag));
    let scope = format!("Scope::{}", rust_name::upper(&operation.scope));
    let about = docs(operation.summary.as_deref(), id);
    let deprecated = operation.deprecated.then(|| quote!(, deprecated));
    let arguments =
        operation.parameters.iter().map(|parameter| argument(document, types, operation, parameter));
    let fields = operation.parameters.iter().map(|parameter| {
        let (field, argument) = (variable(parameter), argument_name(parameter));
        quote!(#field: #argument.0,)
    });
    let (body_argument, body_field) = match &operation.body {
        None => (None, None),
        Some(body) => {
            let ty = match body.content.media {
                Media::Json => {
                    let owner = rust_name::upper(&operation.id) + "Body";
                    let ty = types.full(&body.content.schema, &owner, None);
                    quote!(JsonBody<#ty>)
                }
                Media::Text => quote!(Text),
                Media::Bytes => quote!(Bytes),
            };
            (Some(quote!(body: #ty,)), Some(quote!(body: body.0,)))
        }
    };
    quote! {
        #about
        #[oai(path = #path, method = #method, operation_id = #id, tag = #tag #deprecated)]
        async fn #name(
            &self,
            #[oai(scope = #scope)] _key: Key<Keys>,
            call: Call<S::Caller>,
            #(#arguments,)*
            #body_argument
        ) -> #module::#response {
            let request = #module::#request { #(#fields)* #body_field };
            respond(&self.0, &call, self.0.#name(call.clone(), request).await)
        }
    }
}

fn argument(
    document: &Document,
    types: &Types<'_>,
    operation: &Operation,
    parameter: &Parameter,
) -> TokenStream {
    let (variable, name) = (argument_name(parameter), &*parameter.name);
    let place = match parameter.location {
        Location::Path => quote!(Path),
        Location::Query => quote!(Query),
        Location::Header => quote!(Header),
        Location::Cookie => quote!(Cookie),
    };
    let ty = parameter_type(document, types, operation, parameter);
    let mut oai = vec![quote!(name = #name)];
    if defaulted(document, types, operation, parameter) {
        let function = rust_name::default_of_parameter(&operation.id, &parameter.name);
        oai.push(quote!(default = #function));
    }
    let validators = list_validators(document, &parameter.schema);
    oai.extend((!validators.is_empty()).then(|| quote!(validator(#(#validators),*))));
    let list = matches!(document.shape(&parameter.schema), Some(Shape::Array(_)));
    oai.extend((list && !parameter.explode).then(|| quote!(explode = false)));
    oai.extend(parameter.deprecated.then(|| quote!(deprecated)));
    quote!(#[oai(#(#oai),*)] #variable: #place<#ty>)
}

/// The argument of a parameter: its field's name, kept apart from the method's own.
fn argument_name(parameter: &Parameter) -> Ident {
    syn::parse_str(&rust_name::apart(&parameter.name, &OWN)).expect("the name was made to be an identifier")
}

fn owner(operation: &Operation, parameter: &Parameter) -> String {
    rust_name::upper(&operation.id) + &rust_name::upper(&parameter.name)
}

fn defaulted(document: &Document, types: &Types<'_>, operation: &Operation, parameter: &Parameter) -> bool {
    let owner = owner(operation, parameter);
    !parameter.required && default_expression(types, document, &parameter.schema, (&owner, None)).is_some()
}

/// The functions that make an operation's defaults.
fn defaults(document: &Document, types: &Types<'_>, operation: &Operation) -> TokenStream {
    let parameters =
        operation.parameters.iter().filter(|parameter| defaulted(document, types, operation, parameter));
    parameters
        .map(|parameter| {
            let function = rust_name::default_of_parameter(&operation.id, &parameter.name);
            let function = format_ident!("{function}");
            let owner = owner(operation, parameter);
            let ty = types.bare(&parameter.schema, &owner, None);
            let value = default_expression(types, document, &parameter.schema, (&owner, None));
            quote!(fn #function() -> #ty { #value })
        })
        .collect()
}
