//! Generates `use` declarations of the types that a generated file uses.

use proc_macro2::{Ident, TokenStream, TokenTree};
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

/// Returns whether the items contain a name without a path before it, at any depth.
pub(crate) fn contains_name(items: &TokenStream, name: &str) -> bool {
    let mut colons = 0;
    items.clone().into_iter().any(|token| {
        let is_qualified = colons == 2;
        colons = match &token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons + 1,
            _ => 0,
        };
        match token {
            TokenTree::Ident(ident) => ident == name && !is_qualified,
            TokenTree::Group(group) => contains_name(&group.stream(), name),
            // The attributes of poem-openapi contain header types as strings.
            TokenTree::Literal(literal) => literal.to_string().contains(&format!("<{name}>")),
            TokenTree::Punct(_) => false,
        }
    })
}
