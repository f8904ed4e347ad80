//! Parses YAML into a tree with source spans.
//!
//! Contracts use the JSON subset of YAML 1.2 (core schema), with unique keys and without tags. Anchors and aliases are
//! allowed only with [`AliasPolicy::Expand`]. This module does not depend on OpenAPI.

use std::borrow::Cow;

use saphyr::{Scalar, ScalarStyle, Tag};
use saphyr_parser::{Event, Parser};

use super::json;
use super::node::{Node, Value};
use super::source::{Source, Span};
use super::tree::TreeBuilder;
use crate::diagnostic::Diagnostic;

/// How to handle anchors and aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AliasPolicy {
    /// Reports the first one as a fatal error.
    Reject,
    /// Replaces an alias with a copy of the anchored value, up to a limit.
    Expand,
}

/// Parses the only document of a source and rejects anchors. Returns `None` after a fatal error, such as a syntax
/// error. Other errors are only added to `diagnostics`.
pub fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    read_with(source, AliasPolicy::Reject, diagnostics)
}

/// Parses the only document of a source, as JSON if it is JSON, otherwise as YAML. A `.json` file that starts with `{`
/// or `[` must be JSON. Returns `None` after a fatal error.
pub fn read_with(source: &Source, aliases: AliasPolicy, diagnostics: &mut Vec<Diagnostic>) -> Option<Node> {
    if json::starts_like_json(source) {
        let mut json_diagnostics = Vec::new();
        let tree = json::read(source, &mut json_diagnostics);
        // A YAML flow mapping starts like JSON. Only a `.json` file must be JSON.
        if tree.is_some() || json::has_json_extension(source) {
            diagnostics.append(&mut json_diagnostics);
            return tree;
        }
    }
    let mut parser = YamlParser {
        source,
        offsets: Offsets::of(&source.text),
        aliases,
        tree: TreeBuilder::new(diagnostics),
    };
    for event in Parser::new_from_str(&source.text) {
        match event {
            Ok((event, span)) => parser.handle_event(event, span),
            Err(error) => {
                // Report a missing delimiter at the end of the last token, not in the white space behind it.
                let at = parser.offsets.byte(&source.text, error.marker().index());
                let at = at.min(source.text.trim_end().len());
                parser.tree.report_fatal(
                    Span { start: at, end: at },
                    format!("invalid YAML: {}", error.info()),
                    "check indentation and quotes; the rest of the file was not read",
                );
            }
        }
        if parser.tree.has_fatal_error() {
            break;
        }
    }
    parser.tree.finish()
}

struct YamlParser<'a> {
    source: &'a Source,
    offsets: Offsets,
    aliases: AliasPolicy,
    tree: TreeBuilder<'a>,
}

impl YamlParser<'_> {
    fn span(&self, span: saphyr_parser::Span) -> Span {
        let byte = |index| self.offsets.byte(&self.source.text, index);
        Span { start: byte(span.start.index()), end: byte(span.end.index()) }
    }

    fn handle_event(&mut self, event: Event<'_>, span: saphyr_parser::Span) {
        let span = self.span(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let anchor = self.anchor(anchor, tag.as_deref(), span);
                self.scalar(text, style, anchor, span);
            }
            Event::SequenceStart(anchor, tag) => {
                let anchor = self.anchor(anchor, tag.as_deref(), span);
                self.tree.begin_sequence(span.start, anchor);
            }
            Event::MappingStart(anchor, tag) => {
                let anchor = self.anchor(anchor, tag.as_deref(), span);
                self.tree.begin_mapping(span.start, anchor);
            }
            Event::SequenceEnd | Event::MappingEnd => self.tree.end(span.end),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::DocumentStart(_) if self.tree.has_root() => {
                self.tree.report_unsupported("a second document", span)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, anchor: usize, span: Span) {
        if self.tree.expects_key() {
            if self.aliases == AliasPolicy::Expand && text == "<<" {
                self.tree.report_unsupported("a merge key", span);
            }
            self.tree.key(text.into_owned(), span);
            return;
        }
        let value = match Scalar::parse_from_cow_and_metadata(text, style, None) {
            Some(Scalar::FloatingPoint(value)) if !value.is_finite() => {
                let written = &self.source.text[span.start..span.end];
                let message = format!("`{written}` is not a finite number");
                let help = "write a finite number, or remove the keyword";
                return self.tree.report_fatal(span, message, help);
            }
            Some(Scalar::Boolean(value)) => Value::Bool(value),
            Some(Scalar::Integer(value)) => Value::Integer(value),
            Some(Scalar::FloatingPoint(value)) => Value::Float(value.into_inner()),
            Some(Scalar::String(value)) => Value::String(value.into_owned()),
            Some(Scalar::Null) | None => Value::Null,
        };
        self.tree.value(Node { span, value }, anchor);
    }

    fn alias(&mut self, anchor: usize, span: Span) {
        match self.aliases {
            AliasPolicy::Expand => self.tree.alias(anchor, span),
            AliasPolicy::Reject => {
                self.tree.report_fatal_unsupported("an alias", span);
            }
        }
    }

    /// Returns the number of a value's anchor, or 0 if there is none. Reports tags, and anchors if they are not
    /// allowed.
    fn anchor(&mut self, anchor: usize, tag: Option<&Tag>, span: Span) -> usize {
        if tag.is_some() {
            self.tree.report_unsupported("a tag", span);
        }
        if anchor != 0 && self.aliases == AliasPolicy::Reject {
            self.tree.report_fatal_unsupported("an anchor", span);
            return 0;
        }
        anchor
    }
}

