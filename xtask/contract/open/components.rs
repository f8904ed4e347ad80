//! Copies `components`, and renames schemas whose names the generated code uses itself.

use std::collections::{BTreeMap, BTreeSet};

use super::lower::Lowering;
use super::{Notes, entry, map_entries, mapping, operations};
use crate::node::{Entry, Node, Value, escape_pointer_token};
use crate::rules::names::SCHEMA_ITEMS;
use crate::rust_name;

const SCHEMAS: &str = "#/components/schemas/";

/// The new names of schemas, by their names.
#[derive(Default)]
pub(super) struct Renamed(BTreeMap<String, String>);

impl Renamed {
    fn name(&self, name: &str) -> String {
        self.0.get(name).map_or(name, String::as_str).to_owned()
    }

    /// Returns a reference with the new name of its target.
    pub(super) fn reference(&self, target: &str) -> String {
        let name = target.strip_prefix(SCHEMAS).map(|name| name.replace("~1", "/").replace("~0", "~"));
        match name.and_then(|name| self.0.get(&name)) {
            Some(name) => format!("{SCHEMAS}{}", escape_pointer_token(name)),
            None => target.to_owned(),
        }
    }
}

/// Chooses new names for the schemas whose Rust names collide with others or with names of the generated code.
pub(super) fn renamed_schemas(root: &Node, notes: &mut Notes) -> Renamed {
    let schemas = root.pointer("/components/schemas").and_then(Node::entries).unwrap_or_default();
    let mut used: BTreeSet<String> = SCHEMA_ITEMS.iter().map(|name| (*name).to_owned()).collect();
    let mut renamed = BTreeMap::new();
    for item in schemas {
        let rust = rust_name::upper_camel_case(&item.key);
        if rust_name::is_identifier(&rust) && used.insert(rust.clone()) {
            continue;
        }
        let base: String = rust.chars().filter(char::is_ascii_alphanumeric).collect();
        let names = (1..).map(|number| match number {
            1 => format!("{base}Schema"),
            _ => format!("{base}Schema{number}"),
        });
        let name = names.into_iter().find(|name| used.insert(name.clone())).unwrap_or_default();
        let message = format!("the schema `{}` has the Rust name `{name}`", item.key.text);
        notes.add(item.key.span, message, "the generated code uses the obvious name for another type");
        renamed.insert(item.key.text.clone(), name);
    }
    Renamed(renamed)
}

/// Copies `components`.
pub(super) fn lower(lowering: &mut Lowering<'_>, components: &Node) -> Node {
    let mut entries = Vec::new();
    for section in components.entries().unwrap_or_default() {
        let value = match &*section.key {
            "schemas" => schemas(lowering, &section.value),
            "parameters" => {
                map_entries(&section.value, |item| Some(operations::parameter(lowering, &item.value)))
            }
            "headers" => map_entries(&section.value, |item| Some(operations::header(lowering, &item.value))),
            "responses" => {
                map_entries(&section.value, |item| Some(operations::response(lowering, &item.value)))
            }
            "requestBodies" => {
                map_entries(&section.value, |item| Some(operations::request_body(lowering, &item.value)))
            }
            // The server reads the security schemes at run time.
            "securitySchemes" | "examples" | "links" | "callbacks" | "pathItems" => continue,
            _ if lowering.is_extension(section) => continue,
            _ => section.value.clone(),
        };
        entries.push(Entry { key: section.key.clone(), value });
    }
    mapping(components.span, entries)
}

fn schemas(lowering: &mut Lowering<'_>, schemas: &Node) -> Node {
    let mut entries = Vec::new();
    for item in schemas.entries().unwrap_or_default() {
        let value = lowering.schema(&item.value);
        let mut key = item.key.clone();
        key.text = lowering.renamed.name(&key);
        entries.push(Entry { key, value });
    }
    mapping(schemas.span, entries)
}

/// Creates an entry with a string value.
pub(super) fn string_entry(key: &str, node: &Node, text: &str) -> Entry {
    entry(key, node.span, Value::String(text.to_owned()))
}
