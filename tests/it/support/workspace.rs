//! A workspace of a test: creates keys, courses and students, and applies changes.

use domain::keys::{self, NewKey};
use domain::sandbox;
use domain::scope::{Scope, Scopes};
use domain::workspaces::{self, Quota};
use foundation::id::WorkspaceId;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::{TestApp, TestKey};

/// A workspace of a running server.
#[derive(Clone, Copy)]
pub struct TestWorkspace<'a> {
    pub app: &'a TestApp,
    /// The key and the display name of the workspace.
    pub name: &'static str,
    pub id: WorkspaceId,
}

impl TestApp {
    /// Returns the workspace with this key, whose data is for tests. Creates it if it does not exist.
    pub async fn sandbox(&self, name: &'static str) -> TestWorkspace<'_> {
        let workspace = self.workspace(name).await;
        let write = self.begin_write().await;
        sandbox::mark_as_test(&write, workspace.id).await.expect("a change");
        write.commit().await.expect("a commit");
        workspace
    }
}

impl TestWorkspace<'_> {
    /// Creates an API key with these scopes, separated by spaces, and a quota that no test exhausts.
    pub async fn key(&self, scopes: &str) -> TestKey {
        self.key_with_quota(scopes, Quota { per_minute: Some(100_000), per_day: Some(1_000_000) }, None).await
    }

    /// Creates an API key with all scopes, and a quota that no test exhausts.
    pub async fn key_with_all_scopes(&self) -> TestKey {
        let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
        self.key(&scopes.join(" ")).await
    }

    /// Creates an API key with the default quota.
    pub async fn key_with_default_quota(&self, scopes: &str) -> TestKey {
        self.key_with_quota(scopes, Quota::default(), None).await
    }

    /// Creates an API key with this quota and expiry; it never expires if `expires_at` is `None`.
    pub async fn key_with_quota(
        &self,
        scopes: &str,
        quota: Quota,
        expires_at: Option<jiff::Timestamp>,
    ) -> TestKey {
        let scopes: Scopes = scopes.split_whitespace().map(|scope| scope.parse::<Scope>().unwrap()).collect();
        let new = NewKey { name: "billing".to_owned(), scopes, quota, expires_at, networks: Vec::new() };
        let mut write = self.app.begin_write().await;
        let (record, secret) = keys::create(&self.app.app, &mut write, self.id, new).await.unwrap();
        write.commit().await.unwrap();
        self.app.key_with_secret(record.id.to_string(), secret.expose_secret().to_owned())
    }

    /// Sets the quota of the workspace.
    pub async fn set_quota(&self, quota: Quota) {
        let mut write = self.app.begin_write().await;
        workspaces::set_quota(&self.app.app, &mut write, self.id, quota).await.unwrap();
        write.commit().await.unwrap();
    }

    /// Applies one change of the change feed to this workspace, at the clock's time. `change` is its kind, for example
    /// `course.upsert`.
    pub async fn change(&self, change: &str, data: Value) {
        let at = self.app.clock.now().to_string();
        self.change_at(&at, change, data).await;
    }

    /// Applies one change that happened at `at`.
    pub async fn change_at(&self, at: &str, change: &str, data: Value) {
        let change = self.build_change(at, change, data);
        self.app.apply(&[change]).await;
    }

    /// Builds a change with a new id, as JSON.
    pub fn build_change(&self, at: &str, change: &str, data: Value) -> Value {
        let id = format!("c-{}", self.app.next_change_number());
        json!({"change": change, "id": id, "workspace": self.name, "at": at, "data": data})
    }

    /// Creates a published course and returns its id. It has one module with `lessons` lessons: `{key}-1`, `{key}-2`,
    /// and so on.
    pub async fn course(&self, key: &str, lessons: usize) -> String {
        self.upsert_course(key, lessons).await;
        self.id_of("courses", key).await
    }

    /// Creates a course like [`course`](Self::course), but does not look up the id.
    pub async fn upsert_course(&self, key: &str, lessons: usize) {
        self.change("course.upsert", course_data(key, "published", lessons)).await;
    }

    /// Creates a student with the email address `{key}@example.com` and returns the id.
    pub async fn student(&self, key: &str) -> String {
        self.upsert_student(key).await;
        self.id_of("students", key).await
    }

    /// Creates a student like [`student`](Self::student), but does not look up the id.
    pub async fn upsert_student(&self, key: &str) {
        self.change("student.upsert", json!({"key": key, "email": format!("{key}@example.com")})).await;
    }

    /// Looks up the id of a published course or of a student through the API. `list` is `courses` or `students`.
    async fn id_of(&self, list: &str, key: &str) -> String {
        let path = match list {
            "courses" => format!("/api/v1/courses?slug={key}"),
            _ => format!("/api/v1/students?email={key}%40example.com"),
        };
        let ids = self.key_with_all_scopes().await.get(&path).await.assert_status(200).ids();
        ids.first().unwrap_or_else(|| panic!("{path} has no items")).clone()
    }
}

/// Returns the data of a `course.upsert` with one module of `lessons` lessons.
pub fn course_data(key: &str, status: &str, lessons: usize) -> Value {
    let lessons: Vec<Value> = (1..=lessons)
        .map(|n| json!({"key": format!("{key}-{n}"), "title": format!("Lesson {n}"), "type": "video", "duration_seconds": 60}))
        .collect();
    json!({
        "key": key, "slug": key, "title": format!("Course {key}"), "status": status,
        "modules": [{"key": format!("{key}-m"), "title": "Module", "lessons": lessons}],
    })
}
