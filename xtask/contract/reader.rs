//! Typed access to nodes and references, and the list of diagnostics.
//!
//! This module reports values of the wrong type and invalid references. It does not depend on the meaning of keywords.

use super::keywords::{self, ObjectKind};
use super::node::{Entry, Node, SpannedString, Value, escape_pointer_token};
use super::source::Span;
use crate::Profile;
use crate::diagnostic::{Code, Diagnostic};

/// A node and its location.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'n> {
    /// The node.
    pub node: &'n Node,
    /// The JSON pointer of the node.
    pub pointer: String,
    /// The span of its key, for diagnostics about missing parts. A list item and the document have no key: their span
    /// is that of the node.
    pub name_span: Span,
}

/// Reads typed values and collects diagnostics.
///
/// The methods for typed values return nothing (`None`, an empty list or `false`) if the value is absent or has the
/// wrong type. Only the wrong type is reported.
pub(crate) struct NodeReader<'n> {
    /// The document, for resolving references.
    pub root: &'n Node,
    /// The diagnostics so far.
    pub diagnostics: Vec<Diagnostic>,
    /// The rules of the contract.
    pub profile: Profile,
}

impl<'n> NodeReader<'n> {
    /// Creates a reader of a document.
    pub(crate) const fn new(root: &'n Node, profile: Profile) -> Self {
        Self { root, diagnostics: Vec::new(), profile }
    }

