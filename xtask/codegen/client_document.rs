//! Derives the document for client generators from the contract.
//!
//! A generated client usually rejects a value that is not in an `enum`, but responses and events can gain values. In this
//! document, an enum with `x-extensible-enum` is therefore a plain string, and its description lists the known values.
//! Requests accept only the listed values, so parameters and request bodies refer to closed copies of the enums. The minimum
//! length of times is left out.

use std::collections::{BTreeMap, BTreeSet};

use contract::node::{Entry, Node, SpannedString, Value};

const SCHEMAS: &str = "#/components/schemas/";
const PARAMETERS: &str = "#/components/parameters/";

/// Returns the document for client generators, or `None` if the contract has no extensible enum. Then the contract itself
/// serves them.
pub(crate) fn for_clients(root: &Node) -> Option<Node> {
    if !contains_extensible(root) {
        return None;
    }
    let schemas = root.pointer("/components/schemas").and_then(Node::entries).unwrap_or_default();
    let mut requests = Requests { root, copies: BTreeMap::new() };
    let mut entries = map_entries(root, |key, value| match key {
        "paths" => requests.paths(value),
        "components" => value.clone(),
        _ => open(value),
    });
    let parameters = parameters_of_requests(root);
    for entry in entries.iter_mut().filter(|entry| &*entry.key == "components") {
        entry.value = mapping(map_entries(&entry.value, |key, value| match key {
            "parameters" => mapping(map_entries(value, |name, parameter| {
                if parameters.contains(name) { requests.close(parameter) } else { open(parameter) }
            })),
            "requestBodies" => requests.close(value),
            // Last, when all copies are known.
            "schemas" => value.clone(),
            _ => open(value),
        }));
        let schemas = schemas.iter().flat_map(|schema| {
            let copy = requests.copies.get(&*schema.key);
            let copy = copy.map(|copy| pair(&requests.closed_name(&schema.key), copy.clone()));
            std::iter::once(pair(&schema.key, open(&schema.value))).chain(copy)
        });
        let schemas = mapping(schemas.collect());
        entry.value = mapping(map_entries(&entry.value, |key, value| {
            if key == "schemas" { schemas.clone() } else { value.clone() }
        }));
    }
    Some(mapping(entries))
}

/// Rewrites the parts of a document that describe requests.
struct Requests<'n> {
    root: &'n Node,
    /// The closed copies of schemas, by the name of the original.
    copies: BTreeMap<String, Node>,
}

impl Requests<'_> {
    /// Rewrites paths: requests refer to closed enums, and everything else to open ones.
    fn paths(&mut self, node: &Node) -> Node {
        match &node.value {
            Value::Mapping(_) => mapping(map_entries(node, |key, value| match key {
                "parameters" | "requestBody" => self.close(value),
                "responses" | "callbacks" => open(value),
                _ => self.paths(value),
            })),
            _ => node.clone(),
        }
    }

    /// Replaces each reference to a schema that contains an extensible enum by a reference to a closed copy.
    fn close(&mut self, node: &Node) -> Node {
        match &node.value {
            Value::Mapping(_) => mapping(map_entries(node, |key, value| {
                let name = value.as_str().and_then(|target| target.strip_prefix(SCHEMAS));
                match name
                    .filter(|name| key == "$ref" && contains_enum(self.root, name, &mut BTreeSet::new()))
                {
                    Some(name) => {
                        self.copy(name);
                        Node::string(format!("{SCHEMAS}{}", self.closed_name(name)))
                    }
                    None => self.close(value),
                }
            })),
            Value::Sequence(items) => sequence(items.iter().map(|item| self.close(item)).collect()),
            _ => node.clone(),
        }
    }

    fn copy(&mut self, name: &str) {
        let Some(schema) = schema(self.root, name).filter(|_| !self.copies.contains_key(name)) else {
            return;
        };
        // A schema can refer to itself.
        self.copies.insert(name.to_owned(), schema.clone());
        let copy = self.close(schema);
        self.copies.insert(name.to_owned(), copy);
    }

    /// Returns the name of the closed copy of a schema.
    fn closed_name(&self, name: &str) -> String {
        let is_enum = schema(self.root, name).is_some_and(is_extensible);
        let mut closed = format!("{name}{}", if is_enum { "Filter" } else { "Input" });
        while schema(self.root, &closed).is_some() {
            closed.push_str("Value");
        }
        closed
    }
}

