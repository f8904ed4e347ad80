//! A workspace: applies changes and creates keys.

use domain::keys::{self, NewKey};
use domain::scope::{Scope, Scopes};
use domain::workspaces::{self, Quota};
use foundation::id::WorkspaceId;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::{Key, TestApp};

/// A workspace of a running server.
#[derive(Clone, Copy)]
pub struct Workspace<'a> {
    pub app: &'a TestApp,
    pub name: &'static str,
    pub id: WorkspaceId,
}

impl Workspace<'_> {
    /// Creates a key with these scopes and a quota that no test exhausts.
    pub async fn key(&self, scopes: &str) -> Key {
        self.key_with(scopes, Quota { per_minute: Some(100_000), per_day: Some(1_000_000) }, None).await
    }

    /// Creates a key with all scopes.
    pub async fn full_key(&self) -> Key {
        let all: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
        self.key(&all.join(" ")).await
    }

    /// Creates a key with the default quota.
    pub async fn plain_key(&self, scopes: &str) -> Key {
        self.key_with(scopes, Quota::default(), None).await
    }

    /// Creates a key with this quota and expiry.
    pub async fn key_with(&self, scopes: &str, quota: Quota, expires_at: Option<jiff::Timestamp>) -> Key {
        let scopes: Scopes = scopes.split_whitespace().map(|text| text.parse::<Scope>().unwrap()).collect();
        let new = NewKey { name: "story".to_owned(), scopes, quota, expires_at };
        let mut write = self.app.write().await;
        let (record, secret) = keys::create(&self.app.app, &mut write, self.id, new).await.unwrap();
        write.commit().await.unwrap();
        self.app.key_of(record.id.to_string(), secret.expose_secret().to_owned())
    }

    /// Sets the quota of the workspace.
    pub async fn set_quota(&self, quota: Quota) {
        let mut write = self.app.write().await;
        workspaces::set_quota(&self.app.app, &mut write, self.id, quota).await.unwrap();
        write.commit().await.unwrap();
    }

    /// Applies one change of this workspace, at the clock's time.
    pub async fn change(&self, change: &str, data: Value) {
        let at = self.app.clock.now().to_string();
        self.change_at(&at, change, data).await;
    }

    /// Applies one change that happened at `at`.
    pub async fn change_at(&self, at: &str, change: &str, data: Value) {
        let line = self.line(at, change, data);
        self.app.apply(&[line]).await;
    }

    /// Builds a change with a new id.
    pub fn line(&self, at: &str, change: &str, data: Value) -> Value {
        let id = format!("c-{}", self.app.next_change_number());
        json!({"change": change, "id": id, "workspace": self.name, "at": at, "data": data})
    }

    /// Creates a published course with one module of `lessons` lessons (`{key}-1`, `{key}-2`, ...) and returns its id.
    pub async fn course(&self, key: &str, lessons: usize) -> String {
        self.change("course.upsert", course(key, "published", lessons)).await;
        self.id_of("courses", key).await
    }

    /// Creates a student `{key}@example.com` and returns the id.
    pub async fn student(&self, key: &str) -> String {
        self.student_by_change(key).await;
        self.id_of("students", key).await
    }

    /// Creates a student by a change.
    pub async fn student_by_change(&self, key: &str) {
        self.change("student.upsert", json!({"key": key, "email": format!("{key}@example.com")})).await;
    }

    /// Finds the id of a published course or a student through the API.
    async fn id_of(&self, list: &str, key: &str) -> String {
        let path = match list {
            "courses" => format!("/api/v1/courses?slug={key}"),
            _ => format!("/api/v1/students?email={key}%40example.com"),
        };
        let found = self.full_key().await.get(&path).await.assert_status(200).ids();
        found.first().unwrap_or_else(|| panic!("{path} finds nothing")).clone()
    }
}

/// Returns the data of a `course.upsert` with one module of `lessons` lessons.
pub fn course(key: &str, status: &str, lessons: usize) -> Value {
    let lessons: Vec<Value> = (1..=lessons)
        .map(|n| json!({"key": format!("{key}-{n}"), "title": format!("Lesson {n}"), "type": "video", "duration_seconds": 60}))
        .collect();
    json!({
        "key": key, "slug": key, "title": format!("Course {key}"), "status": status,
        "modules": [{"key": format!("{key}-m"), "title": "Module", "lessons": lessons}],
    })
}
