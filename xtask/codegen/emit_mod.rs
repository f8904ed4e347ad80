//! `mod.rs`: the modules of the generated folder.

use contract::model::Document;
use proc_macro2::TokenStream;
use quote::quote;

use super::emit_adapter::{module, served};

/// The items of `mod.rs`. The children are kept from rustfmt, whose taste differs from the generator's.
pub(crate) fn module_file(document: &Document) -> TokenStream {
    let tags = served(document).into_iter().map(|tag| {
        let (ident, about) = (module(tag), format!(" The operations of `{}`.", tag.name.text));
        quote! {
            #[doc = #about]
            #[rustfmt::skip]
            #[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
            pub mod #ident;
        }
    });
    quote! {
        /// The traits of all tags as one poem-openapi API.
        #[rustfmt::skip]
        #[allow(clippy::too_many_arguments, reason = "one argument for each parameter of an operation")]
        pub mod adapter;
        /// The contract itself, for serving.
        #[rustfmt::skip]
        pub mod document;
        /// What webhooks send.
        #[rustfmt::skip]
        #[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
        pub mod events;
        /// The contract as static tables.
        #[rustfmt::skip]
        pub mod operations;
        /// The types of requests and responses.
        #[rustfmt::skip]
        pub mod schemas;
        #(#tags)*
    }
}
