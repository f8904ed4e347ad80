//! Generates `document.rs`: the text of the contract, in the formats that the server serves.

use contract::Profile;
use contract::model::Document;
use contract::node::{Entry, Node, SpannedString, Value};
use proc_macro2::TokenStream;
use quote::quote;

use super::ContractConfig;

/// Returns a document that contains only those of `components.schemas` whose names are selected.
pub(crate) fn only_schemas(root: &Node, is_selected: impl Fn(&str) -> bool) -> Node {
    let schemas = root.pointer("/components/schemas").and_then(Node::entries).unwrap_or_default();
    let selected = schemas.iter().filter(|schema| is_selected(&schema.key)).cloned().collect();
    ["schemas", "components"].into_iter().fold(Node::without_span(Value::Mapping(selected)), |value, key| {
        let key = SpannedString { text: key.to_owned(), span: value.span };
        Node::without_span(Value::Mapping(vec![Entry { key, value }]))
    })
}

/// Generates the items of `document.rs`. `has_client_documents` says whether the documents for client generators differ
/// from the contract.
pub(crate) fn document(
    document: &Document,
    config: &ContractConfig<'_>,
    digest: &str,
    has_client_documents: bool,
) -> TokenStream {
    let (title, version) = (&document.title, &document.version);
    // Other contracts can be JSON or OpenAPI 3.0, and their JSON is the document that the server validates with.
    let (about_yaml, about_json) = match config.conventions.profile {
        Profile::Server => (
            " The original contract: OpenAPI 3.1 in YAML.",
            " The contract as JSON, with all keys in the original order.",
        ),
        Profile::Open => (" The original contract.", " The contract as JSON, converted to OpenAPI 3.1."),
    };
    let (yaml, json, json_3_0) = (config.contract_from_output, config.json(), config.json_3_0());
    let (clients, clients_3_0) = if has_client_documents {
        let (clients, clients_3_0) = (config.clients_json(), config.clients_json_3_0());
        (quote!(include_str!(#clients)), quote!(include_str!(#clients_3_0)))
    } else {
        (quote!(JSON), quote!(OPENAPI_3_0_JSON))
    };
    quote! {
        /// The title of the API.
        pub const TITLE: &str = #title;

        /// The version of the contract.
        pub const VERSION: &str = #version;

        /// The SHA-256 digest of the contract's text, in hexadecimal.
        pub const SHA256: &str = #digest;

        #[doc = #about_yaml]
        pub const YAML: &str = include_str!(#yaml);

        #[doc = #about_json]
        pub const JSON: &str = include_str!(#json);

        /// The contract converted to OpenAPI 3.0.3, for tools that do not support 3.1.
        pub const OPENAPI_3_0_JSON: &str = include_str!(#json_3_0);

        /// The contract for client generators: extensible enums of responses and events are strings.
        pub const CLIENTS_JSON: &str = #clients;

        /// The contract for client generators, converted to OpenAPI 3.0.3.
        pub const CLIENTS_OPENAPI_3_0_JSON: &str = #clients_3_0;
    }
}
