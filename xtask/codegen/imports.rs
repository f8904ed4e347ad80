//! The `use` lines of generated files: of ours, only what the file names.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// Types of ours that stand for the strings of a format, and one of poem-openapi's for what a PATCH leaves alone.
pub(crate) fn scalars(items: &TokenStream) -> TokenStream {
    let scalars = named("scalar", &["Base64", "Date", "Timestamp", "Uuid"], items);
    let undefined = names(items, "MaybeUndefined").then(|| {
        quote!(
            use poem_openapi::types::MaybeUndefined;
        )
    });
    quote!(#undefined #scalars)
}

/// The import of those types of a module of ours that the items name.
pub(crate) fn named(module: &str, known: &[&str], items: &TokenStream) -> Option<TokenStream> {
    let module = format_ident!("{module}");
    let used: Vec<Ident> =
        known.iter().filter(|name| names(items, name)).map(|name| format_ident!("{name}")).collect();
    match &used[..] {
        [] => None,
        [one] => Some(quote!(use contract_runtime::#module::#one;)),
        many => Some(quote!(use contract_runtime::#module::{#(#many),*};)),
    }
}

/// Whether items name a type, at any depth.
pub(crate) fn names(items: &TokenStream, name: &str) -> bool {
    items.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == name,
        proc_macro2::TokenTree::Group(group) => names(&group.stream(), name),
        // A default names its function in a string; types never stand there but for header types.
        proc_macro2::TokenTree::Literal(literal) => literal.to_string().contains(&format!("<{name}>")),
        proc_macro2::TokenTree::Punct(_) => false,
    })
}
