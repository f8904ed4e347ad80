//! `events.rs`: what the contract's webhooks send.

use contract::model::{Document, Webhook};
use contract::rust_name;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::attributes::{deprecated, docs};
use super::emit_schemas::items;
use super::imports;
use super::types::{Module, Types};

/// The items of `events.rs`.
pub(crate) fn events(document: &Document, types: &Types<'_>) -> TokenStream {
    let names: Vec<&str> = document.webhooks.iter().map(|webhook| &*webhook.name).collect();
    let types_of_events = items(document, types, Module::Events);
    // Without variants a type says nothing, and a match on it is no Rust.
    let event = (!document.webhooks.is_empty()).then(|| event(types, &document.webhooks));
    let all = quote!(#event #types_of_events);
    let schemas = all.to_string().contains("schemas ::").then(|| {
        quote!(
            use super::schemas;
        )
    });
    let scalars = imports::scalars(&all);
    quote! {
        #schemas
        #scalars

        /// Every type of event, in the order of the contract.
        pub const EVENT_TYPES: &[&str] = &[#(#names),*];

        #all
    }
}

fn event(types: &Types<'_>, webhooks: &[Webhook]) -> TokenStream {
    let idents: Vec<_> =
        webhooks.iter().map(|webhook| format_ident!("{}", rust_name::upper(&webhook.name))).collect();
    let names: Vec<&str> = webhooks.iter().map(|webhook| &*webhook.name).collect();
    let variants = webhooks.iter().zip(&idents).map(|(webhook, ident)| {
        let about = docs(webhook.summary.as_deref(), &webhook.name);
        let deprecated = deprecated(webhook.deprecated);
        let ty = types.full(&webhook.content.schema, &(ident.to_string() + "Body"), Some(Module::Events));
        quote!(#about #deprecated #ident(#ty),)
    });
    quote! {
        /// The body of one event, as it is delivered.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(untagged)]
        pub enum Event { #(#variants)* }

        impl Event {
            /// The type of the event.
            pub const fn event_type(&self) -> &'static str {
                match self { #(Self::#idents(_) => #names,)* }
            }
        }
    }
}
