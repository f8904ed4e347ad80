//! The pages of schemas.

use std::collections::HashMap;
use std::fmt::Write;

use super::block::{Block, Card};
use super::contract_text::{ContractText, schema_name};
use super::field::{self, alternatives, constraints, deprecation, kind, one_line};
use super::json::Json;
use super::source::json_block;

/// Returns whether a schema has fields, unlike schemas of single values.
pub(crate) fn has_fields(contract: &ContractText, schema: &Json) -> bool {
    let schema = contract.resolve(schema);
    let parts = schema["allOf"].items().iter().chain(alternatives(schema));
    !schema["properties"].is_null() || parts.into_iter().any(|part| has_fields(contract, part))
}

/// Returns the parts of the list of schemas.
pub(crate) fn list(contract: &ContractText) -> Vec<Block> {
    let card = |(name, schema): &(String, Json)| Card {
        path: contract.object_path(name),
        title: name.clone(),
        text: one_line(schema["description"].text()).replace('`', ""),
    };
    let (objects, values): (Vec<_>, Vec<_>) =
        contract.schemas().iter().partition(|(_, schema)| has_fields(contract, schema));
    let text = format!("The objects in requests, responses and events of the {}.", contract.contract.title);
    vec![
        Block::Text(text),
        Block::Cards(objects.into_iter().map(card).collect()),
        Block::Text("## Single values".to_owned()),
        Block::Cards(values.into_iter().map(card).collect()),
    ]
}

/// Returns the parts of the page of a schema.
pub(crate) fn blocks(contract: &ContractText, name: &str) -> Vec<Block> {
    let schema = &contract.json["components"]["schemas"][name];
    let mut text = schema["description"].text().trim().to_owned();
    if let Some(deprecation) = deprecation(schema) {
        let _ = write!(text, "\n\n{deprecation}");
    }
    let mut blocks = vec![Block::Text(text)];
    let rows = field::rows(contract, schema, "field-");
    if rows.is_empty() {
        let sentences = constraints(schema).join(" ");
        blocks.push(Block::Text(format!("Type: {}.\n\n{sentences}", kind(contract, schema))));
    } else {
        blocks.push(Block::Text("## Fields".to_owned()));
        blocks.push(Block::Fields { label: "Field", rows });
    }
    if let Some(example) = examples(contract).get(name) {
        blocks.push(Block::Text(format!("## Example\n\n{}", json_block(example))));
    }
    let uses = contract.uses.get(name).map(Vec::as_slice).unwrap_or_default();
    if !uses.is_empty() {
        let lines: Vec<String> = uses.iter().map(|(label, path)| format!("- [`{label}`]({path})")).collect();
        blocks.push(Block::Text(format!("## Where it is used\n\n{}", lines.join("\n"))));
    }
    blocks
}

/// Returns an example of each schema, from the examples of operations and events.
fn examples(contract: &ContractText) -> HashMap<&str, &Json> {
    let mut found = HashMap::new();
    let operations =
        contract.operations().map(|(_, json)| json).chain(contract.events().map(|(_, json)| json));
    for json in operations {
        let responses = json["responses"].fields().iter().map(|(_, response)| response);
        for body in responses.chain([&json["requestBody"]]).filter_map(|content| contract.body(content)) {
            for (_, example) in body.examples {
                add_examples(contract, body.schema, example, &mut found);
            }
        }
    }
    found
}

/// Adds the parts of an example, by the names of their schemas.
fn add_examples<'a>(
    contract: &'a ContractText,
    schema: &'a Json,
    value: &'a Json,
    found: &mut HashMap<&'a str, &'a Json>,
) {
    if value.is_null() {
        return;
    }
    if let Some(name) = schema_name(schema) {
        found.entry(name).or_insert(value);
    }
    let schema = contract.resolve(schema);
    for part in schema["allOf"].items() {
        add_examples(contract, part, value, found);
    }
    for part in alternatives(schema).filter(|part| fits(contract, part, value)) {
        add_examples(contract, part, value, found);
    }
    for (name, field) in schema["properties"].fields() {
        add_examples(contract, field, &value[name], found);
    }
    for item in value.items() {
        add_examples(contract, &schema["items"], item, found);
    }
}

/// Returns whether a value can be of this alternative: whether it has the required fields and the constants.
fn fits(contract: &ContractText, schema: &Json, value: &Json) -> bool {
    let schema = contract.resolve(schema);
    let has_required = schema["required"].items().iter().all(|name| value.get(name.text()).is_some());
    let has_constants = schema["properties"].fields().iter().all(|(name, field)| {
        let constant = &contract.resolve(field)["const"];
        constant.is_null() || *constant == value[name]
    });
    has_required && has_constants
}
