//! The anchors and ids of the schemas in a file.

use contract::node::{Node, Value, escape_pointer_token};
use contract::source::Span;

use crate::references::{DATA_KEYWORDS, target};

/// The anchors and ids in a file, each with the JSON pointer of its schema.
#[derive(Debug, Default)]
pub(super) struct Identifiers {
    /// `$anchor` and `$dynamicAnchor`.
    anchors: Vec<(String, String)>,
    /// `$id`, each with the span of its schema.
    ids: Vec<(String, String, Span)>,
    /// The schemas with `$recursiveAnchor: true`, each with its span.
    recursive: Vec<(String, Span)>,
}

impl Identifiers {
    /// Collects the identifiers in a tree.
    pub(super) fn of(tree: &Node) -> Self {
        let mut identifiers = Self::default();
        identifiers.collect(tree, &mut String::new());
        identifiers
    }

    fn collect(&mut self, node: &Node, pointer: &mut String) {
        let length = pointer.len();
        match &node.value {
            Value::Mapping(entries) => {
                for entry in entries {
                    let key = entry.key.text.as_str();
                    if key == "$recursiveAnchor" && matches!(entry.value.value, Value::Bool(true)) {
                        self.recursive.push((pointer.clone(), node.span));
                    }
                    match (key, entry.value.as_str()) {
                        ("$anchor" | "$dynamicAnchor", Some(name)) => {
                            self.anchors.push((name.to_owned(), pointer.clone()));
                        }
                        ("$id", Some(id)) => {
                            let id = id.trim_end_matches('#').to_owned();
                            self.ids.push((id, pointer.clone(), node.span));
                        }
                        (_, None) if !DATA_KEYWORDS.contains(&key) && !key.starts_with("x-") => {
                            pointer.push('/');
                            pointer.push_str(&escape_pointer_token(key));
                            self.collect(&entry.value, pointer);
                            pointer.truncate(length);
                        }
                        _ => {}
                    }
                }
            }
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.collect(item, pointer);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Returns the pointer of the only schema with this anchor.
    pub(super) fn anchor(&self, name: &str) -> Option<String> {
        let mut pointers = self.anchors.iter().filter(|(anchor, _)| anchor == name);
        match (pointers.next(), pointers.next()) {
            (Some((_, pointer)), None) => Some(pointer.clone()),
            _ => None,
        }
    }

    /// Returns the pointer of the innermost schema with `$recursiveAnchor: true` around a position.
    pub(super) fn recursive_anchor(&self, span: Span) -> Option<&str> {
        innermost(self.recursive.iter().map(|(pointer, outer)| (pointer.as_str(), *outer)), span)
    }

    /// Whether several schemas have this anchor.
    pub(super) fn is_ambiguous(&self, name: &str) -> bool {
        self.anchors.iter().filter(|(anchor, _)| anchor == name).count() > 1
    }

    /// Whether a position is in a schema with an `$id`, to which the references in it are relative.
    pub(super) fn is_in_resource(&self, span: Span) -> bool {
        self.resource(span).is_some()
    }

    /// Returns the pointer of the innermost schema with an `$id` around a position.
    fn resource(&self, span: Span) -> Option<&str> {
        innermost(self.ids.iter().map(|(_, pointer, outer)| (pointer.as_str(), *outer)), span)
    }

    /// Returns the pointer of a reference's target, if the reference uses an id or an anchor: the reference is the id
    /// of a schema, its fragment is an anchor, or its fragment is a pointer relative to the schema with an `$id` that
    /// contains it.
    pub(super) fn resolve(&self, path: &str, fragment: &str, span: Span, tree: &Node) -> Option<String> {
        let is_anchor = !fragment.is_empty() && !fragment.starts_with('/');
        let resource = if path.is_empty() && is_anchor {
            String::new()
        } else if path.is_empty() {
            self.resource(span)?.to_owned()
        } else {
            let mut matching = self.ids.iter().filter(|(id, ..)| id == path);
            matching.next().filter(|_| matching.next().is_none())?.1.clone()
        };
        let pointer = if is_anchor { self.anchor(fragment)? } else { resource + fragment };
        target(tree, &format!("#{pointer}")).map(|_| pointer)
    }
}

/// Returns the pointer of the smallest of the given schemas around a position.
fn innermost<'a>(schemas: impl Iterator<Item = (&'a str, Span)>, span: Span) -> Option<&'a str> {
    let around = schemas.filter(|(_, outer)| outer.start <= span.start && span.end <= outer.end);
    around.min_by_key(|(_, outer)| outer.end - outer.start).map(|(pointer, _)| pointer)
}
