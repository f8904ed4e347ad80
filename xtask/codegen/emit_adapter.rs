//! Generates `adapter.rs`: one `#[OpenApi]` implementation for the traits of all tags.
//!
//! One implementation for each tag would produce duplicate keys in poem-openapi's document when two tags share a path.

use contract::model::{Document, MediaType, Operation, Parameter, ParameterLocation, Shape, Tag};
use contract::{Profile, rust_name};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::attributes::{default_expression, docs, parameter_validators};
use super::emit_tables::scopes;
use super::emit_tag::{field_name, is_optional, item_names, operations_of_tag, parameter_type};
use super::imports;
use super::types::RustTypes;

/// Names that the generated methods use, except for `body`: a rule of the contract forbids a parameter with this name
/// beside a request body.
const RESERVED: [&str; 3] = ["call", "respond", "respond_or_error"];

/// Generates the items of `adapter.rs`. `adapter` is the name of the adapter type.
pub(crate) fn adapter(
    document: &Document,
    types: &RustTypes<'_>,
    adapter: &str,
    profile: Profile,
) -> TokenStream {
    let adapter = format_ident!("{adapter}");
    let tags = tags_with_operations(document);
    let modules: Vec<Ident> = tags.iter().map(|tag| tag_module(tag)).collect();
    let traits: Vec<Ident> =
        tags.iter().map(|tag| format_ident!("{}", rust_name::upper_camel_case(&tag.name))).collect();
    let methods: TokenStream =
        document.operations.iter().map(|operation| method(document, types, operation)).collect();
    let defaults: TokenStream =
        document.operations.iter().map(|operation| defaults(document, types, operation)).collect();
    let is_open = profile == Profile::Open;
    let tag_enum = tag_enum(&tags);
    // In the open profile, the service reads the security of an operation from its route.
    let (scope_enum, scheme) =
        if is_open { Default::default() } else { (scope_enum(document), scheme(document)) };
    let (operations, security, respond) = match profile {
        Profile::Server => (
            Some(quote!(
                use super::operations;
            )),
            Some(quote!(
                use contract_runtime::security::{SecurityRequirement, SecurityScheme};
            )),
            quote!(respond),
        ),
        Profile::Open => (None, None, quote!({Responded, respond_or_error})),
    };
    let items = quote!(#methods #defaults);
    let scalars = imports::scalar_imports(&items);
    let locations = ["Cookie", "Header", "Path", "Query"];
    let parameters = imports::import("parameter", &locations, &methods);
    let payload =
        imports::import("payload", &["Bytes", "JsonBody", "Lines", "OptionalBody", "Text"], &methods);
    let schemas = imports::contains_name(&items, "schemas").then(|| {
        quote!(
            use super::schemas;
        )
    });
    quote! {
        use poem_openapi::OpenApi;

        #operations
        #schemas
        use super::{#(#modules),*};
        use contract_runtime::call::Call;
        #parameters
        #payload
        #scalars
        #security
        use contract_runtime::service::#respond;

        #tag_enum

        #scope_enum

        #scheme

        /// Serves an implementation of the traits of all tags as a poem-openapi API.
        pub struct #adapter<S>(pub S);

        #[OpenApi]
        impl<S: #(#modules::#traits)+*> #adapter<S> { #methods }

        #defaults
    }
}

/// Returns the tags that have operations, in document order.
pub(crate) fn tags_with_operations(document: &Document) -> Vec<&Tag> {
    document.tags.iter().filter(|tag| operations_of_tag(document, tag).next().is_some()).collect()
}

/// Returns the name of the module of a tag.
pub(crate) fn tag_module(tag: &Tag) -> Ident {
    syn::parse_str(&rust_name::snake_case(&tag.name)).expect("`rust_name` returns a valid identifier")
}

/// Generates the type of the contract's security scheme.
fn scheme(document: &Document) -> TokenStream {
    let access = document.operations.iter().find_map(|operation| operation.access.as_ref());
    let name = access.map_or("", |access| &access.scheme.text);
    let about = format!(" The security scheme `{name}`: how clients send their API keys.");
    quote! {
        #[doc = #about]
        pub struct Keys;

        impl SecurityScheme for Keys {
            const NAME: &'static str = #name;
            const CREDENTIAL: contract_runtime::contract::Credential = operations::CREDENTIAL;
        }
    }
}

fn tag_enum(tags: &[&Tag]) -> TokenStream {
    let variants = tags.iter().map(|tag| {
        let (ident, name) = (format_ident!("{}", rust_name::upper_camel_case(&tag.name)), &*tag.name);
        let about = docs(tag.description.as_deref(), name);
        quote!(#about #[oai(rename = #name)] #ident,)
    });
    quote! {
        /// A tag of the contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
        pub enum Tag { #(#variants)* }
    }
}

fn scope_enum(document: &Document) -> TokenStream {
    let scopes = scopes(document);
    let idents: Vec<_> =
        scopes.iter().map(|scope| format_ident!("{}", rust_name::upper_camel_case(scope))).collect();
    let abouts = scopes.iter().map(|scope| format!(" `{scope}`."));
    quote! {
        /// A scope of the contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, poem_openapi::OAuthScopes)]
        pub enum Scope { #(#[doc = #abouts] #[oai(rename = #scopes)] #idents,)* }

        impl Scope {
            /// All scopes, in the order of the contract.
            pub const ALL: &'static [Self] = &[#(Self::#idents),*];

            /// Returns the scope as a string, such as `read:courses`.
            pub const fn as_str(self) -> &'static str {
                match self { #(Self::#idents => #scopes,)* }
            }
        }
    }
}

fn method(document: &Document, types: &RustTypes<'_>, operation: &Operation) -> TokenStream {
    let (name, request, response) = item_names(operation);
    let module: Ident = syn::parse_str(&rust_name::snake_case(&operation.tag))
        .expect("`rust_name` returns a valid identifier");
    let (id, method) = (&*operation.id, operation.method.key());
    let path = operation.path.replace('{', ":").replace('}', "");
    let tag = format!("Tag::{}", rust_name::upper_camel_case(&operation.tag));
    let key = operation.access.as_ref().map(|access| {
        let scope = access.scope.as_ref().map(|scope| {
            let scope = format!("Scope::{}", rust_name::upper_camel_case(scope));
            quote!(#[oai(scope = #scope)])
        });
        quote!(#scope _key: SecurityRequirement<Keys>,)
    });
    let about = docs(operation.summary.as_deref(), id);
    let deprecated = operation.deprecated.then(|| quote!(, deprecated));
    let arguments =
        operation.parameters.iter().map(|parameter| argument(document, types, operation, parameter));
    let fields = operation.parameters.iter().map(|parameter| {
        let (field, argument) = (field_name(parameter), argument_name(parameter));
        quote!(#field: #argument.0,)
    });
    let (body_argument, body_field) = match &operation.body {
        None => (None, None),
        Some(body) => {
            let ty = match body.content.media_type {
                MediaType::Json => {
                    let owner = rust_name::upper_camel_case(&operation.id) + "Body";
                    let ty = types.full_type(&body.content.schema, &owner, None);
                    quote!(JsonBody<#ty>)
                }
                MediaType::Lines => {
                    let owner = rust_name::upper_camel_case(&operation.id) + "Body";
                    let ty = types.full_type(&body.content.schema, &owner, None);
                    quote!(Lines<#ty>)
                }
                MediaType::Text => quote!(Text),
                MediaType::Bytes => quote!(Bytes),
            };
            let ty = if is_optional(body) { quote!(OptionalBody<#ty>) } else { ty };
            let field = match body.content.media_type {
                MediaType::Lines => quote!(body,),
                _ if is_optional(body) => quote!(body: body.0.map(|body| body.0),),
                _ => quote!(body: body.0,),
            };
            (Some(quote!(body: #ty,)), Some(field))
        }
    };
    // In the open profile, an error without a documented status has no variant.
    let (output, respond) = match &operation.access {
        Some(_) => (quote!(#module::#response), quote!(respond)),
        None => (quote!(Responded<#module::#response>), quote!(respond_or_error)),
    };
    quote! {
        #about
        #[oai(path = #path, method = #method, operation_id = #id, tag = #tag #deprecated)]
        async fn #name(
            &self,
            #key
            call: Call<S::Caller>,
            #(#arguments,)*
            #body_argument
        ) -> #output {
            let request = #module::#request { #(#fields)* #body_field };
            #respond(&self.0, &call, self.0.#name(call.clone(), request).await)
        }
    }
}

fn argument(
    document: &Document,
    types: &RustTypes<'_>,
    operation: &Operation,
    parameter: &Parameter,
) -> TokenStream {
    let (variable, name) = (argument_name(parameter), &*parameter.name);
    let extractor = match parameter.location {
        ParameterLocation::Path => quote!(Path),
        ParameterLocation::Query => quote!(Query),
        ParameterLocation::Header => quote!(Header),
        ParameterLocation::Cookie => quote!(Cookie),
    };
    let ty = parameter_type(document, types, operation, parameter);
    let mut oai = vec![quote!(name = #name)];
    if has_default(document, types, operation, parameter) {
        let function = rust_name::parameter_default_function(&operation.id, &parameter.name);
        oai.push(quote!(default = #function));
    }
    let validators = parameter_validators(document, &parameter.schema);
    oai.extend((!validators.is_empty()).then(|| quote!(validator(#(#validators),*))));
    let is_list = matches!(document.shape(&parameter.schema), Some(Shape::Array(_)));
    oai.extend((is_list && !parameter.explode).then(|| quote!(explode = false)));
    oai.extend(parameter.deprecated.then(|| quote!(deprecated)));
    quote!(#[oai(#(#oai),*)] #variable: #extractor<#ty>)
}

/// Returns the method argument of a parameter: the name of its field, changed if the method already uses that name.
fn argument_name(parameter: &Parameter) -> Ident {
    syn::parse_str(&rust_name::variable(&parameter.name, &RESERVED))
        .expect("`rust_name` returns a valid identifier")
}

/// Returns the name of the inline type of a parameter.
fn owner(operation: &Operation, parameter: &Parameter) -> String {
    rust_name::upper_camel_case(&operation.id) + &rust_name::upper_camel_case(&parameter.name)
}

/// Returns whether the generated code uses the default of a parameter. A required parameter has none.
fn has_default(
    document: &Document,
    types: &RustTypes<'_>,
    operation: &Operation,
    parameter: &Parameter,
) -> bool {
    let owner = owner(operation, parameter);
    !parameter.required && default_expression(types, document, &parameter.schema, (&owner, None)).is_some()
}

/// Generates the functions that return the default values of an operation's parameters.
fn defaults(document: &Document, types: &RustTypes<'_>, operation: &Operation) -> TokenStream {
    let parameters =
        operation.parameters.iter().filter(|parameter| has_default(document, types, operation, parameter));
    parameters
        .map(|parameter| {
            let function = rust_name::parameter_default_function(&operation.id, &parameter.name);
            let function = format_ident!("{function}");
            let owner = owner(operation, parameter);
            let ty = types.inner_type(&parameter.schema, &owner, None);
            let value = default_expression(types, document, &parameter.schema, (&owner, None));
            quote!(fn #function() -> #ty { #value })
        })
        .collect()
}
