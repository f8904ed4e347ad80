//! Converts an OpenAPI document into facts, so that documents in different notations can be compared.
//!
//! References are resolved, `const` is an `enum` of one value, numbers are normalized and 64 bits wide by default, and
//! header names are lower case. Titles, descriptions and examples are ignored. The input is OpenAPI 3.1 as JSON.

use contract::node::escape_pointer_token;
use serde_json::Value;

/// A statement of a document, with nested statements.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// The statement. Equal statements of two documents have the same name.
    pub name: String,
    /// The position in its document, as a JSON pointer.
    pub pointer: String,
    /// The nested facts.
    pub children: Vec<Fact>,
}

impl Fact {
    fn leaf(name: impl Into<String>, pointer: impl Into<String>) -> Self {
        Self { name: name.into(), pointer: pointer.into(), children: Vec::new() }
    }

    /// Returns the child with a name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// The methods that a contract can have. The rules for contracts reject the others.
const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// Keywords of a schema that become one fact each, with their value.
const PLAIN_KEYWORDS: [&str; 14] = [
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "default",
];

/// Converts a document into facts.
pub(crate) fn of(document: &Value) -> Fact {
    let reader = FactReader { document };
    let mut children = Vec::new();
    for (path, item) in entries(&document["paths"]) {
        for (method, operation) in entries(item).filter(|(key, _)| METHODS.contains(&key.as_str())) {
            let pointer = format!("/paths/{}/{method}", escape_pointer_token(path));
            let name = format!("{} {path}", method.to_uppercase());
            let mut facts = reader.operation(operation, &pointer);
            // Parameters of the path item apply unless the operation overrides them.
            for (index, parameter) in item["parameters"].as_array().into_iter().flatten().enumerate() {
                let fact = reader.parameter(
                    parameter,
                    format!("/paths/{}/parameters/{index}", escape_pointer_token(path)),
                );
                if !facts.iter().any(|existing| existing.name == fact.name) {
                    facts.push(fact);
                }
            }
            children.push(Fact { name, children: facts, pointer });
        }
    }
    for (name, scheme) in entries(&document["components"]["securitySchemes"]) {
        let pointer = format!("/components/securitySchemes/{}", escape_pointer_token(name));
        let facts = ["type", "scheme", "in", "name"].into_iter().filter_map(|key| {
            Some(Fact::leaf(format!("{key} {}", scheme[key].as_str()?), format!("{pointer}/{key}")))
        });
        children.push(Fact { name: format!("security scheme `{name}`"), children: facts.collect(), pointer });
    }
    for (name, _) in entries(&document["webhooks"]) {
        children.push(Fact::leaf(
            format!("webhook `{name}`"),
            format!("/webhooks/{}", escape_pointer_token(name)),
        ));
    }
    Fact { name: "the API".into(), pointer: String::new(), children }
}

/// Returns the entries of an object, or none for any other value.
fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

struct FactReader<'d> {
    document: &'d Value,
}

impl<'d> FactReader<'d> {
    /// Follows the references of a value. Returns the target and its JSON pointer. `pointer` is that of the value
    /// itself.
    fn resolve(&self, value: &'d Value, pointer: String) -> (&'d Value, String) {
        match value["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
            Some(target) => match self.document.pointer(target) {
                Some(value) => self.resolve(value, target.to_owned()),
                None => (value, pointer),
            },
            None => (value, pointer),
        }
    }

    fn operation(&self, operation: &'d Value, pointer: &str) -> Vec<Fact> {
        let mut facts = Vec::new();
        if let Some(id) = operation["operationId"].as_str() {
            facts.push(Fact::leaf(format!("operationId {id}"), format!("{pointer}/operationId")));
        }
        for tag in operation["tags"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            facts.push(Fact::leaf(format!("tag `{tag}`"), format!("{pointer}/tags")));
        }
        facts.extend(flag(operation, "deprecated", pointer));
        for requirement in operation["security"].as_array().into_iter().flatten() {
            for (scheme, scopes) in entries(requirement) {
                let mut scopes: Vec<_> =
                    scopes.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                scopes.sort_unstable();
                let name = format!("security `{scheme}` with scope {}", scopes.join(", "));
                facts.push(Fact::leaf(name, format!("{pointer}/security")));
            }
        }
        for (index, parameter) in operation["parameters"].as_array().into_iter().flatten().enumerate() {
            facts.push(self.parameter(parameter, format!("{pointer}/parameters/{index}")));
        }
        if let Some(body) = operation.get("requestBody") {
            let (body, pointer) = self.resolve(body, format!("{pointer}/requestBody"));
            let mut children: Vec<_> = flag(body, "required", &pointer).into_iter().collect();
            children.extend(self.contents(body, &pointer));
            facts.push(Fact { name: "request body".into(), children, pointer });
        }
        for (status, response) in entries(&operation["responses"]) {
            let use_pointer = format!("{pointer}/responses/{status}");
            let (response, pointer) = self.resolve(response, use_pointer.clone());
            let mut children = self.contents(response, &pointer);
            children.extend(self.headers(response, &pointer));
            facts.push(Fact { name: format!("response {status}"), children, pointer: use_pointer });
        }
        facts
    }

