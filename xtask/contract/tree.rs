//! Builds the tree of a text from what a parser meets in it.
//!
//! Owns what holds for YAML and JSON alike: every key once, nesting and size within bounds. It never reads characters.

use std::collections::{HashMap, HashSet};

use super::node::{Entry, Node, Text, Value};
use super::source::Span;
use crate::diagnostic::{Code, Diagnostic};

/// How deep values may nest: deeper than any contract, and far from the end of a stack.
pub(super) const DEEPEST: usize = 192;
/// How many values aliases may add: a bomb of nine lines would add billions.
const MOST_FROM_ALIASES: usize = 200_000;
/// Keys of a mapping from which on they are looked up by hash.
const MANY_KEYS: usize = 16;

const WRITTEN_OUT: &str = "write it out in the JSON subset of YAML; share parts with `$ref`";

/// What is being built.
pub(super) struct Builder<'a> {
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, (Node, usize)>,
    from_aliases: usize,
    /// True once nothing more can be read.
    stopped: bool,
    pub(super) findings: &'a mut Vec<Diagnostic>,
}

/// A collection that is being read.
struct Open {
    start: usize,
    /// The anchor that names it, or 0.
    anchor: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, key: Option<Text>, seen: HashSet<String> },
}

impl<'a> Builder<'a> {
    pub(super) fn new(findings: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            from_aliases: 0,
            stopped: false,
            findings,
        }
    }

    /// The finished tree. Reports a text without any value: one that is empty, or holds only comments.
    pub(super) fn finish(mut self) -> Option<Node> {
        if self.root.is_none() {
            let place = Span { start: 0, end: 0 };
            self.stop(place, "the file is empty", "begin with `openapi: 3.1.0`");
        }
        if self.stopped { None } else { self.root }
    }

    /// Whether reading on is of no use.
    pub(super) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether something stands at the top already.
    pub(super) const fn has_root(&self) -> bool {
        self.root.is_some()
    }

    /// Whether the next scalar is a key.
    pub(super) fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Mapping { key: None, .. }, .. }))
    }

    /// Takes a key.
    pub(super) fn key(&mut self, text: String, span: Span) {
        if let Some(Open { content: Content::Mapping { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(Text { text, span });
        }
    }

    /// Begins a list.
    pub(super) fn begin_sequence(&mut self, start: usize, anchor: usize) {
        self.begin(start, anchor, Content::Sequence(Vec::new()));
    }

    /// Begins a mapping.
    pub(super) fn begin_mapping(&mut self, start: usize, anchor: usize) {
        let content = Content::Mapping { entries: Vec::new(), key: None, seen: HashSet::new() };
        self.begin(start, anchor, content);
    }

    fn begin(&mut self, start: usize, anchor: usize, content: Content) {
        self.open.push(Open { start, anchor, content });
        if self.open.len() > DEEPEST {
            self.stop(
                Span { start, end: start },
                format!("values nest more than {DEEPEST} deep"),
                "name inner parts under `components` and refer to them by `$ref`",
            );
        }
    }

    /// Ends the innermost collection.
    pub(super) fn end(&mut self, end: usize) {
        let Some(open) = self.open.pop() else { return };
        let value = match open.content {
            Content::Sequence(items) => Value::Sequence(items),
            Content::Mapping { entries, .. } => Value::Mapping(entries),
        };
        self.value(Node { span: Span { start: open.start, end }, value }, open.anchor);
    }

    /// Takes a value that is whole.
    pub(super) fn value(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            let size = size(&node);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        self.put(node);
    }

    /// Takes a copy of what an anchor names.
    pub(super) fn alias(&mut self, anchor: usize, span: Span) {
        let Some((node, size)) = self.anchors.get(&anchor) else {
            self.stop(span, "an alias stands inside the very value that it names", "write the value out");
            return;
        };
        self.from_aliases = self.from_aliases.saturating_add(*size);
        if self.from_aliases > MOST_FROM_ALIASES {
            self.stop(
                span,
                format!("aliases repeat more than {MOST_FROM_ALIASES} values"),
                "share parts with `$ref`, which repeats nothing",
            );
            return;
        }
        self.put(node.clone());
    }

    fn put(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut open.content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping { entries, key, seen } => match key.take() {
                None => self.refuse("a key that is not a plain word", node.span),
                Some(key) => match find(entries, seen, &key.text) {
                    None => entries.push(Entry { key, value: node }),
                    Some(first) => self.findings.push(twice(&key, first)),
                },
            },
        }
    }

    /// Reports something of YAML that a contract does without.
    pub(super) fn refuse(&mut self, what: &str, span: Span) {
        let message = format!("the contract uses {what} of YAML");
        self.findings.push(Diagnostic::error(Code::UnsupportedKeyword, span, message, WRITTEN_OUT));
    }

    /// Reports such a thing that would come in thousands.
    pub(super) fn stop_at(&mut self, what: &str, span: Span) {
        self.stop(span, format!("the contract uses {what} of YAML"), WRITTEN_OUT);
    }

    /// Reports what ends the reading.
    pub(super) fn stop(&mut self, span: Span, message: impl Into<String>, help: &str) {
        if !self.stopped {
            self.findings.push(Diagnostic::error(Code::Syntax, span, message, help));
        }
        self.stopped = true;
    }
}

/// The entry that has this key already. Many keys are remembered in `seen`, so that a long mapping takes linear time.
fn find<'e>(entries: &'e [Entry], seen: &mut HashSet<String>, key: &str) -> Option<&'e Entry> {
    if entries.len() >= MANY_KEYS {
        if seen.is_empty() {
            seen.extend(entries.iter().map(|entry| entry.key.text.clone()));
        }
        if seen.insert(key.to_owned()) {
            return None;
        }
    }
    entries.iter().find(|entry| entry.key.text == key)
}

fn twice(key: &Text, first: &Entry) -> Diagnostic {
    Diagnostic::error(
        Code::DuplicateKey,
        key.span,
        format!("the key `{}` stands twice in one mapping", key.text),
        "keep one of the two; readers of YAML disagree on which of them counts",
    )
    .labelled("again here")
    .related(first.key.span, "first here")
}

/// How many values a tree holds.
fn size(node: &Node) -> usize {
    1 + match &node.value {
        Value::Sequence(items) => items.iter().map(size).sum(),
        Value::Mapping(entries) => entries.iter().map(|entry| size(&entry.value)).sum::<usize>(),
        _ => 0,
    }
}
