//! The documentation portal: pages rendered from the contracts, the reference, search, changelog, and the contract documents.
//!
//! [`Portal`] answers requests. [`site`] lists the pages; each is built as [`block`]s, which are rendered as HTML and as Markdown, so
//! that both have the same content. Pages are rendered when they are first requested, and then cached with their compressed forms.

mod assets;
mod block;
mod changelog;
mod contract_text;
mod document;
mod downloads;
mod event;
mod feed;
mod field;
mod json;
mod llms;
mod markdown;
mod navigation;
mod object;
mod operation;
mod page;
mod reference;
mod references;
mod sample;
mod search;
mod section;
mod site;
mod source;

use std::sync::OnceLock;

use contract_runtime::contract::Contract;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Request, Response};

use downloads::Downloads;
use reference::Reference;
use secrecy::SecretString;
use site::Site;

/// The settings of the portal.
#[derive(Debug, Clone)]
pub struct PortalOptions {
    /// The URL of the server for clients, without a trailing slash. Links begin with its path, since a proxy removes it from requests.
    pub base_url: String,
    /// The name of the contract whose operations are served at another address.
    pub elsewhere: Option<&'static str>,
}

/// The documentation of the contracts of a server.
pub struct Portal {
    options: PortalOptions,
    contracts: Vec<&'static Contract>,
    downloads: Downloads,
    reference: Reference,
    /// The pages. Created when the first one is requested, so that it delays neither the start of a server nor one without readers.
    site: OnceLock<Site>,
}

impl Portal {
    /// Creates the documentation. The first contract is the one that the guides and the event catalog describe.
    pub fn new(contracts: &[&'static Contract], options: PortalOptions) -> Self {
        let mut portal = Self {
            options,
            contracts: Vec::new(),
            downloads: Downloads::default(),
            reference: Reference::default(),
            site: OnceLock::new(),
        };
        for contract in contracts {
            portal.add(contract);
        }
        portal
    }

    /// Adds the documentation of another contract. Call it before the first request.
    pub fn add(&mut self, contract: &'static Contract) {
        self.downloads.add(contract);
        self.reference.add();
        self.contracts.push(contract);
    }

    /// Declares that the operations of this contract are served at another address. Call it before the first request.
    pub fn set_elsewhere(&mut self, contract: &'static Contract) {
        self.options.elsewhere = Some(contract.name);
    }

    /// Offers this API key on the page of the reference, to readers on the machine of the server.
    pub fn set_demo_key(&mut self, key: SecretString) {
        self.reference.set_demo_key(key);
    }

    /// Returns the response to a `GET` or `HEAD` request. Returns `None` if the portal does not serve the path, see [`serves`].
    pub fn response(&self, request: &Request) -> Option<Response> {
        let path = request.uri().path();
        if !serves(path) {
            return None;
        }
        if let Some(file) = path.strip_prefix("/openapi/") {
            return self.downloads.get(file).map(|document| document.response(request, StatusCode::OK));
        }
        if path.starts_with("/docs/static/") {
            return assets::response(request);
        }
        let site = self.site();
        Some(self.reference.response(site, request).unwrap_or_else(|| site.response(request)))
    }

    /// Returns the redirect from `/` to the portal.
    pub fn redirect_home(&self) -> Response {
        let mut response = Response::builder().status(StatusCode::PERMANENT_REDIRECT).finish();
        let location = HeaderValue::from_str(&format!("{}/docs/", page::path_prefix(&self.options.base_url)));
        if let Ok(location) = location {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response
    }

    fn site(&self) -> &Site {
        self.site.get_or_init(|| Site::new(&self.contracts, &self.options))
    }
}

/// Returns whether the portal serves this path.
pub fn serves(path: &str) -> bool {
    matches!(path, "/docs" | "/llms.txt" | "/llms-full.txt")
        || path.starts_with("/docs/")
        || path.starts_with("/openapi/")
}