/// Converts character offsets, which the parser reports, to byte offsets.
enum Offsets {
    /// Each character is one byte.
    Ascii,
    /// The byte offset of every 64th character.
    Sampled(Vec<usize>),
}

/// The number of characters from one sampled offset to the next.
const SAMPLE_INTERVAL: usize = 64;

impl Offsets {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self::Ascii;
        }
        Self::Sampled(text.char_indices().step_by(SAMPLE_INTERVAL).map(|(at, _)| at).collect())
    }

    fn byte(&self, text: &str, index: usize) -> usize {
        let Self::Sampled(samples) = self else { return index.min(text.len()) };
        let Some(start) = samples.get(index / SAMPLE_INTERVAL) else { return text.len() };
        let character = text[*start..].char_indices().nth(index % SAMPLE_INTERVAL);
        character.map_or(text.len(), |(at, _)| start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(name: &str, text: &str) -> (Option<Node>, Vec<String>) {
        let mut diagnostics = Vec::new();
        let tree = read_with(&Source::new(name, text), AliasPolicy::Expand, &mut diagnostics);
        (tree, diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect())
    }

    fn messages(name: &str, text: &str) -> String {
        read_text(name, text).1.join("; ")
    }

    #[test]
    fn invalid_documents_are_rejected_with_one_message() {
        assert_eq!(messages("a.yaml", ""), "the file is empty");
        for empty in [" \n\n", "\u{feff}", "# a comment"] {
            assert_eq!(messages("a.yaml", empty), "the file is empty", "{empty:?}");
        }
        assert!(messages("a.yaml", "a: [1, 2\nb: 3").starts_with("invalid YAML"));
        assert!(messages("a.yaml", "\u{0}\u{1}").starts_with("invalid YAML"));
        assert!(messages("a.json", "{\"a\": tru}").starts_with("invalid JSON"));
        assert_eq!(messages("a.yaml", "a: 1\na: 2"), "duplicate key `a`");
        let long: String = (0..40).map(|at| format!("k{at}: 1\n")).collect();
        assert_eq!(messages("a.yaml", &(long + "k7: 1\n")), "duplicate key `k7`");
    }

    #[test]
    fn a_number_that_is_not_finite_is_rejected() {
        for number in [".inf", "-.Inf", "+.INF", ".nan", "1e999", "-1e999"] {
            let mut diagnostics = Vec::new();
            let text = format!("a: 1\nb: [{number}]\n");
            assert!(read(&Source::new("a.yaml", &*text), &mut diagnostics).is_none(), "{number}");
            let [diagnostic] = &diagnostics[..] else {
                panic!("expected one diagnostic for {number}: {diagnostics:?}")
            };
            assert_eq!(diagnostic.message, format!("`{number}` is not a finite number"));
            assert_eq!(&text[diagnostic.span.start..diagnostic.span.end], number);
        }
        let words = "a: '.inf'\nb: \".nan\"\nc: 1e300\nd: .infinite\n.inf: 1";
        assert_eq!(messages("a.yaml", words), "");
    }

    #[test]
    fn aliases_are_expanded_up_to_a_limit() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for at in 1..10 {
            let alias = format!("*a{}", at - 1);
            bomb += &format!("a{at}: &a{at} [{}]\n", vec![alias; 9].join(", "));
        }
        assert_eq!(messages("a.yaml", &bomb), "aliases add more than 200000 values");
        assert!(!messages("a.yaml", "a: &a [*a]").is_empty());
        let (tree, diagnostics) = read_text("a.yaml", "a: &x {b: 1}\nc: *x\n");
        assert_eq!(diagnostics, Vec::<String>::new());
        assert_eq!(tree.unwrap().to_json(), serde_json::json!({"a": {"b": 1}, "c": {"b": 1}}));
    }

    #[test]
    fn the_nesting_limit_includes_the_values_of_aliases() {
        let mut deep = "a0: &a0 [x]\n".to_owned();
        for at in 1..1_000 {
            deep += &format!("a{at}: &a{at} [*a{}]\n", at - 1);
        }
        assert_eq!(messages("a.yaml", &deep), "values are nested deeper than 192 levels");
        let nested =
            |depth: usize| format!("a: &a {}x{}\nb: {{c: *a}}\n", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(messages("a.yaml", &nested(190)), "");
        assert_eq!(messages("a.yaml", &nested(191)), "values are nested deeper than 192 levels");
    }

    #[test]
    fn deep_nesting_is_rejected_in_yaml_and_json() {
        for (name, deep) in [
            ("a.json", "[".repeat(100_000)),
            ("a.yaml", "- ".repeat(100_000)),
            ("b.yaml", "[".repeat(100_000)),
            ("c.yaml", "{a: ".repeat(100_000)),
        ] {
            assert!(!messages(name, &deep).is_empty(), "{name}");
        }
    }

    #[test]
    fn spans_are_byte_ranges_in_text_with_multibyte_characters() {
        let text = format!("a: '{}'\nb: ä\nc: 1\n", "ö".repeat(100));
        let tree = read_text("a.yaml", &text).0.unwrap();
        let span = tree.entry("c").unwrap().key.span;
        assert_eq!(&text[span.start..span.end], "c");
    }
}
