//! Creating students through the API: accepted fields, rejected fields, and events.

use futures_util::future::join_all;
use insta::assert_json_snapshot;
use serde_json::{Map, Value, json};

use crate::support::TestApp;
use crate::support::masked_ids::mask_ids;

const STUDENTS: &str = "/api/v1/students";

#[tokio::test]
async fn a_student_is_created_with_all_fields() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let response = key
        .post(
            STUDENTS,
            json!({
                "email": "Jonas.Weber@example.com", "name": "Jonas Weber", "external_id": "crm-4832",
                "tags": ["spring-cohort", "newsletter"], "metadata": {"account_manager": "Lena", "note": ""},
            }),
        )
        .await
        .assert_status(201);
    let student = response.json();
    assert_json_snapshot!(mask_ids(&student));
    assert_eq!(response.header("location"), format!("{STUDENTS}/{}", student["id"].as_str().unwrap()));
    assert_eq!(key.get(STUDENTS).await.json()["data"], json!([student]));

    let events = app.events_of_type("student.created").await;
    assert_eq!(events.len(), 1);
    let mut summary = student;
    summary.as_object_mut().unwrap().remove("enrollments");
    assert_eq!(events[0]["data"], summary);
    assert_eq!(events[0]["created_at"], summary["created_at"]);
}

#[tokio::test]
async fn an_email_is_enough_and_null_counts_as_absent() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let bare = key.post(STUDENTS, json!({"email": "a@b"})).await.assert_status(201).json();
    assert_eq!((&bare["name"], &bare["external_id"]), (&Value::Null, &Value::Null));
    assert_eq!((&bare["tags"], &bare["metadata"]), (&json!([]), &json!({})));
    let nulls = json!({"email": "c@d", "name": null, "external_id": null});
    let nulls = key.post(STUDENTS, nulls).await.assert_status(201).json();
    assert_eq!((&nulls["name"], &nulls["external_id"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn all_errors_of_a_body_are_reported_together() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let response = key
        .post(
            STUDENTS,
            json!({
                "email": "no at sign", "name": "", "external_id": 7, "tags": ["vip", "a\nb", "x".repeat(65), true],
                "metadata": {"": "x", "number": 5, "long": "x".repeat(501), "a/b~c": null}, "phone": "1", "enrollments": [],
            }),
        )
        .await;
    assert_eq!((response.status, response.code()), (422, "invalid_request".to_owned()));
    assert_json_snapshot!(json!({"message": response.message(), "errors": response.errors()}));
    assert!(key.get(STUDENTS).await.ids().is_empty());
    assert!(app.events_of_type("student.created").await.is_empty());
}

#[tokio::test]
async fn an_email_needs_exactly_one_at_sign_and_no_whitespace() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let long = format!("{}@example.com", "x".repeat(388));
    assert_eq!(long.len(), 400);
    let emails = [
        json!(""),
        json!("ada"),
        json!("@"),
        json!("@b"),
        json!("a@"),
        json!("a@b@c"),
        json!("a b@c"),
        json!("a@b\n"),
        json!("a@b\u{85}"),
        json!("a\u{0}@b"),
        json!(long),
        json!(7),
        json!(null),
        json!(["a@b"]),
        json!({"a": "b"}),
    ];
    for email in emails {
        let response = key.post(STUDENTS, json!({"email": email})).await;
        assert_eq!(response.status, 422, "{email}");
        assert!(
            response.error_locations().iter().all(|location| location == "body /email"),
            "{email}: {:?}",
            response.errors()
        );
    }
    key.post(STUDENTS, json!({})).await.assert_errors_at(&["body /email"]);

    let longest = format!("{}@example.com", "x".repeat(308));
    assert_eq!(longest.len(), 320);
    key.post(STUDENTS, json!({"email": longest})).await.assert_status(201);
    key.post(STUDENTS, json!({"email": format!("x{longest}")})).await.assert_errors_at(&["body /email"]);
}

#[tokio::test]
async fn an_email_is_unique_in_a_workspace_in_any_spelling() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;

    for (first, second) in
        [("Ada@Example.com", "ada@EXAMPLE.com"), ("jörg@exämple.com", "JöRG@xn--exmple-cua.com")]
    {
        let created = key.post(STUDENTS, json!({"email": first})).await.assert_status(201).json();
        assert_eq!(created["email"], first);
        for email in [first, second] {
            let other = json!({"email": email, "name": "Other"});
            key.post(STUDENTS, other).await.assert_errors_at(&["body /email"]);
        }
    }
    assert_eq!(key.get(STUDENTS).await.ids().len(), 2);
    assert_eq!(app.events_of_type("student.created").await.len(), 2);

    // Another workspace can use the same email address, and so can a new student after a deletion.
    let other = app.workspace("globex").await.key_with_all_scopes().await;
    other.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);
    let ada = key.get(&format!("{STUDENTS}?email=ada%40example.com")).await.ids().remove(0);
    workspace.change("student.delete", json!({"student": ada})).await;
    key.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_concurrent_calls_with_one_email_create_one_student() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let cases = ["ada@example.com", "ADA@example.com"];
    let responses = join_all((0..20).map(|n| key.post(STUDENTS, json!({"email": cases[n % 2]})))).await;
    let count = |status| responses.iter().filter(|response| response.status == status).count();
    assert_eq!((count(201), count(422)), (1, 19));
    assert_eq!(key.get(STUDENTS).await.ids().len(), 1);
    assert_eq!(app.events_of_type("student.created").await.len(), 1);
}

