//! The list of courses and the details of one course.

use std::time::Duration;

use domain::courses;
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::support::conformance::assert_error;
use crate::support::masked_ids::mask_ids;
use crate::support::{TestApp, TestResponse, TestWorkspace, course_data};

const COURSES: &str = "/api/v1/courses";
const ABSENT: &str = "crs_01k424mh00e2mbrajjfteg1k8f";

#[tokio::test]
async fn only_published_courses_are_listed() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let rust = workspace.course("rust", 2).await;
    workspace.change("course.upsert", course_data("soon", "draft", 1)).await;
    workspace.course("old", 1).await;
    workspace.change("course.upsert", course_data("old", "archived", 1)).await;

    assert_eq!(key.get(COURSES).await.assert_status(200).ids(), [rust]);
    assert!(key.get(&format!("{COURSES}?slug=old")).await.assert_status(200).ids().is_empty());
    assert!(key.get(&format!("{COURSES}?slug=soon")).await.assert_status(200).ids().is_empty());
}

#[tokio::test]
async fn an_archived_course_can_be_read_by_id_and_a_draft_cannot() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let old = workspace.course("old", 1).await;
    workspace.change("course.upsert", course_data("old", "archived", 1)).await;
    workspace.change("course.upsert", course_data("soon", "draft", 1)).await;
    let soon = app.course_id(&workspace, "soon").await;

    let archived = key.get(&format!("{COURSES}/{old}")).await.assert_status(200).json();
    assert_eq!((&archived["id"], &archived["status"]), (&json!(old), &json!("archived")));

    let draft = key.get(&format!("{COURSES}/{soon}")).await;
    let absent = key.get(&format!("{COURSES}/{ABSENT}")).await;
    assert_error(&draft, 404, "not_found");
    assert_eq!(without_request_id(&draft), without_request_id(&absent));

    // The course is published, and changed back to a draft.
    workspace.change("course.upsert", course_data("soon", "published", 1)).await;
    key.get(&format!("{COURSES}/{soon}")).await.assert_status(200);
    workspace.change("course.upsert", course_data("soon", "draft", 1)).await;
    key.get(&format!("{COURSES}/{soon}")).await.assert_status(404);
}

#[tokio::test]
async fn a_course_is_read_consistently_while_it_changes() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let rust = workspace.course("rust", 1).await.parse().unwrap();
    let changes = async {
        for round in 0..60 {
            workspace.change("course.upsert", course_data("rust", "published", 1 + round % 4)).await;
        }
    };
    let reads = async {
        loop {
            let read = courses::get_any_status(&app.app, workspace.id, rust).await.unwrap();
            let lessons: usize = read.modules.iter().map(|module| module.lessons.len()).sum();
            assert_eq!(i32::try_from(lessons).unwrap(), read.course.lesson_count);
        }
    };
    tokio::select! { () = changes => {}, () = reads => {} }
}

/// Returns an error body without the request id.
fn without_request_id(response: &TestResponse) -> Value {
    let mut body = response.json();
    body["error"]["request_id"].take();
    body
}

/// Returns the data of a course with all fields.
fn complete_course() -> Value {
    json!({
        "key": "ink", "slug": "ink-and-line", "title": "Ink and Line", "status": "published",
        "description": "From the first stroke to a finished page.", "language": "pt-BR",
        "image_url": "https://media.example.com/ink.jpg", "url": "https://academy.example.com/ink",
        "price": {"amount": 4900, "currency": "EUR"},
        "modules": [
            {"key": "m1", "title": "Materials", "lessons": [
                {"key": "l1", "title": "Paper", "type": "video", "duration_seconds": 960, "free_preview": true},
                {"key": "l2", "title": "Shopping list", "type": "download"},
            ]},
            {"key": "m2", "title": "Lines", "lessons": [
                {"key": "l3", "title": "A straight line", "type": "assignment", "duration_seconds": 1800},
            ]},
            {"key": "m3", "title": "Still to come", "lessons": []},
        ],
    })
}

