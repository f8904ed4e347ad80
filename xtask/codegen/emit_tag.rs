//! One file a tag: its trait, and a request struct and a response enum for each of its operations.

use contract::model::{Content, Document, Header, Media, Operation, Parameter, Response, Shape, Tag};
use contract::rust_name;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Names;
use super::attributes::{default_expression, deprecated, docs, docs_with_summary};
use super::imports;
use super::types::Types;

/// The items of one tag's file.
pub(crate) fn tag(document: &Document, types: &Types<'_>, tag: &Tag, names: &Names<'_>) -> TokenStream {
    let name = format_ident!("{}", rust_name::upper(&tag.name));
    let ambient = names.ambient;
    let about = docs(tag.description.as_deref(), &format!("The operations of `{}`.", tag.name.text));
    let operations: Vec<_> = of_tag(document, tag).collect();
    let methods = operations.iter().map(|operation| method(operation));
    let items: TokenStream = operations
        .iter()
        .map(|operation| {
            let (request, response) =
                (request(document, types, operation), response(document, types, operation, ambient));
            quote!(#request #response)
        })
        .collect();
    let scalars = imports::scalars(&items);
    let payload = imports::named("payload", &["Bytes", "Json", "Text"], &items);
    let schemas = imports::names(&items, "schemas").then(|| {
        quote!(
            use super::schemas;
        )
    });
    quote! {
        #schemas
        use contract_runtime::answer::{Answer, Parts};
        use contract_runtime::call::Call;
        use contract_runtime::service::Service;
        #payload
        #scalars

        #about
        pub trait #name: Service { #(#methods)* }

        #items
    }
}

/// The operations of a tag, in document order.
pub(crate) fn of_tag<'a>(document: &'a Document, tag: &'a Tag) -> impl Iterator<Item = &'a Operation> {
    document.operations.iter().filter(|operation| operation.tag.text == tag.name.text)
}

/// The names of an operation's method, request and response.
pub(crate) fn names(operation: &Operation) -> (Ident, Ident, Ident) {
    let upper = rust_name::upper(&operation.id);
    let method =
        syn::parse_str(&rust_name::lower(&operation.id)).expect("the name was made to be an identifier");
    (method, format_ident!("{upper}Request"), format_ident!("{upper}Response"))
}

fn method(operation: &Operation) -> TokenStream {
    let (name, request, response) = names(operation);
    let about =
        docs_with_summary(operation.summary.as_deref(), operation.description.as_deref(), &operation.id);
    let deprecated = deprecated(operation.deprecated);
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

fn request(document: &Document, types: &Types<'_>, operation: &Operation) -> TokenStream {
    let (_, name, _) = names(operation);
    let about = format!(" What `{}` is called with.", operation.id.text);
    let fields = operation.parameters.iter().map(|parameter| {
        let ident = variable(parameter);
        let ty = parameter_type(document, types, operation, parameter);
        let otherwise = format!("`{}`.", parameter.name.text);
        let about = docs(parameter.description.as_deref(), &otherwise);
        quote!(#about pub #ident: #ty,)
    });
    let body = operation.body.as_ref().map(|body| {
        let owner = rust_name::upper(&operation.id) + "Body";
        let ty = match body.content.media {
            Media::Json => types.full(&body.content.schema, &owner, None),
            Media::Text => quote!(String),
            Media::Bytes => quote!(bytes::Bytes),
        };
        quote! {
            /// The body.
            pub body: #ty,
        }
    });
    quote! {
        #[doc = #about]
        #[derive(Debug, Clone, PartialEq)]
        pub struct #name { #(#fields)* #body }
    }
}

/// The type of a body as it is sent.
fn payload(types: &Types<'_>, content: &Content, owner: &str) -> TokenStream {
    match content.media {
        Media::Json => {
            let ty = types.full(&content.schema, owner, None);
            quote!(Json<#ty>)
        }
        Media::Text => quote!(Text),
        Media::Bytes => quote!(Bytes),
    }
}

/// The field and the variable of a parameter.
pub(crate) fn variable(parameter: &Parameter) -> Ident {
    syn::parse_str(&rust_name::lower(&parameter.name)).expect("the name was made to be an identifier")
}

/// The type of a parameter: an `Option` when it may be absent and no default stands in for it.
pub(crate) fn parameter_type(
    document: &Document,
    types: &Types<'_>,
    operation: &Operation,
    parameter: &Parameter,
) -> TokenStream {
    let owner = rust_name::upper(&operation.id) + &rust_name::upper(&parameter.name);
    let bare = types.bare(&parameter.schema, &owner, None);
    let defaulted = default_expression(types, document, &parameter.schema, (&owner, None)).is_some();
    if parameter.required || defaulted { bare } else { quote!(Option<#bare>) }
}

fn response(document: &Document, types: &Types<'_>, operation: &Operation, ambient: &[&str]) -> TokenStream {
    let (_, _, name) = names(operation);
    let about = format!(" The answers of `{}`.", operation.id.text);
    let writers: Vec<_> = operation
        .responses
        .iter()
        .map(|response| Variant { document, types, operation, response, ambient })
        .collect();
    let variants = writers.iter().map(Variant::declaration);
    let from = writers.iter().map(Variant::put_together);
    let into = writers.iter().map(Variant::take_apart);
    quote! {
        #[doc = #about]
        #[derive(Debug, poem_openapi::ApiResponse)]
        pub enum #name { #(#variants)* }

        impl Answer for #name {
            fn from_parts(parts: Parts) -> Option<Self> {
                match parts.status {
                    #(#from)*
                    _ => None,
                }
            }

            fn into_parts(self) -> Parts {
                match self { #(#into)* }
            }
        }
    }
}

struct Variant<'a> {
    document: &'a Document,
    types: &'a Types<'a>,
    operation: &'a Operation,
    response: &'a Response,
    ambient: &'a [&'a str],
}

impl Variant<'_> {
    fn ident(&self) -> Ident {
        format_ident!("{}", rust_name::status(self.response.status))
    }

    fn status(&self) -> proc_macro2::Literal {
        proc_macro2::Literal::u16_unsuffixed(self.response.status)
    }

    /// Whether middleware sets a header, on whole classes of answers: it is declared, and not carried.
    fn is_ambient(&self, header: &Header) -> bool {
        self.ambient.contains(&&*header.name.to_lowercase())
    }

    fn carried(&self) -> Vec<&Header> {
        self.response.headers.iter().filter(|header| !self.is_ambient(header)).collect()
    }

    /// What poem-openapi can say of a header is its type; an enum and a time are strings there.
    fn bare_header_type(&self, header: &Header) -> TokenStream {
        match self.document.shape(&header.schema) {
            Some(Shape::Integer(_) | Shape::Number(_) | Shape::Boolean) => {
                self.types.bare(&header.schema, "Header", None)
            }
            Some(Shape::IntegerEnum(_)) => quote!(i64),
            _ => quote!(String),
        }
    }

    fn header_type(&self, header: &Header) -> TokenStream {
        let bare = self.bare_header_type(header);
        if header.required { bare } else { quote!(Option<#bare>) }
    }

    /// A header out of the parts, read when it is no string.
    fn header_read(&self, header: &Header) -> TokenStream {
        let (variable, name) = (header_variable(header), &*header.name);
        let text = self.bare_header_type(header).to_string() == "String";
        let value = match (header.required, text) {
            (true, true) => quote!(parts.header(#name)?),
            (true, false) => quote!(parts.header(#name)?.parse().ok()?),
            (false, true) => quote!(parts.header(#name)),
            (false, false) => quote!(parts.header(#name).and_then(|value| value.parse().ok())),
        };
        quote!(let #variable = #value;)
    }

    /// A header into the parts, written when it is no string.
    fn header_pair(&self, header: &Header) -> TokenStream {
        let (variable, name) = (header_variable(header), &*header.name);
        let text = self.bare_header_type(header).to_string() == "String";
        match (header.required, text) {
            (true, true) => quote!(Some((#name, #variable))),
            (true, false) => quote!(Some((#name, #variable.to_string()))),
            (false, true) => quote!(#variable.map(|value| (#name, value))),
            (false, false) => quote!(#variable.map(|value| (#name, value.to_string()))),
        }
    }

    fn declaration(&self) -> TokenStream {
        let (ident, status) = (self.ident(), self.status());
        let about = docs(Some(&self.response.description), &format!("{status}."));
        let ambient = self.response.headers.iter().filter(|header| self.is_ambient(header)).map(|header| {
            let (name, ty) = (&*header.name, self.header_type(header).to_string().replace(' ', ""));
            let deprecated = header.deprecated.then(|| quote!(, deprecated));
            quote!(, header(name = #name, ty = #ty #deprecated))
        });
        let attribute = quote!(#[oai(status = #status #(#ambient)*)]);
        let body = self.response.content.as_ref().map(|content| {
            let owner = rust_name::upper(&self.operation.id) + &ident.to_string() + "Body";
            payload(self.types, content, &owner)
        });
        let headers = self.carried().into_iter().map(|header| {
            let (name, ty) = (&*header.name, self.header_type(header));
            let about = docs(header.description.as_deref(), &header.name);
            let deprecated = header.deprecated.then(|| quote!(, deprecated));
            quote!(#about #[oai(header = #name #deprecated)] #ty)
        });
        let fields: Vec<_> = body.into_iter().chain(headers).collect();
        let fields = (!fields.is_empty()).then(|| quote!((#(#fields),*)));
        quote!(#about #attribute #ident #fields,)
    }

    fn put_together(&self) -> TokenStream {
        let (ident, status) = (self.ident(), self.status());
        let headers = self.carried();
        let reads = headers.iter().map(|header| self.header_read(header));
        let body = self.response.content.as_ref().map(|content| match content.media {
            Media::Json => quote!(Json::Ready(parts.body?)),
            Media::Text => quote!(Text(String::from_utf8(parts.body?.into()).ok()?)),
            Media::Bytes => quote!(Bytes(parts.body?)),
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

    fn take_apart(&self) -> TokenStream {
        let (ident, status) = (self.ident(), self.status());
        let headers = self.carried();
        let body = self.response.content.as_ref().map(|_| quote!(body));
        let has_body = if body.is_some() { quote!(Some(body.into_bytes())) } else { quote!(None) };
        let fields: Vec<_> = body
            .into_iter()
            .chain(headers.iter().map(|header| header_variable(header)).map(|name| quote!(#name)))
            .collect();
        let fields = (!fields.is_empty()).then(|| quote!((#(#fields),*)));
        let pairs = headers.iter().map(|header| self.header_pair(header));
        let headers = if headers.is_empty() {
            quote!(Vec::new())
        } else {
            quote!([#(#pairs),*].into_iter().flatten().collect())
        };
        quote!(Self::#ident #fields => Parts { status: #status, headers: #headers, body: #has_body },)
    }
}

fn header_variable(header: &Header) -> Ident {
    // `parts` and `body` are what an answer is put together of.
    let name = rust_name::apart(&header.name, &["body", "parts"]);
    syn::parse_str(&name).expect("the name was made to be an identifier")
}
