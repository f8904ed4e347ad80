//! The changelog page: released changes, and what is deprecated.

use super::block::Block;
use super::contract_text::ContractText;
use super::field::deprecation;
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
    let mut text = "Changes within a version never break clients, see [Versioning](/docs/versioning). The feed \
                    [changelog.atom](/docs/changelog.atom) has an entry for each release.\n\n## Deprecations\n\n"
        .to_owned();
    let deprecations: Vec<String> = contracts.iter().flat_map(deprecations).collect();
    if deprecations.is_empty() {
        text += "Nothing is deprecated.";
    } else {
        text += &deprecations.join("\n");
    }
    for release in releases() {
        text += &format!("\n\n## {}\n\n{}", release.heading(), release.text);
    }
    vec![Block::Text(text)]
}

/// Returns a list item for each deprecated operation, parameter, event type and field of a contract.
fn deprecations(contract: &ContractText) -> Vec<String> {
    let mut items = Vec::new();
    let mut add = |label: String, json: &Json| {
        items.extend(deprecation(json).map(|deprecation| format!("- {label}: {deprecation}")));
    };
    let operations = contract.operations().map(|(operation, json)| (operation.id, json));
    for (name, json) in operations.chain(contract.events()) {
        add(format!("`{name}`"), json);
        for parameter in json["parameters"].items().iter().map(|parameter| contract.resolve(parameter)) {
            add(format!("`{name}`, parameter `{}`", parameter["name"].text()), parameter);
        }
    }
    for (name, schema) in contract.schemas() {
        add(format!("`{name}`"), schema);
        let parts = schema["allOf"].items().iter().chain([schema]);
        for (field, json) in parts.flat_map(|part| part["properties"].fields()) {
            add(format!("`{name}`, field `{field}`"), json);
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

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
