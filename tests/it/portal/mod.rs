//! The documentation portal: pages, their Markdown, links, search, changelog feed, and lists for language models.

mod content;
mod links;
mod responses;
mod samples;
mod search;

use std::collections::BTreeMap;

use regex::Regex;

use crate::support::TestApp;

/// The URL of the server in links of the pages.
const BASE_URL: &str = "http://api.test";

/// Returns the paths of all pages, from `/llms.txt`.
async fn page_paths(app: &TestApp) -> Vec<String> {
    let list = text(app, "/llms.txt").await;
    let link = Regex::new(&format!(r"\]\({BASE_URL}(/docs[^)]*)\.md\)")).expect("a pattern");
    let paths: Vec<String> =
        link.captures_iter(&list).map(|link| link[1].replace("/docs/index", "/docs")).collect();
    assert!(paths.len() > 100, "{list}");
    paths
}

/// Returns all pages as HTML, by path.
async fn pages(app: &TestApp) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for path in page_paths(app).await {
        let html = text(app, &path).await;
        pages.insert(path, html);
    }
    pages
}

/// Returns the text of a response with status 200.
async fn text(app: &TestApp, path: &str) -> String {
    String::from_utf8(app.get(path).await.assert_status(200).body).expect("UTF-8")
}

/// Replaces the entities that the pages contain.
fn unescape(html: &str) -> String {
    let html = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    html.replace("&#34;", "\"").replace("&#38;", "&").replace("&amp;", "&")
}
