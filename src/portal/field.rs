//! The fields of schemas, as rows of tables: type, bounds, default, values and description.

use super::block::FieldRow;
use super::contract_text::{ContractText, schema_name};
use super::json::Json;

/// Maximum number of objects that contain each other in one table.
const MAX_DEPTH: usize = 5;

/// Returns the rows of all fields of a schema, also of the objects within it. The ids begin with `id_prefix`, and are followed by the
/// path of the field, such as `items.id` for `items[].id`.
pub(crate) fn rows(contract: &ContractText, schema: &Json, id_prefix: &str) -> Vec<FieldRow> {
    let mut rows = Vec::new();
    let table = Table { contract, id_prefix };
    table.add_fields(schema, "", 0, &mut rows);
    rows
}

struct Table<'a> {
    contract: &'a ContractText,
    id_prefix: &'a str,
}

impl Table<'_> {
    /// Adds the fields of an object. `path` is empty or ends with a dot.
    fn add_fields(&self, schema: &Json, path: &str, depth: usize, rows: &mut Vec<FieldRow>) {
        let object = self.contract.resolve(schema);
        for part in object["allOf"].items() {
            self.add_fields(part, path, depth, rows);
        }
        for part in alternatives(object) {
            self.add_fields(part, path, depth, rows);
        }
        let required = object["required"].items();
        for (name, field) in object["properties"].fields() {
            let is_required = required.iter().any(|required| required.as_str() == Some(name));
            let path = format!("{path}{name}");
            // Alternatives of a `oneOf` repeat the fields that they have in common.
            if rows.iter().any(|row| row.name == path) {
                continue;
            }
            let optional = if is_required { "" } else { ", optional" };
            rows.push(FieldRow {
                id: format!("{}{}", self.id_prefix, path.replace("[]", "")),
                kind: format!("{}{optional}", kind(self.contract, field)),
                description: describe(self.contract, field),
                name: path.clone(),
            });
            if depth < MAX_DEPTH {
                self.add_fields(field, &format!("{path}."), depth + 1, rows);
                let items = &self.contract.resolve(field)["items"];
                self.add_fields(items, &format!("{path}[]."), depth + 1, rows);
            }
        }
    }
}

/// Returns the alternatives of a schema other than `null`.
pub(crate) fn alternatives(schema: &Json) -> impl Iterator<Item = &Json> {
    let all = schema["oneOf"].items().iter().chain(schema["anyOf"].items());
    all.filter(|alternative| alternative["type"].text() != "null")
}

/// Returns the type of a value as Markdown: "string or null", "array of [Module](...)".
pub(crate) fn kind(contract: &ContractText, schema: &Json) -> String {
    if let Some(name) = schema_name(schema) {
        let link = format!("[{name}]({})", contract.object_path(name));
        let target = contract.resolve(schema);
        return match &target["type"] {
            Json::String(kind) if kind != "object" => format!("{kind} ({link})"),
            _ => link,
        };
    }
    if !schema["oneOf"].is_null() || !schema["anyOf"].is_null() {
        let mut kinds: Vec<String> = alternatives(schema).map(|schema| kind(contract, schema)).collect();
        let all = schema["oneOf"].items().iter().chain(schema["anyOf"].items());
        if all.count() > kinds.len() {
            kinds.push("null".to_owned());
        }
        return kinds.join(" or ");
    }
    if let [single] = schema["allOf"].items() {
        return kind(contract, single);
    }
    let types = match &schema["type"] {
        Json::Array(types) => types.iter().map(Json::text).collect(),
        Json::String(kind) => vec![kind.as_str()],
        _ if schema["const"].as_str().is_some() || !schema["enum"].is_null() => vec!["string"],
        _ => vec!["object"],
    };
    let named = types.into_iter().map(|name| match name {
        "array" => format!("array of {}", kind(contract, &schema["items"])),
        name => name.to_owned(),
    });
    named.collect::<Vec<_>>().join(" or ")
}

