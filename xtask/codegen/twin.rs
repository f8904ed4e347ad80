//! The contract in OpenAPI 3.0.3, for tools that cannot read 3.1.
//!
//! Owns what 3.0 says otherwise and what it cannot say. It never changes what a request or a response may be: where 3.0 has
//! no word for a restriction, the restriction is left out.

use contract::node::{Entry, Node, Text, Value};

/// The 3.0.3 document of a 3.1 document.
pub(crate) fn twin(root: &Node) -> Node {
    let twin = Twin { root };
    let entries = root.entries().unwrap_or_default().iter().map(|entry| match &*entry.key {
        "openapi" => pair("openapi", Node::string("3.0.3")),
        "info" => pair("info", info(&entry.value)),
        // 3.0 has no webhooks; the extension keeps them readable for people.
        "webhooks" => pair("x-webhooks", twin.tree(&entry.value)),
        key => pair(key, twin.under(key, &entry.value)),
    });
    Node::made(Value::Mapping(entries.collect()))
}

fn pair(key: &str, value: Node) -> Entry {
    Entry { key: Text { text: key.to_owned(), span: value.span }, value }
}

fn list(items: Vec<Node>) -> Node {
    Node::made(Value::Sequence(items))
}

fn yes() -> Node {
    Node::made(Value::Bool(true))
}

/// A mapping with each value changed; anything else as it is.
fn each(node: &Node, change: impl Fn(&str, &Node) -> Option<Node>) -> Node {
    let Some(entries) = node.entries() else { return node.clone() };
    let entries =
        entries.iter().filter_map(|entry| Some(pair(&entry.key, change(&entry.key, &entry.value)?)));
    Node::made(Value::Mapping(entries.collect()))
}

/// `summary` of the API and the SPDX identifier of its licence came with 3.1.
fn info(node: &Node) -> Node {
    let license = |node: &Node| each(node, |key, value| (key != "identifier").then(|| value.clone()));
    each(node, |key, value| match key {
        "summary" => None,
        "license" => Some(license(value)),
        _ => Some(value.clone()),
    })
}

/// Only OAuth schemes may name scopes in 3.0.
fn security(node: &Node) -> Node {
    let requirements = node.items().unwrap_or_default().iter();
    list(requirements.map(|requirement| each(requirement, |_, _| Some(list(Vec::new())))).collect())
}

struct Twin<'n> {
    root: &'n Node,
}

impl Twin<'_> {
    /// Everything but schemas, examples and security stays as it is.
    fn tree(&self, node: &Node) -> Node {
        match node.items() {
            Some(items) => list(items.iter().map(|item| self.tree(item)).collect()),
            None => each(node, |key, value| Some(self.under(key, value))),
        }
    }

    fn under(&self, key: &str, value: &Node) -> Node {
        match key {
            "schema" => self.schema(value),
            "schemas" => each(value, |_, schema| Some(self.schema(schema))),
            "security" => security(value),
            "example" | "examples" => value.clone(),
            _ => self.tree(value),
        }
    }

    /// A schema; `true`, which 3.0 does not know, becomes one that says nothing.
    fn schema(&self, node: &Node) -> Node {
        let entries = node.entries().unwrap_or_default();
        let mut changed = Vec::new();
        let composed = if let Some((keyword, parts)) = nullable(node) {
            self.nullable(keyword, &parts, &mut changed);
            keyword
        } else if let Some(reference) = node.get("$ref").filter(|_| entries.len() > 1) {
            // In 3.0 nothing counts beside a reference, so what stands there is put around it.
            let alone = Node::made(Value::Mapping(vec![pair("$ref", reference.clone())]));
            changed.push(pair("allOf", list(vec![alone])));
            "$ref"
        } else {
            ""
        };
        for entry in entries.iter().filter(|entry| entry.key.text != composed) {
            self.keyword(&entry.key, &entry.value, &mut changed);
        }
        Node::made(Value::Mapping(changed))
    }

    /// A union of null and these shapes. Tools read `nullable` as 'or null' of all that stands beside it, and only where the
    /// type is said too.
    fn nullable(&self, keyword: &str, parts: &[&Node], changed: &mut Vec<Entry>) {
        let types: Vec<_> = parts.iter().map(|part| self.type_of(part)).collect();
        let same = types.iter().all(|name| name.is_some() && *name == types[0]);
        match parts {
            // An inline shape says its type itself.
            [one] if one.get("$ref").is_none() => {
                for entry in one.entries().unwrap_or_default() {
                    self.keyword(&entry.key, &entry.value, changed);
                }
                changed.push(pair("nullable", yes()));
            }
            parts => {
                let name = types.into_iter().next().flatten().filter(|_| same);
                changed.extend(name.map(|name| pair("type", Node::string(name))));
                let keyword = if parts.len() == 1 { "allOf" } else { keyword };
                let parts = parts.iter().map(|part| self.schema(part)).collect();
                changed.extend([pair("nullable", yes()), pair(keyword, list(parts))]);
            }
        }
    }

    fn keyword(&self, key: &str, value: &Node, changed: &mut Vec<Entry>) {
        match key {
            "type" => types(value, changed),
            "const" => changed.push(pair("enum", list(vec![value.clone()]))),
            "examples" => {
                let first = value.items().and_then(<[_]>::first);
                changed.extend(first.map(|first| pair("example", first.clone())));
            }
            // 3.0 has no word for them.
            "propertyNames" | "unevaluatedProperties" => {}
            // In 3.0 the bound and its being exclusive are two keywords.
            "exclusiveMinimum" => changed.extend([pair("minimum", value.clone()), pair(key, yes())]),
            "exclusiveMaximum" => changed.extend([pair("maximum", value.clone()), pair(key, yes())]),
            "properties" => changed.push(pair(key, each(value, |_, schema| Some(self.schema(schema))))),
            "items" => changed.push(pair(key, self.schema(value))),
            "additionalProperties" if value.entries().is_some() => {
                changed.push(pair(key, self.schema(value)))
            }
            "allOf" | "oneOf" | "anyOf" => {
                let parts = value.items().unwrap_or_default().iter().map(|part| self.schema(part));
                changed.push(pair(key, list(parts.collect())));
            }
            _ => changed.push(pair(key, value.clone())),
        }
    }

    /// The type of a schema, or of what its reference leads to.
    fn type_of(&self, schema: &Node) -> Option<String> {
        let schema = match schema.get("$ref") {
            Some(target) => self.root.pointer(target.as_str()?.strip_prefix('#')?)?,
            None => schema,
        };
        match schema.get("type").map(|stated| &stated.value) {
            Some(Value::String(name)) => Some(name.clone()),
            Some(Value::Sequence(names)) => {
                names.iter().filter_map(Node::as_str).find(|name| *name != "null").map(str::to_owned)
            }
            _ => schema.get("allOf").map(|_| "object".to_owned()),
        }
    }
}

