//! The reference of each contract: Swagger UI with the plugins in `static/reference`.
//!
//! The page contains the navigation and a list of links to the operations' pages. The list is shown until Swagger UI has started, and
//! remains if its scripts fail.

use std::sync::OnceLock;

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use poem::http::{StatusCode, header};
use poem::{Request, Response};
use secrecy::{ExposeSecret, SecretString};
use web::public_response::with_security_headers;

use super::contract_text::ContractText;
use super::document::Document;
use super::page::{Frame, HTML, PageLink};
use super::site::Site;
use super::source::PageSource;

/// The content security policy of Swagger UI: as on other pages, and inline styles, and fonts as data URLs.
const SWAGGER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; \
     frame-ancestors 'none'";

/// The references of all contracts.
#[derive(Default)]
pub(crate) struct Reference {
    /// The pages, in the order of the contracts.
    documents: Vec<OnceLock<Document>>,
    demo_key: Option<SecretString>,
}

/// The page of one contract.
#[derive(Template)]
#[template(path = "reference.html")]
struct ReferencePage<'a> {
    frame: Frame<'a>,
    text: &'a ContractText,
    summary: &'a str,
    guides: Vec<PageLink<'a>>,
    tags: Vec<Tag<'a>>,
    demo_key: Option<&'a str>,
    /// Whether the operations are served at another address.
    is_elsewhere: bool,
}

/// A tag with its operations.
struct Tag<'a> {
    name: &'a str,
    operations: Vec<Entry<'a>>,
}

/// An operation.
struct Entry<'a> {
    id: &'a str,
    method: &'a str,
    summary: &'a str,
    /// The fragment that opens the operation in Swagger UI.
    fragment: String,
}

impl Reference {
    /// Adds the page of another contract.
    pub(crate) fn add(&mut self) {
        self.documents.push(OnceLock::new());
    }

    /// Offers this key of the first contract to readers on this machine.
    pub(crate) fn set_demo_key(&mut self, key: SecretString) {
        self.demo_key = Some(key);
    }

    /// Returns the response for the page of a contract. Returns `None` if there is none at the path.
    pub(crate) fn response(&self, site: &Site, request: &Request) -> Option<Response> {
        let path = request.uri().path();
        let path = path.strip_suffix('/').unwrap_or(path);
        let at = site.contracts.iter().position(|text| text.reference == path)?;
        let demo_key = self.demo_key.as_ref().filter(|_| at == 0 && is_on_this_machine(request));
        if let Some(key) = demo_key {
            let html = self.page(site, at, Some(key.expose_secret()));
            let response =
                Response::builder().content_type(HTML).header(header::CACHE_CONTROL, "no-store").body(html);
            return Some(with_security_headers(response, SWAGGER_POLICY));
        }
        let document = self
            .documents
            .get(at)?
            .get_or_init(|| Document::new(HTML, SWAGGER_POLICY, self.page(site, at, None)));
        Some(document.response(request, StatusCode::OK))
    }

    fn page(&self, site: &Site, at: usize, demo_key: Option<&str>) -> String {
        let text = &site.contracts[at];
        let title = format!("{} reference", text.contract.title);
        let info = &text.json["info"];
        let summary = info["summary"]
            .as_str()
            .or_else(|| info["description"].text().split("\n\n").next())
            .unwrap_or_default();
        let is_guide = |source: &PageSource| match source {
            PageSource::Section { contract, .. } => *contract == at,
            PageSource::Errors | PageSource::Guide(_) => at == 0,
            _ => false,
        };
        let guides = site.pages.iter().filter(|page| is_guide(&page.source));
        let guides = guides.map(|page| PageLink { title: &page.title, path: &page.path }).collect();
        let frame = Frame { summary, is_wide: true, ..Frame::new(site, &title, &text.reference) };
        let is_elsewhere = site.elsewhere == Some(text.contract.name);
        let page = ReferencePage { frame, text, summary, guides, tags: tags(text), demo_key, is_elsewhere };
        page.render().unwrap_or_else(|error| unreachable!("a template writes to memory: {error}"))
    }
}

/// Returns whether a request comes from a browser on this machine: the host is a loopback address, so that no other site has resolved
/// its name to the address of this server, and no proxy has forwarded the request.
fn is_on_this_machine(request: &Request) -> bool {
    let host = request.header(header::HOST).unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback =
        name.parse().map_or(name == "localhost", |address: std::net::IpAddr| address.is_loopback());
    is_loopback
        && !["forwarded", "x-forwarded-for", "via"].iter().any(|name| request.headers().contains_key(*name))
}

/// Returns the tags in the order of the contract, each with its operations.
fn tags(text: &ContractText) -> Vec<Tag<'_>> {
    let mut tags: Vec<Tag<'_>> = Vec::new();
    for tag in text.json["tags"].items() {
        tags.push(Tag { name: tag["name"].text(), operations: Vec::new() });
    }
    for (operation, json) in text.operations() {
        let at = tags.iter().position(|tag| tag.name == operation.tag).unwrap_or_else(|| {
            tags.push(Tag { name: operation.tag, operations: Vec::new() });
            tags.len() - 1
        });
        let encoded =
            |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string().replace("%5F", "_");
        tags[at].operations.push(Entry {
            id: operation.id,
            method: operation.method,
            summary: json["summary"].text(),
            fragment: format!("#/{}/{}", encoded(operation.tag), encoded(operation.id)),
        });
    }
    tags.retain(|tag| !tag.operations.is_empty());
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_loopback_host_without_a_proxy_is_this_machine() {
        let request = |host: &str| Request::builder().header(header::HOST, host).finish();
        for host in ["127.0.0.1", "127.0.0.1:8080", "localhost:80", "[::1]:8080"] {
            assert!(is_on_this_machine(&request(host)), "{host}");
        }
        for host in ["", "example.com", "localhost.example.com", "192.168.0.7:8080", "[2001:db8::1]"] {
            assert!(!is_on_this_machine(&request(host)), "{host}");
        }
        let forwarded =
            Request::builder().header(header::HOST, "localhost").header("x-forwarded-for", "192.0.2.1");
        assert!(!is_on_this_machine(&forwarded.finish()));
    }
}