/// Returns the description of a value and its constraints, as Markdown on one line.
pub(crate) fn describe(contract: &ContractText, schema: &Json) -> String {
    let targets = [schema].into_iter().chain([contract.resolve(schema)]);
    let candidates = targets.chain(alternatives(schema).map(|part| contract.resolve(part)));
    let description = candidates.map(|schema| schema["description"].text()).find(|text| !text.is_empty());
    let mut description = one_line(description.unwrap_or_default());
    if schema["description"].is_null() {
        // The page of the referenced schema has the whole description.
        description = first_sentence(&description).to_owned();
    }
    let mut sentences = vec![description];
    sentences.extend(deprecation(schema));
    sentences.extend(constraints_of_reference(contract, schema));
    for alternative in alternatives(schema) {
        sentences.extend(constraints_of_reference(contract, alternative));
    }
    let items = &contract.resolve(schema)["items"];
    let of_items = constraints_of_reference(contract, items);
    if !of_items.is_empty() {
        sentences.push(format!("Each item: {}", of_items.join(" ")));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}

/// Returns the deprecation of an operation, parameter or field, with its dates.
pub(crate) fn deprecation(schema: &Json) -> Option<String> {
    schema["deprecated"].is_true().then(|| format!("**Deprecated{}", announcement(schema)))
}

/// Returns a sentence for each deprecated value of an enum.
pub(crate) fn value_deprecations(schema: &Json) -> impl Iterator<Item = String> {
    let values = schema["x-deprecated-values"].fields().iter();
    values.map(|(value, deprecation)| format!("**`{value}` is deprecated{}", announcement(deprecation)))
}

/// Returns the dates of a deprecation, and what to use instead, after the word `Deprecated` in bold.
fn announcement(schema: &Json) -> String {
    let since = schema["x-deprecated-at"].as_str().map(|date| format!(" since {date}"));
    let later = if schema["x-removed-at-sunset"].is_true() { "" } else { " or later" };
    let sunset = schema["x-sunset"].as_str().map(|date| format!(" It is removed on {date}{later}."));
    let brownouts = schema["x-brownouts"].items().iter().map(|brownout| format!("`{}`", brownout.text()));
    let brownouts = brownouts.collect::<Vec<_>>().join(", ");
    let brownouts =
        (!brownouts.is_empty()).then(|| format!(" Before that, it is switched off during {brownouts}."));
    let replacement = schema["x-replaced-by"].as_str().map(|text| format!(" {}", one_line(text)));
    [since, Some(".**".to_owned()), sunset, brownouts, replacement].into_iter().flatten().collect()
}

/// Returns the constraints of a schema, or those of the schema that it references without the pattern, which stands on its page.
fn constraints_of_reference(contract: &ContractText, schema: &Json) -> Vec<String> {
    let mut sentences = constraints(contract.resolve(schema));
    if schema_name(schema).is_some() {
        sentences.retain(|sentence| !sentence.starts_with("Pattern: "));
    }
    sentences
}

/// Returns the first sentence of a text on one line.
pub(crate) fn first_sentence(line: &str) -> &str {
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// Returns text on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the constraints of a schema as sentences: format, values, bounds, default.
pub(crate) fn constraints(schema: &Json) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(format) = schema["format"].as_str() {
        sentences.push(format!("Format: `{format}`."));
    }
    if let Some(value) = schema.get("const") {
        sentences.push(format!("Always `{}`.", literal(value)));
    }
    let values: Vec<String> =
        schema["enum"].items().iter().map(|value| format!("`{}`", literal(value))).collect();
    if !values.is_empty() {
        sentences.push(format!("One of {}.", values.join(", ")));
    }
    if schema["x-extensible-enum"].is_true() {
        sentences.push("Extensible: new values may be added.".to_owned());
    }
    sentences.extend(value_deprecations(schema));
    let ranges = [
        ("minimum", "maximum", ""),
        ("exclusiveMinimum", "exclusiveMaximum", " (exclusive)"),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " entries"),
    ];
    for (minimum, maximum, unit) in ranges {
        let is_not_empty =
            minimum.starts_with("min") && minimum != "minimum" && literal(&schema[minimum]) == "1";
        if !is_not_empty || !schema[maximum].is_null() {
            sentences.extend(range(&schema[minimum], &schema[maximum], unit));
        } else if schema["format"].is_null() {
            // A format such as `date-time` says it already.
            sentences.push("Not empty.".to_owned());
        }
    }
    if schema["uniqueItems"].is_true() {
        sentences.push("No duplicates.".to_owned());
    }
    if let Some(step) = schema.get("multipleOf") {
        sentences.push(format!("A multiple of {}.", literal(step)));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        sentences.push(format!("Pattern: {}.", code_span(pattern)));
    }
    if let Some(default) = schema.get("default") {
        sentences.push(format!("Default: `{}`.", literal(default)));
    }
    for (part, label) in [("propertyNames", "Each name"), ("additionalProperties", "Each value")] {
        let of_part = schema.get(part).map(constraints).unwrap_or_default();
        if !of_part.is_empty() {
            sentences.push(format!("{label}: {}", of_part.join(" ")));
        }
    }
    sentences
}