#[tokio::test]
async fn a_course_is_returned_with_its_modules_and_lessons() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    workspace.change_at("2026-01-10T08:00:00+01:00", "course.upsert", complete_course()).await;
    let id = app.course_id(&workspace, "ink").await;

    let mut detail = key.get(&format!("{COURSES}/{id}")).await.assert_status(200).json();
    assert_json_snapshot!(mask_ids(&detail));

    detail.as_object_mut().expect("a course is an object").remove("modules");
    assert_eq!(key.get(COURSES).await.json()["data"], json!([detail]));
}

#[tokio::test]
async fn modules_and_lessons_keep_their_ids_when_they_move() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    workspace.change("course.upsert", complete_course()).await;
    let path = format!("{COURSES}/{}", app.course_id(&workspace, "ink").await);
    let before = key.get(&path).await.json();

    let mut moved = complete_course();
    moved["modules"].as_array_mut().expect("modules are a list").reverse();
    let lessons = moved["modules"][2]["lessons"].take();
    moved["modules"][2]["lessons"] = json!([lessons[1]]);
    moved["modules"][0]["lessons"] = json!([lessons[0]]);
    app.clock.advance(Duration::from_secs(1));
    workspace.change("course.upsert", moved).await;

    let moved_course = key.get(&path).await.json();
    // The ids of each module, followed by those of its lessons.
    let ids_by_module = |course: &Value| -> Vec<Vec<Value>> {
        let modules = course["modules"].as_array().expect("modules are a list");
        let ids = |module: &Value| {
            let lessons = module["lessons"].as_array().expect("lessons are a list").iter();
            std::iter::once(module["id"].clone()).chain(lessons.map(|lesson| lesson["id"].clone())).collect()
        };
        modules.iter().map(ids).collect()
    };
    let (before, after) = (ids_by_module(&before), ids_by_module(&moved_course));
    assert_eq!(after[0], [before[2][0].clone(), before[0][1].clone()]);
    assert_eq!(after[1], before[1]);
    assert_eq!(after[2], [before[0][0].clone(), before[0][2].clone()]);
    let positions = moved_course["modules"].as_array().expect("modules are a list").iter();
    assert_eq!(positions.map(|module| module["position"].clone()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(moved_course["updated_at"], "2026-03-02T10:00:31.000Z");
}

#[tokio::test]
async fn an_upsert_keeps_absent_fields_and_clears_null_fields() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    workspace.change("course.upsert", complete_course()).await;
    let path = format!("{COURSES}/{}", app.course_id(&workspace, "ink").await);
    let before = key.get(&path).await.json();

    let bare = json!({"key": "ink", "slug": "ink-and-line", "title": "Ink and Line", "status": "published"});
    workspace.change("course.upsert", bare.clone()).await;
    assert_eq!(key.get(&path).await.json(), before);

    let mut cleared = bare;
    for name in ["description", "language", "image_url", "url", "price"] {
        cleared[name] = Value::Null;
    }
    cleared["modules"] = json!([]);
    workspace.change("course.upsert", cleared).await;
    let after = key.get(&path).await.json();
    for name in ["description", "language", "image_url", "url", "price"] {
        assert!(after[name].is_null(), "{name}: {after}");
    }
    assert_eq!(after["modules"], json!([]));
    assert_eq!((&after["lesson_count"], &after["duration_seconds"]), (&json!(0), &json!(0)));
}

/// Creates a published course and returns its id. Its `created_at` is `at`, its `updated_at` the time of the clock. Then
/// advances the clock by one second, so that the next course has a later `updated_at`.
async fn create_course(workspace: &TestWorkspace<'_>, key: &str, at: &str, language: Option<&str>) -> String {
    let mut data = course_data(key, "published", 1);
    data["language"] = json!(language);
    workspace.change_at(at, "course.upsert", data).await;
    workspace.app.clock.advance(Duration::from_secs(1));
    workspace.app.course_id(workspace, key).await
}

