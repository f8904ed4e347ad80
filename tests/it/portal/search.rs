//! The search, the changelog feed, and the lists for language models.

use std::collections::BTreeSet;

use api::error::ApiErrorCode;
use api::generated::events::EVENT_TYPES;
use serde_json::Value;

use super::{BASE_URL, page_paths, text};
use crate::support::TestApp;

/// Maximum number of bytes of the index, which browsers load with the first search.
const MAX_INDEX_BYTES: usize = 310_000;

/// Adds the names of all fields of a schema, without those of the schemas that it references.
fn add_field_names(schema: &Value, names: &mut BTreeSet<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name.clone());
        add_field_names(field, names);
        add_field_names(&field["items"], names);
    }
    for part in
        ["allOf", "oneOf", "anyOf"].iter().flat_map(|key| schema[key].as_array().into_iter().flatten())
    {
        add_field_names(part, names);
    }
}

#[tokio::test]
async fn the_search_finds_every_name_of_the_contracts() {
    let app = TestApp::start().await;
    let entries: Value = serde_json::from_str(&text(&app, "/docs/search.json").await).expect("JSON");
    let entries = entries.as_array().expect("entries");
    let ids: BTreeSet<i64> = entries.iter().map(|entry| entry["id"].as_i64().expect("an id")).collect();
    assert_eq!(ids.len(), entries.len(), "ids are unique");
    let has = |kind: &str, title: &str| {
        entries.iter().any(|entry| entry["kind"] == kind && entry["title"] == title)
    };
    let documents = [
        api::generated::document::JSON,
        api::developer::generated::document::JSON,
        api::platform::generated::document::JSON,
    ];
    for document in documents {
        let contract: Value = serde_json::from_str(document).expect("JSON");
        for (object, schema) in contract["components"]["schemas"].as_object().expect("schemas") {
            assert!(has("Object", object), "{object}");
            let mut names = BTreeSet::new();
            add_field_names(schema, &mut names);
            for name in names {
                let is_found = entries.iter().any(|entry| {
                    let title = entry["title"].as_str().expect("a title");
                    entry["kind"] == "Field"
                        && title.starts_with(&format!("{object}."))
                        && title.ends_with(&format!(".{name}"))
                });
                assert!(is_found, "{object} {name}");
            }
        }
        for operation in contract["paths"]
            .as_object()
            .expect("paths")
            .values()
            .flat_map(|item| item.as_object().expect("an item").values())
        {
            if let Some(id) = operation["operationId"].as_str() {
                assert!(has("Operation", id), "{id}");
            }
        }
    }
    for event_type in EVENT_TYPES {
        assert!(has("Event", event_type), "{event_type}");
    }
    for code in ApiErrorCode::ALL {
        assert!(has("Error code", code.as_str()), "{}", code.as_str());
    }
    for (kind, title) in [
        ("Parameter", "limit (listCourses)"),
        ("Header", "X-RateLimit-Remaining"),
        ("Header", "X-SVC-Signature"),
    ] {
        assert!(has(kind, title), "{title}");
    }
}

#[tokio::test]
async fn the_search_finds_the_text_of_guides() {
    let app = TestApp::start().await;
    let index = text(&app, "/docs/search.json").await;
    assert!(index.len() < MAX_INDEX_BYTES, "{}", index.len());
    let entries: Value = serde_json::from_str(&index).expect("JSON");
    let entry = |url: &str| {
        let found = entries.as_array().expect("entries").iter().find(|entry| entry["url"] == url);
        found.unwrap_or_else(|| panic!("{url} is not in the index"))
    };
    for (url, word) in [
        ("/docs/rate-limits", "X-RateLimit-Reset"),
        ("/docs/rate-limits", "retryAfterSeconds"),
        ("/docs/conventions", "retryAfterSeconds"),
        ("/docs/pagination", "has_more"),
        ("/docs/webhooks#duplicates", "data.updated_at"),
    ] {
        assert!(entry(url)["text"].as_str().expect("a text").contains(word), "{url}: {word}");
    }
    assert_eq!(entry("/docs/objects/Error#field-retryAfterSeconds")["api"], Value::Null);
    assert_eq!(entry("/docs/platform/objects/Error#field-retryAfterSeconds")["api"], "Platform API");
}

