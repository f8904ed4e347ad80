//! Formats generated tokens as Rust source.

use proc_macro2::TokenStream;

/// Formats items below a heading and a module comment, with an empty line between items. Imports are grouped.
///
/// # Panics
/// Panics when the tokens are not valid Rust, which is a bug of the generator.
pub(crate) fn file(heading: &str, about: &str, items: TokenStream) -> String {
    let source = items.to_string();
    let file: syn::File = syn::parse2(items).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let mut text = format!("{heading}{about}");
    let mut previous_was_import = false;
    for item in file.items {
        let is_import = matches!(item, syn::Item::Use(_));
        if !(is_import && previous_was_import) {
            text.push('\n');
        }
        previous_was_import = is_import;
        text += &prettyplease::unparse(&syn::File { shebang: None, attrs: Vec::new(), items: vec![item] });
    }
    text
}
