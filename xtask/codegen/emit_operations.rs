//! `operations.rs`: the contract as static tables.

use contract::model::{Credential, Document, Location, Operation, Parameter, Schema, Shape};
use contract::rust_name;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::attributes::docs;
use super::imports;

/// The types of ours that the tables are made of.
const DESCRIBED: [&str; 8] =
    ["Body", "Contract", "Credential", "Operation", "Parameter", "ParameterKind", "Place", "Split"];

/// The items of `operations.rs`.
pub(crate) fn operations(document: &Document, stem: &str) -> TokenStream {
    let items: TokenStream = document.operations.iter().map(|operation| table(document, operation)).collect();
    let statics =
        document.operations.iter().map(|operation| format_ident!("{}", rust_name::constant(&operation.id)));
    let contract = contract(document, stem);
    let imports = imports::named("contract", &DESCRIBED, &quote!(#contract #items));
    quote! {
        use super::document;
        #imports

        /// Every operation, in the order of the contract.
        pub static OPERATIONS: &[&Operation] = &[#(&#statics),*];

        #contract

        #items
    }
}

/// The contract as the server takes it. Its operations share one scheme.
fn contract(document: &Document, stem: &str) -> TokenStream {
    let scheme = document.operations.first().map(|operation| &operation.scheme.text);
    let scheme = document.schemes.iter().find(|known| Some(&known.name.text) == scheme);
    let json_path = format!("/openapi/{stem}.json");
    let credential = match scheme.map(|scheme| &scheme.credential) {
        None | Some(Credential::Bearer) => quote!(Bearer),
        Some(Credential::Basic) => quote!(Basic),
        Some(Credential::Header(name)) => quote!(Header(#name)),
        Some(Credential::Cookie(name)) => quote!(Cookie(#name)),
    };
    quote! {
        /// The contract, as the server serves it.
        pub static CONTRACT: Contract = Contract {
            stem: #stem,
            title: document::TITLE,
            yaml: document::YAML,
            json: document::JSON,
            json_path: #json_path,
            json_3_0: document::OPENAPI_3_0_JSON,
            operations: OPERATIONS,
            credential: CREDENTIAL,
        };

        /// Where callers put their keys.
        pub const CREDENTIAL: Credential = Credential::#credential;
    }
}

fn table(document: &Document, operation: &Operation) -> TokenStream {
    let table = format_ident!("{}", rust_name::constant(&operation.id));
    let (id, path, tag, scope) = (&*operation.id, &*operation.path, &*operation.tag, &*operation.scope);
    let method = operation.method.key().to_uppercase();
    let about = docs(operation.summary.as_deref(), id);
    let parameters = operation.parameters.iter().map(|parameter| row(document, parameter));
    let body = match &operation.body {
        None => quote!(None),
        Some(body) => {
            let media_type = body.content.media.as_str();
            let schema = &body.content.schema.pointer;
            quote!(Some(Body { media_type: #media_type, schema: #schema }))
        }
    };
    let statuses =
        operation.responses.iter().map(|response| proc_macro2::Literal::u16_unsuffixed(response.status));
    quote! {
        #about
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
        Location::Cookie => quote!(Cookie),
    };
    let kind = match document.shape(&parameter.schema) {
        Some(Shape::Array(array)) => {
            let (of, split) = (kind(document, &array.items), parameter.explode);
            let split = if split { quote!(Repeated) } else { quote!(Commas) };
            quote!(List(&ParameterKind::#of, Split::#split))
        }
        _ => kind(document, &parameter.schema),
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

/// How the text of a scalar is read.
fn kind(document: &Document, schema: &Schema) -> TokenStream {
    match document.shape(schema) {
        Some(Shape::Integer(_) | Shape::IntegerEnum(_)) => quote!(Integer),
        Some(Shape::Number(_)) => quote!(Number),
        Some(Shape::Boolean) => quote!(Boolean),
        _ => quote!(String),
    }
}
