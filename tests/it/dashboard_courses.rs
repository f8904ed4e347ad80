//! Courses on the dashboard: search, publishing, archiving, and isolation from other workspaces.

use serde_json::json;

use crate::support::browser::{csrf_token, first_match, html};
use crate::support::members::audit_entries;
use crate::support::{TestApp, course_data};

const LIST: &str = "/dashboard/courses";

#[tokio::test]
async fn a_draft_is_published_and_archived() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    assert!(html(&browser.get(LIST).await).contains("No courses yet"));
    let mut ink = course_data("ink", "draft", 2);
    ink["description"] = json!("<b>Lines</b> & ink");
    ink["price"] = json!({"amount": 4900, "currency": "EUR"});
    workspace.change("course.upsert", ink).await;
    let path = format!("{LIST}/{}", app.course_id(&workspace, "ink").await);

    assert_eq!(
        first_match(&html(&browser.get(LIST).await), "href=\"(/dashboard/courses/crs_[a-z0-9]+)\""),
        path
    );
    let page = html(&browser.get(&path).await);
    for words in ["Lesson 2", "EUR 49.00", "&#60;b&#62;Lines", "2 min", "Publish</button>", ">draft<"] {
        assert!(page.contains(words), "{words}: {page}");
    }

    let publish = format!("{path}/publish");
    browser.submit(&path, &publish, &[]).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(page.contains("was published. The API lists it") && !page.contains("Publish</button>"), "{page}");
    workspace.key_with_all_scopes().await.get("/api/v1/courses?slug=ink").await.assert_status(200);
    browser.submit(&path, &publish, &[]).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("is already published."));

    let archive = format!("{path}/archive");
    assert!(html(&browser.get(&archive).await).contains("Archive Course ink?"));
    browser.submit(&archive, &archive, &[]).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(page.contains("was archived.") && page.contains("Publish</button>"), "{page}");
    let events = (
        app.events_of_type("course.published").await.len(),
        app.events_of_type("course.archived").await.len(),
    );
    assert_eq!(events, (1, 1));
    assert_eq!(
        audit_entries(&workspace).await[..2],
        [
            "owner@acme.example Archived a course Course ink",
            "owner@acme.example Published a course Course ink"
        ]
    );
}

#[tokio::test]
async fn courses_are_searched_and_paginated() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    for n in 0..30 {
        let key = format!("c{n:02}");
        let status = if n == 7 { "draft" } else { "published" };
        workspace.change("course.upsert", course_data(&key, status, 1)).await;
    }
    let browser = workspace.owner_browser().await;
    let count = |page: &str| page.matches("class=\"name\"").count();
    let page = html(&browser.get(LIST).await);
    assert_eq!(count(&page), 25);
    let next = first_match(&page, "href=\"([^\"]+)\" rel=\"next\"");
    assert_eq!(count(&html(&browser.get(&next).await.assert_status(200))), 5);
    let results = html(&browser.get("/dashboard/courses?q=COURSE+C07&status=draft").await);
    assert!(count(&results) == 1 && results.contains("Course c07"), "{results}");
    for query in ["q=%25", "q=c07&status=archived", "q=%22%3E%3Cscript%3E"] {
        let page = html(&browser.get(&format!("{LIST}?{query}")).await.assert_status(200));
        assert!(page.contains("No matching courses") && !page.contains("\"><script>"), "{page}");
    }
    assert_eq!(count(&html(&browser.get("/dashboard/courses?status=nonsense&after=x").await)), 25);
}

#[tokio::test]
async fn courses_of_other_workspaces_are_not_found() {
    let app = TestApp::start().await;
    let theirs = app.workspace("theirs").await;
    let id = theirs.course("ink", 1).await;
    let browser = app.workspace("ours").await.owner_browser().await;
    let token = csrf_token(&browser.get("/dashboard/settings").await);
    let path = format!("{LIST}/{id}");
    for path in [path.clone(), format!("{path}/archive"), format!("{LIST}/nonsense")] {
        browser.get(&path).await.assert_status(404);
    }
    for form in ["publish", "archive"] {
        browser.post(&format!("{path}/{form}"), &token, &[]).await.assert_status(404);
    }
    browser.get(&format!("/dashboard/students?course={id}")).await.assert_status(404);
    assert!(!html(&browser.get(LIST).await).contains("Course ink"));
    assert!(
        app.events_of_type("course.archived").await.is_empty() && audit_entries(&theirs).await.is_empty()
    );
}