/// A type, or a type and null.
fn types(value: &Node, changed: &mut Vec<Entry>) {
    let Some(names) = value.items() else {
        changed.push(pair("type", value.clone()));
        return;
    };
    changed.extend(names.iter().map(|name| match name.as_str() {
        Some("null") => pair("nullable", yes()),
        _ => pair("type", name.clone()),
    }));
}

/// The shapes of a union that can also be null, and its keyword.
fn nullable(node: &Node) -> Option<(&'static str, Vec<&Node>)> {
    let keyword = ["oneOf", "anyOf"].into_iter().find(|keyword| node.get(keyword).is_some())?;
    let parts = node.get(keyword)?.items()?;
    let is_null = |part: &&Node| part.get("type").and_then(Node::as_str) == Some("null");
    let shapes: Vec<&Node> = parts.iter().filter(|part| !is_null(part)).collect();
    (shapes.len() < parts.len()).then_some((keyword, shapes))
}

#[cfg(test)]
mod same;

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{source::Source, yaml};

    /// What becomes of a schema, as JSON on one line.
    fn twin_of(schema: &str) -> String {
        let text = format!(
            "openapi: 3.1.0\ncomponents:\n  schemas:\n    Price: {{ type: object, properties: {{}} }}\n    It: {schema}\n"
        );
        let root = yaml::read(&Source::new("it.yaml", text), &mut Vec::new()).expect("the text is YAML");
        let document = twin(&root);
        let it = document.pointer("/components/schemas/It").expect("it is still there");
        serde_json::to_string(it).expect("it becomes JSON")
    }

    #[test]
    fn null_is_said_beside_the_type() {
        assert_eq!(
            twin_of("{ type: [string, 'null'], maxLength: 3 }"),
            r#"{"type":"string","nullable":true,"maxLength":3}"#
        );
    }

    #[test]
    fn a_reference_that_can_be_null_is_wrapped() {
        let schema =
            "{ oneOf: [{ $ref: '#/components/schemas/Price' }, { type: 'null' }], description: The price. }";
        let twin = r##"{"type":"object","nullable":true,"allOf":[{"$ref":"#/components/schemas/Price"}],"description":"The price."}"##;
        assert_eq!(twin_of(schema), twin);
    }

    #[test]
    fn what_stands_beside_a_reference_is_put_around_it() {
        let schema = "{ $ref: '#/components/schemas/Price', description: The price. }";
        assert_eq!(
            twin_of(schema),
            r##"{"allOf":[{"$ref":"#/components/schemas/Price"}],"description":"The price."}"##
        );
    }

    #[test]
    fn const_examples_and_exclusive_bounds_have_their_old_words() {
        assert_eq!(twin_of("{ type: string, const: a }"), r#"{"type":"string","enum":["a"]}"#);
        assert_eq!(twin_of("{ type: string, examples: [a, b] }"), r#"{"type":"string","example":"a"}"#);
        let schema = "{ type: integer, exclusiveMinimum: 0, exclusiveMaximum: 9 }";
        let twin =
            r#"{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":true}"#;
        assert_eq!(twin_of(schema), twin);
    }

    #[test]
    fn what_3_0_has_no_word_for_is_left_out_at_every_depth() {
        let schema = "{ type: array, items: { type: object, propertyNames: { maxLength: 3 }, additionalProperties: { type: [integer, 'null'] } } }";
        let twin = r#"{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer","nullable":true}}}"#;
        assert_eq!(twin_of(schema), twin);
    }
}
