//! Tests access to a course against a model of its rules: orders, grants and revocations in any order.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::support::{Key, TestApp, Workspace};

/// The end of a grant in days after the start; `None` for no end.
type End = Option<i64>;

/// One event that affects the access of a student.
#[derive(Debug, Clone, Copy)]
enum AccessStep {
    Pay,
    /// Refunds the n-th order that was paid.
    Refund(usize),
    Revoke,
    Grant(End),
    /// The API's `createEnrollment`.
    Enroll(End),
    /// Completes every lesson of the course.
    Complete,
    /// Waits for this number of hours.
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<AccessStep>> {
    let end = prop_oneof![1 => Just(None), 4 => (1_i64..12).prop_map(Some)];
    let step = prop_oneof![
        3 => Just(AccessStep::Pay),
        3 => (0_usize..4).prop_map(AccessStep::Refund),
        2 => Just(AccessStep::Revoke),
        5 => end.clone().prop_map(AccessStep::Grant),
        1 => end.prop_map(AccessStep::Enroll),
        1 => Just(AccessStep::Complete),
        2 => (1_u64..72).prop_map(AccessStep::Wait),
    ];
    prop::collection::vec(step, 1..14)
}

/// A simple model of the access rules. Times are days after the start.
#[derive(Debug, Default)]
struct AccessModel {
    /// The orders that were paid, and whether each still counts.
    orders: Vec<bool>,
    /// The latest end of the grants that count; `None` without a grant.
    granted: Option<End>,
    completed: Option<f64>,
    was_enrolled: bool,
    created: usize,
    revoked: usize,
}

impl AccessModel {
    fn is_bought(&self) -> bool {
        self.orders.contains(&true)
    }

    fn has_access(&self, now: f64) -> bool {
        let is_granted = |end: End| end.is_none_or(|end| end as f64 > now) || self.completed.is_some();
        self.is_bought() || self.granted.is_some_and(is_granted)
    }

    /// Returns status and end as the API shows them; `None` before the first enrollment.
    fn visible_access(&self, now: f64) -> Option<(&'static str, End)> {
        match self.granted {
            _ if !self.was_enrolled => None,
            _ if self.is_bought() => Some((self.with_access(), None)),
            Some(end) if self.has_access(now) => Some((self.with_access(), end)),
            Some(end) => Some(("expired", end)),
            None => Some(("revoked", None)),
        }
    }

    fn with_access(&self) -> &'static str {
        if self.completed.is_some() { "completed" } else { "active" }
    }

    fn gains_access(&mut self, now: f64) {
        self.created += usize::from(!self.has_access(now));
        self.was_enrolled = true;
    }

    fn apply(&mut self, step: AccessStep, now: f64) {
        match step {
            AccessStep::Pay => {
                self.gains_access(now);
                self.orders.push(true);
            }
            AccessStep::Refund(order) => {
                let Some(counts) = self.orders.get_mut(order) else { return };
                let did = std::mem::replace(counts, false);
                // After a refund, access that was completed through the order alone ends.
                let gives =
                    |end: i64| end as f64 > now || self.completed.is_some_and(|done| done < end as f64);
                let is_granted = self.granted.is_some_and(|end| end.is_none_or(gives));
                if did && !self.is_bought() && !is_granted {
                    self.revoked += 1;
                    self.granted = None;
                }
            }
            AccessStep::Revoke if self.was_enrolled => {
                let is_revoked = !self.is_bought() && self.granted.is_none();
                self.revoked += usize::from(!is_revoked);
                self.orders.fill(false);
                self.granted = None;
            }
            AccessStep::Grant(end) => {
                self.gains_access(now);
                self.granted = Some(match (self.granted, end) {
                    (Some(Some(before)), Some(end)) => Some(before.max(end)),
                    (None, end) => end,
                    _ => None,
                });
            }
            AccessStep::Enroll(_) if self.has_access(now) => {}
            AccessStep::Enroll(end) => {
                self.gains_access(now);
                self.granted = Some(end);
            }
            AccessStep::Complete => self.completed = self.completed.or(Some(now)),
            AccessStep::Revoke | AccessStep::Wait(_) => {}
        }
    }
}

