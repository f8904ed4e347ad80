//! The documentation for language models: `/llms.txt` (llmstxt.org) lists all pages, `/llms-full.txt` contains them.

use std::fmt::Write;

use super::page::markdown_path;
use super::site::{Page, Site};
use super::source::PageSource;

/// Returns the list of all pages.
pub(crate) fn index(site: &Site) -> String {
    let mut text = head(site);
    let _ = writeln!(
        text,
        "Every page is also served as Markdown: its address with `.md`. [llms-full.txt]({0}/llms-full.txt) contains all pages. The \
         contracts are the source of truth: {1}.",
        site.base_url,
        site.downloads.iter().map(|path| format!("{}{path}", site.base_url)).collect::<Vec<_>>().join(", ")
    );
    for (heading, contains) in sections() {
        let pages: Vec<&Page> = site.pages.iter().filter(|page| contains(&page.source)).collect();
        if pages.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {heading}\n\n");
        for page in pages {
            let url = format!("{}{}", site.base_url, markdown_path(&page.path));
            let _ = writeln!(text, "- [{}]({url}): {}", page.title, page.summary);
        }
    }
    text
}

/// Returns all pages except for the objects, whose fields stand at the operations and events.
pub(crate) fn full(site: &Site) -> String {
    let mut text = head(site);
    for page in site
        .pages
        .iter()
        .filter(|page| !matches!(page.source, PageSource::Object { .. } | PageSource::Objects(_)))
    {
        let _ = write!(text, "\n---\n\nURL: {}{}\n\n{}", site.base_url, page.path, site.markdown(page));
    }
    text
}

fn head(site: &Site) -> String {
    let summary =
        site.contracts.first().map(|contract| contract.json["info"]["summary"].text()).unwrap_or_default();
    format!("# {}\n\n> {summary}\n\n", site.title)
}

type Filter = fn(&PageSource) -> bool;

/// Returns the headings of the list, and which pages are below each.
fn sections() -> [(&'static str, Filter); 5] {
    [
        ("Guides", |source| {
            matches!(
                source,
                PageSource::Home | PageSource::Section { .. } | PageSource::Errors | PageSource::Guide(_)
            )
        }),
        ("Operations", |source| matches!(source, PageSource::Operations(_) | PageSource::Operation { .. })),
        ("Events", |source| matches!(source, PageSource::Events(_) | PageSource::Event { .. })),
        ("Clients and changes", |source| matches!(source, PageSource::Clients | PageSource::Changelog)),
        ("Objects", |source| matches!(source, PageSource::Objects(_) | PageSource::Object { .. })),
    ]
}
