//! Tokens into text that people can read.

use proc_macro2::TokenStream;

/// Formats items, with an empty line between them (imports stand together) under a heading.
///
/// # Panics
/// When the generator wrote tokens that are no Rust: a fault of the generator, never of the contract.
pub(crate) fn file(heading: &str, about: &str, items: TokenStream) -> String {
    let shown = items.to_string();
    let file: syn::File = syn::parse2(items).unwrap_or_else(|error| panic!("{error}\n{shown}"));
    let mut text = format!("{heading}{about}");
    let mut previous_was_import = false;
    for item in file.items {
        let import = matches!(item, syn::Item::Use(_));
        if !(import && previous_was_import) {
            text.push('\n');
        }
        previous_was_import = import;
        text += &prettyplease::unparse(&syn::File { shebang: None, attrs: Vec::new(), items: vec![item] });
    }
    text
}
