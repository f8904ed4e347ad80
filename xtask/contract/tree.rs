//! Builds a tree from parser events.
//!
//! This module enforces the rules for both YAML and JSON: unique keys, and limits on nesting and aliases.

use std::collections::{HashMap, HashSet};

use super::node::{Entry, Node, SpannedString, Value};
use super::source::Span;
use crate::diagnostic::{Code, Diagnostic};

/// The maximum nesting depth. Deeper trees could overflow the stack.
pub(super) const MAX_DEPTH: usize = 192;
/// The maximum number of values that aliases can add. Nested aliases grow exponentially: nine lines can add billions of
/// values.
const MAX_ALIASED_VALUES: usize = 200_000;
/// A mapping with at least this number of keys uses a hash set to find duplicates.
const MIN_HASHED_KEYS: usize = 16;

const USE_JSON_SUBSET: &str = "use the JSON subset of YAML; share parts with `$ref`";

/// Builds a tree from the events of a parser: keys, values, and the starts and ends of collections.
pub(super) struct TreeBuilder<'a> {
    /// The collections whose end has not been parsed yet, from the outermost to the innermost.
    open_collections: Vec<OpenCollection>,
    root: Option<Node>,
    /// The values with an anchor, by the number of the anchor.
    anchors: HashMap<usize, AnchoredValue>,
    /// The number of values that aliases added.
    aliased_values: usize,
    /// Whether a fatal error was reported.
    has_fatal_error: bool,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

/// A value with an anchor.
struct AnchoredValue {
    node: Node,
    /// The number of values in it, including itself.
    size: usize,
    /// The number of nested collections, including itself; 0 for a scalar.
    depth: usize,
}

/// A collection whose end has not been parsed yet.
struct OpenCollection {
    /// The byte offset of the start.
    start: usize,
    /// The number of the anchor, or 0 if there is none.
    anchor: usize,
    content: CollectionContent,
}

enum CollectionContent {
    Sequence(Vec<Node>),
    /// `key` is the key whose value comes next, and `seen` contains the keys of a long mapping.
    Mapping {
        entries: Vec<Entry>,
        key: Option<SpannedString>,
        seen: HashSet<String>,
    },
}

