//! What the search finds: the documents of the index that browsers build, and the results without scripts.

use askama::Template;
use percent_encoding::percent_decode_str;
use serde::Serialize;

use super::block::{self, Block, FieldRow};
use super::contract_text::ContractText;
use super::field::{describe, one_line};
use super::json::Json;
use super::page::{Frame, SearchPage, SearchResult};
use super::site::{Page, Site};
use super::source::PageSource;

/// Maximum number of characters of a query that are used.
const MAX_QUERY: usize = 200;
/// Maximum number of words of a query that are used.
const MAX_WORDS: usize = 10;
/// Maximum number of results without scripts.
const MAX_RESULTS: usize = 50;
/// Maximum number of similar pages on the page of status 404.
const MAX_SIMILAR: usize = 8;
/// Maximum number of characters of the text of an entry.
const MAX_TEXT: usize = 300;

/// A document of the index.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    id: usize,
    title: String,
    kind: &'static str,
    text: String,
    /// The URL, with prefix.
    url: String,
}

/// Returns the documents of the index as JSON.
pub(crate) fn json(site: &Site) -> String {
    serde_json::to_string(site.search()).unwrap_or_default()
}

/// Returns the documents of the index: pages, headings, operations, parameters, headers, fields, event types and error codes.
pub(crate) fn entries(site: &Site) -> Vec<Entry> {
    let mut index = Index { site, entries: Vec::new() };
    for page in &site.pages {
        index.add_page(page);
    }
    for contract in &site.contracts {
        index.add_fields(contract);
    }
    for contract in &site.contracts {
        let title = format!("Reference: {}", contract.contract.title);
        index.add(
            title,
            "Reference",
            "Every operation, with requests that you can send from the page.",
            &contract.reference,
        );
    }
    index.entries
}

struct Index<'a> {
    site: &'a Site,
    entries: Vec<Entry>,
}

impl Index<'_> {
    fn add(&mut self, title: String, kind: &'static str, text: &str, path: &str) {
        let text = one_line(text).replace(['`', '*'], "").chars().take(MAX_TEXT).collect();
        self.entries.push(Entry { id: self.entries.len(), title, kind, text, url: self.site.url(path) });
    }

    fn add_page(&mut self, page: &Page) {
        let site = self.site;
        match &page.source {
            PageSource::Operation { contract: at, id } => {
                let found = site.contracts[*at].operations().find(|(operation, _)| operation.id == *id);
                let Some((operation, json)) = found else { return };
                let text = format!("{} {} {}", operation.method, operation.path, json["summary"].text());
                self.add(page.title.clone(), "Operation", &text, &page.path);
                for block in site.blocks(page) {
                    self.add_rows(page, &block);
                }
            }
            PageSource::Event { .. } => {
                self.add(page.title.clone(), "Event", &page.summary, &page.path);
                let headers = site.blocks(page).into_iter().filter(|block| is_table_of(block, "Header"));
                headers.for_each(|block| self.add_rows(page, &block));
            }
            PageSource::Object { .. } => self.add(page.title.clone(), "Object", &page.summary, &page.path),
            _ => self.add_text(page),
        }
    }

    /// Adds the page of a text, and its sections.
    fn add_text(&mut self, page: &Page) {
        self.add(page.title.clone(), "Page", &page.summary, &page.path);
        let site = self.site;
        let rendered = block::html(&site.blocks(page), &site.references, &site.prefix, &site.base_url);
        for (at, heading) in rendered.headings.iter().enumerate() {
            let start = format!("id=\"{}\">", heading.id);
            let end = rendered.headings.get(at + 1).map(|next| format!("id=\"{}\">", next.id));
            let section = rendered.html.split_once(&start).map_or("", |(_, rest)| rest);
            let section =
                end.and_then(|end| section.split_once(&end)).map_or(section, |(section, _)| section);
            let is_code = page.source == PageSource::Errors && heading.level == 3;
            let kind = if is_code { "Error code" } else { "Section" };
            let title =
                if is_code { heading.text.clone() } else { format!("{}: {}", page.title, heading.text) };
            self.add(title, kind, &without_tags(section), &format!("{}#{}", page.path, heading.id));
        }
    }

    fn add_rows(&mut self, page: &Page, block: &Block) {
        let Block::Fields { label, rows } = block else { return };
        let kind = match *label {
            "Parameter" => "Parameter",
            "Header" => "Header",
            // The fields have entries at their objects.
            _ => return,
        };
        for FieldRow { id, name, description, .. } in rows {
            let is_known = kind == "Header"
                && self.entries.iter().any(|entry| entry.kind == kind && entry.title == *name);
            if !is_known {
                let title = if kind == "Header" { name.clone() } else { format!("{name} ({})", page.title) };
                self.add(title, kind, description, &format!("{}#{id}", page.path));
            }
        }
    }

    /// Adds the fields of every schema, but not those of the schemas that it references.
    fn add_fields(&mut self, contract: &ContractText) {
        for (name, schema) in contract.schemas() {
            self.add_fields_of(contract, name, schema, "");
        }
    }

    fn add_fields_of(&mut self, contract: &ContractText, object: &str, schema: &Json, path: &str) {
        if !schema["$ref"].is_null() {
            return;
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            for part in schema[key].items() {
                self.add_fields_of(contract, object, part, path);
            }
        }
        for (name, field) in schema["properties"].fields() {
            let path = format!("{path}{name}");
            let url = format!("{}#field-{path}", contract.object_path(object));
            self.add(format!("{object}.{path}"), "Field", &describe(contract, field), &url);
            let nested = format!("{path}.");
            self.add_fields_of(contract, object, field, &nested);
            self.add_fields_of(contract, object, &field["items"], &nested);
        }
    }
}

