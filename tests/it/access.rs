//! Tests access to a course against a model of its rules: orders, grants and revocations in any order.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::{TestApp, TestKey, TestWorkspace};

/// The end of a grant in days after the start of the case; `None` for no end.
type GrantEnd = Option<i64>;

/// One event that affects the access of a student.
#[derive(Debug, Clone, Copy)]
enum AccessStep {
    /// Pays an order of the course.
    Pay,
    /// Refunds the order with this index, in full.
    Refund(usize),
    /// Revokes the enrollment through the change feed.
    Revoke,
    /// Grants access through the change feed.
    Grant(GrantEnd),
    /// Enrolls the student through the API.
    Enroll(GrantEnd),
    /// Completes every lesson of the course.
    Complete,
    /// Advances the clock by this number of hours.
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

/// A simple model of the access rules. All times are in days after the start of the case.
#[derive(Debug, Default)]
struct AccessModel {
    /// For each paid order, whether it still gives access.
    orders: Vec<bool>,
    /// The latest end of all grants since the most recent revocation; `None` without a grant, `Some(None)` if a grant
    /// has no end.
    granted_until: Option<GrantEnd>,
    /// When the student completed the course.
    completed_at: Option<f64>,
    was_enrolled: bool,
    /// The number of `enrollment.created` events.
    created_events: usize,
    /// The number of `enrollment.revoked` events.
    revoked_events: usize,
}

impl AccessModel {
    fn is_bought(&self) -> bool {
        self.orders.contains(&true)
    }

    /// Returns whether the student has access. A grant stays valid after its end if the course is completed.
    ///
    /// A course that was completed after the end of the grant needs no special case: that is possible only with an
    /// order, and the refund of the last order removes the grant.
    fn has_access(&self, now: f64) -> bool {
        let is_granted =
            |end: GrantEnd| end.is_none_or(|end| end as f64 > now) || self.completed_at.is_some();
        self.is_bought() || self.granted_until.is_some_and(is_granted)
    }

    /// Returns the status and the end that the API shows; `None` before the first enrollment.
    fn visible_access(&self, now: f64) -> Option<(&'static str, GrantEnd)> {
        match self.granted_until {
            _ if !self.was_enrolled => None,
            _ if self.is_bought() => Some((self.status_with_access(), None)),
            Some(end) if self.has_access(now) => Some((self.status_with_access(), end)),
            Some(end) => Some(("expired", end)),
            None => Some(("revoked", None)),
        }
    }

    fn status_with_access(&self) -> &'static str {
        if self.completed_at.is_some() { "completed" } else { "active" }
    }

    /// Gives access. Counts an `enrollment.created` event unless the student has access already.
    fn gain_access(&mut self, now: f64) {
        self.created_events += usize::from(!self.has_access(now));
        self.was_enrolled = true;
    }

    fn apply(&mut self, step: AccessStep, now: f64) {
        match step {
            AccessStep::Pay => {
                self.gain_access(now);
                self.orders.push(true);
            }
            AccessStep::Refund(order) => {
                let Some(gives_access) = self.orders.get_mut(order) else { return };
                let gave_access = std::mem::replace(gives_access, false);
                // Completion keeps an expired grant valid only if the course was completed before the grant ended.
                let is_valid = |end: i64| {
                    end as f64 > now
                        || self.completed_at.is_some_and(|completed_at| completed_at < end as f64)
                };
                let is_granted = self.granted_until.is_some_and(|end| end.is_none_or(is_valid));
                if gave_access && !self.is_bought() && !is_granted {
                    self.revoked_events += 1;
                    self.granted_until = None;
                }
            }
            AccessStep::Revoke if self.was_enrolled => {
                let is_revoked = !self.is_bought() && self.granted_until.is_none();
                self.revoked_events += usize::from(!is_revoked);
                self.orders.fill(false);
                self.granted_until = None;
            }
            AccessStep::Grant(end) => {
                self.gain_access(now);
                self.granted_until = Some(match (self.granted_until, end) {
                    (Some(Some(before)), Some(end)) => Some(before.max(end)),
                    (None, end) => end,
                    _ => None,
                });
            }
            AccessStep::Enroll(_) if self.has_access(now) => {}
            AccessStep::Enroll(end) => {
                self.gain_access(now);
                self.granted_until = Some(end);
            }
            AccessStep::Complete => self.completed_at = self.completed_at.or(Some(now)),
            AccessStep::Revoke | AccessStep::Wait(_) => {}
        }
    }
}

/// A student whose access is compared with the model.
struct AccessCase<'a> {
    workspace: TestWorkspace<'a>,
    key: &'a TestKey,
    /// The student's key in the change feed.
    student: String,
    student_id: String,
    course_id: &'a str,
    started_at: jiff::Timestamp,
}