    /// Returns the document node.
    pub(crate) fn root_cursor(&self) -> Cursor<'n> {
        Cursor { node: self.root, pointer: String::new(), name_span: self.root.span }
    }

    /// Reports an error.
    pub(crate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.diagnostics.push(Diagnostic::error(code, span, message, help));
    }

    /// Reports unknown and unsupported keys of a mapping. Reports a node that is not a mapping, and returns `false` for
    /// it.
    pub(crate) fn check_keywords(&mut self, cursor: &Cursor<'n>, kind: &ObjectKind) -> bool {
        if cursor.node.entries().is_none() {
            self.wrong_type(cursor.node, "a mapping");
            return false;
        }
        keywords::check(cursor.node, kind, &mut self.diagnostics);
        true
    }

    /// Reports a value of the wrong type.
    pub(crate) fn wrong_type(&mut self, node: &Node, expected: &str) {
        self.error(
            Code::WrongType,
            node.span,
            format!("expected {expected}, found {}", node.value.kind()),
            "",
        );
    }

    /// Returns the value of a key, if present.
    pub(crate) fn child(&self, cursor: &Cursor<'n>, key: &str) -> Option<Cursor<'n>> {
        cursor.node.entry(key).map(|entry| Self::entry_cursor(cursor, entry))
    }

    /// Returns the value of a required key. Reports a missing key, unless the node is not a mapping. `parent` is the
    /// name of the node with an article, for the message.
    pub(crate) fn required_child(
        &mut self,
        cursor: &Cursor<'n>,
        key: &str,
        parent: &str,
    ) -> Option<Cursor<'n>> {
        let child = self.child(cursor, key);
        if child.is_none() && cursor.node.entries().is_some() {
            self.error(
                Code::MissingKeyword,
                cursor.name_span,
                format!("{parent} is missing `{key}`"),
                format!("add `{key}`"),
            );
        }
        child
    }

    /// Returns the keys and values of a mapping.
    pub(crate) fn children(&mut self, cursor: &Cursor<'n>) -> Vec<(&'n SpannedString, Cursor<'n>)> {
        let Some(entries) = cursor.node.entries() else {
            self.wrong_type(cursor.node, "a mapping");
            return Vec::new();
        };
        entries.iter().map(|entry| (&entry.key, Self::entry_cursor(cursor, entry))).collect()
    }

    fn entry_cursor(cursor: &Cursor<'n>, entry: &'n Entry) -> Cursor<'n> {
        let pointer = format!("{}/{}", cursor.pointer, escape_pointer_token(&entry.key.text));
        Cursor { node: &entry.value, pointer, name_span: entry.key.span }
    }

    /// Returns the items of a list.
    pub(crate) fn items(&mut self, cursor: &Cursor<'n>) -> Vec<Cursor<'n>> {
        let Some(items) = cursor.node.items() else {
            self.wrong_type(cursor.node, "a list");
            return Vec::new();
        };
        items
            .iter()
            .enumerate()
            .map(|(index, node)| Cursor {
                node,
                pointer: format!("{}/{index}", cursor.pointer),
                name_span: node.span,
            })
            .collect()
    }

    /// Returns a string.
    pub(crate) fn string(&mut self, cursor: &Cursor<'n>) -> Option<SpannedString> {
        match &cursor.node.value {
            Value::String(text) => Some(SpannedString { text: text.clone(), span: cursor.node.span }),
            _ => {
                self.wrong_type(cursor.node, "a string");
                None
            }
        }
    }

    /// Returns the string value of a key, if present.
    pub(crate) fn string_child(&mut self, cursor: &Cursor<'n>, key: &str) -> Option<SpannedString> {
        let child = self.child(cursor, key)?;
        self.string(&child)
    }

    /// Returns the boolean value of a key; `false` if absent.
    pub(crate) fn flag(&mut self, cursor: &Cursor<'n>, key: &str) -> bool {
        match self.child(cursor, key) {
            None => false,
            Some(Cursor { node: Node { value: Value::Bool(flag), .. }, .. }) => *flag,
            Some(other) => {
                self.wrong_type(other.node, "a boolean");
                false
            }
        }
    }

    /// Returns the non-negative integer value of a key.
    pub(crate) fn count(&mut self, cursor: &Cursor<'n>, key: &str) -> Option<u64> {
        let child = self.child(cursor, key)?;
        match child.node.value {
            Value::Integer(count) if count >= 0 => Some(count.unsigned_abs()),
            _ => {
                self.wrong_type(child.node, "a non-negative integer");
                None
            }
        }
    }

    /// Returns the number value of a key.
    #[allow(clippy::cast_precision_loss)] // Bounds beyond 2^53 are rounded, like all JSON numbers.
    pub(crate) fn number(&mut self, cursor: &Cursor<'n>, key: &str) -> Option<f64> {
        let child = self.child(cursor, key)?;
        match child.node.value {
            Value::Integer(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            _ => {
                self.wrong_type(child.node, "a number");
                None
            }
        }
    }

    /// Returns the node or, if the node has a `$ref`, the entry of `components.<section>` that it targets. Returns
    /// `None` if there is no such entry. Reports an invalid reference, and keywords beside it.
    pub(crate) fn resolve(&mut self, cursor: Cursor<'n>, section: &str) -> Option<Cursor<'n>> {
        let Some(entry) = cursor.node.entry("$ref") else { return Some(cursor) };
        for sibling in cursor.node.entries().unwrap_or_default() {
            if sibling.key.text != "$ref" {
                self.error(
                    Code::UnsupportedKeyword,
                    sibling.key.span,
                    format!("`{}` cannot be used with `$ref`", sibling.key.text),
                    "remove it; change the referenced object, or write the object inline",
                );
            }
        }
        let name = self.reference(&entry.value, section)?;
        let pointer = format!("/components/{section}/{}", escape_pointer_token(&name.text));
        let node = self.root.pointer(&pointer)?;
        Some(Cursor { node, name_span: self.root.span_at(&pointer), pointer })
    }

    /// Returns the name of the entry of `components.<section>` that a `$ref` targets. Reports an invalid reference.
    pub(crate) fn reference(&mut self, node: &Node, section: &str) -> Option<SpannedString> {
        let Some(target) = node.as_str() else {
            self.wrong_type(node, "a string");
            return None;
        };
        let Some(pointer) = target.strip_prefix('#') else {
            self.error(
                Code::ExternalRef,
                node.span,
                format!("`{target}` references another document"),
                format!("copy the object to `components.{section}` and reference it there"),
            );
            return None;
        };
        let name =
            pointer.strip_prefix(&format!("/components/{section}/")).filter(|name| !name.contains('/'));
        if let Some(name) = name
            && self.root.pointer(pointer).is_some()
        {
            return Some(SpannedString { text: name.replace("~1", "/").replace("~0", "~"), span: node.span });
        }
        let help = if name.is_none() {
            format!("reference an entry of `components.{section}`: `#/components/{section}/...`")
        } else {
            format!("add the entry to `components.{section}`, or correct the name")
        };
        self.error(Code::UnresolvedRef, node.span, format!("unresolved reference `{target}`"), help);
        None
    }
}
