//! Prepares a parsed document for validation and comparison: one tree without external references.
//!
//! The target of a reference that is not a component becomes one: a part of another file, a nested definition, or a
//! schema with an anchor or an `$id`. Minor errors that are frequent in published documents become warnings, and their
//! values become valid ones of the same meaning (`repair`). A document that needs none of this is left as it is.

mod components;
mod files;
mod identifiers;
mod limits;
mod open;
mod repair;

use std::collections::{BTreeMap, HashSet};

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Node, Value};
use contract::source::{Source, Span};

use self::files::resolve_path;
use self::identifiers::Identifiers;
use self::limits::{MAX_DEPTH, MAX_INSERTED_NODES, count_nodes};
use super::document::component_of;
use super::references::{DATA_KEYWORDS, target};
use super::shape::keywords::{ObjectKind, ValueType};

pub(crate) use self::files::ReferencedFiles;

/// Returns the document as one tree. The texts of the files to which it refers are appended to `source`, and problems
/// are added to `diagnostics`.
pub(crate) fn bundle(
    source: &mut Source,
    root: Node,
    files: &ReferencedFiles,
    diagnostics: &mut Vec<Diagnostic>,
) -> Node {
    if !repair::is_needed(&root) {
        return root;
    }
    let mut tree = root.clone();
    let remaining_insertions = MAX_INSERTED_NODES + count_nodes(&root);
    let root_file = File { path: file_name(&source.name), identifiers: Identifiers::of(&root), tree: root };
    let mut bundler = Bundler {
        source,
        files: vec![root_file],
        readable: files,
        diagnostics,
        invalid_files: HashSet::new(),
        names: HashSet::new(),
        targets: BTreeMap::new(),
        pending: Vec::new(),
        remaining_insertions,
        is_stopped: false,
    };
    bundler.reserve_names();
    bundler.object(&mut tree, ObjectKind::Document, Place { file: 0, depth: 0, inlined: 0 });
    let imported = bundler.imported_components();
    components::add(&mut tree, imported);
    tree
}

/// Returns the last part of a path.
fn file_name(path: &str) -> String {
    path.rsplit(['/', ':']).next().unwrap_or(path).to_owned()
}

/// A file that was read.
struct File {
    /// The path relative to the folder of the document.
    path: String,
    /// The tree as it was parsed.
    tree: Node,
    /// The anchors and ids in the tree.
    identifiers: Identifiers,
}

/// Where a node comes from and ends up.
#[derive(Clone, Copy)]
struct Place {
    /// The index of the file that contains it.
    file: usize,
    /// Its nesting depth in the new tree.
    depth: usize,
    /// The number of insertions that contain it.
    inlined: usize,
}