#[tokio::test]
async fn the_search_works_without_scripts() {
    let app = TestApp::start().await;
    let search = async |query: &str| {
        let url = url::Url::parse_with_params("http://api/docs/search", [("q", query)]).expect("a URL");
        text(&app, &format!("/docs/search?{}", url.query().expect("a query"))).await
    };
    assert!(search("Refunded_Amount").await.contains("href=\"/docs/objects/Order#field-refunded_amount\""));
    assert!(search("rate limits").await.contains("href=\"/docs/rate-limits\""));
    assert!(search("rate limts").await.contains("href=\"/docs/rate-limits\""), "a typing error");
    assert!(search("pagination zzzzzzzz").await.contains("href=\"/docs/pagination\""), "any word");
    assert!(search("zzzzzzzz").await.contains("Nothing contains"));
    assert!(search("").await.contains("Enter a word"));
    for query in ["<script>alert(1)</script>", "(a+)+$", "[", "\\", "\u{0}", "%", "\" onfocus=x", "\u{202e}"]
    {
        let html = search(query).await;
        assert!(html.contains("Nothing contains") || html.contains("result"), "{query}");
        assert!(!html.contains("<script>alert") && !html.contains("\" onfocus"), "{query}");
    }
    let long = search(&"x ".repeat(5_000)).await;
    assert!(long.len() < 60_000, "{}", long.len());
    for raw in ["/docs/search?q=%ff%00", "/docs/search?q", "/docs/search?x=1&q=limit", "/docs/search?q=%"] {
        app.get(raw).await.assert_status(200);
    }
}

#[tokio::test]
async fn the_changelog_is_a_feed() {
    let app = TestApp::start().await;
    let response = app.get("/docs/changelog.atom").await.assert_status(200);
    assert_eq!(response.header("content-type"), "application/atom+xml; charset=utf-8");
    let feed = feed_rs::parser::parse(&*response.body).expect("a feed");
    assert!(feed.title.is_some() && feed.updated.is_some() && !feed.authors.is_empty());
    let changelog = include_str!("../../../openapi/CHANGELOG.md");
    assert_eq!(feed.entries.len(), changelog.lines().filter(|line| line.starts_with("## ")).count());
    let ids: BTreeSet<&str> = feed.entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), feed.entries.len());
    let page = text(&app, "/docs/changelog").await;
    for entry in &feed.entries {
        assert!(entry.id.starts_with("tag:api.test,") && entry.updated.is_some(), "{}", entry.id);
        let (_, anchor) = entry.links[0].href.split_once("/docs/changelog#").expect("a link to the page");
        assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
        let content = entry.content.as_ref().and_then(|content| content.body.as_ref()).expect("content");
        assert!(content.contains("<h3"), "{content}");
    }
    assert!(page.contains("href=\"/docs/operations/getStudent\""), "changes link to their operations");
}

#[tokio::test]
async fn language_models_get_all_pages() {
    let app = TestApp::start().await;
    let list = text(&app, "/llms.txt").await;
    let mut lines = list.lines().filter(|line| !line.is_empty());
    assert!(lines.next().is_some_and(|line| line.starts_with("# ")), "{list}");
    assert!(lines.next().is_some_and(|line| line.starts_with("> ")), "{list}");
    let (_, sections) = list.split_once("\n## ").expect("a list");
    for line in sections.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with("## ")) {
        assert!(
            line.starts_with("- [")
                && line.contains(&format!("]({BASE_URL}/docs"))
                && line.contains(".md): "),
            "{line}"
        );
    }
    let full = text(&app, "/llms-full.txt").await;
    for path in page_paths(&app).await.iter().filter(|path| !path.contains("/objects")) {
        assert!(full.contains(&format!("\nURL: {BASE_URL}{path}\n")), "{path}");
    }
}