impl<'a> TreeBuilder<'a> {
    pub(super) fn new(diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            open_collections: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            aliased_values: 0,
            has_fatal_error: false,
            diagnostics,
        }
    }

    /// Returns the tree, or `None` after a fatal error. Reports a source without a value: empty, or only comments.
    pub(super) fn finish(mut self) -> Option<Node> {
        if self.root.is_none() {
            let span = Span { start: 0, end: 0 };
            self.report_fatal(span, "the file is empty", "start with `openapi: 3.1.0`");
        }
        if self.has_fatal_error { None } else { self.root }
    }

    /// Returns whether a fatal error was reported.
    pub(super) const fn has_fatal_error(&self) -> bool {
        self.has_fatal_error
    }

    /// Returns whether the document has a value.
    pub(super) const fn has_root(&self) -> bool {
        self.root.is_some()
    }

    /// Returns whether the next scalar is a key.
    pub(super) fn expects_key(&self) -> bool {
        matches!(
            self.open_collections.last(),
            Some(OpenCollection { content: CollectionContent::Mapping { key: None, .. }, .. })
        )
    }

    /// Adds a key.
    pub(super) fn key(&mut self, text: String, span: Span) {
        if let Some(OpenCollection { content: CollectionContent::Mapping { key, .. }, .. }) =
            self.open_collections.last_mut()
        {
            *key = Some(SpannedString { text, span });
        }
    }

    /// Starts a list.
    pub(super) fn begin_sequence(&mut self, start: usize, anchor: usize) {
        self.begin(start, anchor, CollectionContent::Sequence(Vec::new()));
    }

    /// Starts a mapping.
    pub(super) fn begin_mapping(&mut self, start: usize, anchor: usize) {
        let content = CollectionContent::Mapping { entries: Vec::new(), key: None, seen: HashSet::new() };
        self.begin(start, anchor, content);
    }

    fn begin(&mut self, start: usize, anchor: usize, content: CollectionContent) {
        self.open_collections.push(OpenCollection { start, anchor, content });
        self.check_depth(0, Span { start, end: start });
    }

    /// Reports values that are nested too deeply: `depth` levels inside the open collections.
    fn check_depth(&mut self, depth: usize, span: Span) {
        if self.open_collections.len() + depth > MAX_DEPTH {
            self.report_fatal(
                span,
                format!("values are nested deeper than {MAX_DEPTH} levels"),
                "move nested parts to `components` and reference them with `$ref`",
            );
        }
    }

    /// Ends the innermost collection.
    pub(super) fn end(&mut self, end: usize) {
        let Some(open) = self.open_collections.pop() else { return };
        let value = match open.content {
            CollectionContent::Sequence(items) => Value::Sequence(items),
            CollectionContent::Mapping { entries, .. } => Value::Mapping(entries),
        };
        self.value(Node { span: Span { start: open.start, end }, value }, open.anchor);
    }

    /// Adds a complete value.
    pub(super) fn value(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            let (size, depth) = size_and_depth(&node);
            self.anchors.insert(anchor, AnchoredValue { node: node.clone(), size, depth });
        }
        self.insert(node);
    }

    /// Adds a copy of the value of an anchor.
    pub(super) fn alias(&mut self, anchor: usize, span: Span) {
        let Some(AnchoredValue { node, size, depth }) = self.anchors.get(&anchor) else {
            self.report_fatal(
                span,
                "an alias cannot be used inside the value of its anchor",
                "write the value out",
            );
            return;
        };
        let (node, depth) = (node.clone(), *depth);
        self.aliased_values = self.aliased_values.saturating_add(*size);
        if self.aliased_values > MAX_ALIASED_VALUES {
            self.report_fatal(
                span,
                format!("aliases add more than {MAX_ALIASED_VALUES} values"),
                "share parts with `$ref`",
            );
            return;
        }
        self.check_depth(depth, span);
        self.insert(node);
    }

    fn insert(&mut self, node: Node) {
        let Some(open) = self.open_collections.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut open.content {
            CollectionContent::Sequence(items) => items.push(node),
            CollectionContent::Mapping { entries, key, seen } => match key.take() {
                None => self.report_unsupported("a key that is not a scalar", node.span),
                Some(key) => match find_duplicate(entries, seen, &key.text) {
                    None => entries.push(Entry { key, value: node }),
                    Some(first) => self.diagnostics.push(duplicate_key(&key, first)),
                },
            },
        }
    }

    /// Reports a YAML feature that contracts cannot use.
    pub(super) fn report_unsupported(&mut self, feature: &str, span: Span) {
        let message = format!("{feature} is not supported in YAML contracts");
        self.diagnostics.push(Diagnostic::error(Code::UnsupportedKeyword, span, message, USE_JSON_SUBSET));
    }

    /// Reports a YAML feature that contracts cannot use, as a fatal error, because there can be thousands of uses.
    pub(super) fn report_fatal_unsupported(&mut self, feature: &str, span: Span) {
        self.report_fatal(span, format!("{feature} is not supported in YAML contracts"), USE_JSON_SUBSET);
    }

    /// Reports a fatal error. Only the first one is kept.
    pub(super) fn report_fatal(&mut self, span: Span, message: impl Into<String>, help: &str) {
        if !self.has_fatal_error {
            self.diagnostics.push(Diagnostic::error(Code::Syntax, span, message, help));
        }
        self.has_fatal_error = true;
    }
}

/// Returns the entry with the same key, if any. If there are at least [`MIN_HASHED_KEYS`] keys, `seen` contains them,
/// so that a long mapping takes linear time.
fn find_duplicate<'e>(entries: &'e [Entry], seen: &mut HashSet<String>, key: &str) -> Option<&'e Entry> {
    if entries.len() >= MIN_HASHED_KEYS {
        if seen.is_empty() {
            seen.extend(entries.iter().map(|entry| entry.key.text.clone()));
        }
        if seen.insert(key.to_owned()) {
            return None;
        }
    }
    entries.iter().find(|entry| entry.key.text == key)
}

fn duplicate_key(key: &SpannedString, first: &Entry) -> Diagnostic {
    Diagnostic::error(
        Code::DuplicateKey,
        key.span,
        format!("duplicate key `{}`", key.text),
        "remove one of them",
    )
    .with_label("duplicate")
    .with_related(first.key.span, "first used here")
}

/// Returns the number of values in a tree, and the number of its nested collections.
fn size_and_depth(node: &Node) -> (usize, usize) {
    let add = |(size, depth): (usize, usize), node: &Node| {
        let inner = size_and_depth(node);
        (size + inner.0, depth.max(inner.1 + 1))
    };
    match &node.value {
        Value::Sequence(items) => items.iter().fold((1, 1), add),
        Value::Mapping(entries) => entries.iter().map(|entry| &entry.value).fold((1, 1), add),
        _ => (1, 0),
    }
}
