//! Finds every schema of a document.

use crate::node::{Node, escape_pointer_token};

/// The location of a schema.
pub(super) struct SchemaLocation<'n> {
    /// The schema.
    pub schema: &'n Node,
    /// The JSON pointer of the schema.
    pub pointer: String,
    /// The parameter, header or media type whose `schema` this is, if any.
    pub owner: Option<&'n Node>,
}

/// Returns every schema of a document, including nested schemas, but not the contents of examples.
pub(super) fn find(root: &Node) -> Vec<SchemaLocation<'_>> {
    let mut schema_locations = Vec::new();
    walk(root, String::new(), &mut schema_locations);
    schema_locations
}

fn walk<'n>(node: &'n Node, pointer: String, schema_locations: &mut Vec<SchemaLocation<'n>>) {
    for entry in node.entries().unwrap_or_default() {
        let below = format!("{pointer}/{}", escape_pointer_token(&entry.key));
        match &*entry.key {
            "schema" => schema(&entry.value, below, Some(node), schema_locations),
            "schemas" if pointer == "/components" => {
                for entry in entry.value.entries().unwrap_or_default() {
                    schema(
                        &entry.value,
                        format!("{below}/{}", escape_pointer_token(&entry.key)),
                        None,
                        schema_locations,
                    );
                }
            }
            "example" | "examples" => {}
            _ => walk(&entry.value, below, schema_locations),
        }
    }
    for (index, item) in node.items().unwrap_or_default().iter().enumerate() {
        walk(item, format!("{pointer}/{index}"), schema_locations);
    }
}

fn schema<'n>(
    node: &'n Node,
    pointer: String,
    owner: Option<&'n Node>,
    schema_locations: &mut Vec<SchemaLocation<'n>>,
) {
    for entry in node.entries().unwrap_or_default() {
        let below = format!("{pointer}/{}", escape_pointer_token(&entry.key));
        match &*entry.key {
            "properties" => {
                for property in entry.value.entries().unwrap_or_default() {
                    schema(
                        &property.value,
                        format!("{below}/{}", escape_pointer_token(&property.key)),
                        None,
                        schema_locations,
                    );
                }
            }
            "items" | "additionalProperties" | "propertyNames" => {
                schema(&entry.value, below, None, schema_locations)
            }
            "allOf" | "oneOf" | "anyOf" => {
                for (index, part) in entry.value.items().unwrap_or_default().iter().enumerate() {
                    schema(part, format!("{below}/{index}"), None, schema_locations);
                }
            }
            _ => {}
        }
    }
    schema_locations.push(SchemaLocation { schema: node, pointer, owner });
}
