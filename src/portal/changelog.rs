//! The changelog page: released changes, and what is deprecated.

use super::block::Block;
use super::contract_text::ContractText;
use super::field::{deprecation, value_deprecations};
use super::json::Json;

/// The released changes, as the release tool writes them.
pub(crate) const CHANGELOG: &str = include_str!("../../openapi/CHANGELOG.md");

/// A release of a contract.
pub(crate) struct Release {
    /// The name of the contract, such as `v1`.
    pub contract: &'static str,
    /// The version.
    pub version: &'static str,
    /// The UTC date: `2026-11-28`.
    pub date: &'static str,
    /// The changes, as Markdown with headings of level 3.
    pub text: &'static str,
}

impl Release {
    /// Returns the heading of the release on the page.
    pub(crate) fn heading(&self) -> String {
        format!("{} {} - {}", self.contract, self.version, self.date)
    }

    /// Returns the position of the contract. 0 if it is not served any more.
    pub(crate) fn contract_at(&self, contracts: &[ContractText]) -> usize {
        contracts.iter().position(|text| text.contract.name == self.contract).unwrap_or_default()
    }
}

/// Returns the releases, newest first. The headings are `## CONTRACT VERSION - DATE`.
pub(crate) fn releases() -> Vec<Release> {
    let sections = CHANGELOG.split("\n## ").skip(1);
    let parse = |section: &'static str| {
        let (heading, text) = section.split_once('\n')?;
        let (name, date) = heading.trim().rsplit_once(" - ")?;
        let (contract, version) = name.split_once(' ')?;
        Some(Release { contract, version, date, text: text.trim() })
    };
    sections.filter_map(parse).collect()
}

/// Returns the parts of the page.
pub(crate) fn blocks(contracts: &[ContractText]) -> Vec<Block> {
    let text = "Changes within a version never break clients, see [Versioning](/docs/versioning). The feed \
                [changelog.atom](/docs/changelog.atom) has an entry for each release.\n\n## Deprecations";
    let mut blocks = vec![Block::Text(text.to_owned())];
    let deprecations = contracts.iter().map(|contract| deprecations(contract).join("\n")).enumerate();
    blocks.extend(
        deprecations.filter(|(_, list)| !list.is_empty()).map(|(at, list)| Block::ContractText(at, list)),
    );
    if blocks.len() == 1 {
        blocks.push(Block::Text("Nothing is deprecated.".to_owned()));
    }
    blocks.extend(releases().into_iter().map(|release| {
        let text = format!("## {}\n\n{}", release.heading(), release.text);
        Block::ContractText(release.contract_at(contracts), text)
    }));
    blocks
}

/// Returns a list item for everything that a contract marks as deprecated.
fn deprecations(contract: &ContractText) -> Vec<String> {
    let mut items = Vec::new();
    let operations = contract.operations().map(|(operation, json)| (operation.id, json));
    for (name, json) in operations.chain(contract.events()) {
        let label = format!("`{name}`");
        items.extend(item(&label, deprecation(json)));
        for parameter in json["parameters"].items().iter().map(|parameter| contract.resolve(parameter)) {
            let label = format!("{label}, parameter `{}`", parameter["name"].text());
            items.extend(item(&label, deprecation(parameter)));
            add_schema(&label, &parameter["schema"], "", &mut items);
        }
        let responses = json["responses"].fields().iter().map(|(_, response)| response);
        for body in responses.chain([&json["requestBody"]]).map(|body| contract.resolve(body)) {
            for (header, json) in body["headers"].fields() {
                let label = format!("{label}, header `{header}`");
                items.extend(item(&label, deprecation(contract.resolve(json))));
            }
            for (_, content) in body["content"].fields() {
                add_schema(&label, &content["schema"], "", &mut items);
            }
        }
    }
    for (name, schema) in contract.schemas() {
        add_schema(&format!("`{name}`"), schema, "", &mut items);
    }
    items
}

fn item(label: &str, deprecation: Option<String>) -> Option<String> {
    deprecation.map(|deprecation| format!("- {label}: {deprecation}"))
}

/// Adds what a schema and the schemas inside it mark as deprecated. `path` is the JSON pointer of the field inside the label's object,
/// with `*` for indexes and names that clients choose.
fn add_schema(label: &str, schema: &Json, path: &str, items: &mut Vec<String>) {
    let field = if path.is_empty() { label.to_owned() } else { format!("{label}, field `{path}`") };
    items.extend(item(&field, deprecation(schema)));
    items.extend(value_deprecations(schema).map(|sentence| format!("- {field}: {sentence}")));
    for (name, property) in schema["properties"].fields() {
        add_schema(label, property, &format!("{path}/{name}"), items);
    }
    for list in ["allOf", "anyOf", "oneOf"] {
        schema[list].items().iter().for_each(|member| add_schema(label, member, path, items));
    }
    for schema in ["items", "additionalProperties"].into_iter().filter_map(|keyword| schema.get(keyword)) {
        add_schema(label, schema, &format!("{path}/*"), items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_deprecated_in_a_schema_is_listed() {
        let schema = r#"{
            "properties": {
                "address": {"properties": {"zip": {"deprecated": true, "x-deprecated-at": "2027-01-01"}}},
                "tags": {"type": "array", "items": {"enum": ["a"], "x-deprecated-values": {"a": {}}}}
            },
            "oneOf": [{"deprecated": true}]
        }"#;
        let mut items = Vec::new();
        add_schema("`Thing`", &serde_json::from_str(schema).unwrap(), "", &mut items);
        assert_eq!(
            items,
            [
                "- `Thing`, field `/address/zip`: **Deprecated since 2027-01-01.**",
                "- `Thing`, field `/tags/*`: **`a` is deprecated.**",
                "- `Thing`: **Deprecated.**",
            ]
        );
    }

    #[test]
    fn every_heading_of_the_changelog_is_a_release() {
        let headings = CHANGELOG.lines().filter(|line| line.starts_with("## ")).count();
        let releases = releases();
        assert_eq!(releases.len(), headings);
        for release in releases {
            assert!(release.date.len() == 10 && release.text.contains("### "), "{}", release.heading());
        }
    }
}