/// One student of a workspace, and the time since the start of the case.
struct AccessCase<'a> {
    workspace: Workspace<'a>,
    key: &'a Key,
    student: String,
    student_id: String,
    course_id: &'a str,
    began: jiff::Timestamp,
}

impl AccessCase<'_> {
    fn now(&self) -> f64 {
        (self.workspace.app.clock.now() - self.began).total(jiff::Unit::Hour).expect("hours") / 24.0
    }

    fn time(&self, end: End) -> Value {
        end.map_or(Value::Null, |days| {
            json!((self.began + jiff::SignedDuration::from_hours(days * 24)).to_string())
        })
    }

    /// Applies a step to the server and to the model. A step that the server rejects does not change the model.
    async fn run(&self, step: AccessStep, model: &mut AccessModel) {
        let now = self.now();
        let line = |kind: &str, data: Value| {
            self.workspace.line(&self.workspace.app.clock.now().to_string(), kind, data).to_string()
        };
        let pair = json!({"student": self.student, "course": "rust"});
        let with_end = |mut data: Value, end: End| {
            if end.is_some() {
                data["expires_at"] = self.time(end);
            }
            data
        };
        let order = |n: usize| format!("{}-{n}", self.student);
        let line = match step {
            AccessStep::Wait(hours) => {
                return self.workspace.app.clock.advance(Duration::from_secs(hours * 3600));
            }
            AccessStep::Enroll(end) => {
                let body = json!({"studentId": self.student_id, "courseId": self.course_id});
                let response = self.key.post("/api/v1/enrollments", with_end(body, end)).await;
                if response.status != 422 {
                    model.apply(step, now);
                }
                return;
            }
            AccessStep::Pay => {
                let number = order(model.orders.len());
                let items = json!([{"course": "rust", "unit_amount": 4900}]);
                let data = json!({
                    "key": number, "number": number, "student": self.student, "currency": "EUR", "items": items,
                });
                line("order.pay", data)
            }
            AccessStep::Refund(n) => line("order.refund", json!({"order": order(n)})),
            AccessStep::Revoke => line("enrollment.revoke", pair),
            AccessStep::Grant(end) => line("enrollment.grant", with_end(pair, end)),
            AccessStep::Complete => {
                let lesson = |lesson: &str| {
                    let mut data = pair.clone();
                    data["lesson"] = json!(lesson);
                    line("progress.record", data)
                };
                format!("{}\n{}", lesson("rust-1"), lesson("rust-2"))
            }
        };
        let (outcome, _) = self.workspace.app.try_apply(&line).await;
        if outcome.applied > 0 {
            model.apply(step, now);
        }
    }

    async fn visible_access(&self) -> Option<(String, Value)> {
        let path = format!("/api/v1/students?email={}%40example.com", self.student);
        let student = self.key.get(&path).await.assert_status(200).json();
        let enrollment = &student["data"][0]["enrollments"][0];
        Some((enrollment["status"].as_str()?.to_owned(), enrollment["expires_at"].clone()))
    }

    async fn events(&self, kind: &str) -> usize {
        let of_student = |event: &&Value| event["data"]["studentId"] == *self.student_id;
        self.workspace.app.events_of(kind).await.iter().filter(of_student).count()
    }
}

async fn check(app: &TestApp, key: &Key, course_id: &str, steps: &[AccessStep]) {
    let workspace = app.workspace("acme").await;
    let student = format!("s{}", app.next_change_number());
    let student_id = workspace.student(&student).await;
    let case = AccessCase { workspace, key, student, student_id, course_id, began: app.clock.now() };
    let mut model = AccessModel::default();
    for (number, step) in steps.iter().enumerate() {
        case.run(*step, &mut model).await;
        let visible_access = case.visible_access().await;
        let expected = model.visible_access(case.now());
        let status = |visible_access: &Option<(String, Value)>| {
            visible_access.as_ref().map(|(status, _)| status.clone())
        };
        assert_eq!(
            status(&visible_access),
            expected.map(|(status, _)| status.to_owned()),
            "after step {number} of {steps:?}"
        );
        // The end of a revoked enrollment is irrelevant.
        if let (Some((_, end)), Some((status, expected))) = (visible_access, expected)
            && status != "revoked"
        {
            let parse =
                |time: &Value| time.as_str().map(|time| time.parse::<jiff::Timestamp>().expect("a time"));
            assert_eq!(parse(&end), parse(&case.time(expected)), "after step {number} of {steps:?}");
        }
    }
    assert_eq!(case.events("enrollment.created").await, model.created, "{steps:?}");
    assert_eq!(case.events("enrollment.revoked").await, model.revoked, "{steps:?}");
}

