//! Converts the contract to OpenAPI 3.0.3, for tools that do not support 3.1.
//!
//! A restriction that 3.0 cannot express is left out. All other restrictions keep their meaning.

use contract::node::{Entry, Node, SpannedString, Value};

/// Converts a 3.1 document to 3.0.3.
pub(crate) fn to_openapi_3_0(root: &Node) -> Node {
    let converter = Converter { root };
    let entries = root.entries().unwrap_or_default().iter().map(|entry| match &*entry.key {
        "openapi" => pair("openapi", Node::string("3.0.3")),
        "info" => pair("info", info(&entry.value)),
        // 3.0 has no webhooks; the extension documents them.
        "webhooks" => pair("x-webhooks", converter.tree(&entry.value)),
        key => pair(key, converter.entry(key, &entry.value)),
    });
    Node::without_span(Value::Mapping(entries.collect()))
}

fn pair(key: &str, value: Node) -> Entry {
    Entry { key: SpannedString { text: key.to_owned(), span: value.span }, value }
}

fn list(items: Vec<Node>) -> Node {
    Node::without_span(Value::Sequence(items))
}

fn true_node() -> Node {
    Node::without_span(Value::Bool(true))
}

/// Maps each value of a mapping, and removes the entries for which `change` returns `None`. Other nodes are unchanged.
fn map_values(node: &Node, change: impl Fn(&str, &Node) -> Option<Node>) -> Node {
    let Some(entries) = node.entries() else { return node.clone() };
    let entries =
        entries.iter().filter_map(|entry| Some(pair(&entry.key, change(&entry.key, &entry.value)?)));
    Node::without_span(Value::Mapping(entries.collect()))
}

/// Converts `info`: 3.0 has no `summary` and no SPDX license `identifier`.
fn info(node: &Node) -> Node {
    let license = |node: &Node| map_values(node, |key, value| (key != "identifier").then(|| value.clone()));
    map_values(node, |key, value| match key {
        "summary" => None,
        "license" => Some(license(value)),
        _ => Some(value.clone()),
    })
}

/// Converts `security`: in 3.0 only OAuth schemes can have scopes.
fn security(node: &Node) -> Node {
    let requirements = node.items().unwrap_or_default().iter();
    list(requirements.map(|requirement| map_values(requirement, |_, _| Some(list(Vec::new())))).collect())
}

/// Converts the nodes of a document.
struct Converter<'n> {
    root: &'n Node,
}

impl Converter<'_> {
    /// Converts a node outside of schemas. Only schemas and security requirements change; examples are copied.
    fn tree(&self, node: &Node) -> Node {
        match node.items() {
            Some(items) => list(items.iter().map(|item| self.tree(item)).collect()),
            None => map_values(node, |key, value| Some(self.entry(key, value))),
        }
    }

    /// Converts the value of an entry outside of schemas.
    fn entry(&self, key: &str, value: &Node) -> Node {
        match key {
            "schema" => self.schema(value),
            "schemas" => map_values(value, |_, schema| Some(self.schema(schema))),
            "security" => security(value),
            "example" | "examples" => value.clone(),
            _ => self.tree(value),
        }
    }

    /// Converts a schema. The schema `true`, which 3.0 does not support, becomes an empty schema.
    fn schema(&self, node: &Node) -> Node {
        let entries = node.entries().unwrap_or_default();
        let mut converted = Vec::new();
        let converted_keyword = if let Some((keyword, parts)) = nullable_union(node) {
            self.convert_nullable_union(keyword, &parts, &mut converted);
            keyword
        } else if let Some(reference) = node.get("$ref").filter(|_| entries.len() > 1) {
            // 3.0 ignores keywords beside a reference, so the reference moves into an `allOf`.
            let reference = Node::without_span(Value::Mapping(vec![pair("$ref", reference.clone())]));
            converted.push(pair("allOf", list(vec![reference])));
            "$ref"
        } else {
            ""
        };
        for entry in entries.iter().filter(|entry| entry.key.text != converted_keyword) {
            self.keyword(&entry.key, &entry.value, &mut converted);
        }
        Node::without_span(Value::Mapping(converted))
    }

    /// Converts a union of null and `parts`. `nullable` applies to the whole schema, and only if the schema has a
    /// `type`.
    fn convert_nullable_union(&self, keyword: &str, parts: &[&Node], converted: &mut Vec<Entry>) {
        let types: Vec<_> = parts.iter().map(|part| self.type_of(part)).collect();
        let all_equal = types.iter().all(|name| name.is_some() && *name == types[0]);
        match parts {
            // An inline schema has its own type, so its keywords move up.
            [part] if part.get("$ref").is_none() => {
                for entry in part.entries().unwrap_or_default() {
                    self.keyword(&entry.key, &entry.value, converted);
                }
                converted.push(pair("nullable", true_node()));
            }
            parts => {
                let name = types.into_iter().next().flatten().filter(|_| all_equal);
                converted.extend(name.map(|name| pair("type", Node::string(name))));
                let keyword = if parts.len() == 1 { "allOf" } else { keyword };
                let parts = parts.iter().map(|part| self.schema(part)).collect();
                converted.extend([pair("nullable", true_node()), pair(keyword, list(parts))]);
            }
        }
    }

    /// Converts a keyword of a schema, and appends the entries that replace it.
    fn keyword(&self, key: &str, value: &Node, converted: &mut Vec<Entry>) {
        match key {
            "type" => types(value, converted),
            "const" => converted.push(pair("enum", list(vec![value.clone()]))),
            "examples" => {
                let first = value.items().and_then(<[_]>::first);
                converted.extend(first.map(|first| pair("example", first.clone())));
            }
            // 3.0 does not have these keywords.
            "propertyNames"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "patternProperties"
            | "prefixItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "if"
            | "then"
            | "else"
            | "dependentRequired"
            | "dependentSchemas"
            | "contentMediaType"
            | "contentEncoding"
            | "contentSchema"
            | "$defs"
            | "$id"
            | "$schema"
            | "$anchor"
            | "$dynamicRef"
            | "$dynamicAnchor"
            | "$vocabulary"
            | "$comment" => {}
            "not" => converted.push(pair(key, self.schema(value))),
            // In 3.0 these keywords are flags beside the bound.
            "exclusiveMinimum" => converted.extend([pair("minimum", value.clone()), pair(key, true_node())]),
            "exclusiveMaximum" => converted.extend([pair("maximum", value.clone()), pair(key, true_node())]),
            "properties" => {
                converted.push(pair(key, map_values(value, |_, schema| Some(self.schema(schema)))))
            }
            "items" => converted.push(pair(key, self.schema(value))),
            "additionalProperties" if value.entries().is_some() => {
                converted.push(pair(key, self.schema(value)))
            }
            "allOf" | "oneOf" | "anyOf" => {
                let parts = value.items().unwrap_or_default().iter().map(|part| self.schema(part));
                converted.push(pair(key, list(parts.collect())));
            }
            _ => converted.push(pair(key, value.clone())),
        }
    }

    /// Returns the type other than null of a schema, or of the schema that it references.
    fn type_of(&self, schema: &Node) -> Option<String> {
        let schema = match schema.get("$ref") {
            Some(target) => self.root.pointer(target.as_str()?.strip_prefix('#')?)?,
            None => schema,
        };
        match schema.get("type").map(|node| &node.value) {
            Some(Value::String(name)) => Some(name.clone()),
            Some(Value::Sequence(names)) => {
                names.iter().filter_map(Node::as_str).find(|name| *name != "null").map(str::to_owned)
            }
            _ => schema.get("allOf").map(|_| "object".to_owned()),
        }
    }
}