fn range(minimum: &Json, maximum: &Json, unit: &str) -> Option<String> {
    Some(match (minimum, maximum) {
        (Json::Null, Json::Null) => return None,
        (minimum, Json::Null) => format!("At least {}{unit}.", literal(minimum)),
        (Json::Null, maximum) => format!("At most {}{unit}.", literal(maximum)),
        (minimum, maximum) => format!("{} to {}{unit}.", literal(minimum), literal(maximum)),
    })
}

/// Returns a value as text: strings without quotes.
fn literal(value: &Json) -> String {
    value.as_str().map_or_else(|| value.compact(), str::to_owned)
}

/// Returns text as a code span of Markdown, also if it contains backticks.
pub(crate) fn code_span(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_sentences() {
        let of = |text: &str| constraints(&serde_json::from_str(text).unwrap()).join(" ");
        assert_eq!(of(r#"{"minimum":1,"maximum":100,"default":25}"#), "1 to 100. Default: `25`.");
        assert_eq!(
            of(r#"{"maxLength":40,"pattern":"^a`b$"}"#),
            "At most 40 characters. Pattern: `` ^a`b$ ``."
        );
        assert_eq!(
            of(
                r#"{"enum":["a","b"],"x-deprecated-values":{"a":{"x-sunset":"2027-08-01","x-replaced-by":"Use b."}}}"#
            ),
            "One of `a`, `b`. **`a` is deprecated.** It is removed on 2027-08-01 or later. Use b."
        );
        assert_eq!(
            of(r#"{"enum":["a","b"],"x-extensible-enum":true}"#),
            "One of `a`, `b`. Extensible: new values may be added."
        );
        assert_eq!(of(r#"{"minLength":1}"#), "Not empty.");
        assert_eq!(of(r#"{"minLength":1,"format":"date-time"}"#), "Format: `date-time`.");
        assert_eq!(
            of(r#"{"maxProperties":50,"additionalProperties":{"maxLength":5}}"#),
            "At most 50 entries. Each value: At most 5 characters."
        );
    }

    #[test]
    fn a_deprecation_states_its_dates() {
        let schema = serde_json::from_str(
            r#"{"deprecated":true,"x-deprecated-at":"2027-01-01","x-sunset":"2027-08-01"}"#,
        );
        assert_eq!(
            deprecation(&schema.unwrap()).unwrap(),
            "**Deprecated since 2027-01-01.** It is removed on 2027-08-01 or later."
        );
        let schema = serde_json::from_str(
            r#"{"deprecated":true,"x-sunset":"2027-08-01","x-removed-at-sunset":true,"x-brownouts":["2027-07-01T10:00:00Z/PT1H"]}"#,
        );
        assert_eq!(
            deprecation(&schema.unwrap()).unwrap(),
            "**Deprecated.** It is removed on 2027-08-01. Before that, it is switched off during `2027-07-01T10:00:00Z/PT1H`."
        );
    }
}
