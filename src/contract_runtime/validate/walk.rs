//! Walks the schemas of a document.

use serde_json::{Map, Value};

use crate::json;

/// Keywords and fields of OpenAPI whose value maps names to schemas or to other objects. A name is no keyword.
const NAME_MAPS: [&str; 18] = [
    "$defs",
    "callbacks",
    "content",
    "definitions",
    "dependentSchemas",
    "encoding",
    "headers",
    "links",
    "parameters",
    "pathItems",
    "paths",
    "patternProperties",
    "properties",
    "requestBodies",
    "responses",
    "schemas",
    "securitySchemes",
    "webhooks",
];

/// Keywords whose value is data that can look like a schema.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Calls `inspect` with the JSON pointer and the fields of each object that can be a schema. Skips maps of names, and data
/// such as examples.
pub(super) fn for_each_schema<'d>(
    document: &'d Value,
    mut inspect: impl FnMut(&str, &'d Map<String, Value>),
) {
    let mut open = vec![(String::new(), document, false)];
    while let Some((pointer, value, is_name_map)) = open.pop() {
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(index, item)| (format!("{pointer}/{index}"), item, false)));
            }
            Value::Object(fields) => {
                if !is_name_map {
                    inspect(&pointer, fields);
                }
                for (name, field) in fields {
                    if is_name_map || !DATA.contains(&name.as_str()) {
                        let is_name_map = !is_name_map && NAME_MAPS.contains(&name.as_str());
                        open.push((format!("{pointer}/{}", json::escape(name)), field, is_name_map));
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_no_keywords_and_data_is_no_schema() {
        let schema = json!({ "type": "integer" });
        let names = json!({ "example": schema, "default": schema, "enum": schema, "properties": schema });
        for (document, expected) in [
            (json!({ "items": schema, "allOf": [schema] }), vec!["", "/allOf/0", "/items"]),
            (
                json!({ "properties": names }),
                vec![
                    "",
                    "/properties/default",
                    "/properties/enum",
                    "/properties/example",
                    "/properties/properties",
                ],
            ),
            (
                json!({ "components": { "schemas": names, "responses": { "default": { "content": {} } } } }),
                vec![
                    "",
                    "/components",
                    "/components/responses/default",
                    "/components/schemas/default",
                    "/components/schemas/enum",
                    "/components/schemas/example",
                    "/components/schemas/properties",
                ],
            ),
            (
                json!({ "example": schema, "examples": [schema], "const": schema, "default": schema, "enum": [schema] }),
                vec![""],
            ),
        ] {
            let mut inspected = Vec::new();
            for_each_schema(&document, |pointer, _| inspected.push(pointer.to_owned()));
            inspected.sort();
            assert_eq!(inspected, expected);
        }
    }
}
