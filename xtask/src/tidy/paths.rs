//! The paths that a file names, wherever they stand: in `use` lines, in expressions, inside macros.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::source::without_tests;

/// One path as written, `use` groups taken apart: `["crate", "domain", "orders"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPath {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

/// Every path of two segments and more, test modules aside; and the bare names of `use name;`.
pub(super) fn paths(tokens: TokenStream) -> Vec<NamedPath> {
    let mut found = Vec::new();
    walk(&without_tests(tokens), &mut found);
    found
}

fn walk(tokens: &[TokenTree], found: &mut Vec<NamedPath>) {
    let mut at = 0;
    let mut in_use = false;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(ident) if ident == "use" => {
                in_use = true;
                at += 1;
            }
            TokenTree::Ident(_) => {
                let start = at;
                at = path(tokens, at, Vec::new(), found);
                let alone = matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ';');
                if in_use && alone && at == start + 1 {
                    found.push(NamedPath {
                        segments: vec![tokens[start].to_string()],
                        line: tokens[start].span().start().line,
                    });
                }
            }
            TokenTree::Group(group) => {
                walk(&without_tests(group.stream()), found);
                at += 1;
            }
            TokenTree::Punct(punct) => {
                in_use &= punct.as_char() != ';';
                at += 1;
            }
            TokenTree::Literal(_) => at += 1,
        }
    }
}

/// Reads the path that begins at `at`, after these segments; returns where it ends.
fn path(tokens: &[TokenTree], mut at: usize, mut segments: Vec<String>, found: &mut Vec<NamedPath>) -> usize {
    let line = tokens[at].span().start().line;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => segments.push(ident.to_string()),
            // `use crate::{a, b::c}`: each entry goes on from here.
            Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Brace && !segments.is_empty() =>
            {
                entries(group.stream(), &segments, found);
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !is_colons(tokens, at) {
            break;
        }
        at += 2;
    }
    if segments.len() > 1 {
        found.push(NamedPath { segments, line });
    }
    at
}

fn entries(group: TokenStream, segments: &[String], found: &mut Vec<NamedPath>) {
    let tokens: Vec<TokenTree> = group.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if matches!(&tokens[at], TokenTree::Ident(_)) {
            at = path(&tokens, at, segments.to_vec(), found).max(at + 1);
        }
        // To the next entry, past `as name` and the comma.
        while at < tokens.len() && !matches!(&tokens[at], TokenTree::Punct(punct) if punct.as_char() == ',') {
            at += 1;
        }
        at += 1;
    }
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(at) && colon(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(source: &str) -> Vec<String> {
        paths(source.parse().unwrap()).into_iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn groups_are_taken_apart_and_expressions_count() {
        let source = "use crate::{app::App, domain::{self, orders as o}}; use poem; fn f() { entity::orders::find(); }";
        assert_eq!(
            named(source),
            [
                "crate::app::App",
                "crate::domain::self",
                "crate::domain::orders",
                "poem",
                "entity::orders::find"
            ]
        );
    }

    #[test]
    fn macros_are_read_and_comments_and_tests_are_not() {
        let source = "//! crate::a::b\nvec![crate::domain::X]; #[cfg(test)] mod tests { use crate::api::Y; } \
                      fn f(a: u8) { \"crate::c::d\"; }";
        assert_eq!(named(source), ["crate::domain::X"]);
    }
}
