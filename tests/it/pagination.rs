//! Pagination: pages, cursors, sorting, and the parameters that a cursor is bound to.

use std::time::Duration;

use serde_json::json;

use crate::support::{TestApp, TestWorkspace};

const STUDENTS: &str = "/api/v1/students";

/// Creates seven students at intervals of a second; `s0` is the oldest.
async fn create_seven_students(workspace: &TestWorkspace<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    for n in 0..7 {
        ids.push(workspace.student(&format!("s{n}")).await);
        workspace.app.clock.advance(Duration::from_secs(1));
    }
    ids
}

#[tokio::test]
async fn pages_are_sorted_newest_first_and_end_with_a_null_cursor() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let ids = create_seven_students(&workspace).await;
    let key = workspace.key("read:students").await;

    let first = key.get("/api/v1/students?limit=3").await.assert_status(200);
    assert_eq!(first.ids(), [&*ids[6], &ids[5], &ids[4]]);
    let cursor = first.cursor().expect("there is a next page");
    assert_eq!(first.header("link"), format!("</api/v1/students?limit=3&cursor={cursor}>; rel=\"next\""));

    // The page size may change from page to page.
    let second = key.get(&format!("{STUDENTS}?limit=4&cursor={cursor}")).await.assert_status(200);
    assert_eq!(second.ids(), [&*ids[3], &ids[2], &ids[1], &ids[0]]);
    assert_eq!(second.cursor(), None);
    assert_eq!(second.header("link"), "");
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat_rows_when_rows_change() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let ids = create_seven_students(&workspace).await;
    let key = workspace.key("read:students").await;

    let first = key.get("/api/v1/students?limit=3").await.assert_status(200);
    let cursor = first.cursor().expect("there is a next page");
    // The last item of the first page is deleted, and a new one is created before it.
    workspace.change("student.delete", json!({"student": ids[4]})).await;
    workspace.student("newcomer").await;

    let second = key.get(&format!("{STUDENTS}?limit=100&cursor={cursor}")).await.assert_status(200);
    assert_eq!(second.ids(), [&*ids[3], &ids[2], &ids[1], &ids[0]]);
}

#[tokio::test]
async fn rows_with_the_same_time_are_each_returned_once() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let mut ids = Vec::new();
    for n in 0..9 {
        ids.push(workspace.student(&format!("student{n}")).await);
    }
    let key = workspace.key("read:students").await;
    for sort in ["created_at", "-created_at"] {
        let read = key.list_all(&format!("{STUDENTS}?limit=2&sort={sort}")).await;
        let mut read: Vec<String> =
            read.iter().map(|student| student["id"].as_str().unwrap().to_owned()).collect();
        read.sort();
        ids.sort();
        assert_eq!(read, ids, "{sort}");
    }
}

#[tokio::test]
async fn a_cursor_is_rejected_with_other_parameters_or_in_another_workspace() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    create_seven_students(&workspace).await;
    let key = workspace.key_with_all_scopes().await;
    let cursor = key.get("/api/v1/students?limit=2").await.cursor().expect("there is a next page");

    let foreign_key = app.workspace("globex").await.key_with_all_scopes().await;
    foreign_key.get(&format!("{STUDENTS}?cursor={cursor}")).await.assert_errors_at(&["query cursor"]);

    let truncated = &cursor[..cursor.len() - 1];
    let other_first = if cursor.starts_with('A') { 'B' } else { 'A' };
    let forged = format!("{other_first}{}", &cursor[1..]);
    let paths = [
        format!("/api/v1/courses?cursor={cursor}"),
        format!("{STUDENTS}?cursor={cursor}&tag=vip"),
        format!("{STUDENTS}?cursor={cursor}&sort=created_at"),
        format!("{STUDENTS}?cursor={truncated}"),
        format!("{STUDENTS}?cursor={forged}"),
        format!("{STUDENTS}?cursor=nonsense"),
    ];
    for path in paths {
        key.get(&path).await.assert_errors_at(&["query cursor"]);
    }
    key.get(&format!("{STUDENTS}?cursor={cursor}&limit=50")).await.assert_status(200);
}

#[tokio::test]
async fn an_invalid_parameter_is_named() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let cases = [
        ("/api/v1/students?limit=0", "query limit"),
        ("/api/v1/students?limit=101", "query limit"),
        ("/api/v1/students?limit=-1", "query limit"),
        ("/api/v1/students?limit=1e2", "query limit"),
        ("/api/v1/students?limit=", "query limit"),
        ("/api/v1/students?limit=99999999999999999999", "query limit"),
        ("/api/v1/students?limit=5&limit=6", "query limit"),
        ("/api/v1/students?cursor=", "query cursor"),
        ("/api/v1/students?sort=name", "query sort"),
        ("/api/v1/students?sort=paid_at", "query sort"),
        ("/api/v1/students?page=2", "query page"),
        ("/api/v1/students?Limit=2", "query Limit"),
        ("/api/v1/students?created_after=2026-03-01T00:00:00", "query created_after"),
        ("/api/v1/students?created_after=2026-03-01", "query created_after"),
        ("/api/v1/students?created_after=2026-02-30T00:00:00Z", "query created_after"),
        ("/api/v1/students?courseId=crs_nope", "query courseId"),
        ("/api/v1/students?courseId=ord_01k424mh00e2mbrajjfteg1k8f", "query courseId"),
        ("/api/v1/students?enrollment_status=paused", "query enrollment_status"),
        ("/api/v1/students?email=nobody", "query email"),
        ("/api/v1/students?tag=%FF", "query tag"),
        ("/api/v1/students?tag=%00", "query tag"),
        ("/api/v1/orders?status=open", "query status"),
        ("/api/v1/orders?currency=usd", "query currency"),
        ("/api/v1/courses?slug=Not%20a%20slug", "query slug"),
    ];
    for (path, location) in cases {
        let response = key.get(path).await;
        assert_eq!((response.status, response.error_locations()), (422, vec![location.to_owned()]), "{path}");
    }
}

#[tokio::test]
async fn all_errors_of_a_query_are_reported_together() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let response = key.get("/api/v1/orders?limit=500&sort=number&color=red&paid_after=yesterday").await;
    assert_eq!(response.status, 422);
    insta::assert_json_snapshot!(response.json()["error"]["details"]);
}

#[tokio::test]
async fn a_filter_by_an_absent_id_gives_an_empty_page() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let absent = "crs_01k424mh00e2mbrajjfteg1k8f";
    for list in ["students", "orders"] {
        let page = key.get(&format!("/api/v1/{list}?courseId={absent}")).await.assert_status(200);
        assert_eq!(page.json(), json!({"data": [], "pagination": {"cursor": null, "has_more": false}}));
    }
}