fn is_table_of(block: &Block, expected: &str) -> bool {
    matches!(block, Block::Fields { label, .. } if *label == expected)
}

/// Returns the text of HTML that this crate has rendered.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    // Stops soon after the limit, since most sections are much longer.
    for part in html.split('<').take(MAX_TEXT) {
        text += part.split_once('>').map_or(part, |(_, text)| text);
        if text.len() > 2 * MAX_TEXT {
            break;
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Returns the page of results for a query string.
pub(crate) fn page(site: &Site, query: &str) -> String {
    let value =
        query.split('&').find_map(|pair| pair.strip_prefix("q=")).unwrap_or_default().replace('+', " ");
    let text: String = percent_decode_str(&value).decode_utf8_lossy().chars().take(MAX_QUERY).collect();
    let text = text.trim();
    let results = find(site, text);
    let message = match (text.is_empty(), results.len()) {
        (true, _) => {
            "Enter a word to search for: a topic, an operation, a field, an event type or an error code."
                .to_owned()
        }
        (_, 0) => format!("Nothing contains all words of \u{201c}{text}\u{201d}."),
        (_, MAX_RESULTS) => format!("The first {MAX_RESULTS} results for \u{201c}{text}\u{201d}."),
        (_, 1) => format!("1 result for \u{201c}{text}\u{201d}."),
        (_, count) => format!("{count} results for \u{201c}{text}\u{201d}."),
    };
    let frame = Frame { query: text, is_found: false, ..Frame::new(site, "Search", "/docs/search") };
    render(SearchPage { frame, message, results })
}

/// Returns the page of status 404. It searches for the last part of the path.
pub(crate) fn not_found(site: &Site, path: &str) -> String {
    let last = path.trim_end_matches(".md").rsplit('/').next().unwrap_or_default();
    let words = percent_decode_str(last).decode_utf8_lossy().replace(['-', '_'], " ");
    let mut results = find(site, &words.chars().take(MAX_QUERY).collect::<String>());
    results.retain(|result| PAGES.contains(&result.kind));
    results.truncate(MAX_SIMILAR);
    let message = if results.is_empty() {
        "There is no page at this address. Use the search or the navigation.".to_owned()
    } else {
        "There is no page at this address. These pages are similar:".to_owned()
    };
    let frame = Frame { is_found: false, ..Frame::new(site, "Page not found", path) };
    render(SearchPage { frame, message, results })
}

/// The kinds of results in the order in which they are shown.
const KINDS: [&str; 5] = ["Page", "Operation", "Event", "Error code", "Section"];

/// The kinds of results that are pages, not parts of one.
const PAGES: [&str; 4] = ["Page", "Operation", "Event", "Object"];

/// Returns the entries that contain all words: first those with all words in the title, then by kind.
fn find<'a>(site: &'a Site, text: &str) -> Vec<SearchResult<'a>> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().take(MAX_WORDS).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let contains_all = |text: &str| words.iter().all(|word| text.contains(word));
    let mut found: Vec<(bool, &Entry)> = Vec::new();
    for entry in site.search() {
        let title = entry.title.to_lowercase();
        if contains_all(&title) {
            found.push((false, entry));
        } else if contains_all(&format!("{title} {}", entry.text.to_lowercase())) {
            found.push((true, entry));
        }
    }
    let rank = |kind: &str| KINDS.iter().position(|other| *other == kind).unwrap_or(KINDS.len());
    found.sort_by_key(|(only_in_text, entry)| (*only_in_text, rank(entry.kind)));
    let results = found.into_iter().take(MAX_RESULTS).map(|(_, entry)| SearchResult {
        title: &entry.title,
        kind: entry.kind,
        text: entry.text.chars().take(160).collect(),
        url: entry.url.clone(),
    });
    results.collect()
}

fn render(page: SearchPage<'_>) -> String {
    page.render().unwrap_or_else(|error| unreachable!("a template writes to memory: {error}"))
}
