//! Reads contracts that do not follow the rules of this server ([`Profile::Open`](crate::Profile::Open)).
//!
//! 1. [`upgrade`] converts the document to OpenAPI 3.1. The server serves the result and validates requests with it.
//! 2. [`lower`] copies the document without the constructs that the generated code ignores or treats generically.
//! 3. The copy is read like any other contract. If a schema cannot become a Rust type, [`repair`] replaces it with one
//!    that can, and the copy is read again. A value of a replaced schema is a `serde_json::Value`.
//!
//! Errors outside of schemas are reported: the generator has no substitute for such constructs. JSON pointers of the
//! copy are valid in the upgraded document, except for those of renamed schemas of `components`.

mod all_of;
mod components;
mod directions;
mod lower;
mod operations;
mod repair;
mod request_schemas;
mod security;
mod upgrade;

use crate::diagnostic::{Code, Diagnostic};
use crate::node::{Entry, Node, SpannedString, Value};
use crate::source::{Source, Span};
use crate::version::Version;
use crate::{Contract, Conventions, InvalidContract, model};

/// The maximum number of times that a document is read. Each time, all schemas with errors are replaced.
const MAX_READS: usize = 64;

/// The remedy of notes about schemas that have no Rust type.
const AS_JSON: &str = "its value is a `serde_json::Value`; requests are still validated against the schema";

/// Reads a contract.
///
/// # Errors
/// Returns [`InvalidContract`] with the constructs that have no substitute.
pub(crate) fn read(
    source: Source,
    root: Node,
    version: Version,
    conventions: &Conventions<'_>,
) -> Result<Contract, Box<InvalidContract>> {
    let root = upgrade::to_openapi_3_1(&root, version);
    let mut notes = Notes::default();
    let security_errors = security::check(&root, &mut notes);
    if !security_errors.is_empty() {
        return Err(Box::new(InvalidContract { source, diagnostics: security_errors }));
    }
    let mut typed_root = lower::document(&root, &mut notes);
    let mut diagnostics = Vec::new();
    for _ in 0..MAX_READS {
        diagnostics.clear();
        let document = model(&typed_root, conventions, &mut diagnostics);
        if diagnostics.is_empty() {
            diagnostics = request_schemas::errors(&root, &document);
            if !diagnostics.is_empty() {
                break;
            }
            let notes = notes.into_diagnostics();
            return Ok(Contract { source, root, document, notes });
        }
        let errors = repair::schemas(&mut typed_root, &diagnostics, &mut notes);
        if !errors.is_empty() {
            diagnostics = errors;
            break;
        }
    }
    Err(Box::new(InvalidContract { source, diagnostics }))
}

/// Notes about ignored constructs. The same note about several places is one note.
#[derive(Default)]
struct Notes(Vec<(Diagnostic, usize)>);

impl Notes {
    fn add(&mut self, span: Span, message: impl Into<String>, help: &str) {
        let message = message.into();
        match self.0.iter_mut().find(|(note, _)| note.message == message) {
            Some((_, count)) => *count += 1,
            None => self.0.push((Diagnostic::note(Code::UnsupportedKeyword, span, message, help), 1)),
        }
    }

    fn into_diagnostics(self) -> Vec<Diagnostic> {
        let with_count = |(mut note, count): (Diagnostic, usize)| {
            if count > 1 {
                note.message += &format!(" ({count} places; this is the first)");
            }
            note
        };
        self.0.into_iter().map(with_count).collect()
    }
}

/// Returns the node that a local reference leads to, or the node itself.
fn resolve<'n>(root: &'n Node, mut node: &'n Node) -> &'n Node {
    for _ in 0..64 {
        let target = node.get("$ref").and_then(Node::as_str).and_then(|target| target.strip_prefix('#'));
        let Some(target) = target.and_then(|pointer| root.pointer(pointer)) else { break };
        node = target;
    }
    node
}

/// Creates an entry that has no key of its own in the source.
fn entry(key: &str, span: Span, value: Value) -> Entry {
    Entry { key: SpannedString { text: key.to_owned(), span }, value: Node { span, value } }
}

fn mapping(span: Span, entries: Vec<Entry>) -> Node {
    Node { span, value: Value::Mapping(entries) }
}

/// Returns a schema that allows any value.
fn any(span: Span) -> Node {
    Node { span, value: Value::Bool(true) }
}

/// Maps each entry of a mapping, and removes those for which `change` returns `None`. Other nodes are unchanged.
fn map_entries(node: &Node, mut change: impl FnMut(&Entry) -> Option<Node>) -> Node {
    let Some(entries) = node.entries() else { return node.clone() };
    let entries =
        entries.iter().filter_map(|entry| Some(Entry { key: entry.key.clone(), value: change(entry)? }));
    mapping(node.span, entries.collect())
}

/// Maps each item of a list. Other nodes are unchanged.
fn map_items(node: &Node, change: impl FnMut(&Node) -> Node) -> Node {
    match node.items() {
        Some(items) => Node { span: node.span, value: Value::Sequence(items.iter().map(change).collect()) },
        None => node.clone(),
    }
}

#[cfg(test)]
mod tests;
