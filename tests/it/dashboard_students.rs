//! Students on the dashboard: search, enrollment, deletion, and isolation from other workspaces.

use serde_json::json;

use crate::support::TestApp;
use crate::support::browser::{csrf_token, first_match, html};
use crate::support::members::audit_entries;

const LIST: &str = "/dashboard/students";
/// Matches the link that revokes an enrollment.
const REVOKE_LINK: &str = "href=\"(/dashboard/students/[a-z0-9_]+/enrollments/enr_[a-z0-9]+/revoke)\"";

#[tokio::test]
async fn a_student_is_enrolled_and_loses_access() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let ink = workspace.course("ink", 2).await;
    let path = format!("{LIST}/{}", workspace.student("ada").await);
    let browser = workspace.owner_browser().await;
    assert!(html(&browser.get(&path).await).contains("No enrollments"));

    let enroll = format!("{path}/enroll");
    for (fields, message) in [
        (vec![("course", "")], "Course must be one of the listed values."),
        (vec![("course", &*ink), ("expires_at", "soon")], "Last day must be a date such as 2026-12-31."),
        (vec![("course", &*ink), ("expires_at", "2026-03-01")], "Last day must be later than"),
    ] {
        let rejected = html(&browser.submit(&enroll, &enroll, &fields).await.assert_status(422));
        assert!(rejected.contains(message), "{message}: {rejected}");
    }
    let fields = [("course", &*ink), ("expires_at", "2026-12-31")];
    browser.submit(&enroll, &enroll, &fields).await.assert_status(303);
    workspace.change("progress.record", json!({"student": "ada", "course": "ink", "lesson": "ink-1"})).await;
    let page = html(&browser.get(&path).await);
    for words in ["Enrolled the student in", "50%", "1 of 2 lessons", "manual", "2027-01-01 00:00:00<"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    browser.submit(&enroll, &enroll, &fields).await.assert_status(303);
    assert!(html(&browser.get(&path).await).contains("already has access to \u{201c}Course ink\u{201d}"));

    let revoke = first_match(&page, REVOKE_LINK);
    let long = "a".repeat(1001);
    let rejected = browser.submit(&revoke, &revoke, &[("reason", &long)]).await.assert_status(422);
    assert!(html(&rejected).contains("Reason must have at most 1000 characters."), "{}", html(&rejected));
    browser.submit(&revoke, &revoke, &[("reason", "asked for it")]).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(
        page.contains("Revoked access to") && page.contains(">revoked<") && !page.contains("/revoke\""),
        "{page}"
    );
    browser.get(&revoke).await.assert_status(303);
    let token = csrf_token(&browser.get(&path).await);
    browser.post(&revoke, &token, &[]).await.assert_status(303);
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 1);
    assert_eq!(app.events_of_type("enrollment.revoked").await.len(), 1);
    assert_eq!(
        audit_entries(&workspace).await[..2],
        [
            "owner@acme.example Revoked an enrollment Course ink",
            "owner@acme.example Enrolled a student Course ink"
        ]
    );
}

#[tokio::test]
async fn a_deleted_student_leaves_no_personal_data() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let path = format!("{LIST}/{}", workspace.student("ada").await);
    let browser = workspace.owner_browser().await;
    let delete = format!("{path}/delete");
    assert!(html(&browser.get(&delete).await).contains("Delete ada@example.com?"));
    browser.submit(&delete, &delete, &[]).await.assert_status(303);
    assert!(html(&browser.get(LIST).await).contains("Student deleted."));
    for deleted in [&path, &delete] {
        browser.get(deleted).await.assert_status(404);
    }
    let token = csrf_token(&browser.get(LIST).await);
    browser.post(&delete, &token, &[]).await.assert_status(404);
    assert_eq!(app.events_of_type("student.deleted").await.len(), 1);
    assert_eq!(audit_entries(&workspace).await[0], "owner@acme.example Deleted a student ");
}

#[tokio::test]
async fn students_are_searched_and_paginated() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let ink = workspace.course("ink", 1).await;
    for n in 0..30 {
        workspace.upsert_student(&format!("s{n:02}")).await;
    }
    workspace.change("enrollment.grant", json!({"student": "s03", "course": "ink"})).await;
    let named = json!({"key": "eve", "email": "eve@example.com", "name": "<img src=x> O'Neil"});
    workspace.change("student.upsert", named).await;
    let browser = workspace.owner_browser().await;
    let count = |page: &str| page.matches("class=\"name\"").count();
    let page = html(&browser.get(LIST).await);
    assert!(count(&page) == 25 && !page.contains("<img src"), "{page}");
    let next = first_match(&page, "href=\"([^\"]+)\" rel=\"next\"");
    assert_eq!(count(&html(&browser.get(&next).await.assert_status(200))), 6);
    let results = html(&browser.get("/dashboard/students?q=o%27neil").await);
    assert!(count(&results) == 1 && results.contains("eve@example.com"), "{results}");
    let enrolled = html(&browser.get(&format!("{LIST}?course={ink}")).await);
    assert!(count(&enrolled) == 1 && enrolled.contains("s03@example.com"), "{enrolled}");
    assert!(html(&browser.get("/dashboard/students?q=nobody").await).contains("No matching students"));
}

#[tokio::test]
async fn students_of_other_workspaces_are_not_found() {
    let app = TestApp::start().await;
    let theirs = app.workspace("theirs").await;
    let ink = theirs.course("ink", 1).await;
    let ada = theirs.student("ada").await;
    theirs.change("enrollment.grant", json!({"student": "ada", "course": "ink"})).await;
    let owner = theirs.owner_browser().await;
    let revoke = first_match(&html(&owner.get(&format!("{LIST}/{ada}")).await), REVOKE_LINK);

    let ours = app.workspace("ours").await;
    let (our_ink, bob) = (ours.course("ink", 1).await, ours.student("bob").await);
    let browser = ours.owner_browser().await;
    let token = csrf_token(&browser.get("/dashboard/settings").await);
    let path = format!("{LIST}/{ada}");
    for action in ["", "/enroll", "/delete"] {
        browser.get(&format!("{path}{action}")).await.assert_status(404);
    }
    browser.get(&revoke).await.assert_status(404);
    // This path combines our student with an enrollment of the other workspace.
    let mixed = revoke.replace(&ada, &bob);
    for (form, fields) in [
        (format!("{path}/enroll"), vec![("course", our_ink.as_str())]),
        (format!("{LIST}/{bob}/enroll"), vec![("course", ink.as_str())]),
        (format!("{path}/delete"), vec![]),
        (revoke.clone(), vec![]),
        (mixed, vec![]),
    ] {
        browser.post(&form, &token, &fields).await.assert_status(404);
    }
    let page = html(&owner.get(&path).await);
    assert!(page.contains(">active<"), "{page}");
    let entries = audit_entries(&theirs).await;
    assert!(
        entries.iter().all(|line| !line.contains("student") && !line.contains("enrollment")),
        "{entries:?}"
    );
}