impl AccessCase<'_> {
    /// Returns the days since the start of the case.
    fn now(&self) -> f64 {
        (self.workspace.app.clock.now() - self.started_at).total(jiff::Unit::Hour).expect("hours") / 24.0
    }

    /// Returns the end as the API shows it.
    fn end_time(&self, end: GrantEnd) -> Value {
        end.map_or(Value::Null, |days| {
            json!((self.started_at + jiff::SignedDuration::from_hours(days * 24)).to_string())
        })
    }

    /// Applies a step to the server, and to the model unless the server rejects it.
    async fn apply(&self, step: AccessStep, model: &mut AccessModel) {
        let now = self.now();
        let line = |change: &str, data: Value| {
            self.workspace.build_change(&self.workspace.app.clock.now().to_string(), change, data).to_string()
        };
        let enrollment = json!({"student": self.student, "course": "rust"});
        let with_end = |mut data: Value, end: GrantEnd| {
            if end.is_some() {
                data["expires_at"] = self.end_time(end);
            }
            data
        };
        let order_key = |n: usize| format!("{}-{n}", self.student);
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
                let key = order_key(model.orders.len());
                let items = json!([{"course": "rust", "unit_amount": 4900}]);
                let data = json!({
                    "key": key, "number": key, "student": self.student, "currency": "EUR", "items": items,
                });
                line("order.pay", data)
            }
            AccessStep::Refund(n) => line("order.refund", json!({"order": order_key(n)})),
            AccessStep::Revoke => line("enrollment.revoke", enrollment),
            AccessStep::Grant(end) => line("enrollment.grant", with_end(enrollment, end)),
            AccessStep::Complete => {
                let lesson = |lesson: &str| {
                    let mut data = enrollment.clone();
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

    /// Returns the status and the end that the API shows; `None` before the first enrollment.
    async fn visible_access(&self) -> Option<(String, Value)> {
        let path = format!("/api/v1/students?email={}%40example.com", self.student);
        let student = self.key.get(&path).await.assert_status(200).json();
        let enrollment = &student["data"][0]["enrollments"][0];
        Some((enrollment["status"].as_str()?.to_owned(), enrollment["expires_at"].clone()))
    }

    /// Returns the number of the student's events of this type.
    async fn event_count(&self, event_type: &str) -> usize {
        let of_student = |event: &&Value| event["data"]["studentId"] == *self.student_id;
        self.workspace.app.events_of_type(event_type).await.iter().filter(of_student).count()
    }
}

/// Creates a student, and compares the server with the model after each step.
async fn check(app: &TestApp, key: &TestKey, course_id: &str, steps: &[AccessStep]) {
    let workspace = app.workspace("acme").await;
    let student = format!("s{}", app.next_change_number());
    let student_id = workspace.student(&student).await;
    let case = AccessCase { workspace, key, student, student_id, course_id, started_at: app.clock.now() };
    let mut model = AccessModel::default();
    for (index, step) in steps.iter().enumerate() {
        case.apply(*step, &mut model).await;
        let visible_access = case.visible_access().await;
        let expected = model.visible_access(case.now());
        assert_eq!(
            visible_access.as_ref().map(|(status, _)| status.clone()),
            expected.map(|(status, _)| status.to_owned()),
            "after step {index} of {steps:?}"
        );
        // The end of a revoked enrollment has no meaning.
        if let (Some((_, end)), Some((status, expected))) = (visible_access, expected)
            && status != "revoked"
        {
            let parse =
                |time: &Value| time.as_str().map(|time| time.parse::<jiff::Timestamp>().expect("a time"));
            assert_eq!(parse(&end), parse(&case.end_time(expected)), "after step {index} of {steps:?}");
        }
    }
    assert_eq!(case.event_count("enrollment.created").await, model.created_events, "{steps:?}");
    assert_eq!(case.event_count("enrollment.revoked").await, model.revoked_events, "{steps:?}");
}

#[test]
#[ignore = "slow"]
fn access_follows_from_orders_grants_and_revocations() {
    // Set `ACCESS_CASES` to run more cases, and pass `--include-ignored`.
    let cases = std::env::var("ACCESS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(48);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (app, key, course_id) = runtime.block_on(async {
        let app = TestApp::start().await;
        let workspace = app.workspace("acme").await;
        let (key, course_id) = (workspace.key_with_all_scopes().await, workspace.course("rust", 2).await);
        (app, key, course_id)
    });
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        runtime.block_on(check(&app, &key, &course_id, &steps));
        Ok(())
    });
    // Dropping the server needs a runtime.
    let _runtime_context = runtime.enter();
    drop(app);
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test]
async fn the_latest_end_of_all_grants_applies_after_a_revocation() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (key, course_id) = (workspace.key_with_all_scopes().await, workspace.course("rust", 2).await);
    let steps = [AccessStep::Pay, AccessStep::Revoke, AccessStep::Grant(Some(5)), AccessStep::Grant(Some(9))];
    check(&app, &key, &course_id, &steps).await;
}

#[tokio::test]
async fn a_refund_keeps_granted_access_and_a_revocation_revokes_entitlements() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let (key, course_id) = (workspace.key_with_all_scopes().await, workspace.course("rust", 2).await);
    check(&app, &key, &course_id, &[AccessStep::Grant(Some(5)), AccessStep::Pay, AccessStep::Refund(0)])
        .await;
    check(&app, &key, &course_id, &[AccessStep::Pay, AccessStep::Grant(None), AccessStep::Refund(0)]).await;
    // The grant ended before the completion, so the refund revokes the access.
    let completed = [
        AccessStep::Grant(Some(1)),
        AccessStep::Pay,
        AccessStep::Wait(48),
        AccessStep::Complete,
        AccessStep::Refund(0),
    ];
    check(&app, &key, &course_id, &completed).await;
    check(&app, &key, &course_id, &[AccessStep::Pay, AccessStep::Pay, AccessStep::Revoke]).await;
    let orders = key.list_all("/api/v1/orders").await;
    let statuses: BTreeMap<&str, usize> = orders.iter().fold(BTreeMap::new(), |mut counts, order| {
        *counts.entry(order["entitlements"][0]["status"].as_str().expect("a status")).or_default() += 1;
        counts
    });
    assert_eq!(statuses, BTreeMap::from([("revoked", 5)]));
}
