//! What the search finds: the documents of the index that browsers build, and the results without scripts.

use askama::Template;
use percent_encoding::percent_decode_str;
use serde::Serialize;

use super::block::{Block, FieldRow};
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
/// Maximum number of characters of the text of a page or section.
const MAX_SECTION: usize = 2_500;
/// Maximum number of characters of the text of any other entry.
const MAX_TEXT: usize = 300;
/// The tags within words. All others separate words.
const INLINE_TAGS: [&str; 6] = ["a", "code", "del", "em", "strong", "wbr"];

/// A document of the index.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    id: usize,
    title: String,
    kind: &'static str,
    /// The API, unless it is the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<&'static str>,
    text: String,
    /// The URL, with prefix.
    url: String,
}

impl Entry {
    fn result(&self) -> SearchResult<'_> {
        SearchResult {
            title: &self.title,
            label: self.api.map_or_else(|| self.kind.to_owned(), |api| format!("{}, {api}", self.kind)),
            text: self.text.chars().take(160).collect(),
            url: self.url.clone(),
        }
    }
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
        let max_text = if matches!(kind, "Page" | "Section") { MAX_SECTION } else { MAX_TEXT };
        let text = one_line(text).replace(['`', '*'], "").chars().take(max_text).collect();
        let contract = self.site.contract_at(path.split('#').next().unwrap_or_default());
        let api = self.site.contracts[contract].contract.title;
        // The name of the API in titles would make its pages the answers to words such as "API key".
        let title = title.strip_prefix(&format!("{api}: ")).map(str::to_owned).unwrap_or(title);
        let api = (contract > 0 && !title.contains(api)).then_some(api);
        self.entries.push(Entry { id: self.entries.len(), title, kind, api, text, url: self.site.url(path) });
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
        let rendered = self.site.rendered(page);
        let mut rest = &*rendered.html;
        let mut texts = Vec::new();
        for heading in &rendered.headings {
            let start = format!("<h{} id=\"{}\">", heading.level, heading.id);
            let (before, after) = rest.split_once(&start).unwrap_or((rest, ""));
            texts.push(without_tags(before));
            rest = after;
        }
        texts.push(without_tags(rest));
        // The cards of a list are entries of their own.
        let is_list = rendered.html.contains("<ul class=\"cards\">");
        let introduction = if is_list { &page.summary } else { &texts[0] };
        self.add(page.title.clone(), "Page", introduction, &page.path);
        for (heading, text) in rendered.headings.iter().zip(&texts[1..]) {
            let is_code = page.source == PageSource::Errors && heading.level == 3;
            let kind = if is_code { "Error code" } else { "Section" };
            let title =
                if is_code { heading.text.clone() } else { format!("{}: {}", page.title, heading.text) };
            self.add(title, kind, text, &format!("{}#{}", page.path, heading.id));
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

/// Returns the text of HTML that this crate has rendered, without code blocks.
fn without_tags(html: &str) -> String {
    let parts = html.split("<pre").map(|part| part.split_once("</pre>").map_or(part, |(_, after)| after));
    let mut text = String::new();
    for part in parts.flat_map(|part| part.split('<')) {
        let (tag, after) = part.split_once('>').unwrap_or(("a", part));
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        if !INLINE_TAGS.contains(&name) {
            text.push(' ');
        }
        text += after;
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Returns the page of results for a query string.
pub(crate) fn page(site: &Site, query: &str) -> String {
    let value =
        query.split('&').find_map(|pair| pair.strip_prefix("q=")).unwrap_or_default().replace('+', " ");
    let text: String = percent_decode_str(&value).decode_utf8_lossy().chars().take(MAX_QUERY).collect();
    let text = text.trim();
    let results = find(site, text, |_| true);
    let message = match (text.is_empty(), results.len()) {
        (true, _) => {
            "Enter a word to search for: a topic, an operation, a field, an event type or an error code."
                .to_owned()
        }
        (_, 0) => format!("Nothing contains a word of \u{201c}{text}\u{201d}."),
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
    let mut results =
        find(site, &words.chars().take(MAX_QUERY).collect::<String>(), |entry| PAGES.contains(&entry.kind));
    results.truncate(MAX_SIMILAR);
    let message = if results.is_empty() {
        results = guides(site);
        "There is no page at this address. Search for it in the field above, or begin with one of the guides:"
    } else {
        "There is no page at this address. Search for it in the field above. These pages are similar:"
    };
    let message = message.to_owned();
    let frame = Frame { is_found: false, ..Frame::new(site, "Page not found", path) };
    render(SearchPage { frame, message, results })
}

/// The kinds of results in the order in which they are shown.
const KINDS: [&str; 5] = ["Page", "Operation", "Event", "Error code", "Section"];

/// The kinds of results that are pages, not parts of one.
const PAGES: [&str; 4] = ["Page", "Operation", "Event", "Object"];

/// Returns whether a text matches the words of a query.
type Matcher = fn(&str, &[&str]) -> bool;

/// Attempts to find something, as in the suggestions: all words, all words with a typing error, any word.
const ATTEMPTS: [Matcher; 3] = [
    |text, words| words.iter().all(|word| text.contains(word)),
    |text, words| words.iter().all(|word| contains_similar(text, word)),
    |text, words| words.iter().any(|word| text.contains(word)),
];

/// Returns whether a text contains a word, or one that differs from it by a typing error.
fn contains_similar(text: &str, word: &str) -> bool {
    let length = word.chars().count();
    // A fifth of longer words, as in the suggestions.
    let max_errors = if length > 4 { (length + 2) / 5 } else { 0 };
    let mut others = text.split(|character: char| !character.is_alphanumeric() && character != '_');
    let is_similar = |other: &str| {
        other.len().abs_diff(word.len()) <= max_errors && strsim::osa_distance(other, word) <= max_errors
    };
    text.contains(word) || (max_errors > 0 && others.any(is_similar))
}

/// Returns the selected entries that match a query: first those whose title matches, then by kind.
fn find<'a>(site: &'a Site, text: &str, is_selected: fn(&Entry) -> bool) -> Vec<SearchResult<'a>> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().take(MAX_WORDS).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let rank = |kind: &str| KINDS.iter().position(|other| *other == kind).unwrap_or(KINDS.len());
    for matches in ATTEMPTS {
        let mut found: Vec<(bool, &Entry)> = Vec::new();
        for entry in site.search().iter().filter(|entry| is_selected(entry)) {
            let title = entry.title.to_lowercase();
            if matches(&title, &words) {
                found.push((false, entry));
            } else if matches(&format!("{title} {}", entry.text.to_lowercase()), &words) {
                found.push((true, entry));
            }
        }
        found.sort_by_key(|(only_in_text, entry)| (*only_in_text, rank(entry.kind)));
        if !found.is_empty() {
            return found.into_iter().take(MAX_RESULTS).map(|(_, entry)| entry.result()).collect();
        }
    }
    Vec::new()
}

/// Returns the guides.
fn guides<'a>(site: &'a Site) -> Vec<SearchResult<'a>> {
    let guides = site.pages.iter().filter(|page| page.source.is_guide());
    let result = |page: &'a Page| SearchResult {
        title: &page.title,
        label: "Page".to_owned(),
        text: page.summary.clone(),
        url: site.url(&page.path),
    };
    guides.map(result).collect()
}

fn render(page: SearchPage<'_>) -> String {
    page.render().unwrap_or_else(|error| unreachable!("a template writes to memory: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_separate_words() {
        let html = "<tr><th>Document</th><th>For</th></tr><p>a <code>b</code>s<em>x</em></p><pre>d</pre><p>&lt;c</p>";
        assert_eq!(one_line(&without_tags(html)), "Document For a bsx <c");
    }

    #[test]
    fn a_word_is_found_despite_a_typing_error() {
        assert!(contains_similar("lists use cursors", "cursros") && contains_similar("a b_c", "b_c"));
        assert!(contains_similar("pagination", "pagniation") && contains_similar("unauthorized", "author"));
        assert!(!contains_similar("lists use cursors", "courses") && !contains_similar("list", "lost"));
    }
}
