//! Lists of more rows than a page looks through: it says how far it looked, and goes on when it is asked to.

use creator_api::domain::page::LOOKED;
use creator_api::id::{LoggedRequest, Student};
use entity::{StringMap, api_requests, students};
use jiff::SignedDuration;

use crate::support::browser::{first, html};
use crate::support::{TestApp, Workspace};

/// So many more students than a search looks through, each made a second after the one before.
async fn crowd(workspace: &Workspace<'_>) {
    let app = workspace.app;
    let write = app.write().await;
    let people = students::in_workspace(workspace.id.uuid());
    let first = people.by_email_folded(write.conn(), "ada@example.com").await.unwrap().unwrap();
    let mut all = Vec::new();
    for n in 1..=LOOKED + 50 {
        let at = app.clock.now() + SignedDuration::from_secs(n.cast_signed());
        let email = format!("s{n:05}@example.com");
        all.push(students::Model {
            id: app.app.ids.next::<Student>(at).uuid(),
            key: None,
            email: email.clone(),
            email_folded: email,
            name: Some(if n == 1 { "Grace Hopper".to_owned() } else { format!("Student {n}") }),
            created_at: at.as_millisecond(),
            ..first.clone()
        });
    }
    people.insert_many(write.conn(), all).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn a_search_says_how_far_it_looked_and_goes_on_when_asked() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let ada = acme.student("ada").await;
    crowd(&acme).await;
    let browser = acme.signed_in().await;
    let found = async |path: &str| {
        let page = html(&browser.get(path).await.assert_status(200));
        (page.matches("class=\"name\"").count(), page)
    };
    let (count, page) = found("/dashboard/students?q=hopper").await;
    assert!(count == 0 && page.contains("No student fits so far"), "{page}");
    assert!(page.contains("5,000 were looked through, back to") && page.contains("10:01:21 UTC"), "{page}");
    let all = first(&page, "id=\"all\" href=\"([^\"]+)\"").replace("&#38;", "&");
    assert_eq!(all, "/dashboard/students?q=hopper&far=1");
    let (count, page) = found(&all).await;
    assert!(count == 1 && page.contains("Grace Hopper") && !page.contains("Look through all"), "{page}");
    let (count, page) = found("/dashboard/students?q=nobody&far=1").await;
    assert!(count == 0 && page.contains("No student fits<"), "{page}");

    // Who is named in full is found at once, and so is what fills a page.
    assert_eq!(found("/dashboard/students?q=Ada%40example.com").await.0, 1);
    let (count, page) = found(&format!("/dashboard/students?q={ada}")).await;
    assert!(count == 1 && !page.contains("looked through"), "{page}");
    let (count, page) = found("/dashboard/students?q=student").await;
    assert!(count == 25 && page.contains("Next page") && !page.contains("looked through"), "{page}");
}

#[tokio::test]
async fn a_filter_of_the_log_that_finds_little_ends_early() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses").await;
    key.get("/api/v1/courses?limit=7").await.assert_status(200);
    creator_api::domain::requests::flush(&app.app).await.unwrap();
    let browser = acme.signed_in().await;
    let logs = "/dashboard/developer/logs";
    assert!(html(&browser.get(&format!("{logs}?operation=listCourses")).await).contains("limit=7<"));

    let write = app.write().await;
    let ours = api_requests::in_workspace(acme.id.uuid());
    let one = first(&html(&browser.get(logs).await), "logs/(log_[a-z0-9]+)");
    let one: creator_api::id::LoggedRequestId = one.parse().unwrap();
    let one = ours.by_id(write.conn(), one.uuid()).await.unwrap().unwrap();
    let many = (0..LOOKED).map(|_| api_requests::Model {
        id: app.app.ids.next::<LoggedRequest>(app.clock.now()).uuid(),
        operation: Some("listOrders".to_owned()),
        received_at: one.received_at + 1,
        headers: StringMap::default(),
        ..one.clone()
    });
    api_requests::insert_many(write.conn(), many.collect()).await.unwrap();
    write.commit().await.unwrap();
    for query in ["operation=listCourses".to_owned(), format!("operation=listCourses&key={}", key.id)] {
        let page = html(&browser.get(&format!("{logs}?{query}")).await.assert_status(200));
        assert!(page.contains("No request fits so far") && !page.contains("limit=7<"), "{page}");
        let page = html(&browser.get(&format!("{logs}?{query}&far=1")).await.assert_status(200));
        assert!(page.contains("limit=7<"), "{page}");
    }
    // How far one would have to look for the key of others is nobody's business.
    let other = app.workspace("other").await.signed_in().await;
    let page = html(&other.get(&format!("{logs}?operation=listCourses&key={}", key.id)).await);
    assert!(page.contains("No request fits<"), "{page}");
}
