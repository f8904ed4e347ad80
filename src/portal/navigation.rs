//! The navigation: groups of links to the pages.

use super::contract_text::ContractText;
use super::site::Page;
use super::source::PageSource;

/// A group of links.
pub(crate) struct Group {
    /// The heading. Empty for the first group.
    pub heading: String,
    /// Whether readers can open and close the group.
    pub is_collapsible: bool,
    /// The links.
    pub links: Vec<Link>,
}

/// A link to a page.
pub(crate) struct Link {
    /// The label.
    pub label: String,
    /// The path, without prefix.
    pub path: String,
    /// Whether the label is an identifier.
    pub is_code: bool,
}

/// Returns the groups. Each page has one link, except for schemas of single values, which the fields link to.
pub(crate) fn groups(contracts: &[ContractText], pages: &[Page]) -> Vec<Group> {
    let group = |heading: &str, is_collapsible: bool, contains: &dyn Fn(&PageSource) -> bool| Group {
        heading: heading.to_owned(),
        is_collapsible,
        links: pages.iter().filter(|page| contains(&page.source)).map(link).collect(),
    };
    let mut groups = vec![
        group("", false, &|source| matches!(source, PageSource::Home)),
        group("Guides", false, &PageSource::is_guide),
        references(contracts),
    ];
    for (at, text) in contracts.iter().enumerate() {
        let title = if at == 0 { String::new() } else { format!("{}: ", text.contract.title) };
        if at > 0 {
            groups.push(group(
                &format!("{title}guides"),
                true,
                &|source| matches!(source, PageSource::Section { contract, .. } if *contract == at),
            ));
        }
        let label =
            |name: &str, first: &str| if at == 0 { first.to_owned() } else { format!("{title}{name}") };
        groups.push(group(&label("operations", "Operations"), true, &|source| {
            matches!(source, PageSource::Operations(contract) | PageSource::Operation { contract, .. } if *contract == at)
        }));
        groups.push(group(&label("events", "Events"), true, &|source| {
            matches!(source, PageSource::Events(contract) | PageSource::Event { contract, .. } if *contract == at)
        }));
        groups.push(group(&label("objects", "Objects"), true, &|source| match source {
            PageSource::Objects(contract) => *contract == at,
            PageSource::Object { contract, is_listed, .. } => *contract == at && *is_listed,
            _ => false,
        }));
    }
    groups
        .push(group("More", false, &|source| matches!(source, PageSource::Clients | PageSource::Changelog)));
    groups.retain(|group| !group.links.is_empty());
    groups
}

fn link(page: &Page) -> Link {
    Link { label: page.title.clone(), path: page.path.clone(), is_code: page.is_code }
}

/// Returns the links to the contracts in Swagger UI.
fn references(contracts: &[ContractText]) -> Group {
    let links = contracts.iter().map(|text| Link {
        label: text.contract.title.to_owned(),
        path: text.reference.clone(),
        is_code: false,
    });
    Group { heading: "Reference".to_owned(), is_collapsible: false, links: links.collect() }
}