/// Converts `type`: a type, or a list of a type and null.
fn types(value: &Node, converted: &mut Vec<Entry>) {
    let Some(names) = value.items() else {
        converted.push(pair("type", value.clone()));
        return;
    };
    // 3.0 cannot express several types other than null.
    let count = names.iter().filter(|name| name.as_str() != Some("null")).count();
    converted.extend(names.iter().filter_map(|name| match name.as_str() {
        Some("null") => Some(pair("nullable", true_node())),
        _ => (count == 1).then(|| pair("type", name.clone())),
    }));
}

/// Returns the keyword and the non-null parts of a union that contains null.
fn nullable_union(node: &Node) -> Option<(&'static str, Vec<&Node>)> {
    let keyword = ["oneOf", "anyOf"].into_iter().find(|keyword| node.get(keyword).is_some())?;
    let parts = node.get(keyword)?.items()?;
    let is_null = |part: &&Node| part.get("type").and_then(Node::as_str) == Some("null");
    let non_null: Vec<&Node> = parts.iter().filter(|part| !is_null(part)).collect();
    (non_null.len() < parts.len()).then_some((keyword, non_null))
}

#[cfg(test)]
mod equivalence;

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{source::Source, yaml};

    /// Converts a schema and returns it as JSON on one line.
    fn converted(schema: &str) -> String {
        let text = format!(
            "openapi: 3.1.0\ncomponents:\n  schemas:\n    Price: {{ type: object, properties: {{}} }}\n    Tested: {schema}\n"
        );
        let root =
            yaml::read(&Source::new("tested.yaml", text), &mut Vec::new()).expect("the text is valid YAML");
        let document = to_openapi_3_0(&root);
        let schema = document.pointer("/components/schemas/Tested").expect("the schema exists");
        serde_json::to_string(schema).expect("the schema is valid JSON")
    }

    #[test]
    fn a_nullable_type_becomes_the_nullable_flag() {
        assert_eq!(
            converted("{ type: [string, 'null'], maxLength: 3 }"),
            r#"{"type":"string","nullable":true,"maxLength":3}"#
        );
    }

    #[test]
    fn a_nullable_reference_is_wrapped_in_all_of() {
        let schema =
            "{ oneOf: [{ $ref: '#/components/schemas/Price' }, { type: 'null' }], description: The price. }";
        let expected = r##"{"type":"object","nullable":true,"allOf":[{"$ref":"#/components/schemas/Price"}],"description":"The price."}"##;
        assert_eq!(converted(schema), expected);
    }

    #[test]
    fn keywords_beside_a_reference_move_around_it() {
        let schema = "{ $ref: '#/components/schemas/Price', description: The price. }";
        assert_eq!(
            converted(schema),
            r##"{"allOf":[{"$ref":"#/components/schemas/Price"}],"description":"The price."}"##
        );
    }

    #[test]
    fn const_examples_and_exclusive_bounds_are_converted() {
        assert_eq!(converted("{ type: string, const: a }"), r#"{"type":"string","enum":["a"]}"#);
        assert_eq!(converted("{ type: string, examples: [a, b] }"), r#"{"type":"string","example":"a"}"#);
        let schema = "{ type: integer, exclusiveMinimum: 0, exclusiveMaximum: 9 }";
        let expected =
            r#"{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":true}"#;
        assert_eq!(converted(schema), expected);
    }

    #[test]
    fn unsupported_keywords_are_left_out_at_every_depth() {
        let schema = "{ type: array, items: { type: object, propertyNames: { maxLength: 3 }, additionalProperties: { type: [integer, 'null'] } } }";
        let expected = r#"{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer","nullable":true}}}"#;
        assert_eq!(converted(schema), expected);
    }
}
