//! Turns the targets of references into components.

use std::collections::BTreeMap;

use contract::node::{Entry, Node, SpannedString, Value, escape_pointer_token};
use contract::source::Span;

use super::limits::MAX_DEPTH;
use super::{Bundler, Import, Place, Resolution, Target, file_name};
use crate::document::{component_of, decode_step};
use crate::shape::keywords::ObjectKind;

impl Bundler<'_> {
    /// Collects the names of the components. The components or a section of them can be in another file. If a component is only a
    /// reference, its target gets the name of this component, so that other references to the target lead to this component.
    pub(super) fn reserve_names(&mut self) {
        let start = (0, "/components".to_owned());
        let Some(components) = self.follow(start) else { return };
        for section in ObjectKind::SECTIONS {
            let Some((file, pointer)) = self.follow((components.0, format!("{}/{section}", components.1)))
            else {
                continue;
            };
            let entries = self.find(&(file, pointer.clone())).and_then(Node::entries).unwrap_or_default();
            let entries: Vec<(String, Option<(String, Span)>)> =
                entries.iter().map(|entry| (entry.key.text.clone(), only_reference(&entry.value))).collect();
            for (name, reference) in entries {
                let place = Place { file, depth: 0, inlined: 0 };
                let target = reference.and_then(|(text, span)| match self.resolve(&text, span, place) {
                    Resolution::Target(target) => Some(target),
                    _ => None,
                });
                self.targets.extend(target.map(|target| ((section, target), name.clone())));
                let own = (file, format!("{pointer}/{}", escape_pointer_token(&name)));
                self.targets.insert((section, own), name.clone());
                self.names.insert((section, name));
            }
        }
    }

    /// Follows the references of a node that is not a component.
    fn follow(&mut self, mut target: Target) -> Option<Target> {
        for _ in 0..MAX_DEPTH {
            let Some((text, span)) = only_reference(self.find(&target)?) else { return Some(target) };
            let place = Place { file: target.0, depth: 0, inlined: 0 };
            let Resolution::Target(next) = self.resolve(&text, span, place) else { return Some(target) };
            target = next;
        }
        None
    }

    /// Replaces a component that is only a reference by its target, if the target has the name of this component.
    pub(super) fn inline_component(&mut self, entry: &mut Entry, kind: ObjectKind, place: &mut Place) {
        let Some((section, (text, span))) = kind.section().zip(only_reference(&entry.value)) else { return };
        let Resolution::Target(target) = self.resolve(&text, span, *place) else { return };
        let key = (section, target);
        if self.targets.get(&key) == Some(&entry.key.text)
            && let Some(node) = self.copy(&key.1, span)
        {
            entry.value = node;
            place.file = key.1.0;
        }
    }

    /// Returns the name of the component that a target becomes, and remembers to add it if it has no name yet. A new name is the
    /// last segment of the pointer, or the name of the file without its extension; if that is taken or a number, the path of the
    /// file and the whole pointer; if that is taken, too, followed by a number.
    pub(super) fn component_name(
        &mut self,
        section: &'static str,
        kind: ObjectKind,
        target: Target,
    ) -> String {
        if let (0, Some((of, name))) = (target.0, component_of(&format!("#{}", target.1)))
            && of == section
        {
            return name.to_owned();
        }
        let key = (section, target);
        if let Some(name) = self.targets.get(&key) {
            return name.clone();
        }
        let (file, pointer) = &key.1;
        let path = &self.files[*file].path;
        let plain = |text: &str| text.replace(['/', '~', '%'], "_");
        let long = format!("{path}#{pointer}");
        let short = match pointer.rsplit('/').next().filter(|segment| !segment.is_empty()) {
            // The number of a list item says nothing.
            Some(segment) if segment.bytes().all(|byte| byte.is_ascii_digit()) => long.clone(),
            Some(segment) => decode_step(segment),
            None => {
                file_name(path).rsplit_once('.').map_or_else(|| file_name(path), |(stem, _)| stem.to_owned())
            }
        };
        let numbered = (2..).map(|number| format!("{long} {number}"));
        let mut candidates = [short, long.clone()].into_iter().chain(numbered).map(|name| plain(&name));
        let is_free = |name: &String| !self.names.contains(&(section, name.clone()));
        let name = candidates.find(is_free).unwrap_or_default();
        self.names.insert((section, name.clone()));
        let import = Import { section, kind, name: name.clone(), target: key.1.clone() };
        self.pending.push(import);
        self.targets.insert(key, name.clone());
        name
    }

    /// Copies the targets that become components. Copying one can add more.
    pub(super) fn imported_components(&mut self) -> BTreeMap<&'static str, Vec<Entry>> {
        let mut imported: BTreeMap<&'static str, Vec<Entry>> = BTreeMap::new();
        while let Some(Import { section, kind, name, target }) = self.pending.pop() {
            let Some(span) = self.find(&target).map(|node| node.span) else { continue };
            let Some(mut node) = self.copy(&target, span) else { continue };
            let (file, pointer) = (&self.files[target.0].tree, &target.1);
            let span = if pointer.is_empty() {
                Span { start: file.span.start, end: file.span.start }
            } else {
                file.span_at(pointer)
            };
            self.object(&mut node, kind, Place { file: target.0, depth: 3, inlined: 0 });
            let entry = Entry { key: SpannedString { text: name, span }, value: node };
            imported.entry(section).or_default().push(entry);
        }
        imported
    }
}

/// Adds entries to the sections of the components. A section that is not a mapping is left as it is; it is reported when
/// the tree is validated.
pub(super) fn add(tree: &mut Node, imported: BTreeMap<&'static str, Vec<Entry>>) {
    let start = Span { start: tree.span.start, end: tree.span.start };
    for (section, entries) in imported {
        let existing = child_mapping(tree, "components", start)
            .and_then(|components| entries_of(child_mapping(components, section, start)?));
        if let Some(existing) = existing {
            existing.extend(entries);
        }
    }
}

/// Returns the text and the span of a reference that has no other keywords beside it.
fn only_reference(node: &Node) -> Option<(String, Span)> {
    match node.entries()? {
        [only] if only.key.text == "$ref" => Some((only.value.as_str()?.to_owned(), only.value.span)),
        _ => None,
    }
}

fn entries_of(node: &mut Node) -> Option<&mut Vec<Entry>> {
    if let Value::Mapping(entries) = &mut node.value { Some(entries) } else { None }
}

/// Returns the value of a key, of any type. If the key does not exist, adds it with an empty mapping. Returns `None` if `node` is
/// not a mapping.
fn child_mapping<'n>(node: &'n mut Node, key: &str, span: Span) -> Option<&'n mut Node> {
    let entries = entries_of(node)?;
    let index = entries.iter().position(|entry| entry.key.text == key).unwrap_or_else(|| {
        let key = SpannedString { text: key.to_owned(), span };
        entries.push(Entry { key, value: Node { span, value: Value::Mapping(Vec::new()) } });
        entries.len() - 1
    });
    Some(&mut entries[index].value)
}
