//! Generates `operations.rs`: static descriptions of the operations.

use contract::model::{Credential, Document, Operation, Parameter, ParameterLocation, Schema, Shape};
use contract::rust_name;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::attributes::docs;
use super::imports;

/// The types of `contract_runtime::contract` that the descriptions use.
const DESCRIPTION_TYPES: [&str; 8] = [
    "Body",
    "Contract",
    "Credential",
    "ListStyle",
    "Operation",
    "Parameter",
    "ParameterKind",
    "ParameterLocation",
];

/// Generates the items of `operations.rs`.
pub(crate) fn operations(document: &Document, name: &str) -> TokenStream {
    let items: TokenStream =
        document.operations.iter().map(|operation| operation_description(document, operation)).collect();
    let statics =
        document.operations.iter().map(|operation| format_ident!("{}", rust_name::constant(&operation.id)));
    let contract = contract(document, name);
    let imports = imports::import("contract", &DESCRIPTION_TYPES, &quote!(#contract #items));
    quote! {
        use super::document;
        #imports

        /// All operations, in the order of the contract.
        pub static OPERATIONS: &[&Operation] = &[#(&#statics),*];

        #contract

        #items
    }
}

/// Generates the description of the contract. All operations use the same security scheme.
fn contract(document: &Document, name: &str) -> TokenStream {
    let access = document.operations.iter().find_map(|operation| operation.access.as_ref());
    let scheme = access.map(|access| &access.scheme.text);
    let scheme = document.security_schemes.iter().find(|candidate| Some(&candidate.name.text) == scheme);
    let json_path = format!("/openapi/{name}.json");
    let credential = match scheme.map(|scheme| &scheme.credential) {
        None => quote!(None),
        Some(Credential::Bearer) => quote!(Bearer),
        Some(Credential::Basic) => quote!(Basic),
        Some(Credential::Header(name)) => quote!(Header(#name)),
        Some(Credential::Cookie(name)) => quote!(Cookie(#name)),
    };
    quote! {
        /// The contract and its operations.
        pub static CONTRACT: Contract = Contract {
            name: #name,
            title: document::TITLE,
            yaml: document::YAML,
            json: document::JSON,
            json_path: #json_path,
            json_3_0: document::OPENAPI_3_0_JSON,
            clients_json: document::CLIENTS_JSON,
            clients_json_3_0: document::CLIENTS_OPENAPI_3_0_JSON,
            operations: OPERATIONS,
            credential: CREDENTIAL,
        };

        /// Where clients send their API keys.
        pub const CREDENTIAL: Credential = Credential::#credential;
    }
}

fn operation_description(document: &Document, operation: &Operation) -> TokenStream {
    let constant = format_ident!("{}", rust_name::constant(&operation.id));
    let (id, path, tag) = (&*operation.id, &*operation.path, &*operation.tag);
    let scope = match operation.access.as_ref().and_then(|access| access.scope.as_deref()) {
        Some(scope) => quote!(Some(#scope)),
        None => quote!(None),
    };
    let method = operation.method.key().to_uppercase();
    let about = docs(operation.summary.as_deref(), id);
    let parameters = operation.parameters.iter().map(|parameter| parameter_description(document, parameter));
    let body = match &operation.body {
        None => quote!(None),
        Some(body) => {
            let media_type = &body.content.name;
            let schema = &body.content.schema.pointer;
            quote!(Some(Body { media_type: #media_type, schema: #schema }))
        }
    };
    let statuses = operation
        .responses
        .iter()
        .filter_map(|response| response.status.code())
        .map(proc_macro2::Literal::u16_unsuffixed);
    quote! {
        #about
        pub static #constant: Operation = Operation {
            id: #id,
            method: #method,
            path: #path,
            tag: #tag,
            scope: #scope,
            parameters: &[#(#parameters),*],
            body: #body,
            statuses: &[#(#statuses),*],
        };
    }
}

fn parameter_description(document: &Document, parameter: &Parameter) -> TokenStream {
    let (name, required, schema) = (&*parameter.name, parameter.required, &parameter.schema.pointer);
    let location = match parameter.location {
        ParameterLocation::Path => quote!(Path),
        ParameterLocation::Query => quote!(Query),
        ParameterLocation::Header => quote!(Header),
        ParameterLocation::Cookie => quote!(Cookie),
    };
    let kind = match document.shape(&parameter.schema) {
        Some(Shape::Array(array)) => {
            let items = kind(document, &array.items);
            let style = if parameter.explode { quote!(Repeated) } else { quote!(Commas) };
            quote!(List(&ParameterKind::#items, ListStyle::#style))
        }
        _ => kind(document, &parameter.schema),
    };
    quote! {
        Parameter {
            name: #name,
            location: ParameterLocation::#location,
            required: #required,
            schema: #schema,
            kind: ParameterKind::#kind,
        }
    }
}

/// Returns how the text of a scalar parameter is parsed.
fn kind(document: &Document, schema: &Schema) -> TokenStream {
    match document.shape(schema) {
        Some(Shape::Integer(_) | Shape::IntegerEnum(_)) => quote!(Integer),
        Some(Shape::Number(_)) => quote!(Number),
        Some(Shape::Boolean) => quote!(Boolean),
        _ => quote!(String),
    }
}
