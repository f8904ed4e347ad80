//! Generates the response enum of an operation, with one variant for each status that the contract documents.

use contract::model::{Content, Document, Header, MediaType, Operation, Response, ResponseStatus, Shape};
use contract::rust_name;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::item_names;
use crate::attributes::docs;
use crate::types::RustTypes;

/// Generates the enum and its conversions. Middleware sets `middleware_headers`, so they are declared only.
pub(crate) fn response(
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
    // The arms of single codes precede those of ranges, and `default` is the last one.
    let mut ordered: Vec<_> = response_variants.iter().collect();
    ordered.sort_by_key(|variant| match variant.response.status {
        ResponseStatus::Code(_) => 0,
        ResponseStatus::Range(_) => 1,
        ResponseStatus::Default => 2,
    });
    let has_default =
        ordered.last().is_some_and(|variant| variant.response.status == ResponseStatus::Default);
    let otherwise = (!has_default).then(|| quote!(_ => None,));
    let from = ordered.into_iter().map(ResponseVariant::arm_of_from_parts);
    let into = response_variants.iter().map(ResponseVariant::arm_of_into_parts);
    quote! {
        #[doc = #about]
        #[derive(Debug, poem_openapi::ApiResponse)]
        pub enum #name { #(#variants)* }

        impl OperationResponse for #name {
            fn from_parts(parts: ResponseParts) -> Option<Self> {
                match parts.status {
                    #(#from)*
                    #otherwise
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

    /// Returns the pattern that matches the status.
    fn status_pattern(&self) -> TokenStream {
        let literal = proc_macro2::Literal::u16_unsuffixed;
        match self.response.status {
            ResponseStatus::Code(code) => literal(code).into_token_stream(),
            ResponseStatus::Range(digit) => {
                let (first, last) = (literal(digit * 100), literal(digit * 100 + 99));
                quote!(#first..=#last)
            }
            ResponseStatus::Default => quote!(_),
        }
    }

    /// Returns whether a field of the variant contains the status.
    const fn has_status_field(&self) -> bool {
        self.response.status.code().is_none()
    }

    /// Returns the arguments of poem-openapi's `oai` attribute.
    fn oai_arguments(&self) -> Vec<TokenStream> {
        let mut arguments = Vec::new();
        match self.response.status {
            ResponseStatus::Code(code) => {
                let code = proc_macro2::Literal::u16_unsuffixed(code);
                arguments.push(quote!(status = #code));
            }
            ResponseStatus::Range(digit) => {
                let range = format!("{digit}XX");
                arguments.push(quote!(status_range = #range));
            }
            ResponseStatus::Default => {}
        }
        if let Some(content) = &self.response.content
            && content.name != content.media_type.as_str()
            && !content.is_range()
        {
            let name = &content.name;
            arguments.push(quote!(content_type = #name));
        }
        arguments
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
        let ident = self.ident();
        let about = docs(Some(&self.response.description), &format!("{}.", self.response.status));
        let middleware_headers =
            self.response.headers.iter().filter(|header| self.is_set_by_middleware(header)).map(|header| {
                let (name, ty) = (&*header.name, self.header_type(header).to_string().replace(' ', ""));
                let deprecated = header.deprecated.then(|| quote!(, deprecated));
                quote!(header(name = #name, ty = #ty #deprecated))
            });
        let arguments: Vec<_> = self.oai_arguments().into_iter().chain(middleware_headers).collect();
        let attribute = (!arguments.is_empty()).then(|| quote!(#[oai(#(#arguments),*)]));
        let no_body = self.has_status_field().then(|| quote!(NoBody));
        let body = self.response.content.as_ref().map_or(no_body, |content| {
            let owner = rust_name::upper_camel_case(&self.operation.id) + &ident.to_string() + "Body";
            Some(payload(self.types, content, &owner))
        });
        let status_field = self.has_status_field().then(|| {
            quote!(
                /// The status.
                StatusCode
            )
        });
        let headers = self.field_headers().into_iter().map(|header| {
            let (name, ty) = (&*header.name, self.header_type(header));
            let about = docs(header.description.as_deref(), &header.name);
            let deprecated = header.deprecated.then(|| quote!(, deprecated));
            quote!(#about #[oai(header = #name #deprecated)] #ty)
        });
        let fields: Vec<_> = status_field.into_iter().chain(body).chain(headers).collect();
        let fields = (!fields.is_empty()).then(|| quote!((#(#fields),*)));
        quote!(#about #attribute #ident #fields,)
    }

    fn arm_of_from_parts(&self) -> TokenStream {
        let (ident, status) = (self.ident(), self.status_pattern());
        let headers = self.field_headers();
        let reads = headers.iter().map(|header| self.read_header(header));
        let no_body = self.has_status_field().then(|| quote!(NoBody));
        let body = self.response.content.as_ref().map_or(no_body, |content| {
            Some(match content.media_type {
                MediaType::Json => quote!(Json::Serialized(parts.body?)),
                MediaType::Lines => quote!(LineStream::from_bytes(parts.body?)),
                MediaType::Text => quote!(Text(String::from_utf8(parts.body?.into()).ok()?)),
                MediaType::Bytes if content.is_range() => {
                    quote!(TypedBytes { media_type: parts.header("Content-Type")?, bytes: parts.body? })
                }
                MediaType::Bytes => quote!(Bytes(parts.body?)),
            })
        });
        let status_field = self.has_status_field().then(|| quote!(StatusCode::from_u16(parts.status).ok()?));
        let fields: Vec<_> = status_field
            .into_iter()
            .chain(body)
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
        let ident = self.ident();
        let status = match self.response.status.code() {
            Some(code) => proc_macro2::Literal::u16_unsuffixed(code).into_token_stream(),
            None => quote!(status.as_u16()),
        };
        let headers = self.field_headers();
        let has_body = self.response.content.is_some();
        // The parts do not contain a stream.
        let is_stream =
            self.response.content.as_ref().is_some_and(|content| content.media_type == MediaType::Lines);
        let body_value = if has_body && !is_stream { quote!(Some(body.into_bytes())) } else { quote!(None) };
        let status_field = self.has_status_field().then(|| quote!(status));
        let no_body = self.has_status_field().then(|| quote!(NoBody));
        let body = match (has_body, is_stream) {
            (true, true) => Some(quote!(_)),
            (true, false) => Some(quote!(body)),
            (false, _) => no_body,
        };
        let fields: Vec<_> = status_field
            .into_iter()
            .chain(body)
            .chain(headers.iter().map(|header| header_variable(header)).map(|name| quote!(#name)))
            .collect();
        let fields = (!fields.is_empty()).then(|| quote!((#(#fields),*)));
        let pairs = headers.iter().map(|header| self.write_header(header));
        let is_range = self.response.content.as_ref().is_some_and(Content::is_range);
        let content_type = is_range.then(|| quote!(Some(("Content-Type", body.media_type.clone()))));
        let pairs: Vec<_> = content_type.into_iter().chain(pairs).collect();
        let headers = if pairs.is_empty() {
            quote!(Vec::new())
        } else {
            quote!([#(#pairs),*].into_iter().flatten().collect())
        };
        quote!(Self::#ident #fields => ResponseParts { status: #status, headers: #headers, body: #body_value },)
    }
}

/// Returns the variable for the value of a header.
fn header_variable(header: &Header) -> Ident {
    // The generated code already has variables named `body`, `parts` and `status`.
    let name = rust_name::variable(&header.name, &["body", "parts", "status"]);
    syn::parse_str(&name).expect("`rust_name` returns a valid identifier")
}

/// Returns the payload type of a response body.
fn payload(types: &RustTypes<'_>, content: &Content, owner: &str) -> TokenStream {
    match content.media_type {
        MediaType::Json => {
            let ty = types.full_type(&content.schema, owner, None);
            quote!(Json<#ty>)
        }
        MediaType::Lines => {
            let ty = types.full_type(&content.schema, owner, None);
            quote!(LineStream<#ty>)
        }
        MediaType::Text => quote!(Text),
        MediaType::Bytes if content.is_range() => quote!(TypedBytes),
        MediaType::Bytes => quote!(Bytes),
    }
}