#[tokio::test]
async fn courses_are_sorted_as_requested() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let a = create_course(&workspace, "a", "2026-01-03T00:00:00Z", None).await;
    let b = create_course(&workspace, "b", "2026-01-01T00:00:00Z", None).await;
    let c = create_course(&workspace, "c", "2026-01-02T00:00:00Z", None).await;

    let cases = [
        ("sort=created_at", vec![&b, &c, &a]),
        ("sort=-created_at", vec![&a, &c, &b]),
        ("limit=100", vec![&a, &c, &b]),
        ("sort=updated_at", vec![&a, &b, &c]),
        ("sort=-updated_at", vec![&c, &b, &a]),
        ("created_after=2026-01-02T00:00:00Z", vec![&a, &c]),
        ("created_before=2026-01-02T00:00:00Z", vec![&b]),
        ("created_after=2026-01-02T01:00:00%2B01:00&created_before=2026-01-03T00:00:00Z", vec![&c]),
        ("updated_after=2026-03-02T10:00:31Z&sort=updated_at", vec![&b, &c]),
        ("updated_before=2026-03-02T10:00:31Z", vec![&a]),
    ];
    for (query, ids) in cases {
        let read = key.get(&format!("{COURSES}?{query}")).await.assert_status(200).ids();
        assert_eq!(read.iter().collect::<Vec<_>>(), ids, "{query}");
    }
}

#[tokio::test]
async fn courses_are_filtered_by_slug_and_language() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let en = create_course(&workspace, "first", "2026-01-01T00:00:00Z", Some("en")).await;
    let gb = create_course(&workspace, "second", "2026-01-02T00:00:00Z", Some("en-GB")).await;
    create_course(&workspace, "third", "2026-01-03T00:00:00Z", None).await;

    let cases: [(&str, &[&String]); 7] = [
        ("slug=first", &[&en]),
        ("slug=firs", &[]),
        ("language=en", &[&en]),
        ("language=EN", &[&en]),
        ("language=en-gb", &[&gb]),
        ("language=de", &[]),
        ("language=en&slug=second", &[]),
    ];
    for (query, ids) in cases {
        let read = key.get(&format!("{COURSES}?{query}")).await.assert_status(200).ids();
        assert_eq!(read.iter().collect::<Vec<_>>(), ids, "{query}");
    }
}

#[tokio::test]
async fn a_course_of_another_workspace_gets_the_same_error_as_an_absent_one() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:courses").await;
    let foreign = app.workspace("globex").await.course("rust", 1).await;

    let absent = key.get(&format!("{COURSES}/{ABSENT}")).await;
    let foreign_response = key.get(&format!("{COURSES}/{foreign}")).await;
    assert_eq!(assert_error(&absent, 404, "not_found"), "No such course in this workspace.");
    assert_eq!(without_request_id(&absent), without_request_id(&foreign_response));
    assert!(key.get(COURSES).await.ids().is_empty());
}

#[tokio::test]
async fn an_invalid_id_or_one_of_another_type_is_not_found_with_a_hint() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:courses").await;

    let mut messages = Vec::new();
    let upper = ABSENT.to_uppercase();
    let long = "x".repeat(500);
    for id in [
        "ord_01khdps1znf0yt63fefph15bgz",
        "stu_01kerv87j8fgjt30swgcw4scc1",
        "nonsense",
        "crs_01k424mh00e2mbrajjfteg1k8",
        "crs_81k424mh00e2mbrajjfteg1k8f",
        "crs_01k424mh00e2mbrajjfteg1k8u",
        &upper,
        "01994041-4400-7101-bc29-529d9ed0c44f",
        "%00",
        "caf%C3%A9",
        &long,
    ] {
        let response = key.get(&format!("{COURSES}/{id}")).await;
        messages.push(format!("{}: {}", &id[..id.len().min(40)], assert_error(&response, 404, "not_found")));
    }
    insta::assert_json_snapshot!(messages);
}
