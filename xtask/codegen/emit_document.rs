//! `document.rs`: the contract itself, for serving.

use contract::model::Document;
use proc_macro2::TokenStream;
use quote::quote;

use super::Names;

/// The items of `document.rs`.
pub(crate) fn document(document: &Document, names: &Names<'_>, digest: &str) -> TokenStream {
    let (title, version) = (&document.title, &document.version);
    let (yaml, json, twin) = (names.contract_from_output, names.json(), names.twin());
    quote! {
        /// The title of the API.
        pub const TITLE: &str = #title;

        /// The version of the contract.
        pub const VERSION: &str = #version;

        /// The SHA-256 of the contract's text, in hexadecimal.
        pub const SHA256: &str = #digest;

        /// The contract as it was written: OpenAPI 3.1 in YAML.
        pub const YAML: &str = include_str!(#yaml);

        /// The contract as JSON, every key in its place.
        pub const JSON: &str = include_str!(#json);

        /// The contract for tools that read OpenAPI 3.0.
        pub const OPENAPI_3_0_JSON: &str = include_str!(#twin);
    }
}