impl Place {
    const fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// The target of a reference: a file and a JSON pointer in it.
type Target = (usize, String);

/// Whether a target is a component of the document.
fn is_component((file, pointer): &Target) -> bool {
    let reference = format!("#{pointer}");
    *file == 0 && component_of(&reference).is_some_and(|(section, _)| ObjectKind::SECTIONS.contains(&section))
}

/// The nesting depth of the components of a document.
const COMPONENT_DEPTH: usize = 3;

/// A target that becomes a component.
struct Import {
    section: &'static str,
    kind: ObjectKind,
    name: String,
    target: Target,
}

struct Bundler<'a> {
    source: &'a mut Source,
    files: Vec<File>,
    readable: &'a ReferencedFiles,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// The paths of files that cannot be parsed.
    invalid_files: HashSet<String>,
    /// The names of all components.
    names: HashSet<(&'static str, String)>,
    /// The names of the targets that become components.
    targets: BTreeMap<(&'static str, Target), String>,
    /// The targets that become components and are not copied yet.
    pending: Vec<Import>,
    /// The number of nodes that can still be inserted: those of each file once, and [`MAX_INSERTED_NODES`].
    remaining_insertions: usize,
    /// Whether a limit was exceeded. Then no further node is inserted.
    is_stopped: bool,
}

/// What becomes of a reference.
enum Resolution {
    /// It stays as it is, because it is valid or is reported later.
    Unchanged,
    /// The problem is reported already.
    Reported,
    /// It leads to a target.
    Target(Target),
    /// It cannot be resolved without evaluating values, so its text is compared.
    Literal,
}

impl Bundler<'_> {
    /// Replaces the references in an object, and repairs it.
    fn object(&mut self, node: &mut Node, kind: ObjectKind, place: Place) {
        if self.is_too_deep(node, place) {
            return;
        }
        repair::object(node, kind, self.diagnostics);
        let mut place = place;
        if self.replace_reference(node, kind, &mut place) {
            return;
        }
        let keywords = kind.keywords();
        let Value::Mapping(entries) = &mut node.value else { return };
        for entry in entries {
            let key = entry.key.text.as_str();
            let known =
                keywords.iter().find(|(keyword, _)| *keyword == key).map(|(_, value_type)| *value_type);
            if key.starts_with("x-") || DATA_KEYWORDS.contains(&key) {
                continue;
            }
            match known.or_else(|| kind.default_value_type().filter(|_| key != "$ref")) {
                Some(value_type) => self.value(&mut entry.value, value_type, place.inner()),
                None => self.unknown_value(&mut entry.value, place.inner()),
            }
        }
    }

    /// Replaces references to other files in a value whose meaning is unknown, such as a description in a file.
    fn unknown_value(&mut self, node: &mut Node, mut place: Place) {
        if self.is_too_deep(node, place) {
            return;
        }
        if node.get("$ref").and_then(Node::as_str).is_some_and(|text| !text.starts_with('#')) {
            self.inline_reference(node, &mut place);
        }
        match &mut node.value {
            Value::Sequence(items) => {
                items.iter_mut().for_each(|item| self.unknown_value(item, place.inner()));
            }
            Value::Mapping(entries) => {
                entries.iter_mut().for_each(|entry| self.unknown_value(&mut entry.value, place.inner()));
            }
            _ => {}
        }
    }

    fn value(&mut self, node: &mut Node, value_type: ValueType, place: Place) {
        let mut place = place;
        match value_type {
            ValueType::Object(kind) => self.object(node, kind, place),
            ValueType::ListOf(kind) => {
                self.inline_reference(node, &mut place);
                if let Value::Sequence(items) = &mut node.value {
                    items.iter_mut().for_each(|item| self.object(item, kind, place.inner()));
                }
            }
            ValueType::MapOf(kind) => self.map(node, kind, place),
            ValueType::Responses => self.map(node, ObjectKind::Response, place),
            ValueType::DiscriminatorMapping => self.discriminator_mapping(node, place),
            ValueType::AnyList | ValueType::AnyMap => self.unknown_value(node, place),
            _ => {}
        }
    }

    fn map(&mut self, node: &mut Node, kind: ObjectKind, mut place: Place) {
        self.inline_reference(node, &mut place);
        let Value::Mapping(entries) = &mut node.value else { return };
        for entry in entries {
            let mut place = place.inner();
            if place.depth == COMPONENT_DEPTH {
                self.inline_component(entry, kind, &mut place);
            }
            self.object(&mut entry.value, kind, place);
        }
    }

    /// Replaces the reference of an object, if it has one. Returns `true` if nothing else in the object is to be
    /// replaced.
    fn replace_reference(&mut self, node: &mut Node, kind: ObjectKind, place: &mut Place) -> bool {
        let Some(section) = kind.section() else {
            self.inline_reference(node, place);
            return false;
        };
        let Value::Mapping(entries) = &mut node.value else { return false };
        for entry in entries {
            let Some(text) = entry.value.as_str().map(str::to_owned) else { continue };
            let resolution = match entry.key.text.as_str() {
                "$ref" => self.resolve(&text, entry.value.span, *place),
                keyword @ ("$dynamicRef" | "$recursiveRef") if kind == ObjectKind::Schema => {
                    self.resolve_dynamic(keyword, &text, entry.value.span, *place)
                }
                _ => continue,
            };
            match resolution {
                Resolution::Unchanged | Resolution::Reported => {}
                Resolution::Literal => repair::keep_literally(entry, self.diagnostics),
                Resolution::Target(target) => {
                    let name = self.component_name(section, kind, target);
                    "$ref".clone_into(&mut entry.key.text);
                    entry.value.value = Value::String(format!("#/components/{section}/{name}"));
                }
            }
        }
        false
    }

    /// Replaces a reference by its target, if the node is one: for objects that cannot be components, and for lists and
    /// mappings.
    fn inline_reference(&mut self, node: &mut Node, place: &mut Place) {
        while let Some(reference) = node.get("$ref") {
            let Some(text) = reference.as_str().map(str::to_owned) else { return };
            let span = reference.span;
            let target = match self.resolve(&text, span, *place) {
                Resolution::Target(target) => target,
                Resolution::Unchanged if text.starts_with("#/") && place.file == 0 => {
                    (0, text[1..].to_owned())
                }
                Resolution::Unchanged | Resolution::Reported | Resolution::Literal => return,
            };
            place.inlined += 1;
            if place.inlined > MAX_DEPTH {
                let message = "circular reference: the target includes itself";
                self.stop(Diagnostic::error(Code::CyclicRef, span, message, "remove the reference"));
                return;
            }
            let Some(found) = self.copy(&target, span) else { return };
            *node = found;
            place.file = target.0;
        }
    }

    fn find(&self, (file, pointer): &Target) -> Option<&Node> {
        target(&self.files[*file].tree, &format!("#{pointer}"))
    }

    /// Resolves `$ref`.
    fn resolve(&mut self, text: &str, span: Span, place: Place) -> Resolution {
        let (path, fragment) = text.split_once('#').unwrap_or((text, ""));
        let identifiers = &self.files[place.file].identifiers;
        if let Some(pointer) = identifiers.resolve(path, fragment, span, &self.files[place.file].tree) {
            return self.found(text, (place.file, pointer));
        }
        if path.is_empty() {
            let is_pointer = fragment.is_empty() || fragment.starts_with('/');
            let target = (place.file, fragment.to_owned());
            return match self.find(&target) {
                Some(_) if is_pointer => self.found(text, target),
                _ if identifiers.is_in_resource(span) || identifiers.is_ambiguous(fragment) => {
                    Resolution::Literal
                }
                // Reported with all references of the document.
                _ if place.file == 0 => Resolution::Unchanged,
                _ => self.report_unresolved(text, span),
            };
        }
        if identifiers.is_in_resource(span) && (path.contains("://") || resolve_path("", path).is_none()) {
            return Resolution::Literal;
        }
        if path.contains("://") || path.starts_with("urn:") {
            return Resolution::Unchanged;
        }
        let is_in_resource = identifiers.is_in_resource(span);
        match self.open(text, path, span, place.file, is_in_resource) {
            Ok(file) => {
                let fragment = match self.files[file].identifiers.anchor(fragment) {
                    Some(pointer) => pointer,
                    None => fragment.to_owned(),
                };
                let target = (file, fragment);
                // The components can be in another file. Whether they contain this one is checked later.
                if self.find(&target).is_some() || is_component(&target) {
                    self.found(text, target)
                } else {
                    self.report_unresolved(text, span)
                }
            }
            Err(resolution) => resolution,
        }
    }

    /// Resolves `$dynamicRef` or `$recursiveRef`. Such a reference is equal to `$ref` if only one schema can be its
    /// target.
    fn resolve_dynamic(&self, keyword: &str, text: &str, span: Span, place: Place) -> Resolution {
        let identifiers = &self.files[place.file].identifiers;
        if keyword == "$recursiveRef" {
            let target = identifiers.recursive_anchor(span).map(|pointer| (place.file, pointer.to_owned()));
            return target.map_or(Resolution::Literal, Resolution::Target);
        }
        let pointer = text.strip_prefix('#').and_then(|fragment| {
            let is_target =
                fragment.starts_with('/') && self.find(&(place.file, fragment.to_owned())).is_some();
            if is_target { Some(fragment.to_owned()) } else { identifiers.anchor(fragment) }
        });
        match pointer {
            Some(pointer) => Resolution::Target((place.file, pointer)),
            None => Resolution::Literal,
        }
    }

    /// Returns the resolution for an existing target of the reference `text`.
    fn found(&self, text: &str, target: Target) -> Resolution {
        if is_component(&target) && text.strip_prefix('#') == Some(&target.1) {
            Resolution::Unchanged
        } else {
            Resolution::Target(target)
        }
    }

    /// Adds a diagnostic, unless it was added before: a reference can be resolved several times.
    fn report(&mut self, diagnostic: Diagnostic) {
        let is_same =
            |other: &Diagnostic| other.span == diagnostic.span && other.message == diagnostic.message;
        if !self.diagnostics.iter().any(is_same) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn report_unresolved(&mut self, text: &str, span: Span) -> Resolution {
        self.report(Diagnostic::error(
            Code::UnresolvedRef,
            span,
            format!("`{text}` does not exist"),
            "define it, or correct the reference",
        ));
        Resolution::Reported
    }

    /// Resolves the targets of a discriminator mapping that are references: files, and pointers in another file than
    /// the document. Other values are names of schemas.
    fn discriminator_mapping(&mut self, node: &mut Node, place: Place) {
        let Value::Mapping(entries) = &mut node.value else { return };
        for entry in entries {
            let Some(text) = entry.value.as_str().map(str::to_owned) else { continue };
            let path = text.split('#').next().unwrap_or_default().to_ascii_lowercase();
            let is_file = [".yaml", ".yml", ".json"].iter().any(|extension| path.ends_with(extension));
            if !is_file && !text.starts_with('#') {
                continue;
            }
            if let Resolution::Target(target) = self.resolve(&text, entry.value.span, place) {
                let name = self.component_name("schemas", ObjectKind::Schema, target);
                entry.value.value = Value::String(format!("#/components/schemas/{name}"));
            }
        }
    }
}