    /// Returns the fact of a parameter. `use_pointer` is the pointer of its use, which can be a reference.
    fn parameter(&self, parameter: &'d Value, use_pointer: String) -> Fact {
        let (parameter, pointer) = self.resolve(parameter, use_pointer.clone());
        let location = parameter["in"].as_str().unwrap_or_default();
        let name = parameter["name"].as_str().unwrap_or_default();
        let name = if location == "header" { name.to_lowercase() } else { name.to_owned() };
        let mut children: Vec<_> = flag(parameter, "required", &pointer).into_iter().collect();
        children.extend(flag(parameter, "deprecated", &pointer));
        children.extend(self.schema(&parameter["schema"], format!("{pointer}/schema"), &[]));
        if children.iter().any(|fact| fact.name == "type array") {
            let explode = parameter["explode"].as_bool().unwrap_or(location == "query");
            let notation = if explode { "sent item by item" } else { "sent with commas" };
            children.push(Fact::leaf(notation, format!("{pointer}/explode")));
        }
        Fact { name: format!("{location} parameter `{name}`"), children, pointer: use_pointer }
    }

    fn headers(&self, response: &'d Value, pointer: &str) -> Vec<Fact> {
        let headers = entries(&response["headers"]).map(|(name, header)| {
            let use_pointer = format!("{pointer}/headers/{}", escape_pointer_token(name));
            let (header, pointer) = self.resolve(header, use_pointer.clone());
            let mut children: Vec<_> = flag(header, "required", &pointer).into_iter().collect();
            children.extend(flag(header, "deprecated", &pointer));
            children.extend(self.schema(&header["schema"], format!("{pointer}/schema"), &[]));
            Fact { name: format!("header `{}`", name.to_lowercase()), children, pointer: use_pointer }
        });
        headers.collect()
    }

    fn contents(&self, owner: &'d Value, pointer: &str) -> Vec<Fact> {
        let contents = entries(&owner["content"]).map(|(media_type, media)| {
            let pointer = format!("{pointer}/content/{}", escape_pointer_token(media_type));
            let children = self.schema(&media["schema"], format!("{pointer}/schema"), &[]);
            Fact { name: media_type.clone(), children, pointer }
        });
        contents.collect()
    }

