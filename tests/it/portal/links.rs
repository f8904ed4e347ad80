//! Links: every link and anchor of every page resolves, also below the prefix of a public URL.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::{pages, text};
use crate::support::TestApp;

/// Returns the values of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> BTreeSet<&'a str> {
    let attribute = Regex::new(&format!(" {name}=\"([^\"]*)\"")).expect("a pattern");
    attribute.captures_iter(html).map(|found| found.get(1).expect("a value").as_str()).collect()
}

#[tokio::test]
async fn every_link_and_every_anchor_resolves() {
    let app = TestApp::start().await;
    let pages = pages(&app).await;
    let search = text(&app, "/docs/search.json").await;
    let entries: serde_json::Value = serde_json::from_str(&search).expect("JSON");
    let found =
        entries.as_array().expect("entries").iter().map(|entry| entry["url"].as_str().expect("a URL"));
    let mut links: BTreeMap<&str, &str> = found.map(|url| (url, "/docs/search.json")).collect();
    let ids: BTreeMap<&str, BTreeSet<&str>> =
        pages.iter().map(|(path, html)| (path.as_str(), attributes(html, "id"))).collect();
    for (path, html) in &pages {
        let ids = &ids[path.as_str()];
        for link in attributes(html, "href").into_iter().chain(attributes(html, "src")) {
            match link.strip_prefix('#') {
                Some(fragment) => assert!(ids.contains(fragment), "{path} has no {link}"),
                None => drop(links.insert(link, path)),
            }
        }
        let all = html.matches(" id=\"").count();
        assert_eq!(ids.len(), all, "{path} has an id twice");
    }
    let mut checked: BTreeMap<&str, u16> = BTreeMap::new();
    for (link, from) in links {
        let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
        if !path.starts_with('/') {
            assert!(
                path.starts_with("https://") || path.starts_with("http://api.test"),
                "{from} links to {link}"
            );
            continue;
        }
        match ids.get(path) {
            Some(ids) if fragment.is_empty() || ids.contains(fragment) => {}
            Some(_) => panic!("{from} links to {link}, which has no such anchor"),
            None => {
                let status = match checked.get(path) {
                    Some(status) => *status,
                    None => app.get(path).await.status,
                };
                checked.insert(path, status);
                // The dashboard redirects to its sign-in page.
                let is_dashboard = path.starts_with("/dashboard") && status == 303;
                assert!(status == 200 || is_dashboard, "{from} links to {link}: {status}");
            }
        }
    }
}

#[tokio::test]
async fn names_lead_to_the_api_that_the_text_is_about() {
    let app = TestApp::start().await;
    let changelog = text(&app, "/docs/changelog").await;
    let (_, release) = changelog.split_once(" id=\"platform-v1-1.1.0-").expect("a release");
    let (release, _) = release.split_once("<h2").expect("the release ends");
    let feed = text(&app, "/docs/changelog.atom").await;
    let (_, entry) = feed.split_once("<title>platform-v1 1.1.0</title>").expect("an entry");
    let (entry, _) = entry.split_once("</entry>").expect("the entry ends");
    let article = async |path: &str| {
        let page = text(&app, path).await;
        let (_, content) = page.split_once("<article class=\"prose\">").expect("the content begins");
        content.split("</article>").next().expect("the content").to_owned()
    };
    for html in [release, entry, &article("/docs/platform/authentication").await] {
        assert!(html.contains("/docs/platform/operations/listEvents"), "{html}");
        assert!(!html.contains("/docs/developer/operations/listEvents"), "{html}");
    }
    let webhooks = article("/docs/webhooks").await;
    assert!(webhooks.contains("<a href=\"/docs/developer/operations/listEvents\">"), "{webhooks}");
}

#[tokio::test]
async fn links_carry_the_path_of_the_public_url() {
    let app = TestApp::start_with(&[("public_url", "https://api.example.com/base/")]).await;
    for path in
        ["/docs", "/docs/authentication", "/docs/operations/getCourse", "/docs/changelog", "/docs/nothing"]
    {
        let html = String::from_utf8(app.get(path).await.body).expect("UTF-8");
        for link in attributes(&html, "href")
            .into_iter()
            .chain(attributes(&html, "src"))
            .chain(attributes(&html, "action"))
        {
            let is_external = link.starts_with("https://") || link.starts_with('#');
            assert!(is_external || link.starts_with("/base/"), "{path} links to {link}");
        }
        assert!(
            html.contains("data-base-url=\"https://api.example.com/base\" data-prefix=\"/base\""),
            "{path}"
        );
    }
    let home = text(&app, "/docs/index.md").await;
    assert!(
        home.contains("curl -sS --fail-with-body 'https://api.example.com/base/api/v1/courses?limit=2'"),
        "{home}"
    );
    assert!(home.contains("](/base/docs/authentication)") && !home.contains("](/docs"), "{home}");
    assert_eq!(app.get("/").await.header("location"), "/base/docs/");
}
