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
        if object["discriminator"].is_null() {
            for part in alternatives(object) {
                self.add_fields(part, path, depth, rows);
            }
        } else {
            self.add_shared_fields(object, path, depth, rows);
        }
        for (name, field) in object["properties"].fields() {
            self.add_field(name, field, is_required(object, name), path, depth, rows);
        }
    }

    /// Adds the discriminator of a `oneOf` with links to the alternatives, and the fields that all alternatives have.
    fn add_shared_fields(&self, object: &Json, path: &str, depth: usize, rows: &mut Vec<FieldRow>) {
        let discriminator = object["discriminator"]["propertyName"].text();
        let parts: Vec<&Json> = alternatives(object).map(|part| self.contract.resolve(part)).collect();
        let Some((first, others)) = parts.split_first() else { return };
        for (name, field) in first["properties"].fields() {
            let is_required = parts.iter().all(|part| is_required(part, name));
            let of_others = || others.iter().map(|part| &part["properties"][name.as_str()]);
            if name == discriminator {
                let values = object["discriminator"]["mapping"].fields().iter().map(|(value, target)| {
                    let target = target.text().rsplit('/').next().unwrap_or_default();
                    format!("[`{value}`]({})", self.contract.object_path(target))
                });
                let values = values.collect::<Vec<_>>().join(", ");
                let text = format!("Determines the other fields. One of {values}.");
                rows.push(self.row(name, "string", text, is_required, path));
            } else if of_others().all(|other| other == field) {
                self.add_field(name, field, is_required, path, depth, rows);
            } else if of_others().all(|other| !other.is_null()) {
                let text = format!("Its form depends on `{discriminator}`.");
                rows.push(self.row(name, "object", text, is_required, path));
            }
        }
    }

    fn add_field(
        &self,
        name: &str,
        field: &Json,
        is_required: bool,
        path: &str,
        depth: usize,
        rows: &mut Vec<FieldRow>,
    ) {
        let row =
            self.row(name, &kind(self.contract, field), describe(self.contract, field), is_required, path);
        // Alternatives of a `oneOf` repeat the fields that they have in common.
        if rows.iter().any(|other| other.name == row.name) {
            return;
        }
        let path = row.name.clone();
        rows.push(row);
        if depth < MAX_DEPTH {
            self.add_fields(field, &format!("{path}."), depth + 1, rows);
            let items = &self.contract.resolve(field)["items"];
            self.add_fields(items, &format!("{path}[]."), depth + 1, rows);
        }
    }

    fn row(&self, name: &str, kind: &str, description: String, is_required: bool, path: &str) -> FieldRow {
        let name = format!("{path}{name}");
        let optional = if is_required { "" } else { ", optional" };
        let id = format!("{}{}", self.id_prefix, name.replace("[]", ""));
        FieldRow { id, kind: format!("{kind}{optional}"), description, name }
    }
}

fn is_required(object: &Json, name: &str) -> bool {
    object["required"].items().iter().any(|required| required.as_str() == Some(name))
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

/// Returns the description of a value and its constraints, as Markdown. On one line unless the description contains a list.
pub(crate) fn describe(contract: &ContractText, schema: &Json) -> String {
    let targets = [schema].into_iter().chain([contract.resolve(schema)]);
    let candidates = targets.chain(alternatives(schema).map(|part| contract.resolve(part)));
    let description = candidates.map(|schema| schema["description"].text()).find(|text| !text.is_empty());
    let description = description.unwrap_or_default();
    let mut sentences = vec![if schema["description"].is_null() {
        // The page of the referenced schema has the whole description.
        first_sentence(&one_line(description)).to_owned()
    } else {
        paragraph(description)
    }];
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

/// Returns text on one line. Items of lists follow each other.
pub(crate) fn one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Returns text on one line unless it contains a list, which stays one. Another sentence can follow.
fn paragraph(text: &str) -> String {
    let has_list = text.lines().any(|line| line.starts_with("- "));
    if has_list { format!("{}\n\n", text.trim()) } else { one_line(text) }
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
    use super::super::contract_text::for_tests;
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
    fn alternatives_with_a_discriminator_show_its_values_and_the_shared_fields() {
        let contract = for_tests(
            "platform-v1",
            r##"{"components":{"schemas":{
                "Change":{
                    "oneOf":[{"$ref":"#/components/schemas/Add"},{"$ref":"#/components/schemas/Delete"}],
                    "discriminator":{"propertyName":"change","mapping":{
                        "thing.add":"#/components/schemas/Add","thing.delete":"#/components/schemas/Delete"}}},
                "Add":{"required":["change","id","data"],"properties":{
                    "change":{"const":"thing.add"},"id":{"type":"string"},"data":{"properties":{"name":{}}},"own":{}}},
                "Delete":{"required":["change","id"],"properties":{
                    "change":{"const":"thing.delete"},"id":{"type":"string"},"data":{"properties":{"thing":{}}}}}}}}"##,
        );
        let rows = rows(&contract, &contract.json["components"]["schemas"]["Change"], "field-");
        let shown: Vec<_> = rows.iter().map(|row| [&*row.name, &*row.kind, &*row.description]).collect();
        let values = "Determines the other fields. One of [`thing.add`](/docs/platform/objects/Add), \
                      [`thing.delete`](/docs/platform/objects/Delete).";
        assert_eq!(
            shown,
            [
                ["change", "string", values],
                ["id", "string", ""],
                ["data", "object, optional", "Its form depends on `change`."],
            ]
        );
    }

    #[test]
    fn a_list_in_a_description_stays_a_list() {
        let contract = for_tests("v1", "{}");
        let schema = r#"{"description":"- `a`: one.\n- `b`: two.\n","enum":["a","b"]}"#;
        let text = describe(&contract, &serde_json::from_str(schema).unwrap());
        assert_eq!(text, "- `a`: one.\n- `b`: two.\n\n One of `a`, `b`.");
        assert_eq!(one_line(&text), "`a`: one. `b`: two. One of `a`, `b`.");
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
