//! A document taken apart into facts, so that two documents can be compared however they are written.
//!
//! Owns what counts: references are followed, `const` is an `enum` of one, numbers have one form and are 64 bits wide unless
//! they say otherwise, header names have no case.
//! Titles, descriptions and examples bind nobody and are no facts. Works on OpenAPI 3.1 as JSON, whoever wrote it.

use contract::node::pointer_step;
use serde_json::Value;

/// One thing that a document says, and what it says about that.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// What it says; equal in two documents that say the same.
    pub name: String,
    /// Where it says so, as a JSON pointer.
    pub pointer: String,
    /// What belongs to it.
    pub children: Vec<Fact>,
}

impl Fact {
    fn leaf(name: impl Into<String>, pointer: impl Into<String>) -> Self {
        Self { name: name.into(), pointer: pointer.into(), children: Vec::new() }
    }

    /// The child of that name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// The keys of a path that are operations.
const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// Keywords of a schema that are facts by themselves.
const PLAIN: [&str; 14] = [
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

/// Takes a document apart.
pub(crate) fn of(document: &Value) -> Fact {
    let reader = Reader { document };
    let mut children = Vec::new();
    for (path, item) in entries(&document["paths"]) {
        for (method, operation) in entries(item).filter(|(key, _)| METHODS.contains(&key.as_str())) {
            let pointer = format!("/paths/{}/{method}", pointer_step(path));
            let name = format!("{} {path}", method.to_uppercase());
            let mut facts = reader.operation(operation, &pointer);
            // An operation has the parameters of its path, but for those that it writes itself.
            for (index, one) in item["parameters"].as_array().into_iter().flatten().enumerate() {
                let fact = reader.parameter(one, format!("/paths/{}/parameters/{index}", pointer_step(path)));
                if !facts.iter().any(|own| own.name == fact.name) {
                    facts.push(fact);
                }
            }
            children.push(Fact { name, children: facts, pointer });
        }
    }
    for (name, scheme) in entries(&document["components"]["securitySchemes"]) {
        let pointer = format!("/components/securitySchemes/{}", pointer_step(name));
        let said = ["type", "scheme", "in", "name"].into_iter().filter_map(|key| {
            Some(Fact::leaf(format!("{key} {}", scheme[key].as_str()?), format!("{pointer}/{key}")))
        });
        children.push(Fact { name: format!("security scheme `{name}`"), children: said.collect(), pointer });
    }
    for (name, _) in entries(&document["webhooks"]) {
        children.push(Fact::leaf(format!("webhook `{name}`"), format!("/webhooks/{}", pointer_step(name))));
    }
    Fact { name: "the API".into(), pointer: String::new(), children }
}

/// The entries of an object; none of anything else.
fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

struct Reader<'d> {
    document: &'d Value,
}

impl<'d> Reader<'d> {
    /// The thing itself, or what its `$ref` leads to, with its place.
    fn followed(&self, value: &'d Value, pointer: String) -> (&'d Value, String) {
        match value["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
            Some(target) => match self.document.pointer(target) {
                Some(found) => self.followed(found, target.to_owned()),
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
            let (body, pointer) = self.followed(body, format!("{pointer}/requestBody"));
            let mut children: Vec<_> = flag(body, "required", &pointer).into_iter().collect();
            children.extend(self.contents(body, &pointer));
            facts.push(Fact { name: "request body".into(), children, pointer });
        }
        for (status, response) in entries(&operation["responses"]) {
            let here = format!("{pointer}/responses/{status}");
            let (response, pointer) = self.followed(response, here.clone());
            let mut children = self.contents(response, &pointer);
            children.extend(self.headers(response, &pointer));
            facts.push(Fact { name: format!("response {status}"), children, pointer: here });
        }
        facts
    }

    fn parameter(&self, parameter: &'d Value, here: String) -> Fact {
        let (parameter, pointer) = self.followed(parameter, here.clone());
        let place = parameter["in"].as_str().unwrap_or_default();
        let name = parameter["name"].as_str().unwrap_or_default();
        let name = if place == "header" { name.to_lowercase() } else { name.to_owned() };
        let mut children: Vec<_> = flag(parameter, "required", &pointer).into_iter().collect();
        children.extend(flag(parameter, "deprecated", &pointer));
        children.extend(self.schema(&parameter["schema"], format!("{pointer}/schema"), &[]));
        if children.iter().any(|fact| fact.name == "type array") {
            let explode = parameter["explode"].as_bool().unwrap_or(place == "query");
            let sent = if explode { "sent item by item" } else { "sent with commas" };
            children.push(Fact::leaf(sent, format!("{pointer}/explode")));
        }
        Fact { name: format!("{place} parameter `{name}`"), children, pointer: here }
    }

    fn headers(&self, response: &'d Value, pointer: &str) -> Vec<Fact> {
        let headers = entries(&response["headers"]).map(|(name, header)| {
            let here = format!("{pointer}/headers/{}", pointer_step(name));
            let (header, pointer) = self.followed(header, here.clone());
            let mut children: Vec<_> = flag(header, "required", &pointer).into_iter().collect();
            children.extend(flag(header, "deprecated", &pointer));
            children.extend(self.schema(&header["schema"], format!("{pointer}/schema"), &[]));
            Fact { name: format!("header `{}`", name.to_lowercase()), children, pointer: here }
        });
        headers.collect()
    }

    fn contents(&self, of: &'d Value, pointer: &str) -> Vec<Fact> {
        let contents = entries(&of["content"]).map(|(media_type, media)| {
            let pointer = format!("{pointer}/content/{}", pointer_step(media_type));
            let children = self.schema(&media["schema"], format!("{pointer}/schema"), &[]);
            Fact { name: media_type.clone(), children, pointer }
        });
        contents.collect()
    }

    /// What a schema says. `above` are the references that led here, so that a circle ends.
    fn schema(&self, schema: &'d Value, pointer: String, above: &[&'d str]) -> Vec<Fact> {
        let mut facts = Vec::new();
        if let Some(target) = schema["$ref"].as_str() {
            if let Some(distance) = above.iter().rev().position(|known| *known == target) {
                return vec![Fact::leaf(format!("the same as {} references above", distance + 1), pointer)];
            }
            let path = target.trim_start_matches('#');
            let above = [above, &[target]].concat();
            if let Some(found) = self.document.pointer(path) {
                facts.extend(self.schema(found, path.to_owned(), &above));
            }
        }
        for (index, part) in schema["allOf"].as_array().into_iter().flatten().enumerate() {
            facts.extend(self.schema(part, format!("{pointer}/allOf/{index}"), above));
        }
        for keyword in ["oneOf", "anyOf"] {
            facts.extend(self.shapes(schema, keyword, &pointer, above));
        }
        facts.extend(types(schema, &pointer));
        for key in PLAIN {
            if let Some(value) = schema.get(key).filter(|_| !(key == "format" && widest(schema))) {
                facts.push(Fact::leaf(format!("{key} {}", plain(value)), format!("{pointer}/{key}")));
            }
        }
        facts.extend(flag(schema, "uniqueItems", &pointer));
        facts.extend(flag(schema, "deprecated", &pointer));
        let values = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
        for value in values.filter(|value| !value.is_null()) {
            facts.push(Fact::leaf(format!("value {}", plain(value)), format!("{pointer}/enum")));
        }
        facts.extend(self.inside(schema, &pointer, above));
        facts
    }

