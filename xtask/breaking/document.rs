//! One of the two documents, ready to be compared.
//!
//! Owns what can be said of a document by itself: that it can be read, which version it is, where its references lead, and
//! how a place in it is called. It never knows the other document.

use std::collections::HashMap;

use contract::Refused;
use contract::node::{Entry, Node, Value};
use contract::source::{Source, Span};
use contract::version::{self, Version};
use contract::yaml::{self, Aliases};
use percent_encoding::percent_decode_str;

use super::{references, shape};

/// A document that can be compared.
#[derive(Debug)]
pub(crate) struct Document {
    /// Its text.
    pub source: Source,
    /// Its tree.
    pub root: Node,
    /// Which OpenAPI it is.
    pub version: Version,
}

/// Reads a text as an OpenAPI document.
///
/// # Errors
/// [`Refused`] with everything that keeps it from being compared.
pub(crate) fn read(source: Source) -> Result<Document, Box<Refused>> {
    let mut findings = Vec::new();
    let root = yaml::read_with(&source, Aliases::Copied, &mut findings);
    let Some(root) = root.filter(|_| findings.is_empty()) else {
        return Err(Box::new(Refused { source, findings }));
    };
    match version::of(&root) {
        Err(finding) => Err(Box::new(Refused { source, findings: vec![*finding] })),
        Ok(version) => {
            let document = Document { source, root, version };
            shape::check(&document.root, &mut findings);
            references::check(&Side::new(&document), &mut findings);
            let Document { source, root, version } = document;
            if findings.is_empty() {
                Ok(Document { source, root, version })
            } else {
                Err(Box::new(Refused { source, findings }))
            }
        }
    }
}

/// A document with its components at hand.
pub(crate) struct Side<'n> {
    /// The document.
    pub document: &'n Document,
    components: HashMap<&'n str, HashMap<&'n str, &'n Entry>>,
}

impl<'n> Side<'n> {
    /// Takes a document.
    pub(crate) fn new(document: &'n Document) -> Self {
        let mut components = HashMap::new();
        let sections = document.root.get("components").and_then(Node::entries).unwrap_or_default();
        for section in sections {
            let entries = section.value.entries().unwrap_or_default();
            let named = entries.iter().map(|entry| (entry.key.text.as_str(), entry)).collect();
            components.insert(section.key.text.as_str(), named);
        }
        Self { document, components }
    }

    /// The entries of a section of the components.
    pub(crate) fn section(&self, section: &str) -> &'n [Entry] {
        let components = self.document.root.get("components");
        components.and_then(|components| components.get(section)?.entries()).unwrap_or_default()
    }

    /// A component by its section and name.
    pub(crate) fn component(&self, section: &str, name: &str) -> Option<&'n Node> {
        self.components.get(section)?.get(name).map(|entry| &entry.value)
    }

    /// What a reference leads to.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&'n Node> {
        if let Some((section, name)) = component_of(reference)
            && let Some(node) = self.component(section, name)
        {
            return Some(node);
        }
        references::target(&self.document.root, reference)
    }

    /// Where the thing is named that a reference leads to: a component by its key.
    pub(crate) fn named_at(&self, reference: &str) -> Option<Span> {
        let component =
            component_of(reference).and_then(|(section, name)| self.components.get(section)?.get(name));
        component.map(|entry| entry.key.span).or_else(|| self.resolve(reference).map(|node| node.span))
    }

    /// The thing itself, and where it is named: what is shared is named once, whoever uses it.
    pub(crate) fn follow_from(&self, node: &'n Node, at: Span) -> (&'n Node, Span) {
        let reference = node.get("$ref").and_then(Node::as_str);
        (self.follow(node), reference.and_then(|target| self.named_at(target)).unwrap_or(at))
    }

    /// A thing with what its references lead to, one after another: where its neighbours count, all of them together say
    /// what it is.
    pub(crate) fn texts(&self, node: &'n Node) -> Vec<&'n Node> {
        references::texts(&self.document.root, node)
    }

    /// The thing itself: what the references lead to, one after another.
    pub(crate) fn follow(&self, node: &'n Node) -> &'n Node {
        let mut here = node;
        for _ in 0..64 {
            match here.get("$ref").and_then(Node::as_str).and_then(|target| self.resolve(target)) {
                Some(target) => here = target,
                None => break,
            }
        }
        here
    }

    /// How a place is called, whatever the line: the keys that lead to it, list items by what they name.
    pub(crate) fn path_of(&self, span: Span) -> String {
        let mut here = &self.document.root;
        let mut steps = Vec::new();
        loop {
            match &here.value {
                Value::Mapping(entries) => {
                    let inside = |entry: &&Entry| {
                        entry.key.span.start <= span.start
                            && span.start < entry.value.span.end.max(entry.key.span.end)
                    };
                    let Some(entry) = entries.iter().find(inside) else { break };
                    steps.push(entry.key.text.clone());
                    if entry.key.span == span {
                        break;
                    }
                    here = &entry.value;
                }
                Value::Sequence(items) => {
                    let inside = |item: &&Node| item.span.start <= span.start && span.start < item.span.end;
                    let Some(item) = items.iter().find(inside) else { break };
                    steps.push(item_name(item));
                    here = item;
                }
                _ => break,
            }
        }
        steps.join(".")
    }
}

/// What an item of a list is called: a parameter by its name, an alternative by its reference or title.
fn item_name(item: &Node) -> String {
    let text = |key| item.get(key).and_then(Node::as_str);
    match (text("in"), text("name"), text("$ref"), text("title"), item.as_str()) {
        (Some(place), Some(name), ..) => format!("{place}:{name}"),
        (None, Some(name), ..) => name.to_owned(),
        (_, _, Some(reference), ..) => reference.rsplit('/').next().unwrap_or(reference).to_owned(),
        (_, _, _, Some(title), _) => title.to_owned(),
        (.., Some(word)) => word.to_owned(),
        _ => "*".to_owned(),
    }
}

/// The section and the name of a component that a plain reference names.
pub(crate) fn component_of(reference: &str) -> Option<(&str, &str)> {
    let (section, name) = reference.strip_prefix("#/components/")?.split_once('/')?;
    (!name.contains(['/', '~', '%'])).then_some((section, name))
}

/// One step of a reference, as it is spelled in the document.
pub(crate) fn step_of(step: &str) -> String {
    let decoded = percent_decode_str(step).decode_utf8_lossy();
    decoded.replace("~1", "/").replace("~0", "~")
}
