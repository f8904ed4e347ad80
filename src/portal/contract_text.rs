//! A contract as its pages show it: the parsed JSON, and the paths of the pages of its operations, objects and sections.

use std::collections::HashMap;

use contract_runtime::contract::{Contract, Operation};

use super::json::Json;

/// A parsed contract.
pub(crate) struct ContractText {
    /// The tables of the contract.
    pub contract: &'static Contract,
    /// The document.
    pub json: Json,
    /// The folder of the contract's pages: `/docs` for the first contract, `/docs/platform` for `platform-v1`.
    pub folder: String,
    /// The path of the contract in Swagger UI.
    pub reference: String,
    /// The environment variable with the credential in samples.
    pub variable: &'static str,
    /// Where each schema is used: labels and paths of operations, events and objects.
    pub uses: HashMap<String, Vec<(String, String)>>,
}

impl ContractText {
    /// Parses a contract.
    ///
    /// # Panics
    /// Panics when its JSON is not valid. The code generator writes it.
    pub(crate) fn new(contract: &'static Contract, is_first: bool) -> Self {
        let json = serde_json::from_str(contract.json).expect("the contract is JSON");
        let slug = contract.name.split_once("-v").map_or(contract.name, |(name, _)| name);
        let (folder, reference) = if is_first {
            ("/docs".to_owned(), "/docs/reference".to_owned())
        } else {
            (format!("/docs/{slug}"), format!("/docs/reference/{slug}"))
        };
        let variable = if slug == "platform" { "PLATFORM_TOKEN" } else { "API_KEY" };
        let mut text = Self { contract, json, folder, reference, variable, uses: HashMap::new() };
        text.uses = text.find_uses();
        text
    }

    /// Returns the version of the document.
    pub(crate) fn version(&self) -> &str {
        self.json["info"]["version"].text()
    }

    /// Returns the schemas, in the order of the document.
    pub(crate) fn schemas(&self) -> &[(String, Json)] {
        self.json["components"]["schemas"].fields()
    }

    /// Returns the events: types, and the operations that describe the requests.
    pub(crate) fn events(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.json["webhooks"].fields().iter().map(|(name, item)| (name.as_str(), &item["post"]))
    }

    /// Returns the operations and their parts of the document.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (&'static Operation, &Json)> {
        self.contract.operations.iter().map(|operation| {
            (*operation, &self.json["paths"][operation.path][&*operation.method.to_lowercase()])
        })
    }

    /// Returns the code of errors with this status, from the table of errors in the description.
    pub(crate) fn error_code(&self, status: &str) -> Option<&str> {
        let rows = self.json["info"]["description"].text().lines();
        rows.filter_map(|line| line.strip_prefix("| ")?.split_once(" | `")).find_map(|(statuses, rest)| {
            statuses.split(", ").any(|other| other == status).then(|| rest.split('`').next())?
        })
    }

    /// Returns the path of the page of an operation.
    pub(crate) fn operation_path(&self, id: &str) -> String {
        format!("{}/operations/{id}", self.folder)
    }

    /// Returns the path of the page of a schema.
    pub(crate) fn object_path(&self, name: &str) -> String {
        format!("{}/objects/{name}", self.folder)
    }

    /// Returns the path of the page of an event type.
    pub(crate) fn event_path(&self, event_type: &str) -> String {
        format!("{}/events/{event_type}", self.folder)
    }

    /// Returns the value itself or the target of its `$ref`.
    pub(crate) fn resolve<'a>(&'a self, mut value: &'a Json) -> &'a Json {
        for _ in 0..8 {
            let Some(target) = value["$ref"].as_str() else { break };
            value = self.json.pointer(target.trim_start_matches('#')).unwrap_or(value);
        }
        value
    }

    /// Returns the schema of a body, and its examples with their summaries.
    pub(crate) fn body<'a>(&'a self, content: &'a Json) -> Option<Body<'a>> {
        let (media_type, content) = self.resolve(content)["content"].fields().first()?;
        let mut examples: Vec<(&str, &Json)> = content["examples"]
            .fields()
            .iter()
            .map(|(_, example)| self.resolve(example))
            .map(|example| (example["summary"].text(), &example["value"]))
            .collect();
        if let Some(example) = content.get("example") {
            examples.push(("", example));
        }
        Some(Body { media_type, schema: &content["schema"], examples })
    }

    fn find_uses(&self) -> HashMap<String, Vec<(String, String)>> {
        let mut uses: HashMap<String, Vec<(String, String)>> = HashMap::new();
        let mut add = |value: &Json, label: &str, path: String| {
            for name in self.referenced_schemas(value) {
                uses.entry(name.to_owned()).or_default().push((label.to_owned(), path.clone()));
            }
        };
        for (operation, json) in self.operations() {
            add(json, operation.id, self.operation_path(operation.id));
        }
        for (event_type, json) in self.events() {
            add(json, event_type, self.event_path(event_type));
        }
        for (name, schema) in self.schemas() {
            add(schema, name, self.object_path(name));
        }
        uses
    }

    /// Returns the schemas that a part of the document references, also through shared parameters and responses.
    fn referenced_schemas<'a>(&'a self, value: &'a Json) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut rest = vec![value];
        while let Some(value) = rest.pop() {
            match schema_name(value) {
                Some(name) if !names.contains(&name) => names.push(name),
                Some(_) => {}
                None => {
                    let value = self.resolve(value);
                    rest.extend(value.items());
                    let is_data = |name: &str| matches!(name, "example" | "examples" | "headers");
                    rest.extend(
                        value.fields().iter().filter(|(name, _)| !is_data(name)).map(|(_, value)| value),
                    );
                }
            }
        }
        names
    }
}

