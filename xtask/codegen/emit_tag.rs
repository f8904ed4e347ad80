//! Generates one file for each tag: the trait of the tag, and a request struct and a response enum for each operation.

use contract::model::{Content, Document, Header, MediaType, Operation, Parameter, Response, Shape, Tag};
use contract::rust_name;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::ContractConfig;
use super::attributes::{default_expression, deprecation_note, docs, docs_with_summary};
use super::imports;
use super::types::RustTypes;

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
    let payload = imports::import("payload", &["Bytes", "Json", "Text"], &items);
    let schemas = imports::contains_name(&items, "schemas").then(|| {
        quote!(
            use super::schemas;
        )
    });
    quote! {
        #schemas
        use contract_runtime::response::{OperationResponse, ResponseParts};
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
            MediaType::Text => quote!(String),
            MediaType::Bytes => quote!(bytes::Bytes),
        };
        quote! {
            /// The request body.
            pub body: #ty,
        }
    });
    quote! {
        #[doc = #about]
        #[derive(Debug, Clone, PartialEq)]
        pub struct #name { #(#fields)* #body }
    }
}

/// Returns the payload type of a response body.
fn payload(types: &RustTypes<'_>, content: &Content, owner: &str) -> TokenStream {
    match content.media_type {
        MediaType::Json => {
            let ty = types.full_type(&content.schema, owner, None);
            quote!(Json<#ty>)
        }
        MediaType::Text => quote!(Text),
        MediaType::Bytes => quote!(Bytes),
    }
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

fn response(
    document: &Document,
    types: &RustTypes<'_>,
    operation: &Operation,
    middleware_headers: &[&str],
) -> TokenStream {
    let (_, _, name) = item_names(operation);
    let about = format!(" The responses of `{}`.", operation.id.text);
    let response_variants: Vec<_> = operation
        .responses
        .iter()
        .map(|response| ResponseVariant { document, types, operation, response, middleware_headers })
        .collect();
    let variants = response_variants.iter().map(ResponseVariant::declaration);
    let from = response_variants.iter().map(ResponseVariant::arm_of_from_parts);
    let into = response_variants.iter().map(ResponseVariant::arm_of_into_parts);
    quote! {
        #[doc = #about]
        #[derive(Debug, poem_openapi::ApiResponse)]
        pub enum #name { #(#variants)* }

        impl OperationResponse for #name {
            fn from_parts(parts: ResponseParts) -> Option<Self> {
                match parts.status {
                    #(#from)*
                    _ => None,
                }
            }

            fn into_parts(self) -> ResponseParts {
                match self { #(#into)* }
            }
        }
    }
}

/// Generates one variant of a response enum.
struct ResponseVariant<'a> {
    document: &'a Document,
    types: &'a RustTypes<'a>,
    operation: &'a Operation,
    response: &'a Response,
    middleware_headers: &'a [&'a str],
}