/// Replaces all extensible enums by strings.
fn open(node: &Node) -> Node {
    match &node.value {
        Value::Mapping(_) if is_extensible(node) => open_enum(node),
        Value::Mapping(_) => mapping(map_entries(node, |_, value| open(value))),
        Value::Sequence(items) => sequence(items.iter().map(open).collect()),
        _ => node.clone(),
    }
}

/// Converts an extensible enum to a schema without `enum`.
fn open_enum(node: &Node) -> Node {
    let values = node.get("enum").and_then(Node::items).unwrap_or_default();
    let names: Vec<String> = values.iter().filter_map(Node::as_str).map(|name| format!("`{name}`")).collect();
    let description = node.get("description").and_then(Node::as_str).unwrap_or_default().trim();
    let description =
        format!("{description} Known values: {}. Other values can be added at any time.", names.join(", "));
    let entries = node.entries().unwrap_or_default().iter();
    let replaced = ["description", "enum", "examples", "x-extensible-enum"];
    let mut opened: Vec<Entry> = entries.filter(|entry| !replaced.contains(&&*entry.key)).cloned().collect();
    opened.push(pair("description", Node::string(description.trim_start())));
    opened.push(pair("examples", sequence(values.to_vec())));
    mapping(opened)
}

fn is_extensible(schema: &Node) -> bool {
    let is_marked =
        schema.get("x-extensible-enum").is_some_and(|mark| matches!(mark.value, Value::Bool(true)));
    is_marked && schema.get("enum").is_some()
}

fn contains_extensible(node: &Node) -> bool {
    match &node.value {
        Value::Mapping(entries) => {
            is_extensible(node) || entries.iter().any(|entry| contains_extensible(&entry.value))
        }
        Value::Sequence(items) => items.iter().any(contains_extensible),
        _ => false,
    }
}

fn schema<'n>(root: &'n Node, name: &str) -> Option<&'n Node> {
    root.pointer("/components/schemas")?.get(name)
}

/// Returns whether a schema of the components is an extensible enum or refers to one, directly or not.
fn contains_enum<'n>(root: &'n Node, name: &'n str, visited: &mut BTreeSet<&'n str>) -> bool {
    let Some(schema) = schema(root, name).filter(|_| visited.insert(name)) else { return false };
    let references = references(schema, SCHEMAS);
    contains_extensible(schema) || references.into_iter().any(|name| contains_enum(root, name, visited))
}

/// Returns the names of the parameters of the components that operations refer to. Those of events are not among them.
fn parameters_of_requests(root: &Node) -> BTreeSet<&str> {
    root.get("paths").map(|paths| references(paths, PARAMETERS)).unwrap_or_default()
}

/// Returns the names after `prefix` of all references in a node.
fn references<'n>(node: &'n Node, prefix: &str) -> BTreeSet<&'n str> {
    match &node.value {
        Value::Mapping(entries) => {
            let own = node.get("$ref").and_then(Node::as_str).and_then(|target| target.strip_prefix(prefix));
            entries.iter().flat_map(|entry| references(&entry.value, prefix)).chain(own).collect()
        }
        Value::Sequence(items) => items.iter().flat_map(|item| references(item, prefix)).collect(),
        _ => BTreeSet::new(),
    }
}

fn pair(key: &str, value: Node) -> Entry {
    Entry { key: SpannedString { text: key.to_owned(), span: value.span }, value }
}

fn mapping(entries: Vec<Entry>) -> Node {
    Node::without_span(Value::Mapping(entries))
}

fn sequence(items: Vec<Node>) -> Node {
    Node::without_span(Value::Sequence(items))
}

