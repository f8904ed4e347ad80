//! Generates `events.rs`: the types of webhook events.

use contract::model::{Document, Webhook};
use contract::rust_name;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::attributes::{deprecation_note, docs};
use super::emit_schemas::items;
use super::imports;
use super::types::{RustTypes, TypeModule};

/// Generates the items of `events.rs`. `with_list`: also generates a macro that lists the variants of `Event`.
pub(crate) fn events(document: &Document, types: &RustTypes<'_>, with_list: bool) -> TokenStream {
    let names: Vec<&str> = document.webhooks.iter().map(|webhook| &*webhook.name).collect();
    let types_of_events = items(document, types, TypeModule::Events);
    // Rust does not compile a `match` on a reference to an enum without variants.
    let event = (!document.webhooks.is_empty()).then(|| event(types, &document.webhooks));
    let list = (with_list && event.is_some()).then(|| list(types, &document.webhooks));
    let all = quote!(#event #list #types_of_events);
    let schemas = all.to_string().contains("schemas ::").then(|| {
        quote!(
            use super::schemas;
        )
    });
    let scalars = imports::scalar_imports(&all);
    quote! {
        #schemas
        #scalars

        /// All event types, in the order of the contract.
        pub const EVENT_TYPES: &[&str] = &[#(#names),*];

        #all
    }
}

/// Generates the macro `each_event`.
fn list(types: &RustTypes<'_>, webhooks: &[Webhook]) -> TokenStream {
    let events = webhooks.iter().map(|webhook| {
        let ident = variant(webhook);
        let body = body_type(types, webhook);
        quote!(#ident(#body))
    });
    quote! {
        /// Calls a macro with the variants of [`Event`], each with the type of its body.
        macro_rules! each_event {
            ($call:ident) => { $call! { #(#events,)* } };
        }
        pub(crate) use each_event;
    }
}

/// Returns the variant of `Event` for a webhook.
fn variant(webhook: &Webhook) -> Ident {
    format_ident!("{}", rust_name::upper_camel_case(&webhook.name))
}

/// Returns the type of a webhook's body.
fn body_type(types: &RustTypes<'_>, webhook: &Webhook) -> TokenStream {
    let owner = format!("{}Body", variant(webhook));
    types.full_type(&webhook.content.schema, &owner, Some(TypeModule::Events))
}

fn event(types: &RustTypes<'_>, webhooks: &[Webhook]) -> TokenStream {
    let idents: Vec<_> = webhooks.iter().map(variant).collect();
    let names: Vec<&str> = webhooks.iter().map(|webhook| &*webhook.name).collect();
    let variants = webhooks.iter().zip(&idents).map(|(webhook, ident)| {
        let about = docs(webhook.summary.as_deref(), &webhook.name);
        let deprecated = deprecation_note(webhook.deprecated);
        let ty = body_type(types, webhook);
        quote!(#about #deprecated #ident(#ty),)
    });
    quote! {
        /// The body of an event, as webhooks receive it.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(untagged)]
        pub enum Event { #(#variants)* }

        impl Event {
            /// Returns the event type.
            pub const fn event_type(&self) -> &'static str {
                match self { #(Self::#idents(_) => #names,)* }
            }
        }
    }
}
