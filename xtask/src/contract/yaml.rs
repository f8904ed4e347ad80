//! YAML text into a tree with places.
//!
//! Owns what of YAML a contract may use: the JSON subset of YAML 1.2 (core schema), every key once, no anchors, aliases or
//! tags. It never knows what OpenAPI is.

use std::borrow::Cow;

use saphyr::{Scalar, ScalarStyle, Tag};
use saphyr_parser::{Event, Parser};

use super::node::{Entry, Node, Text, Value};
use super::source::{Source, Span};
use crate::diagnostic::{Code, Diagnostic};

/// Reads the one document of a text. A syntax error ends the reading; everything else is collected.
pub fn read(source: &Source, findings: &mut Vec<Diagnostic>) -> Option<Node> {
    let offsets: Vec<usize> = source.text.char_indices().map(|(at, _)| at).collect();
    let mut builder = Builder { source, offsets, stack: Vec::new(), root: None, findings };
    for event in Parser::new_from_str(&source.text) {
        match event {
            Ok((event, span)) => builder.take(event, span),
            Err(error) => {
                let at = builder.offset(error.marker().index());
                builder.findings.push(Diagnostic::error(
                    Code::Syntax,
                    Span { start: at, end: at },
                    format!("the contract is not YAML: {}", error.info()),
                    "mind indentation and quoting; everything after this place is unread",
                ));
                return None;
            }
        }
    }
    builder.root
}

struct Builder<'a> {
    source: &'a Source,
    /// The byte offset of each character: the parser counts characters.
    offsets: Vec<usize>,
    stack: Vec<Open>,
    root: Option<Node>,
    findings: &'a mut Vec<Diagnostic>,
}

/// A collection that is being read.
enum Open {
    Sequence { start: usize, items: Vec<Node> },
    Mapping { start: usize, entries: Vec<Entry>, key: Option<Text> },
}

impl Builder<'_> {
    fn offset(&self, index: usize) -> usize {
        self.offsets.get(index).copied().unwrap_or(self.source.text.len())
    }

    fn span(&self, span: saphyr_parser::Span) -> Span {
        Span { start: self.offset(span.start.index()), end: self.offset(span.end.index()) }
    }

    fn take(&mut self, event: Event<'_>, span: saphyr_parser::Span) {
        let span = self.span(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_anchor(anchor, span);
                self.refuse_tag(tag.as_deref(), span);
                self.scalar(text, style, span);
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_anchor(anchor, span);
                self.refuse_tag(tag.as_deref(), span);
                self.stack.push(Open::Sequence { start: span.start, items: Vec::new() });
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_anchor(anchor, span);
                self.refuse_tag(tag.as_deref(), span);
                self.stack.push(Open::Mapping { start: span.start, entries: Vec::new(), key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(_) => {
                self.refuse("an alias", span);
                self.put(Node { span, value: Value::Null });
            }
            Event::DocumentStart(_) if self.root.is_some() => self.refuse("a second document", span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, span: Span) {
        if let Some(Open::Mapping { key: key @ None, .. }) = self.stack.last_mut() {
            *key = Some(Text { text: text.into_owned(), span });
            return;
        }
        let value = match Scalar::parse_from_cow_and_metadata(text, style, None) {
            Some(Scalar::Boolean(value)) => Value::Bool(value),
            Some(Scalar::Integer(value)) => Value::Integer(value),
            Some(Scalar::FloatingPoint(value)) => Value::Float(value.into_inner()),
            Some(Scalar::String(value)) => Value::String(value.into_owned()),
            Some(Scalar::Null) | None => Value::Null,
        };
        self.put(Node { span, value });
    }

    fn close(&mut self, end: Span) {
        let node = match self.stack.pop() {
            Some(Open::Sequence { start, items }) => {
                Node { span: Span { start, end: end.end }, value: Value::Sequence(items) }
            }
            Some(Open::Mapping { start, entries, .. }) => {
                Node { span: Span { start, end: end.end }, value: Value::Mapping(entries) }
            }
            None => return,
        };
        self.put(node);
    }

    fn put(&mut self, node: Node) {
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping { entries, key, .. }) => match key.take() {
                None => self.refuse("a key that is not a plain word", node.span),
                Some(key) => match entries.iter().find(|entry| entry.key.text == key.text) {
                    None => entries.push(Entry { key, value: node }),
                    Some(first) => {
                        let finding = Diagnostic::error(
                            Code::DuplicateKey,
                            key.span,
                            format!("the key `{}` stands twice in one mapping", key.text),
                            "keep one of the two; readers of YAML disagree on which of them counts",
                        )
                        .labelled("again here")
                        .related(first.key.span, "first here");
                        self.findings.push(finding);
                    }
                },
            },
        }
    }

    fn refuse_anchor(&mut self, anchor: usize, span: Span) {
        if anchor != 0 {
            self.refuse("an anchor", span);
        }
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, span: Span) {
        if tag.is_some() {
            self.refuse("a tag", span);
        }
    }

    fn refuse(&mut self, what: &str, span: Span) {
        self.findings.push(Diagnostic::error(
            Code::UnsupportedKeyword,
            span,
            format!("the contract uses {what} of YAML"),
            "write it out in the JSON subset of YAML; share parts with `$ref`",
        ));
    }
}
