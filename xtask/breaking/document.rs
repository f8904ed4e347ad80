//! Parsed OpenAPI documents.
//!
//! Parses and validates a document, indexes its components, resolves references, and describes positions as paths of
//! keys.

use std::collections::{HashMap, HashSet};

use contract::InvalidContract;
use contract::diagnostic::{Diagnostic, Severity};
use contract::node::{Entry, Node, Value};
use contract::source::{Source, Span};
use contract::version::{self, Version};
use contract::yaml::{self, AliasPolicy};
use percent_encoding::percent_decode_str;

use super::bundle::{self, ReferencedFiles};
use super::{references, shape};

/// A validated OpenAPI document.
#[derive(Debug)]
pub(crate) struct OpenApiDocument {
    /// The source text, with the texts of the files to which the document refers.
    pub source: Source,
    /// The parsed tree. External references are resolved.
    pub root: Node,
    /// The version of OpenAPI.
    pub version: Version,
    /// Minor errors of the document, in the order of their positions.
    pub warnings: Vec<Diagnostic>,
}

/// Parses and validates an OpenAPI document that refers to no other file.
///
/// # Errors
/// Returns [`InvalidContract`] with all diagnostics when the document cannot be compared.
#[cfg(test)]
pub(crate) fn read(source: Source) -> Result<OpenApiDocument, Box<InvalidContract>> {
    read_with_files(source, &ReferencedFiles::None)
}

/// Parses and validates an OpenAPI document. `files` contains the files to which it refers.
///
/// # Errors
/// Returns [`InvalidContract`] with all diagnostics when the document cannot be compared.
pub(crate) fn read_with_files(
    mut source: Source,
    files: &ReferencedFiles,
) -> Result<OpenApiDocument, Box<InvalidContract>> {
    let mut diagnostics = Vec::new();
    let root = yaml::read_with(&source, AliasPolicy::Expand, &mut diagnostics);
    let Some(root) = root.filter(|_| diagnostics.is_empty()) else {
        return Err(Box::new(InvalidContract { source, diagnostics }));
    };
    let version = match version::of(&root) {
        Ok(version) => version,
        Err(diagnostic) => {
            return Err(Box::new(InvalidContract { source, diagnostics: vec![*diagnostic] }));
        }
    };
    let root = bundle::bundle(&mut source, root, files, &mut diagnostics);
    let document = OpenApiDocument { source, root, version, warnings: Vec::new() };
    let is_warning = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Warning;
    if diagnostics.iter().all(is_warning) {
        shape::check(&document.root, &mut diagnostics);
        references::check(&IndexedDocument::new(&document), &mut diagnostics);
    }
    let (mut warnings, errors): (Vec<_>, Vec<_>) = diagnostics.into_iter().partition(is_warning);
    warnings.sort_by_key(|diagnostic| diagnostic.span.start);
    if errors.is_empty() {
        Ok(OpenApiDocument { warnings, ..document })
    } else {
        Err(Box::new(InvalidContract { source: document.source, diagnostics: errors }))
    }
}

/// A document with an index of its components: one side of a comparison.
pub(crate) struct IndexedDocument<'n> {
    /// The document.
    pub document: &'n OpenApiDocument,
    /// The components by section and name.
    components: HashMap<&'n str, HashMap<&'n str, &'n Entry>>,
}

impl<'n> IndexedDocument<'n> {
    /// Indexes the components of a document.
    pub(crate) fn new(document: &'n OpenApiDocument) -> Self {
        let mut components = HashMap::new();
        let sections = document.root.get("components").and_then(Node::entries).unwrap_or_default();
        for section in sections {
            let entries = section.value.entries().unwrap_or_default();
            let by_name = entries.iter().map(|entry| (entry.key.text.as_str(), entry)).collect();
            components.insert(section.key.text.as_str(), by_name);
        }
        Self { document, components }
    }