    /// The shapes of a union, each by what tells it apart; a single shape is the schema itself.
    fn shapes(&self, schema: &'d Value, keyword: &str, pointer: &str, above: &[&'d str]) -> Vec<Fact> {
        let parts = schema[keyword].as_array().into_iter().flatten().enumerate();
        let parts: Vec<_> =
            parts.map(|(index, part)| (part, format!("{pointer}/{keyword}/{index}"))).collect();
        let union = parts.iter().filter(|(part, _)| part["type"] != "null").count() > 1;
        let discriminator = &schema["discriminator"];
        let mut facts: Vec<Fact> = discriminator["propertyName"]
            .as_str()
            .map(|name| Fact::leaf(format!("told apart by `{name}`"), format!("{pointer}/discriminator")))
            .into_iter()
            .collect();
        for (part, here) in parts {
            let said = self.schema(part, here.clone(), above);
            if union && part["type"] != "null" {
                let mut mapping = entries(&discriminator["mapping"]);
                let value = mapping
                    .find(|(_, target)| **target == part["$ref"])
                    .map(|(value, _)| format!("`{value}`"));
                let kind = said.iter().find_map(|fact| fact.name.strip_prefix("type "));
                let name = value.or_else(|| kind.map(str::to_owned)).unwrap_or_default();
                facts.push(Fact { name: format!("shape {name}"), children: said, pointer: here });
            } else {
                facts.extend(said);
            }
        }
        facts
    }

    /// What a schema says of what is inside its values.
    fn inside(&self, schema: &'d Value, pointer: &str, above: &[&'d str]) -> Vec<Fact> {
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
            // Beside properties that is what every object is.
            Some(Value::Bool(true)) if schema.get("properties").is_some() => {}
            Some(Value::Bool(false)) => {
                let pointer = format!("{pointer}/additionalProperties");
                facts.push(Fact::leaf("other properties are refused", pointer));
            }
            Some(values) => {
                let pointer = format!("{pointer}/additionalProperties");
                let children = self.schema(values, pointer.clone(), above);
                facts.push(Fact { name: "each value".into(), children, pointer });
            }
        }
        if schema["unevaluatedProperties"] == Value::Bool(false) {
            let pointer = format!("{pointer}/unevaluatedProperties");
            facts.push(Fact::leaf("other properties are refused", pointer));
        }
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
        for (name, property) in entries(&schema["properties"]) {
            let here = format!("{pointer}/properties/{}", pointer_step(name));
            let mut children = Vec::new();
            if required.iter().any(|required| required.as_str() == Some(name)) {
                children.push(Fact::leaf("required", format!("{pointer}/required")));
            }
            children.extend(self.schema(property, here.clone(), above));
            facts.push(Fact { name: format!("property `{name}`"), children, pointer: here });
        }
        facts
    }
}

fn types(schema: &Value, pointer: &str) -> Vec<Fact> {
    let stated = &schema["type"];
    let names = stated.as_array().map_or_else(|| vec![stated], |names| names.iter().collect());
    let said = names.into_iter().filter_map(Value::as_str).map(|name| match name {
        "null" => Fact::leaf("may be null", format!("{pointer}/type")),
        name => Fact::leaf(format!("type {name}"), format!("{pointer}/type")),
    });
    said.collect()
}

/// Whether a format says only what a number is without it: 64 bits wide.
fn widest(schema: &Value) -> bool {
    let ty = |name: &str| {
        schema["type"] == name || schema["type"].as_array().is_some_and(|types| types.contains(&name.into()))
    };
    match schema["format"].as_str() {
        Some("int64") => ty("integer"),
        Some("double") => ty("number"),
        _ => false,
    }
}

fn flag(of: &Value, key: &str, pointer: &str) -> Option<Fact> {
    (of[key] == Value::Bool(true)).then(|| Fact::leaf(key, format!("{pointer}/{key}")))
}

/// A value with one form for each number.
fn plain(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => number.to_string(),
        None => value.to_string(),
    }
}
