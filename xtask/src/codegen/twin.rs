//! The contract in OpenAPI 3.0.3, for tools that cannot read 3.1.
//!
//! Owns what 3.0 says otherwise and what it cannot say. It never changes what a request or a response may be: where 3.0 has
//! no word for a restriction, the restriction is left out.

use crate::contract::node::{Entry, Node, Text, Value};

/// The 3.0.3 document of a 3.1 document.
pub fn twin(root: &Node) -> Node {
    let mut top = Vec::new();
    for entry in root.entries().unwrap_or_default() {
        match &*entry.key {
            "openapi" => top.push(pair("openapi", Node::string("3.0.3"))),
            "info" => top.push(pair("info", info(&entry.value))),
            // 3.0 has no webhooks; the extension keeps them readable for people.
            "webhooks" => top.push(pair("x-webhooks", tree(&entry.value))),
            _ => top.push(Entry { key: entry.key.clone(), value: under(&entry.key, &entry.value) }),
        }
    }
    Node::made(Value::Mapping(top))
}

fn pair(key: &str, value: Node) -> Entry {
    Entry { key: Text { text: key.to_owned(), span: value.span }, value }
}

fn mapping(node: &Node, mut each: impl FnMut(&Entry) -> Option<Entry>) -> Node {
    match &node.value {
        Value::Mapping(entries) => {
            Node::made(Value::Mapping(entries.iter().filter_map(|entry| each(entry)).collect()))
        }
        _ => node.clone(),
    }
}

/// `summary` of the API and the SPDX identifier of its licence came with 3.1.
fn info(node: &Node) -> Node {
    mapping(node, |entry| match &*entry.key {
        "summary" => None,
        "license" => {
            let license =
                mapping(&entry.value, |entry| (entry.key.text != "identifier").then(|| entry.clone()));
            Some(Entry { key: entry.key.clone(), value: license })
        }
        _ => Some(entry.clone()),
    })
}

/// Everything but schemas, examples and security stays as it is.
fn tree(node: &Node) -> Node {
    match &node.value {
        Value::Mapping(_) => mapping(node, |entry| {
            Some(Entry { key: entry.key.clone(), value: under(&entry.key, &entry.value) })
        }),
        Value::Sequence(items) => Node::made(Value::Sequence(items.iter().map(tree).collect())),
        _ => node.clone(),
    }
}

fn under(key: &str, value: &Node) -> Node {
    match key {
        "schema" => schema(value),
        "schemas" => {
            mapping(value, |entry| Some(Entry { key: entry.key.clone(), value: schema(&entry.value) }))
        }
        "security" => security(value),
        "example" | "examples" | "value" => value.clone(),
        _ => tree(value),
    }
}

/// Only OAuth schemes may name scopes in 3.0.
fn security(node: &Node) -> Node {
    let requirement = |node: &Node| {
        mapping(node, |entry| {
            Some(Entry { key: entry.key.clone(), value: Node::made(Value::Sequence(Vec::new())) })
        })
    };
    match &node.value {
        Value::Sequence(items) => Node::made(Value::Sequence(items.iter().map(requirement).collect())),
        _ => node.clone(),
    }
}

fn schema(node: &Node) -> Node {
    if let Some(reference) = node.get("$ref") {
        return beside_reference(node, reference);
    }
    if let Some(target) = nullable_reference(node) {
        return nullable_twin(node, &target);
    }
    let mut entries = Vec::new();
    for entry in node.entries().unwrap_or_default() {
        keyword(entry, &mut entries);
    }
    Node::made(Value::Mapping(entries))
}

fn keyword(entry: &Entry, entries: &mut Vec<Entry>) {
    let value = &entry.value;
    match &*entry.key {
        "type" => types(value, entries),
        "const" => entries.push(pair("enum", Node::made(Value::Sequence(vec![value.clone()])))),
        "examples" => {
            entries.extend(value.items().and_then(<[_]>::first).map(|first| pair("example", first.clone())))
        }
        // 3.0 has no word for it.
        "propertyNames" => {}
        "exclusiveMinimum" => exclusive("minimum", "exclusiveMinimum", value, entries),
        "exclusiveMaximum" => exclusive("maximum", "exclusiveMaximum", value, entries),
        "properties" => {
            let properties =
                mapping(value, |entry| Some(Entry { key: entry.key.clone(), value: schema(&entry.value) }));
            entries.push(Entry { key: entry.key.clone(), value: properties });
        }
        "items" => entries.push(Entry { key: entry.key.clone(), value: schema(value) }),
        "additionalProperties" if value.entries().is_some() => {
            entries.push(Entry { key: entry.key.clone(), value: schema(value) });
        }
        "allOf" | "oneOf" => {
            let parts = value.items().unwrap_or_default().iter().map(schema).collect();
            entries.push(Entry { key: entry.key.clone(), value: Node::made(Value::Sequence(parts)) });
        }
        _ => entries.push(entry.clone()),
    }
}

/// A type, or a type and null.
fn types(value: &Node, entries: &mut Vec<Entry>) {
    let Some(names) = value.items() else {
        entries.push(pair("type", value.clone()));
        return;
    };
    for name in names {
        if name.as_str() == Some("null") {
            entries.push(pair("nullable", Node::made(Value::Bool(true))));
        } else {
            entries.push(pair("type", name.clone()));
        }
    }
}

/// In 3.0 the bound and its being exclusive are two keywords.
fn exclusive(bound: &str, flag: &str, value: &Node, entries: &mut Vec<Entry>) {
    entries.push(pair(bound, value.clone()));
    entries.push(pair(flag, Node::made(Value::Bool(true))));
}

/// The reference of `oneOf: [{$ref}, {type: 'null'}]`.
fn nullable_reference(node: &Node) -> Option<Node> {
    let parts = node.get("oneOf")?.items()?;
    let null = parts.iter().any(|part| part.get("type").and_then(Node::as_str) == Some("null"));
    let target = parts.iter().find(|part| part.get("$ref").is_some());
    target.filter(|_| null && parts.len() == 2).cloned()
}

fn nullable_twin(node: &Node, target: &Node) -> Node {
    let all = Node::made(Value::Sequence(vec![target.clone()]));
    let mut entries = vec![pair("nullable", Node::made(Value::Bool(true))), pair("allOf", all)];
    for entry in node.entries().unwrap_or_default() {
        if entry.key.text != "oneOf" {
            keyword(entry, &mut entries);
        }
    }
    Node::made(Value::Mapping(entries))
}

/// In 3.0 nothing counts beside a reference, so what stands there is wrapped.
fn beside_reference(node: &Node, reference: &Node) -> Node {
    let entries = node.entries().unwrap_or_default();
    let [_] = entries else {
        let alone = Node::made(Value::Mapping(vec![pair("$ref", reference.clone())]));
        let mut wrapped = vec![pair("allOf", Node::made(Value::Sequence(vec![alone])))];
        for entry in entries.iter().filter(|entry| entry.key.text != "$ref") {
            keyword(entry, &mut wrapped);
        }
        return Node::made(Value::Mapping(wrapped));
    };
    node.clone()
}
