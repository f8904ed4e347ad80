//! Generates `mod.rs`: the module declarations of the generated folder.

use contract::model::Document;
use proc_macro2::TokenStream;
use quote::quote;

use super::emit_adapter::{tag_module, tags_with_operations};

/// Generates the items of `mod.rs`. `#[rustfmt::skip]` keeps the formatting of the generator.
pub(crate) fn module_file(document: &Document) -> TokenStream {
    let tags = tags_with_operations(document).into_iter().map(|tag| {
        let (ident, about) = (tag_module(tag), format!(" The operations of `{}`.", tag.name.text));
        quote! {
            #[doc = #about]
            #[rustfmt::skip]
            #[allow(clippy::large_enum_variant, reason = "the size of a variant follows from its schema")]
            pub mod #ident;
        }
    });
    quote! {
        /// Serves the traits of all tags as one poem-openapi API.
        #[rustfmt::skip]
        #[allow(clippy::too_many_arguments, reason = "one argument for each parameter of an operation")]
        pub mod adapter;
        /// The text of the contract, in the formats that the server serves.
        #[rustfmt::skip]
        pub mod document;
        /// The types of webhook events.
        #[rustfmt::skip]
        #[allow(clippy::large_enum_variant, reason = "the size of a variant follows from its schema")]
        pub mod events;
        /// Static descriptions of the operations.
        #[rustfmt::skip]
        pub mod operations;
        /// The types of requests and responses.
        #[rustfmt::skip]
        pub mod schemas;
        #(#tags)*
    }
}