impl ResponseVariant<'_> {
    fn ident(&self) -> Ident {
        format_ident!("{}", rust_name::status_variant(self.response.status))
    }

    fn status(&self) -> proc_macro2::Literal {
        proc_macro2::Literal::u16_unsuffixed(self.response.status)
    }

    /// Returns whether middleware sets a header on many responses. Such a header is declared, but is not a field of
    /// the variant.
    fn is_set_by_middleware(&self, header: &Header) -> bool {
        self.middleware_headers.contains(&&*header.name.to_lowercase())
    }

    /// Returns the headers that are fields of the variant.
    fn field_headers(&self) -> Vec<&Header> {
        self.response.headers.iter().filter(|header| !self.is_set_by_middleware(header)).collect()
    }

    /// Returns the type of a header, without `Option`. poem-openapi supports only basic types in headers: string enums
    /// and times are strings.
    fn inner_header_type(&self, header: &Header) -> TokenStream {
        match self.document.shape(&header.schema) {
            Some(Shape::Integer(_) | Shape::Number(_) | Shape::Boolean) => {
                self.types.inner_type(&header.schema, "Header", None)
            }
            Some(Shape::IntegerEnum(_)) => quote!(i64),
            _ => quote!(String),
        }
    }

    fn header_type(&self, header: &Header) -> TokenStream {
        let inner_type = self.inner_header_type(header);
        if header.required { inner_type } else { quote!(Option<#inner_type>) }
    }

    /// Generates the statement that reads a header from the response parts, and parses it unless it is a string.
    fn read_header(&self, header: &Header) -> TokenStream {
        let (variable, name) = (header_variable(header), &*header.name);
        let is_string = self.inner_header_type(header).to_string() == "String";
        let value = match (header.required, is_string) {
            (true, true) => quote!(parts.header(#name)?),
            (true, false) => quote!(parts.header(#name)?.parse().ok()?),
            (false, true) => quote!(parts.header(#name)),
            (false, false) => quote!(parts.header(#name).and_then(|value| value.parse().ok())),
        };
        quote!(let #variable = #value;)
    }

    /// Generates the expression for a header of the response parts, converted to a string.
    fn write_header(&self, header: &Header) -> TokenStream {
        let (variable, name) = (header_variable(header), &*header.name);
        let is_string = self.inner_header_type(header).to_string() == "String";
        match (header.required, is_string) {
            (true, true) => quote!(Some((#name, #variable))),
            (true, false) => quote!(Some((#name, #variable.to_string()))),
            (false, true) => quote!(#variable.map(|value| (#name, value))),
            (false, false) => quote!(#variable.map(|value| (#name, value.to_string()))),
        }
    }

    fn declaration(&self) -> TokenStream {
        let (ident, status) = (self.ident(), self.status());
        let about = docs(Some(&self.response.description), &format!("{status}."));
        let middleware_headers =
            self.response.headers.iter().filter(|header| self.is_set_by_middleware(header)).map(|header| {
                let (name, ty) = (&*header.name, self.header_type(header).to_string().replace(' ', ""));
                let deprecated = header.deprecated.then(|| quote!(, deprecated));
                quote!(, header(name = #name, ty = #ty #deprecated))
            });
        let attribute = quote!(#[oai(status = #status #(#middleware_headers)*)]);
        let body = self.response.content.as_ref().map(|content| {
            let owner = rust_name::upper_camel_case(&self.operation.id) + &ident.to_string() + "Body";
            payload(self.types, content, &owner)
        });
        let headers = self.field_headers().into_iter().map(|header| {
            let (name, ty) = (&*header.name, self.header_type(header));
            let about = docs(header.description.as_deref(), &header.name);
            let deprecated = header.deprecated.then(|| quote!(, deprecated));
            quote!(#about #[oai(header = #name #deprecated)] #ty)
        });
        let fields: Vec<_> = body.into_iter().chain(headers).collect();
        let fields = (!fields.is_empty()).then(|| quote!((#(#fields),*)));
        quote!(#about #attribute #ident #fields,)
    }

    fn arm_of_from_parts(&self) -> TokenStream {
        let (ident, status) = (self.ident(), self.status());
        let headers = self.field_headers();
        let reads = headers.iter().map(|header| self.read_header(header));
        let body = self.response.content.as_ref().map(|content| match content.media_type {
            MediaType::Json => quote!(Json::Ready(parts.body?)),
            MediaType::Text => quote!(Text(String::from_utf8(parts.body?.into()).ok()?)),
            MediaType::Bytes => quote!(Bytes(parts.body?)),
        });
        let fields: Vec<_> = body
            .into_iter()
            .chain(headers.iter().map(|header| header_variable(header)).map(|name| quote!(#name)))
            .collect();
        let fields = (!fields.is_empty()).then(|| quote!((#(#fields),*)));
        if headers.is_empty() {
            quote!(#status => Some(Self::#ident #fields),)
        } else {
            quote!(#status => { #(#reads)* Some(Self::#ident #fields) })
        }
    }

    fn arm_of_into_parts(&self) -> TokenStream {
        let (ident, status) = (self.ident(), self.status());
        let headers = self.field_headers();
        let body = self.response.content.as_ref().map(|_| quote!(body));
        let body_value = if body.is_some() { quote!(Some(body.into_bytes())) } else { quote!(None) };
        let fields: Vec<_> = body
            .into_iter()
            .chain(headers.iter().map(|header| header_variable(header)).map(|name| quote!(#name)))
            .collect();
        let fields = (!fields.is_empty()).then(|| quote!((#(#fields),*)));
        let pairs = headers.iter().map(|header| self.write_header(header));
        let headers = if headers.is_empty() {
            quote!(Vec::new())
        } else {
            quote!([#(#pairs),*].into_iter().flatten().collect())
        };
        quote!(Self::#ident #fields => ResponseParts { status: #status, headers: #headers, body: #body_value },)
    }
}

/// Returns the variable for the value of a header.
fn header_variable(header: &Header) -> Ident {
    // The generated code already has variables named `body` and `parts`.
    let name = rust_name::variable(&header.name, &["body", "parts"]);
    syn::parse_str(&name).expect("`rust_name` returns a valid identifier")
}
