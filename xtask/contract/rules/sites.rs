//! Every place of a document where a schema stands.

use crate::node::{Node, pointer_step};

/// A place where a schema stands.
pub(super) struct Site<'n> {
    /// The schema.
    pub schema: &'n Node,
    /// The JSON pointer to it.
    pub pointer: String,
    /// The parameter, header or media type that it belongs to, when it is the `schema` of one.
    pub owner: Option<&'n Node>,
}

/// Every schema of a document, those inside others included. Examples are never entered.
pub(super) fn schemas(root: &Node) -> Vec<Site<'_>> {
    let mut sites = Vec::new();
    walk(root, String::new(), &mut sites);
    sites
}

fn walk<'n>(node: &'n Node, pointer: String, sites: &mut Vec<Site<'n>>) {
    for entry in node.entries().unwrap_or_default() {
        let below = format!("{pointer}/{}", pointer_step(&entry.key));
        match &*entry.key {
            "schema" => schema(&entry.value, below, Some(node), sites),
            "schemas" if pointer == "/components" => {
                for entry in entry.value.entries().unwrap_or_default() {
                    schema(&entry.value, format!("{below}/{}", pointer_step(&entry.key)), None, sites);
                }
            }
            "example" | "examples" => {}
            _ => walk(&entry.value, below, sites),
        }
    }
    for (index, item) in node.items().unwrap_or_default().iter().enumerate() {
        walk(item, format!("{pointer}/{index}"), sites);
    }
}

fn schema<'n>(node: &'n Node, pointer: String, owner: Option<&'n Node>, sites: &mut Vec<Site<'n>>) {
    for entry in node.entries().unwrap_or_default() {
        let below = format!("{pointer}/{}", pointer_step(&entry.key));
        match &*entry.key {
            "properties" => {
                for property in entry.value.entries().unwrap_or_default() {
                    schema(&property.value, format!("{below}/{}", pointer_step(&property.key)), None, sites);
                }
            }
            "items" | "additionalProperties" | "propertyNames" => schema(&entry.value, below, None, sites),
            "allOf" | "oneOf" | "anyOf" => {
                for (index, part) in entry.value.items().unwrap_or_default().iter().enumerate() {
                    schema(part, format!("{below}/{index}"), None, sites);
                }
            }
            _ => {}
        }
    }
    sites.push(Site { schema: node, pointer, owner });
}
