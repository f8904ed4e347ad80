//! The paths that a file names, wherever they stand: in `use` lines, in expressions, inside macros.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

use super::source::without_tests;

/// One path as written, `use` groups taken apart: `["crate", "domain", "orders"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedPath {
    /// Its segments; the last one of a glob is `*`.
    pub(super) segments: Vec<String>,
    /// What the file calls it from there on, by `as` or as a type.
    pub(super) alias: Option<String>,
    /// How many modules that are written out in the file it stands in.
    pub(super) depth: usize,
    pub(super) line: usize,
}

/// Every path of two segments and more, test modules aside; and the bare names of `use name;` and `extern crate name;`.
pub(super) fn paths(tokens: TokenStream) -> Vec<NamedPath> {
    let mut walk = Walk { depth: 0, found: Vec::new() };
    walk.tokens(&without_tests(tokens));
    walk.found
}

struct Walk {
    depth: usize,
    found: Vec<NamedPath>,
}

impl Walk {
    fn tokens(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Ident(word) if word == "use" => self.tree(tokens, at + 1, &[]),
                TokenTree::Ident(word) if word == "extern" && is_word(tokens, at + 1, "crate") => {
                    self.tree(tokens, at + 2, &[])
                }
                TokenTree::Ident(word) if word == "mod" => self.module(tokens, at + 1),
                TokenTree::Ident(word) if word == "type" => self.alias(tokens, at + 1),
                TokenTree::Ident(_) => self.expression(tokens, at),
                TokenTree::Group(group) => {
                    self.tokens(&without_tests(group.stream()));
                    at + 1
                }
                TokenTree::Punct(punct) => {
                    if punct.as_char() == '<' {
                        self.qualified(tokens, at + 1);
                    }
                    at + 1
                }
                TokenTree::Literal(_) => at + 1,
            }
        }
    }

    fn push(&mut self, segments: Vec<String>, alias: Option<String>, first: &TokenTree) {
        let line = first.span().start().line;
        self.found.push(NamedPath { segments, alias, depth: self.depth, line });
    }

    /// Reads one tree of a `use` line, after these segments; returns where it ends.
    fn tree(&mut self, tokens: &[TokenTree], start: usize, before: &[String]) -> usize {
        let mut segments = before.to_vec();
        let mut at = if is_colons(tokens, start) { start + 2 } else { start };
        loop {
            match tokens.get(at) {
                Some(TokenTree::Ident(word)) => segments.push(plain(word)),
                Some(TokenTree::Punct(punct)) if punct.as_char() == '*' => segments.push("*".to_owned()),
                // `use crate::{a, b::c}`: each entry goes on from here.
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.entries(group.stream(), &segments);
                    return at + 1;
                }
                _ => return at,
            }
            at += 1;
            if !is_colons(tokens, at) {
                break;
            }
            at += 2;
        }
        let alias = if is_word(tokens, at, "as") { word(tokens, at + 1) } else { None };
        at += if alias.is_some() { 2 } else { 0 };
        self.push(segments, alias, &tokens[start]);
        at
    }

    fn entries(&mut self, group: TokenStream, before: &[String]) {
        let tokens: Vec<TokenTree> = group.into_iter().collect();
        let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
        for entry in tokens.split(comma) {
            self.tree(entry, 0, before);
        }
    }

    /// A module that is written out is one level more to climb.
    fn module(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        match tokens.get(at + 1) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                self.depth += 1;
                self.tokens(&without_tests(group.stream()));
                self.depth -= 1;
                at + 2
            }
            _ => at,
        }
    }

    /// `type Name = path;`
    fn alias(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let path = if is_punct(tokens, at + 1, '=') { read(tokens, at + 2) } else { None };
        match (path, word(tokens, at)) {
            (Some((segments, end)), Some(alias)) if is_punct(tokens, end, ';') => {
                self.push(segments, Some(alias), &tokens[at + 2]);
                end
            }
            _ => at,
        }
    }

    /// A path in an expression or a type, or in a macro that writes one with a group.
    fn expression(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let Some((segments, end)) = read(tokens, at) else { return at + 1 };
        if let (true, Some(TokenTree::Group(group))) = (is_colons(tokens, end), tokens.get(end + 2))
            && group.delimiter() == Delimiter::Brace
        {
            self.entries(group.stream(), &segments);
            return end + 3;
        }
        if segments.len() > 1 {
            self.push(segments, None, &tokens[at]);
        }
        end
    }

    /// `<path as Trait>::name` calls what `path::name` would; the paths inside are read as all others.
    fn qualified(&mut self, tokens: &[TokenTree], at: usize) {
        let Some((mut segments, mut end)) = read(tokens, at) else { return };
        if is_word(tokens, end, "as") {
            let Some((_, trait_end)) = read(tokens, end + 1) else { return };
            end = trait_end;
        }
        let called = if is_colons(tokens, end + 1) { word(tokens, end + 3) } else { None };
        if let (true, Some(last), Some(called)) = (is_punct(tokens, end, '>'), segments.pop(), called) {
            self.push(vec![last, called], None, &tokens[at]);
        }
    }
}