    /// Returns the facts of a schema. `above` contains the references that led here, so that circular references end.
    fn schema(&self, schema: &'d Value, pointer: String, above: &[&'d str]) -> Vec<Fact> {
        let mut facts = Vec::new();
        if let Some(target) = schema["$ref"].as_str() {
            if let Some(distance) = above.iter().rev().position(|reference| *reference == target) {
                return vec![Fact::leaf(format!("the same as {} references above", distance + 1), pointer)];
            }
            let path = target.trim_start_matches('#');
            let above = [above, &[target]].concat();
            if let Some(schema) = self.document.pointer(path) {
                facts.extend(self.schema(schema, path.to_owned(), &above));
            }
        }
        for (index, part) in schema["allOf"].as_array().into_iter().flatten().enumerate() {
            facts.extend(self.schema(part, format!("{pointer}/allOf/{index}"), above));
        }
        for keyword in ["oneOf", "anyOf"] {
            facts.extend(self.alternatives(schema, keyword, &pointer, above));
        }
        facts.extend(types(schema, &pointer));
        for key in PLAIN_KEYWORDS {
            if let Some(value) = schema.get(key).filter(|_| !(key == "format" && is_default_format(schema))) {
                facts.push(Fact::leaf(format!("{key} {}", format_value(value)), format!("{pointer}/{key}")));
            }
        }
        facts.extend(flag(schema, "uniqueItems", &pointer));
        facts.extend(flag(schema, "deprecated", &pointer));
        let values = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
        for value in values.filter(|value| !value.is_null()) {
            facts.push(Fact::leaf(format!("value {}", format_value(value)), format!("{pointer}/enum")));
        }
        facts.extend(self.nested_facts(schema, &pointer, above));
        facts
    }

    /// Returns the discriminator and the alternatives of a union, named by discriminator value or type. A single
    /// alternative is merged into the schema.
    fn alternatives(&self, schema: &'d Value, keyword: &str, pointer: &str, above: &[&'d str]) -> Vec<Fact> {
        let parts = schema[keyword].as_array().into_iter().flatten().enumerate();
        let parts: Vec<_> =
            parts.map(|(index, part)| (part, format!("{pointer}/{keyword}/{index}"))).collect();
        let is_union = parts.iter().filter(|(part, _)| part["type"] != "null").count() > 1;
        let discriminator = &schema["discriminator"];
        let mut facts: Vec<Fact> = discriminator["propertyName"]
            .as_str()
            .map(|name| Fact::leaf(format!("discriminator `{name}`"), format!("{pointer}/discriminator")))
            .into_iter()
            .collect();
        for (part, pointer) in parts {
            let part_facts = self.schema(part, pointer.clone(), above);
            if is_union && part["type"] != "null" {
                let mut mapping = entries(&discriminator["mapping"]);
                let value = mapping
                    .find(|(_, target)| **target == part["$ref"])
                    .map(|(value, _)| format!("`{value}`"));
                let kind = part_facts.iter().find_map(|fact| fact.name.strip_prefix("type "));
                let name = value.or_else(|| kind.map(str::to_owned)).unwrap_or_default();
                facts.push(Fact { name: format!("alternative {name}"), children: part_facts, pointer });
            } else {
                facts.extend(part_facts);
            }
        }
        facts
    }

    /// Returns the facts about properties and items.
    fn nested_facts(&self, schema: &'d Value, pointer: &str, above: &[&'d str]) -> Vec<Fact> {
        let mut facts = Vec::new();
        if let Some(items) = schema.get("items") {
            let pointer = format!("{pointer}/items");
            let children = self.schema(items, pointer.clone(), above);
            facts.push(Fact { name: "items".into(), children, pointer });
        }
        if let Some(names) = schema.get("propertyNames") {
            let pointer = format!("{pointer}/propertyNames");
            let children = self.schema(names, pointer.clone(), above);
            facts.push(Fact { name: "property names".into(), children, pointer });
        }
        match schema.get("additionalProperties") {
            None => {}
            // `true` is the default. Without `properties`, it declares a map, which is a fact.
            Some(Value::Bool(true)) if schema.get("properties").is_some() => {}
            Some(Value::Bool(false)) => {
                let pointer = format!("{pointer}/additionalProperties");
                facts.push(Fact::leaf("no additional properties", pointer));
            }
            Some(values) => {
                let pointer = format!("{pointer}/additionalProperties");
                let children = self.schema(values, pointer.clone(), above);
                facts.push(Fact { name: "each value".into(), children, pointer });
            }
        }
        if schema["unevaluatedProperties"] == Value::Bool(false) {
            let pointer = format!("{pointer}/unevaluatedProperties");
            facts.push(Fact::leaf("no additional properties", pointer));
        }
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
        for (name, property) in entries(&schema["properties"]) {
            let property_pointer = format!("{pointer}/properties/{}", escape_pointer_token(name));
            let mut children = Vec::new();
            if required.iter().any(|required| required.as_str() == Some(name)) {
                children.push(Fact::leaf("required", format!("{pointer}/required")));
            }
            children.extend(self.schema(property, property_pointer.clone(), above));
            facts.push(Fact { name: format!("property `{name}`"), children, pointer: property_pointer });
        }
        facts
    }
}

fn types(schema: &Value, pointer: &str) -> Vec<Fact> {
    let declared = &schema["type"];
    let names = declared.as_array().map_or_else(|| vec![declared], |names| names.iter().collect());
    let facts = names.into_iter().filter_map(Value::as_str).map(|name| match name {
        "null" => Fact::leaf("may be null", format!("{pointer}/type")),
        name => Fact::leaf(format!("type {name}"), format!("{pointer}/type")),
    });
    facts.collect()
}

/// Returns whether the format of a number is the default: 64 bits wide.
fn is_default_format(schema: &Value) -> bool {
    let has_type = |name: &str| {
        schema["type"] == name || schema["type"].as_array().is_some_and(|types| types.contains(&name.into()))
    };
    match schema["format"].as_str() {
        Some("int64") => has_type("integer"),
        Some("double") => has_type("number"),
        _ => false,
    }
}

/// Returns a fact if a boolean keyword is `true`.
fn flag(owner: &Value, key: &str, pointer: &str) -> Option<Fact> {
    (owner[key] == Value::Bool(true)).then(|| Fact::leaf(key, format!("{pointer}/{key}")))
}

/// Formats a value; numbers are normalized.
fn format_value(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => number.to_string(),
        None => value.to_string(),
    }
}