/// Maps the values of a mapping, and leaves out the minimum length of a time, which is never empty: some generators apply it to
/// an object.
fn map_entries(node: &Node, mut change: impl FnMut(&str, &Node) -> Node) -> Vec<Entry> {
    let is_time = node.get("format").and_then(Node::as_str).is_some_and(|format| format.starts_with("date"));
    let entries = node.entries().unwrap_or_default().iter();
    let entries = entries.filter(|entry| !is_time || &*entry.key != "minLength");
    entries.map(|entry| pair(&entry.key, change(&entry.key, &entry.value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{source::Source, yaml};
    use serde_json::{Value as Json, json};

    const DOCUMENT: &str = "
openapi: 3.1.0
paths:
  /things:
    get:
      parameters:
        - { name: size, in: query, schema: { $ref: '#/components/schemas/Size' } }
        - { $ref: '#/components/parameters/Kind' }
      responses: { '200': { content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } } }
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } }
components:
  parameters:
    Kind: { name: kind, in: query, schema: { $ref: '#/components/schemas/Kind' } }
    EventSize: { name: size, in: header, schema: { $ref: '#/components/schemas/Size' } }
  schemas:
    Size: { type: string, description: The size., enum: [big, small], x-extensible-enum: true }
    Kind: { type: string, enum: [a, b] }
    Thing: { type: object, properties: { size: { $ref: '#/components/schemas/Size' }, kind: { $ref: '#/components/schemas/Kind' } } }
";

    fn read(text: &str) -> Node {
        yaml::read(&Source::new("tested.yaml", text.to_owned()), &mut Vec::new())
            .expect("the text is valid YAML")
    }

    fn clients() -> Json {
        for_clients(&read(DOCUMENT)).expect("the document has an extensible enum").to_json()
    }

    #[test]
    fn an_extensible_enum_is_a_string_with_examples_and_its_values_in_the_description() {
        let expected = json!({
            "type": "string",
            "description": "The size. Known values: `big`, `small`. Other values can be added at any time.",
            "examples": ["big", "small"],
        });
        assert_eq!(clients()["components"]["schemas"]["Size"], expected);
    }

    #[test]
    fn parameters_and_request_bodies_refer_to_closed_copies() {
        let document = clients();
        let get = &document["paths"]["/things"]["get"];
        assert_eq!(get["parameters"][0]["schema"]["$ref"], "#/components/schemas/SizeFilter");
        let response = "/paths/~1things/get/responses/200/content/application~1json/schema/$ref";
        assert_eq!(document.pointer(response), Some(&json!("#/components/schemas/Thing")));
        let body = "/paths/~1things/post/requestBody/content/application~1json/schema/$ref";
        assert_eq!(document.pointer(body), Some(&json!("#/components/schemas/ThingInput")));
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["SizeFilter"]["enum"], json!(["big", "small"]));
        assert_eq!(schemas["ThingInput"]["properties"]["size"]["$ref"], "#/components/schemas/SizeFilter");
        assert_eq!(schemas["ThingInput"]["properties"]["kind"]["$ref"], "#/components/schemas/Kind");
        assert_eq!(schemas["Thing"]["properties"]["size"]["$ref"], "#/components/schemas/Size");
    }

    #[test]
    fn closed_enums_and_parameters_of_events_are_unchanged() {
        let (document, original) = (clients(), read(DOCUMENT).to_json());
        assert_eq!(document["components"]["schemas"]["Kind"], original["components"]["schemas"]["Kind"]);
        assert_eq!(document["components"]["parameters"], original["components"]["parameters"]);
    }

    #[test]
    fn a_time_has_no_minimum_length() {
        let text = DOCUMENT
            .replace("{ type: string, enum: [a, b] }", "{ type: string, format: date-time, minLength: 1 }");
        let document = for_clients(&read(&text)).expect("the document has an extensible enum").to_json();
        let expected = json!({ "type": "string", "format": "date-time" });
        assert_eq!(document["components"]["schemas"]["Kind"], expected);
    }

    #[test]
    fn a_contract_without_extensible_enums_has_no_document_of_its_own() {
        assert!(for_clients(&read("openapi: 3.1.0\npaths: {}\n")).is_none());
    }
}