/// The path of plain names that begins here, and where it ends.
fn read(tokens: &[TokenTree], mut at: usize) -> Option<(Vec<String>, usize)> {
    let mut segments = vec![word(tokens, at)?];
    at += 1;
    while is_colons(tokens, at)
        && let Some(next) = word(tokens, at + 2)
    {
        segments.push(next);
        at += 3;
    }
    Some((segments, at))
}

/// A name without the mark of a raw one, which says the same.
fn plain(word: &Ident) -> String {
    word.to_string().trim_start_matches("r#").to_owned()
}

fn word(tokens: &[TokenTree], at: usize) -> Option<String> {
    if let Some(TokenTree::Ident(word)) = tokens.get(at) { Some(plain(word)) } else { None }
}

fn is_word(tokens: &[TokenTree], at: usize, wanted: &str) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == wanted)
}

fn is_punct(tokens: &[TokenTree], at: usize, wanted: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens, at, ':') && is_punct(tokens, at + 1, ':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(source: &str) -> Vec<String> {
        let shown = |path: NamedPath| {
            let alias = path.alias.map(|alias| format!(" as {alias}")).unwrap_or_default();
            path.segments.join("::") + &alias
        };
        paths(source.parse().unwrap()).into_iter().map(shown).collect()
    }

    #[test]
    fn groups_are_taken_apart_and_expressions_count() {
        let source = "use crate::{app::App, domain::{self, orders as o}}; use poem; fn f() { entity::orders::find(); }";
        assert_eq!(
            named(source),
            [
                "crate::app::App",
                "crate::domain::self",
                "crate::domain::orders as o",
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

    #[test]
    fn other_names_are_told_with_what_they_stand_for() {
        for (source, expected) in [
            ("use poem as p;", &["poem as p"][..]),
            ("use ::{poem as p, serde};", &["poem as p", "serde"]),
            ("extern crate poem as p;", &["poem as p"]),
            ("use crate::{self as c, r#api::*};", &["crate::self as c", "crate::api::*"]),
            ("type Orders = entity::orders::Entity;", &["entity::orders::Entity as Orders"]),
            ("fn f() -> impl Trait + use<'_> { a::b as u8 }", &["a::b"]),
            ("fn f() { <orders::Entity as EntityTrait>::find(); }", &["Entity::find", "orders::Entity"]),
        ] {
            assert_eq!(named(source), expected, "{source}");
        }
    }

    #[test]
    fn modules_that_are_written_out_count() {
        let source = "use a::b; mod one { use c::d; mod two { use e::f; } } mod three; use g::h;";
        let depths: Vec<_> = paths(source.parse().unwrap()).into_iter().map(|path| path.depth).collect();
        assert_eq!(depths, [0, 1, 2, 0]);
    }
}
