//! All pages: their paths and titles, the navigation, and the responses.

use std::collections::HashMap;
use std::sync::OnceLock;

use askama::Template;
use contract_runtime::contract::Contract;
use poem::http::StatusCode;
use poem::{Request, Response};
use web::public_response::FILE_POLICY;

use super::block;
use super::contract_text::ContractText;
use super::document::Document;
use super::field::{first_sentence, one_line};
use super::page::{self, Frame, PageLink, TextPage};
use super::references::References;
use super::source::{self, PageSource};
use super::{PortalOptions, downloads, feed, llms, navigation, search};

/// The pages of the portal.
pub(crate) struct Site {
    /// The URL of the server, without a trailing slash.
    pub base_url: String,
    /// The path of `base_url`, with which all links begin.
    pub prefix: String,
    /// The name of the contract whose operations are served at another address.
    pub elsewhere: Option<&'static str>,
    /// The title of the first contract.
    pub title: String,
    /// The version of the first contract.
    pub version: String,
    /// The contracts. The guides and events are those of the first one.
    pub contracts: Vec<ContractText>,
    /// The pages, in the order of the navigation.
    pub pages: Vec<Page>,
    /// The navigation.
    pub navigation: Vec<navigation::Group>,
    /// The paths of the contract documents.
    pub downloads: Vec<String>,
    /// What code spans link to, for the pages of each contract.
    pub references: Vec<References>,
    /// The positions of the pages, by path.
    index: HashMap<String, usize>,
    search: OnceLock<Vec<search::Entry>>,
    files: [OnceLock<Document>; FILES.len()],
}

/// Returns the content of a file.
type FileGenerator = fn(&Site) -> String;

/// The generated files that are not pages: path, media type and generator.
const FILES: [(&str, &str, FileGenerator); 5] = [
    ("/docs/search.json", "application/json", search::json),
    ("/docs/changelog.atom", "application/atom+xml; charset=utf-8", feed::atom),
    ("/docs/webhooks/vectors.json", "application/json", |_| source::VECTORS.to_owned()),
    ("/llms.txt", TEXT, llms::index),
    ("/llms-full.txt", TEXT, llms::full),
];

/// The media type of pages as Markdown.
const MARKDOWN: &str = "text/markdown; charset=utf-8";
/// The media type of the lists for language models.
const TEXT: &str = "text/plain; charset=utf-8";

/// A page.
pub(crate) struct Page {
    /// The path, without prefix.
    pub path: String,
    /// The title.
    pub title: String,
    /// Whether the title is an identifier.
    pub is_code: bool,
    /// One sentence about the page, as plain text.
    pub summary: String,
    /// What the page is made from.
    pub source: PageSource,
    html: OnceLock<Document>,
    markdown: OnceLock<Document>,
}

impl Page {
    /// Creates a page.
    pub(crate) fn new(
        path: impl Into<String>,
        title: impl Into<String>,
        summary: &str,
        source: PageSource,
    ) -> Self {
        let is_code = matches!(
            source,
            PageSource::Operation { .. } | PageSource::Object { .. } | PageSource::Event { .. }
        );
        Self {
            path: path.into(),
            title: title.into(),
            is_code,
            summary: plain(summary),
            source,
            html: OnceLock::new(),
            markdown: OnceLock::new(),
        }
    }
}

/// Returns the first sentence of a text without the marks of Markdown.
fn plain(text: &str) -> String {
    first_sentence(&one_line(text.split("\n\n").next().unwrap_or_default())).replace(['`', '*'], "")
}

