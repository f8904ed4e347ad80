//! Generates `use` declarations of the types that a generated file uses.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// Generates the imports of the types of formatted strings, and of `MaybeUndefined` for PATCH bodies.
pub(crate) fn scalar_imports(items: &TokenStream) -> TokenStream {
    let scalars = import("scalar", &["Base64", "Date", "Timestamp", "Uuid"], items);
    let undefined = contains_name(items, "MaybeUndefined").then(|| {
        quote!(
            use poem_openapi::types::MaybeUndefined;
        )
    });
    quote!(#undefined #scalars)
}

/// Generates the import of those `names` of a `contract_runtime` module that the items use.
pub(crate) fn import(module: &str, names: &[&str], items: &TokenStream) -> Option<TokenStream> {
    let module = format_ident!("{module}");
    let used: Vec<Ident> =
        names.iter().filter(|name| contains_name(items, name)).map(|name| format_ident!("{name}")).collect();
    match &used[..] {
        [] => None,
        [name] => Some(quote!(use contract_runtime::#module::#name;)),
        names => Some(quote!(use contract_runtime::#module::{#(#names),*};)),
    }
}

/// Returns whether the items contain a name, at any depth.
pub(crate) fn contains_name(items: &TokenStream, name: &str) -> bool {
    items.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == name,
        proc_macro2::TokenTree::Group(group) => contains_name(&group.stream(), name),
        // The attributes of poem-openapi contain header types as strings.
        proc_macro2::TokenTree::Literal(literal) => literal.to_string().contains(&format!("<{name}>")),
        proc_macro2::TokenTree::Punct(_) => false,
    })
}