#[tokio::test]
async fn an_undeclared_or_mistyped_field_is_rejected_with_its_location() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let cases: [(&str, Value, &[&str]); 15] = [
        ("phone", json!("1"), &["body /phone"]),
        ("Name", json!("Ada"), &["body /Name"]),
        ("id", json!("stu_01khx04p34eqfah10jhpbrdmp2"), &["body /id"]),
        ("a/b~c", json!(1), &["body /a~1b~0c"]),
        ("name", json!(7), &["body /name"]),
        ("name", json!(false), &["body /name"]),
        ("name", json!("a\tb"), &["body /name"]),
        ("external_id", json!(["x"]), &["body /external_id"]),
        ("tags", json!("vip"), &["body /tags"]),
        ("tags", json!(null), &["body /tags"]),
        ("tags", json!(["vip", 7, null]), &["body /tags/1", "body /tags/2"]),
        ("tags", json!(["vip", "vip"]), &["body /tags"]),
        ("metadata", json!([]), &["body /metadata"]),
        ("metadata", json!({"a": {"b": "c"}}), &["body /metadata/a"]),
        ("metadata", json!({"a": 1, "b": true}), &["body /metadata/a", "body /metadata/b"]),
    ];
    for (name, value, error_locations) in cases {
        let mut body = Map::new();
        body.insert("email".to_owned(), json!("ada@example.com"));
        body.insert(name.to_owned(), value);
        key.post(STUDENTS, body.into()).await.assert_errors_at(error_locations);
    }
    let duplicates = r#"{"email": "a@b", "metadata": {"k": "1", "k": "1"}, "email": "c@d"}"#;
    key.post_bytes(STUDENTS, duplicates).await.assert_errors_at(&["body /metadata/k", "body /email"]);
    assert!(key.get(STUDENTS).await.ids().is_empty());
}

#[tokio::test]
async fn length_limits_are_exact() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    // Characters, not bytes: each of these has two or four bytes.
    let text = |length: usize| "é".repeat(length);
    let tags = |count: usize| json!((0..count).map(|n| format!("tag-{n}")).collect::<Vec<_>>());
    let keys = |count: usize| (0..count).map(|n| (format!("k{n}"), json!("v"))).collect::<Map<_, _>>().into();
    let entry = |key: String, value: String| Map::from_iter([(key, json!(value))]).into();
    let cases: [(&str, Value, Value, &str); 8] = [
        ("name", json!(text(200)), json!(text(201)), "/name"),
        ("external_id", json!(text(255)), json!(text(256)), "/external_id"),
        ("tags", tags(20), tags(21), "/tags"),
        ("tags", json!([text(64)]), json!([text(65)]), "/tags/0"),
        ("tags", json!(["x"]), json!([""]), "/tags/0"),
        ("metadata", keys(50), keys(51), "/metadata"),
        (
            "metadata",
            entry("k".to_owned(), "🎓".repeat(500)),
            entry("k".to_owned(), "🎓".repeat(501)),
            "/metadata/k",
        ),
        ("metadata", entry("k".repeat(40), String::new()), entry("k".repeat(41), String::new()), ""),
    ];
    for (number, (name, longest, too_long, pointer)) in cases.into_iter().enumerate() {
        let body = |value: Value| {
            let email = json!(format!("s{number}@example.com"));
            Value::Object(Map::from_iter([("email".to_owned(), email), (name.to_owned(), value)]))
        };
        let rejected = key.post(STUDENTS, body(too_long)).await;
        let pointer =
            if pointer.is_empty() { format!("/metadata/{}", "k".repeat(41)) } else { pointer.to_owned() };
        rejected.assert_errors_at(&[&format!("body {pointer}")]);
        let created = key.post(STUDENTS, body(longest.clone())).await.assert_status(201).json();
        assert_eq!(created[name], longest);
    }
    assert_eq!(key.get(STUDENTS).await.ids().len(), 8);
}