impl Site {
    /// Parses the contracts and lists the pages. Renders none.
    pub(crate) fn new(contracts: &[&'static Contract], options: &PortalOptions) -> Self {
        let contracts: Vec<ContractText> =
            contracts.iter().enumerate().map(|(at, contract)| ContractText::new(contract, at == 0)).collect();
        let downloads = contracts.iter().flat_map(|text| downloads::file_names(text.contract));
        let mut site = Self {
            base_url: options.base_url.trim_end_matches('/').to_owned(),
            prefix: page::path_prefix(&options.base_url).to_owned(),
            elsewhere: options.elsewhere,
            title: contracts.first().map(|text| text.contract.title.to_owned()).unwrap_or_default(),
            version: contracts.first().map(|text| text.version().to_owned()).unwrap_or_default(),
            downloads: downloads.map(|file| format!("/openapi/{file}")).collect(),
            pages: Vec::new(),
            navigation: Vec::new(),
            references: Vec::new(),
            index: HashMap::new(),
            search: OnceLock::new(),
            files: Default::default(),
            contracts,
        };
        for page in source::pages(&site.contracts) {
            // A section of a contract has the name of a page: the page contains the section or replaces it.
            if !site.index.contains_key(&page.path) {
                site.index.insert(page.path.clone(), site.pages.len());
                site.pages.push(page);
            }
        }
        site.navigation = navigation::groups(&site.contracts, &site.pages);
        let references = |own| {
            let paths = site.pages.iter().map(|page| &page.path).chain(&site.downloads);
            References::new(&site.contracts, own, source::error_codes(), paths)
        };
        site.references = (0..site.contracts.len()).map(references).collect();
        site
    }

    /// Returns the position of the contract that a page belongs to. Pages of no other contract belong to the first one.
    pub(crate) fn contract_at(&self, path: &str) -> usize {
        let is_in = |folder: &str| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let found = self.contracts.iter().rposition(|text| is_in(&text.folder) || is_in(&text.reference));
        found.unwrap_or_default()
    }

    /// Returns a page as HTML, without the frame.
    pub(crate) fn rendered(&self, page: &Page) -> block::RenderedPage {
        let contract = self.contract_at(&page.path);
        block::html(&self.blocks(page), &self.references, contract, &self.prefix, &self.base_url)
    }

    /// Returns the URL of a path of this server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// Returns the page with this path.
    pub(crate) fn page(&self, path: &str) -> Option<&Page> {
        self.index.get(path).map(|at| &self.pages[*at])
    }

    /// Returns the parts of a page.
    pub(crate) fn blocks(&self, page: &Page) -> Vec<block::Block> {
        source::blocks(self, page)
    }

    /// Returns the page as Markdown.
    pub(crate) fn markdown(&self, page: &Page) -> String {
        let title = if page.is_code { format!("`{}`", page.title) } else { page.title.clone() };
        block::markdown(&title, &self.blocks(page), &self.prefix, &self.base_url)
    }

    /// Returns what the search finds.
    pub(crate) fn search(&self) -> &[search::Entry] {
        self.search.get_or_init(|| search::entries(self))
    }

    /// Returns the response to a request for a page or a generated file.
    pub(crate) fn response(&self, request: &Request) -> Response {
        let path = request.uri().path();
        if let Some(at) = FILES.iter().position(|(file, ..)| *file == path) {
            let (_, media_type, generate) = FILES[at];
            let file = self.files[at].get_or_init(|| Document::new(media_type, FILE_POLICY, generate(self)));
            return file.response(request, StatusCode::OK);
        }
        if path == "/docs/search" {
            let html = search::page(self, request.uri().query().unwrap_or_default());
            return Document::new(page::HTML, page::POLICY, html).response(request, StatusCode::OK);
        }
        let path = if path == "/docs/" { "/docs" } else { path };
        if let Some(page) = self.page(path) {
            let document = page.html.get_or_init(|| Document::new(page::HTML, page::POLICY, self.html(page)));
            return document.response(request, StatusCode::OK);
        }
        let twin = path.strip_suffix(".md").map(|path| if path == "/docs/index" { "/docs" } else { path });
        if let Some(page) = twin.and_then(|path| self.page(path)) {
            let document =
                page.markdown.get_or_init(|| Document::new(MARKDOWN, FILE_POLICY, self.markdown(page)));
            return document.response(request, StatusCode::OK);
        }
        let html = search::not_found(self, path);
        Document::new(page::HTML, page::POLICY, html).response(request, StatusCode::NOT_FOUND)
    }

    fn html(&self, page: &Page) -> String {
        let rendered = self.rendered(page);
        let at = self.index[&page.path];
        let frame = Frame {
            summary: &page.summary,
            contents: &rendered.headings,
            has_markdown: true,
            previous: at.checked_sub(1).map(|at| self.link(at)),
            next: (at + 1 < self.pages.len()).then(|| self.link(at + 1)),
            ..Frame::new(self, &page.title, &page.path)
        };
        let page = TextPage { frame, is_code: page.is_code, body: &rendered.html };
        page.render().unwrap_or_else(|error| unreachable!("a template writes to memory: {error}"))
    }

    fn link(&self, at: usize) -> PageLink<'_> {
        PageLink { title: &self.pages[at].title, path: &self.pages[at].path }
    }
}
