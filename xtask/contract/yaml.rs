//! YAML text into a tree with places.
//!
//! Owns what of YAML a contract may use: the JSON subset of YAML 1.2 (core schema), every key once, no tags; anchors and
//! aliases only where the caller lets them pass. It never knows what OpenAPI is.

use std::borrow::Cow;

use saphyr::{Scalar, ScalarStyle, Tag};
use saphyr_parser::{Event, Parser};

use super::json;
use super::node::{Node, Value};
use super::source::{Source, Span};
use super::tree::Builder;
use crate::diagnostic::Diagnostic;

/// What becomes of anchors and aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliases {
    /// The first one ends the reading: our own contract does without.
    Refused,
    /// An alias becomes a copy of what it names, within bounds.
    Copied,
}

/// Reads the one document of a text without anchors. A syntax error ends the reading; everything else is collected.
pub fn read(source: &Source, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    read_with(source, Aliases::Refused, findings)
}

/// Reads the one document of a text: as JSON when it is JSON, else as YAML.
pub fn read_with(source: &Source, aliases: Aliases, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    if json::looks_like(source) {
        let mut faults = Vec::new();
        let tree = json::read(source, &mut faults);
        // A flow mapping of YAML begins like JSON; only a file that calls itself JSON must be some.
        if tree.is_some() || json::is_called(source) {
            findings.append(&mut faults);
            return tree;
        }
    }
    let mut reading =
        Reading { source, offsets: Offsets::of(&source.text), aliases, tree: Builder::new(findings) };
    for event in Parser::new_from_str(&source.text) {
        match event {
            Ok((event, span)) => reading.take(event, span),
            Err(error) => {
                // What is missing at the end is missing behind the last word.
                let at = reading.offsets.byte(&source.text, error.marker().index());
                let at = at.min(source.text.trim_end().len());
                reading.tree.stop(
                    Span { start: at, end: at },
                    format!("the contract is not YAML: {}", error.info()),
                    "mind indentation and quoting; everything after this place is unread",
                );
            }
        }
        if reading.tree.is_stopped() {
            break;
        }
    }
    reading.tree.finish()
}

struct Reading<'a> {
    source: &'a Source,
    offsets: Offsets,
    aliases: Aliases,
    tree: Builder<'a>,
}