    /// Returns the entries of a section of the components, such as `schemas`.
    pub(crate) fn section(&self, section: &str) -> &'n [Entry] {
        let components = self.document.root.get("components");
        components.and_then(|components| components.get(section)?.entries()).unwrap_or_default()
    }

    /// Returns a component by section and name.
    pub(crate) fn component(&self, section: &str, name: &str) -> Option<&'n Node> {
        self.components.get(section)?.get(name).map(|entry| &entry.value)
    }

    /// Returns the target of a reference, or `None` if it does not exist.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&'n Node> {
        if let Some((section, name)) = component_of(reference)
            && let Some(node) = self.component(section, name)
        {
            return Some(node);
        }
        references::target(&self.document.root, reference)
    }

    /// Returns the position of a reference's target; for a component, the position of its key.
    pub(crate) fn target_position(&self, reference: &str) -> Option<Span> {
        let component =
            component_of(reference).and_then(|(section, name)| self.components.get(section)?.get(name));
        component.map(|entry| entry.key.span).or_else(|| self.resolve(reference).map(|node| node.span))
    }

    /// Follows the references of a node. Returns the final target and the position of the first target, or `span` if
    /// the node is not a reference. Thus all uses of a shared object have the same position.
    pub(crate) fn follow_with_position(&self, node: &'n Node, span: Span) -> (&'n Node, Span) {
        let reference = node.get("$ref").and_then(Node::as_str);
        (self.follow(node), reference.and_then(|target| self.target_position(target)).unwrap_or(span))
    }

    /// Returns a node and the targets of its chain of references. This is for objects in which the siblings of `$ref`
    /// apply.
    pub(crate) fn reference_chain(&self, node: &'n Node) -> Vec<&'n Node> {
        references::reference_chain(&self.document.root, node)
    }

    /// Follows the references of a node to the final target. Returns the node itself if it is not a reference.
    pub(crate) fn follow(&self, node: &'n Node) -> &'n Node {
        let mut current = node;
        let mut visited = HashSet::new();
        while visited.insert(std::ptr::from_ref(current)) {
            match current.get("$ref").and_then(Node::as_str).and_then(|target| self.resolve(target)) {
                Some(target) => current = target,
                None => break,
            }
        }
        current
    }

    /// Returns the path of keys to a position, independent of line numbers. Items of a list are named by their content.
    pub(crate) fn path_of(&self, span: Span) -> String {
        let mut current = &self.document.root;
        let mut steps = Vec::new();
        // What was read from another file is outside of the text of the node that contains it.
        let is_elsewhere = !contains(current, span);
        if let Some((section, entry)) = self.imported_component(span).filter(|_| is_elsewhere) {
            steps.extend(["components".to_owned(), section.to_owned(), entry.key.text.clone()]);
            current = &entry.value;
        } else if is_elsewhere {
            current = find_inlined(current, span, &mut steps).unwrap_or(current);
        }
        loop {
            match &current.value {
                Value::Mapping(entries) => {
                    let contains_span = |entry: &&Entry| {
                        entry.key.span.start <= span.start
                            && span.start < entry.value.span.end.max(entry.key.span.end)
                    };
                    let Some(entry) = entries.iter().find(contains_span) else { break };
                    steps.push(entry.key.text.clone());
                    if entry.key.span == span {
                        break;
                    }
                    current = &entry.value;
                }
                Value::Sequence(items) => {
                    let Some(item) = items.iter().find(|item| contains(item, span)) else { break };
                    steps.push(item_name(item));
                    current = item;
                }
                _ => break,
            }
        }
        steps.join(".")
    }
}

impl<'n> IndexedDocument<'n> {
    /// Returns the smallest component that contains a position, with its section.
    fn imported_component(&self, span: Span) -> Option<(&'n str, &'n Entry)> {
        let sections = self.components.iter();
        let entries =
            sections.flat_map(|(section, by_name)| by_name.values().map(move |entry| (*section, *entry)));
        let containing = entries.filter(|(_, entry)| entry.key.span == span || contains(&entry.value, span));
        containing.min_by_key(|(section, entry)| {
            (entry.value.span.end - entry.value.span.start, *section, entry.key.text.as_str())
        })
    }
}

/// Whether the text of a node contains the start of a span.
const fn contains(node: &Node, span: Span) -> bool {
    node.span.start <= span.start && span.start < node.span.end
}

/// Finds the outermost node that contains a position, in a tree whose other nodes do not contain it. Appends the steps
/// to the node.
fn find_inlined<'n>(node: &'n Node, span: Span, steps: &mut Vec<String>) -> Option<&'n Node> {
    let children: Vec<(String, &Node)> = match &node.value {
        Value::Mapping(entries) => {
            entries.iter().map(|entry| (entry.key.text.clone(), &entry.value)).collect()
        }
        Value::Sequence(items) => items.iter().map(|item| (item_name(item), item)).collect(),
        _ => return None,
    };
    for (step, child) in children {
        steps.push(step);
        if contains(child, span) {
            return Some(child);
        }
        if let Some(found) = find_inlined(child, span, steps) {
            return Some(found);
        }
        steps.pop();
    }
    None
}

/// Returns the name of a list item in a path: the location and name of a parameter, the `name` of another item, the
/// last segment of its `$ref`, its `title`, or the string itself. Items without any of these are named `*`.
fn item_name(item: &Node) -> String {
    let text = |key| item.get(key).and_then(Node::as_str);
    match (text("in"), text("name"), text("$ref"), text("title"), item.as_str()) {
        (Some(location), Some(name), ..) => format!("{location}:{name}"),
        (None, Some(name), ..) => name.to_owned(),
        (_, _, Some(reference), ..) => reference.rsplit('/').next().unwrap_or(reference).to_owned(),
        (_, _, _, Some(title), _) => title.to_owned(),
        (.., Some(string)) => string.to_owned(),
        _ => "*".to_owned(),
    }
}

/// Returns the section and name of the component to which a reference refers. Returns `None` for other targets, and for
/// names with escaped characters.
pub(crate) fn component_of(reference: &str) -> Option<(&str, &str)> {
    let (section, name) = reference.strip_prefix("#/components/")?.split_once('/')?;
    (!name.contains(['/', '~', '%'])).then_some((section, name))
}

/// Decodes one step (reference token) of a JSON pointer in a URI fragment: first the percent-encoding, then `~1` and
/// `~0`.
pub(crate) fn decode_step(step: &str) -> String {
    let decoded = percent_decode_str(step).decode_utf8_lossy();
    decoded.replace("~1", "/").replace("~0", "~")
}