#[test]
fn access_follows_from_orders_grants_and_revocations() {
    let cases = std::env::var("ACCESS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(48);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (app, key, course_id) = runtime.block_on(async {
        let app = TestApp::start().await;
        let workspace = app.workspace("acme").await;
        let (key, course_id) = (workspace.full_key().await, workspace.course("rust", 2).await);
        (app, key, course_id)
    });
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        runtime.block_on(check(&app, &key, &course_id, &steps));
        Ok(())
    });
    let _entered = runtime.enter();
    drop(app);
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test]
async fn the_latest_grant_applies_after_a_revoked_order() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (key, course_id) = (workspace.full_key().await, workspace.course("rust", 2).await);
    let steps = [AccessStep::Pay, AccessStep::Revoke, AccessStep::Grant(Some(5)), AccessStep::Grant(Some(9))];
    check(&app, &key, &course_id, &steps).await;
}

#[tokio::test]
async fn a_refund_keeps_granted_access_and_a_revocation_revokes_entitlements() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (key, course_id) = (workspace.full_key().await, workspace.course("rust", 2).await);
    check(&app, &key, &course_id, &[AccessStep::Grant(Some(5)), AccessStep::Pay, AccessStep::Refund(0)])
        .await;
    check(&app, &key, &course_id, &[AccessStep::Pay, AccessStep::Grant(None), AccessStep::Refund(0)]).await;
    let completed = [
        AccessStep::Grant(Some(1)),
        AccessStep::Pay,
        AccessStep::Wait(48),
        AccessStep::Complete,
        AccessStep::Refund(0),
    ];
    check(&app, &key, &course_id, &completed).await;
    check(&app, &key, &course_id, &[AccessStep::Pay, AccessStep::Pay, AccessStep::Revoke]).await;
    let orders = key.all("/api/v1/orders").await;
    let statuses: BTreeMap<&str, usize> = orders.iter().fold(BTreeMap::new(), |mut counts, order| {
        *counts.entry(order["entitlements"][0]["status"].as_str().expect("a status")).or_default() += 1;
        counts
    });
    assert_eq!(statuses, BTreeMap::from([("revoked", 5)]));
}

#[tokio::test]
async fn the_migration_revokes_entitlements_that_older_versions_left_active() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (key, course_id) = (workspace.full_key().await, workspace.course("rust", 2).await);
    let wait = AccessStep::Wait(1);
    check(&app, &key, &course_id, &[AccessStep::Pay, wait, AccessStep::Revoke, wait, AccessStep::Pay]).await;
    check(&app, &key, &course_id, &[AccessStep::Pay, wait, AccessStep::Revoke]).await;
    // The state that an older version left: active entitlements, and no column for grants.
    let write = app.write().await;
    for statement in [
        "UPDATE entitlements SET status = 'active', revoked_at = NULL",
        "ALTER TABLE enrollments DROP COLUMN granted_until",
        "DELETE FROM seaql_migrations WHERE version = 'm0020_grants'",
    ] {
        write.conn().execute_unprepared(statement).await.expect("the statement runs");
    }
    write.commit().await.expect("the write commits");
    app.app.db.migrate().await.expect("the migrations apply");

    let orders = key.all("/api/v1/orders?sort=paid_at").await;
    let statuses: Vec<&Value> = orders.iter().map(|order| &order["entitlements"][0]["status"]).collect();
    assert_eq!(statuses, ["revoked", "active", "revoked"]);
}