impl Reading<'_> {
    fn span(&self, span: saphyr_parser::Span) -> Span {
        let byte = |index| self.offsets.byte(&self.source.text, index);
        Span { start: byte(span.start.index()), end: byte(span.end.index()) }
    }

    fn take(&mut self, event: Event<'_>, span: saphyr_parser::Span) {
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
            Event::DocumentStart(_) if self.tree.has_root() => self.tree.refuse("a second document", span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, anchor: usize, span: Span) {
        if self.tree.wants_key() {
            if self.aliases == Aliases::Copied && text == "<<" {
                self.tree.refuse("a merge key", span);
            }
            self.tree.key(text.into_owned(), span);
            return;
        }
        let value = match Scalar::parse_from_cow_and_metadata(text, style, None) {
            Some(Scalar::FloatingPoint(value)) if !value.is_finite() => {
                let written = &self.source.text[span.start..span.end];
                let message = format!("`{written}` is a number that JSON does not have");
                let help = "write a finite number; what has no bound needs none";
                return self.tree.stop(span, message, help);
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
            Aliases::Copied => self.tree.alias(anchor, span),
            Aliases::Refused => {
                self.tree.stop_at("an alias", span);
            }
        }
    }

    /// The anchor to remember a value by, or 0; tags, and anchors where they may not stand, are reported.
    fn anchor(&mut self, anchor: usize, tag: Option<&Tag>, span: Span) -> usize {
        if tag.is_some() {
            self.tree.refuse("a tag", span);
        }
        if anchor != 0 && self.aliases == Aliases::Refused {
            self.tree.stop_at("an anchor", span);
            return 0;
        }
        anchor
    }
}

/// From a count of characters, which is what the parser gives, to a byte.
enum Offsets {
    /// Every character is one byte.
    Ascii,
    /// The byte of every 64th character.
    Sampled(Vec<usize>),
}

const SAMPLE: usize = 64;

impl Offsets {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self::Ascii;
        }
        Self::Sampled(text.char_indices().step_by(SAMPLE).map(|(at, _)| at).collect())
    }

    fn byte(&self, text: &str, index: usize) -> usize {
        let Self::Sampled(samples) = self else { return index.min(text.len()) };
        let Some(start) = samples.get(index / SAMPLE) else { return text.len() };
        let rest = text[*start..].char_indices().nth(index % SAMPLE);
        rest.map_or(text.len(), |(at, _)| start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(name: &str, text: &str) -> (Option<Node>, Vec<String>) {
        let mut findings = Vec::new();
        let tree = read_with(&Source::new(name, text), Aliases::Copied, &mut findings);
        (tree, findings.into_iter().map(|finding| finding.message).collect())
    }

    fn refusal(name: &str, text: &str) -> String {
        read_text(name, text).1.join("; ")
    }

    #[test]
    fn what_is_no_document_is_refused_in_one_sentence() {
        assert_eq!(refusal("a.yaml", ""), "the file is empty");
        for empty in [" \n\n", "\u{feff}", "# a comment"] {
            assert_eq!(refusal("a.yaml", empty), "the file is empty", "{empty:?}");
        }
        assert!(refusal("a.yaml", "a: [1, 2\nb: 3").starts_with("the contract is not YAML"));
        assert!(refusal("a.yaml", "\u{0}\u{1}").starts_with("the contract is not YAML"));
        assert!(refusal("a.json", "{\"a\": tru}").starts_with("the contract is not JSON"));
        assert_eq!(refusal("a.yaml", "a: 1\na: 2"), "the key `a` stands twice in one mapping");
        let long: String = (0..40).map(|at| format!("k{at}: 1\n")).collect();
        assert_eq!(refusal("a.yaml", &(long + "k7: 1\n")), "the key `k7` stands twice in one mapping");
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused_where_it_stands() {
        for number in [".inf", "-.Inf", "+.INF", ".nan", "1e999", "-1e999"] {
            let mut findings = Vec::new();
            let text = format!("a: 1\nb: [{number}]\n");
            assert!(read(&Source::new("a.yaml", &*text), &mut findings).is_none(), "{number}");
            let [finding] = &findings[..] else { panic!("{number} is one finding: {findings:?}") };
            assert_eq!(finding.message, format!("`{number}` is a number that JSON does not have"));
            assert_eq!(&text[finding.span.start..finding.span.end], number);
        }
        let words = "a: '.inf'\nb: \".nan\"\nc: 1e300\nd: .infinite\n.inf: 1";
        assert_eq!(refusal("a.yaml", words), "");
    }

    #[test]
    fn a_bomb_of_aliases_is_refused_and_a_plain_alias_is_a_copy() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for at in 1..10 {
            let one = format!("*a{}", at - 1);
            bomb += &format!("a{at}: &a{at} [{}]\n", vec![one; 9].join(", "));
        }
        assert_eq!(refusal("a.yaml", &bomb), "aliases repeat more than 200000 values");
        assert!(!refusal("a.yaml", "a: &a [*a]").is_empty());
        let (tree, findings) = read_text("a.yaml", "a: &x {b: 1}\nc: *x\n");
        assert_eq!(findings, Vec::<String>::new());
        assert_eq!(tree.unwrap().to_json(), serde_json::json!({"a": {"b": 1}, "c": {"b": 1}}));
    }

    #[test]
    fn deep_nesting_is_refused_in_both_notations() {
        for (name, deep) in [
            ("a.json", "[".repeat(100_000)),
            ("a.yaml", "- ".repeat(100_000)),
            ("b.yaml", "[".repeat(100_000)),
            ("c.yaml", "{a: ".repeat(100_000)),
        ] {
            assert!(!refusal(name, &deep).is_empty(), "{name}");
        }
    }

    #[test]
    fn places_are_bytes_whatever_the_characters() {
        let text = format!("a: '{}'\nb: ä\nc: 1\n", "ö".repeat(100));
        let tree = read_text("a.yaml", &text).0.unwrap();
        let span = tree.entry("c").unwrap().key.span;
        assert_eq!(&text[span.start..span.end], "c");
    }
}
