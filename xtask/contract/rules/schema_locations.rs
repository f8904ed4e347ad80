//! Finds every schema of a document.

use crate::node::{Node, escape_pointer_token};

/// The location of a schema.
pub(crate) struct SchemaLocation<'n> {
    /// The schema.
    pub schema: &'n Node,
    /// The JSON pointer of the schema.
    pub pointer: String,
    /// The parameter, header or media type whose `schema` this is, if any.
    pub owner: Option<&'n Node>,
}

/// Returns every schema of a document, including nested schemas, but not the contents of examples.
pub(crate) fn find(root: &Node) -> Vec<SchemaLocation<'_>> {
    let mut locations = Vec::new();
    walk(root, String::new(), &mut locations);
    locations
}

fn walk<'n>(node: &'n Node, pointer: String, locations: &mut Vec<SchemaLocation<'n>>) {
    for entry in node.entries().unwrap_or_default() {
        let child_pointer = format!("{pointer}/{}", escape_pointer_token(&entry.key));
        match &*entry.key {
            "schema" => walk_schema(&entry.value, child_pointer, Some(node), locations),
            "schemas" if pointer == "/components" => {
                for entry in entry.value.entries().unwrap_or_default() {
                    walk_schema(
                        &entry.value,
                        format!("{child_pointer}/{}", escape_pointer_token(&entry.key)),
                        None,
                        locations,
                    );
                }
            }
            "example" | "examples" => {}
            _ => walk(&entry.value, child_pointer, locations),
        }
    }
    for (index, item) in node.items().unwrap_or_default().iter().enumerate() {
        walk(item, format!("{pointer}/{index}"), locations);
    }
}

fn walk_schema<'n>(
    node: &'n Node,
    pointer: String,
    owner: Option<&'n Node>,
    locations: &mut Vec<SchemaLocation<'n>>,
) {
    for entry in node.entries().unwrap_or_default() {
        let child_pointer = format!("{pointer}/{}", escape_pointer_token(&entry.key));
        match &*entry.key {
            "properties" => {
                for property in entry.value.entries().unwrap_or_default() {
                    walk_schema(
                        &property.value,
                        format!("{child_pointer}/{}", escape_pointer_token(&property.key)),
                        None,
                        locations,
                    );
                }
            }
            "items" | "additionalProperties" | "propertyNames" => {
                walk_schema(&entry.value, child_pointer, None, locations)
            }
            "allOf" | "oneOf" | "anyOf" => {
                for (index, part) in entry.value.items().unwrap_or_default().iter().enumerate() {
                    walk_schema(part, format!("{child_pointer}/{index}"), None, locations);
                }
            }
            _ => {}
        }
    }
    locations.push(SchemaLocation { schema: node, pointer, owner });
}
