//! The section of the guide about the event types, rendered from the contract: when each is sent, and the fields of its
//! `data`.

use std::fmt::Write;

use api::generated::document::JSON;
use api::generated::events::EVENT_TYPES;
use serde_json::Value;

use super::escape;

/// Returns the section as HTML.
///
/// # Panics
/// Panics when the contract has an event type without a schema, which the code generator rejects.
pub(super) fn render() -> String {
    let contract = Contract(serde_json::from_str(JSON).expect("the contract is JSON"));
    let mut html = String::new();
    for event_type in EVENT_TYPES {
        let event = &contract.0["webhooks"][event_type]["post"];
        let schema = contract.resolve(&event["requestBody"]["content"]["application/json"]["schema"]);
        let mut rows = String::new();
        contract.add_fields(&schema["properties"]["data"], "", &mut rows);
        let description = with_code(text(event, "description"));
        let _ = write!(
            html,
            "<h3 id=\"{event_type}\"><code>{event_type}</code></h3>\n<p>{description}</p>\n\
             <details><summary>Fields of <code>data</code></summary>\n<table><thead><tr><th>Field</th><th>Type</th>\
             <th>Meaning</th></tr></thead><tbody>\n{rows}</tbody></table></details>\n"
        );
    }
    html
}

/// The contract as JSON.
struct Contract(Value);

impl Contract {
    /// Returns the schema itself or the target of its `$ref`.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let target =
            schema["$ref"].as_str().and_then(|reference| self.0.pointer(reference.trim_start_matches('#')));
        target.unwrap_or(schema)
    }

    /// Adds a row for each field of an object, and for the fields within it. `path` is empty or ends with a dot.
    fn add_fields(&self, object: &Value, path: &str, rows: &mut String) {
        let object = self.resolve(object);
        for part in object["allOf"].as_array().into_iter().flatten() {
            self.add_fields(part, path, rows);
        }
        // All fields are required, and `required` lists them in the contract's order.
        for name in object["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.add_field(&object["properties"][name], &format!("{path}{name}"), rows);
        }
    }

    fn add_field(&self, schema: &Value, path: &str, rows: &mut String) {
        let alternatives =
            schema["oneOf"].as_array().map_or_else(|| vec![schema], |all| all.iter().collect());
        let types: Vec<&str> = alternatives
            .iter()
            .map(|alternative| &self.resolve(alternative)["type"])
            .flat_map(|types| match types {
                Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
                single => vec![single.as_str().unwrap_or("object")],
            })
            .collect();
        let described =
            [schema].into_iter().chain(alternatives.iter().map(|alternative| self.resolve(alternative)));
        let description = described.map(|schema| text(schema, "description")).find(|text| !text.is_empty());
        let _ = writeln!(
            rows,
            "<tr><td><code>{path}</code></td><td>{}</td><td>{}</td></tr>",
            types.join(" or "),
            with_code(description.unwrap_or_default())
        );
        for alternative in alternatives {
            let alternative = self.resolve(alternative);
            self.add_fields(alternative, &format!("{path}."), rows);
            self.add_fields(&alternative["items"], &format!("{path}[]."), rows);
        }
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Converts text of the contract to HTML, with code in backticks.
fn with_code(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in escape(text.trim()).split('`').enumerate() {
        let is_code = index % 2 == 1;
        html += &if is_code { format!("<code>{part}</code>") } else { part.to_owned() };
    }
    html
}