/// A request or response body.
pub(crate) struct Body<'a> {
    /// The media type.
    pub media_type: &'a str,
    /// The schema.
    pub schema: &'a Json,
    /// The examples and their summaries. Of a body of JSON lines, each is one line.
    pub examples: Vec<(&'a str, &'a Json)>,
}

impl Body<'_> {
    /// Returns whether the body consists of JSON lines.
    pub(crate) fn has_lines(&self) -> bool {
        self.media_type == "application/x-ndjson"
    }

    /// Returns the example of a whole body: the first one, or all lines.
    pub(crate) fn example(&self) -> Option<Json> {
        let (_, first) = self.examples.first()?;
        if !self.has_lines() {
            return Some((*first).clone());
        }
        let lines = self.examples.iter().map(|(_, line)| line.compact() + "\n");
        Some(Json::String(lines.collect()))
    }
}

/// Returns the name of the schema that a value references.
pub(crate) fn schema_name(value: &Json) -> Option<&str> {
    value["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

/// Returns a contract for tests with this document and without operations.
#[cfg(test)]
pub(crate) fn for_tests(name: &'static str, json: &'static str) -> ContractText {
    let contract = Contract {
        name,
        title: "Test",
        yaml: "",
        json,
        json_path: "",
        json_3_0: "",
        clients_json: "",
        clients_json_3_0: "",
        operations: &[],
        credential: contract_runtime::contract::Credential::Bearer,
    };
    ContractText::new(Box::leak(Box::new(contract)), name == "v1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_the_codes_of_the_table_of_errors() {
        let contract = for_tests(
            "v1",
            r#"{"info":{"description":"| Status | Code |\n|---|---|\n| 400, 431 | `invalid_request` | Wrong. |\n| 404 | `not_found` | None. |"}}"#,
        );
        let codes = ["431", "404", "200", "40"].map(|status| contract.error_code(status));
        assert_eq!(codes, [Some("invalid_request"), Some("not_found"), None, None]);
    }

    #[test]
    fn the_example_of_lines_is_all_of_them() {
        let contract = for_tests(
            "v1",
            r#"{"content":{"application/x-ndjson":{"schema":{},"examples":{"a":{"value":{"b":1}},"c":{"value":{"d":"e"}}}}}}"#,
        );
        let body = contract.body(&contract.json).unwrap();
        assert_eq!(body.example(), Some(Json::from("{\"b\":1}\n{\"d\":\"e\"}\n")));
    }
}
