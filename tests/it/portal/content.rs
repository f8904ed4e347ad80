//! What pages say: the same as their Markdown, and everything that the contract says.

use std::time::Duration;

use pulldown_cmark::{Event, Options, Parser};
use regex::Regex;

use super::{page_paths, text, unescape};
use crate::support::TestApp;

/// Returns the words of a page's content.
fn words_of_html(html: &str) -> Vec<String> {
    let (_, content) = html.split_once("<article class=\"prose\">").expect("the content begins");
    let (content, _) = content.split_once("</article>").expect("the content ends");
    // The Markdown needs no table of contents.
    let contents = Regex::new("(?s)<details class=\"contents-below\">.*?</details>").expect("a pattern");
    let content = contents.replace(content, "");
    let tag = Regex::new("<[^>]*>").expect("a pattern");
    words(&unescape(&tag.replace_all(&content, " ")))
}

/// Returns the words of Markdown.
fn words_of_markdown(markdown: &str) -> Vec<String> {
    let mut text = String::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Text(part) | Event::Code(part) | Event::Html(part) | Event::InlineHtml(part) => {
                text += &part
            }
            _ => {}
        }
        text.push(' ');
    }
    words(&text)
}

/// Returns the letters and digits of a text. Punctuation can be separated by tags.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|character: char| !character.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_page_says_the_same_as_html_and_as_markdown() {
    let app = TestApp::start().await;
    for path in page_paths(&app).await {
        let html = words_of_html(&text(&app, &path).await);
        let twin = if path == "/docs" { "/docs/index.md".to_owned() } else { format!("{path}.md") };
        let markdown = words_of_markdown(&text(&app, &twin).await);
        let difference = html.iter().zip(&markdown).position(|(html, markdown)| html != markdown);
        let context =
            |words: &[String], at: usize| words[at.saturating_sub(3)..(at + 5).min(words.len())].join(" ");
        if let Some(at) = difference {
            panic!("{path}: {:?} is {:?} in Markdown", context(&html, at), context(&markdown, at));
        }
        assert_eq!(html.len(), markdown.len(), "{path}");
        assert!(html.len() > 10, "{path} is empty");
    }
}

#[tokio::test]
async fn a_change_shows_all_kinds_and_only_the_fields_that_they_share() {
    let app = TestApp::start().await;
    let contract: serde_json::Value =
        serde_json::from_str(api::platform::generated::document::JSON).expect("JSON");
    let row = Regex::new("<tr id=\"(?:field|body)-([^\"]*)\"").expect("a pattern");
    for path in ["/docs/platform/objects/Change", "/docs/platform/operations/importChanges"] {
        let page = text(&app, path).await;
        let mapping = &contract["components"]["schemas"]["Change"]["discriminator"]["mapping"];
        for (value, target) in mapping.as_object().expect("a mapping") {
            let object = target.as_str().expect("a reference").rsplit('/').next().expect("a name");
            let link = format!("<a href=\"/docs/platform/objects/{object}\"><code>{value}</code></a>");
            assert!(page.contains(&link), "{path}: {value}");
        }
        let fields: Vec<&str> =
            row.captures_iter(&page).map(|row| row.get(1).expect("an id").as_str()).collect();
        assert_eq!(fields, ["change", "id", "workspace", "at", "data"], "{path}");
    }
}

#[tokio::test]
async fn a_page_shows_its_api_with_the_version() {
    let app = TestApp::start().await;
    let own = text(&app, "/docs/operations/listCourses").await;
    assert!(own.contains("<span class=\"version\"") && !own.contains("class=\"api\""));
    for path in ["/docs/platform", "/docs/platform/operations/listEvents", "/docs/reference/platform"] {
        let page = text(&app, path).await;
        let (before, _) = page.split_once("<h1>").expect("a heading");
        assert!(before.contains("<p class=\"api\">Platform API 1."), "{path}");
        assert!(!page.contains("class=\"version\""), "{path}");
    }
}

#[tokio::test]
async fn pages_set_variables_before_they_use_them() {
    let app = TestApp::start().await;
    let variable = Regex::new(r#"\$([A-Z]+_[A-Z_]+)|environ\["([A-Z_]+)"\]"#).expect("a pattern");
    let is_guide = |path: &String| !path.contains("/operations/");
    let mut count = 0;
    for path in page_paths(&app).await.into_iter().filter(is_guide) {
        let twin = if path == "/docs" { "/docs/index".to_owned() } else { path };
        let page = text(&app, &format!("{twin}.md")).await;
        for used in variable.captures_iter(&page) {
            let name = used.get(1).or(used.get(2)).expect("a name").as_str();
            let at = used.get(0).expect("a match").start();
            assert!(page[..at].contains(&format!("{name}=")), "{twin} does not set {name}");
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}

#[tokio::test]
async fn every_section_of_the_contract_has_a_page() {
    let app = TestApp::start().await;
    let contract: serde_json::Value = serde_json::from_str(api::generated::document::JSON).expect("JSON");
    let description = contract["info"]["description"].as_str().expect("a description");
    for heading in description.lines().filter_map(|line| line.strip_prefix("## ")) {
        let slug: String = heading.to_lowercase().replace(", ", " ").replace(' ', "-");
        let page = text(&app, &format!("/docs/{slug}")).await;
        assert!(page.contains(&format!("<h1>{heading}</h1>")), "{heading}");
    }
}

#[tokio::test]
async fn the_example_of_an_event_has_a_valid_signature() {
    let app = TestApp::start().await;
    let page = unescape(&text(&app, "/docs/events/order.paid").await);
    let example = Regex::new(r"(?s)X-SVC-Signature: (\S+)\n.*?\n\n(\{.*?\n\})\n</code>").expect("a pattern");
    let example = example.captures(&page).expect("an example");
    let secret = Regex::new("whsec_[A-Za-z0-9+/=]+").expect("a pattern");
    let secret = secret.find(&page).expect("the secret").as_str();
    let (body, now, tolerance) = (example[2].as_bytes(), 1_767_225_600, Duration::from_secs(300));
    webhooks::verify::verify(body, &example[1], &[secret], now, tolerance).expect("a valid signature");
}

#[tokio::test]
async fn an_operation_shows_its_scope_parameters_and_statuses() {
    let app = TestApp::start().await;
    let page = text(&app, "/docs/operations/listStudents").await;
    for expected in [
        "<code>GET /api/v1/students</code>",
        "<p class=\"scope\">Scope: <code>read:students</code></p>",
        "id=\"parameter-limit\"",
        "1 to 100. Default: <code>25</code>.",
        "<td data-label=\"Status\">429</td>",
        "id=\"header-x-ratelimit-remaining\"",
        "href=\"/docs/objects/StudentList\"",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    let object = text(&app, "/docs/objects/Enrollment").await;
    assert!(
        object.contains("Extensible: new values may be added.") && object.contains("id=\"field-status\""),
        "{object}"
    );
}
