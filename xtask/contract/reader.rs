//! What every reader of a part of the contract needs: typed access to values, references, and a place for findings.
//!
//! Owns how a value of the wrong kind and a reference that leads nowhere are reported. It never knows a keyword's meaning.

use super::keywords::{self, Kind};
use super::node::{Entry, Node, Text, Value, pointer_step};
use super::source::Span;
use crate::diagnostic::{Code, Diagnostic};

/// A node and the JSON pointer that leads to it.
#[derive(Clone, Debug)]
pub(crate) struct At<'n> {
    /// The node.
    pub node: &'n Node,
    /// The pointer to it.
    pub pointer: String,
    /// Where it is named, for findings about what it lacks.
    pub named: Span,
}

/// Reads values and collects findings.
pub(crate) struct Reader<'n> {
    /// The whole document, for references.
    pub root: &'n Node,
    /// What was found.
    pub findings: Vec<Diagnostic>,
}

impl<'n> Reader<'n> {
    /// A reader of one document.
    pub(crate) const fn new(root: &'n Node) -> Self {
        Self { root, findings: Vec::new() }
    }

    /// The document itself.
    pub(crate) fn start(&self) -> At<'n> {
        At { node: self.root, pointer: String::new(), named: self.root.span }
    }

    /// Reports an error.
    pub(crate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.findings.push(Diagnostic::error(code, span, message, help));
    }

    /// Reports the keys that may not stand in a mapping, and whether it is one at all.
    pub(crate) fn object(&mut self, at: &At<'n>, kind: &Kind) -> bool {
        if at.node.entries().is_none() {
            self.wrong(at.node, "a mapping");
            return false;
        }
        keywords::check(at.node, kind, &mut self.findings);
        true
    }

    /// Reports a value of the wrong kind.
    pub(crate) fn wrong(&mut self, node: &Node, wanted: &str) {
        self.error(
            Code::WrongType,
            node.span,
            format!("{wanted} must stand here, this is {}", node.value.kind()),
            "",
        );
    }

    /// The value under a key.
    pub(crate) fn child(&self, at: &At<'n>, key: &str) -> Option<At<'n>> {
        at.node.entry(key).map(|entry| Self::under(at, entry))
    }

    /// The value under a key that must be there.
    pub(crate) fn needed(&mut self, at: &At<'n>, key: &str, of: &str) -> Option<At<'n>> {
        let child = self.child(at, key);
        if child.is_none() && at.node.entries().is_some() {
            self.error(Code::MissingKeyword, at.named, format!("{of} needs `{key}`"), format!("add `{key}`"));
        }
        child
    }

    /// The values of a mapping, with their keys.
    pub(crate) fn children(&mut self, at: &At<'n>) -> Vec<(&'n Text, At<'n>)> {
        let Some(entries) = at.node.entries() else {
            self.wrong(at.node, "a mapping");
            return Vec::new();
        };
        entries.iter().map(|entry| (&entry.key, Self::under(at, entry))).collect()
    }

    fn under(at: &At<'n>, entry: &'n Entry) -> At<'n> {
        let pointer = format!("{}/{}", at.pointer, pointer_step(&entry.key.text));
        At { node: &entry.value, pointer, named: entry.key.span }
    }

    /// The items of a list.
    pub(crate) fn items(&mut self, at: &At<'n>) -> Vec<At<'n>> {
        let Some(items) = at.node.items() else {
            self.wrong(at.node, "a list");
            return Vec::new();
        };
        let numbered = items.iter().enumerate();
        numbered
            .map(|(index, node)| At { node, pointer: format!("{}/{index}", at.pointer), named: node.span })
            .collect()
    }

    /// A string.
    pub(crate) fn text(&mut self, at: &At<'n>) -> Option<Text> {
        match &at.node.value {
            Value::String(text) => Some(Text { text: text.clone(), span: at.node.span }),
            _ => {
                self.wrong(at.node, "a string");
                None
            }
        }
    }

    /// The string under a key, when there is one.
    pub(crate) fn text_of(&mut self, at: &At<'n>, key: &str) -> Option<Text> {
        let child = self.child(at, key)?;
        self.text(&child)
    }

    /// The boolean under a key; `false` when absent.
    pub(crate) fn flag(&mut self, at: &At<'n>, key: &str) -> bool {
        match self.child(at, key) {
            None => false,
            Some(At { node: Node { value: Value::Bool(flag), .. }, .. }) => *flag,
            Some(other) => {
                self.wrong(other.node, "a boolean");
                false
            }
        }
    }

    /// The count under a key.
    pub(crate) fn count(&mut self, at: &At<'n>, key: &str) -> Option<u64> {
        let child = self.child(at, key)?;
        match child.node.value {
            Value::Integer(count) if count >= 0 => Some(count.unsigned_abs()),
            _ => {
                self.wrong(child.node, "a whole number that is not negative");
                None
            }
        }
    }

    /// The number under a key.
    #[allow(clippy::cast_precision_loss)] // JSON's numbers are doubles; a bound beyond 2^53 has no other form.
    pub(crate) fn number(&mut self, at: &At<'n>, key: &str) -> Option<f64> {
        let child = self.child(at, key)?;
        match child.node.value {
            Value::Integer(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            _ => {
                self.wrong(child.node, "a number");
                None
            }
        }
    }

    /// The thing that stands here, or that a `$ref` to one of `components.<section>` leads to.
    pub(crate) fn followed(&mut self, at: At<'n>, section: &str) -> Option<At<'n>> {
        let Some(entry) = at.node.entry("$ref") else { return Some(at) };
        for other in at.node.entries().unwrap_or_default() {
            if other.key.text != "$ref" {
                self.error(
                    Code::UnsupportedKeyword,
                    other.key.span,
                    format!("`{}` stands beside `$ref`", other.key.text),
                    "a reference stands alone; change what it leads to, or write the thing out here",
                );
            }
        }
        let name = self.reference(&entry.value, section)?;
        let pointer = format!("/components/{section}/{}", pointer_step(&name.text));
        let node = self.root.pointer(&pointer)?;
        Some(At { node, named: self.root.place_of(&pointer), pointer })
    }

    /// The name that a `$ref` gives, when it leads to an entry of `components.<section>`.
    pub(crate) fn reference(&mut self, node: &Node, section: &str) -> Option<Text> {
        let Some(target) = node.as_str() else {
            self.wrong(node, "a string");
            return None;
        };
        let Some(local) = target.strip_prefix('#') else {
            self.error(
                Code::ExternalRef,
                node.span,
                format!("`{target}` leads into another document"),
                format!("copy what is needed to `components.{section}` and refer to it there"),
            );
            return None;
        };
        let name = local.strip_prefix(&format!("/components/{section}/")).filter(|name| !name.contains('/'));
        if let Some(name) = name
            && self.root.pointer(local).is_some()
        {
            return Some(Text { text: name.replace("~1", "/").replace("~0", "~"), span: node.span });
        }
        let help = if name.is_none() {
            format!("refer to an entry of `components.{section}`: `#/components/{section}/...`")
        } else {
            format!("add the entry to `components.{section}`, or correct the name")
        };
        self.error(
            Code::UnresolvedRef,
            node.span,
            format!("`{target}` leads nowhere that can stand here"),
            help,
        );
        None
    }
}
