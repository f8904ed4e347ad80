//! The changes of the platform, the system that sells the courses.
//!
//! The contract `openapi/platform-v1.yaml` describes the kinds of changes and their fields (`Change`). This module reads a line
//! with the validator and the types that are generated from it.
//!
//! # Owners
//!
//! A `workspace.upsert` that creates a workspace gives the user with its `owner_email` access to the dashboard. Another
//! `owner_email` moves the ownership: the new owner gets access, and the previous owner is removed from the workspace,
//! together with their sessions and password links there. Spellings of one email address belong to the same owner (see
//! `domain::email`). To keep the previous owner as a member, invite them again.
//!
//! # Access
//!
//! A student has access to a course while at least one of these gives access:
//!
//! - An order for the course that is not fully refunded gives access without end.
//! - Grants give access until the latest end that was granted. A grant without `expires_at` gives access without end,
//!   and an earlier end never shortens access. Only a grant to a student without access emits `enrollment.created`.
//! - A student who completed the course while having access keeps the access after the end of the grant.
//!
//! `enrollment.revoke` ends access at once, whatever its source. Orders and grants applied before it no longer count,
//! and the entitlements of these orders become `revoked`. There is one entitlement for each order and course: the
//! access that the order gives. A full refund ends the access given by its order: if another order or a grant still
//! gives access, the enrollment stays active, otherwise it is revoked. The sequence in which changes are applied
//! counts, not their `at`. The API operation `createEnrollment` and the form of the dashboard give access like a grant,
//! but only to a student without access; otherwise they change nothing.

use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;

use super::generated;
use super::reject::field_error;
use contract_runtime::json;
use contract_runtime::validate::{BodyValidator, Violation};
use domain::certificates::CertificateIssue;
use domain::courses::CourseUpsert;
use domain::enrollments::{EnrollmentGrant, EnrollmentRevoke, ProgressRecord};
use domain::live_sessions::LiveSessionUpsert;
use domain::orders::{OrderPay, OrderRefund};
use domain::recordings::RecordingReady;
use domain::students::StudentUpsert;
use domain::workspaces::WorkspaceUpsert;
use domain::{FieldError, IdOrKey};

/// Validates lines. Has one validator for each kind of change.
static VALIDATOR: LazyLock<BodyValidator> = LazyLock::new(|| {
    BodyValidator::new(generated::SCHEMAS, "/components/schemas/Change", |_| None)
        .expect("the generated schemas can be compiled")
});

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The platform's id of the change, unique in the workspace.
    pub id: String,
    /// The key of the workspace.
    pub workspace: String,
    /// The time of the change.
    pub at: Timestamp,
    /// The action and its data.
    pub action: Action,
}

macro_rules! actions {
    ($($variant:ident($data:ty),)*) => {
        /// The action of a change: one variant for each kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum Action { $($variant($data)),* }

        impl From<generated::Change> for Change {
            fn from(change: generated::Change) -> Self {
                match change {
                    $(generated::Change::$variant(change) => {
                        let action = Action::$variant(change.data.into());
                        Self { id: change.id, workspace: change.workspace, at: change.at.0, action }
                    })*
                }
            }
        }
    };
}

actions! {
    WorkspaceUpsert(WorkspaceUpsert),
    CourseUpsert(CourseUpsert),
    StudentUpsert(StudentUpsert),
    StudentDelete(IdOrKey),
    EnrollmentGrant(EnrollmentGrant),
    EnrollmentRevoke(EnrollmentRevoke),
    ProgressRecord(ProgressRecord),
    OrderPay(OrderPay),
    OrderRefund(OrderRefund),
    LiveSessionUpsert(LiveSessionUpsert),
    LiveSessionStart(IdOrKey),
    LiveSessionEnd(IdOrKey),
    RecordingReady(RecordingReady),
    CertificateIssue(CertificateIssue),
}

/// Parses the change of a line.
///
/// # Errors
/// Returns all errors of the line, with the id of the change if it could be read.
pub(crate) fn parse(line: &[u8]) -> Result<Change, (Option<String>, Vec<FieldError>)> {
    let change = VALIDATOR.read::<generated::Change>(line).map(Change::from);
    let change = change.map_err(|violations| (id(line), violations.into_iter().map(line_error).collect()))?;
    let errors = inconsistencies(&change);
    if errors.is_empty() { Ok(change) } else { Err((Some(change.id), errors)) }
}

/// Returns the id of the change of an invalid line.
fn id(line: &[u8]) -> Option<String> {
    json::parse(line).ok()?.get("id").and_then(Value::as_str).map(str::to_owned)
}

/// Converts a violation of the contract.
fn line_error(violation: Violation) -> FieldError {
    match violation.field.strip_prefix('/') {
        Some(path) => field_error(path, violation.message),
        None => field_error("", format!("the line {}", violation.message)),
    }
}

/// Returns the errors of a change that the contract cannot express.
fn inconsistencies(change: &Change) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if change.at < Timestamp::UNIX_EPOCH {
        errors.push(field_error("at", "must not be before 1970"));
    }
    match &change.action {
        Action::WorkspaceUpsert(upsert) if upsert.key != change.workspace => {
            let Change { workspace, .. } = change;
            let message = format!("is {:?}, but must equal `workspace`, which is {workspace:?}", upsert.key);
            errors.push(field_error("data/key", message));
        }
        _ => {}
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(line: &str) -> Vec<String> {
        parse(line.as_bytes()).unwrap_err().1.iter().map(ToString::to_string).collect()
    }

    fn line(change: &str, data: &str) -> String {
        format!(
            r#"{{"change": "{change}", "id": "1", "workspace": "a", "at": "2026-03-01T10:00:00Z", "data": {data}}}"#
        )
    }

    #[test]
    fn a_valid_line_is_parsed() {
        let line = r#"{"change": "order.pay", "id": "c-17", "workspace": "acme", "at": "2026-03-01T10:00:00Z",
            "data": {"key": "o-1", "number": "A-1", "student": "s-1", "currency": "EUR",
                     "items": [{"course": "c-1", "unit_amount": 99e2}]}}"#;
        let change = parse(line.as_bytes()).unwrap();
        assert_eq!((change.id.as_str(), change.workspace.as_str()), ("c-17", "acme"));
        let Action::OrderPay(pay) = change.action else { panic!("{:?}", change.action) };
        assert_eq!((pay.items[0].quantity, pay.discount_amount, pay.receipt), (1, 0, None));
        assert_eq!(pay.items[0].unit_amount, 9900);
    }

    #[test]
    fn all_errors_of_a_line_are_reported() {
        let line = r#"{"change": "order.pay", "id": "", "at": "yesterday", "extra": 1,
            "data": {"key": 7, "number": "A-1", "studnet": "s-1", "currency": "EUR", "receipt": {"nubmer": 1},
                     "items": [{"course": "c-1", "unit_amount": "9900"}]}}"#;
        let mut errors = errors(line);
        errors.sort();
        assert_eq!(
            errors,
            [
                "at: must be an RFC 3339 time with a UTC offset, such as `2026-02-14T09:12:45Z`",
                "data/items/0/unit_amount: must be an integer",
                "data/key: must be a string",
                "data/receipt/nubmer: is not a field of this body; did you mean `number`?",
                "data/receipt/number: is required",
                "data/student: is required",
                "data/studnet: is not a field of this body; did you mean `student`?",
                "extra: is not a field of this body",
                "id: must not be empty",
                "workspace: is required",
            ]
        );
    }

    #[test]
    fn an_unknown_kind_an_invalid_value_and_a_null_are_rejected() {
        let kind = &errors(&line("order.paid", "{}"))[0];
        assert!(kind.starts_with("change: must be one of `certificate.issue`, `course.upsert`,"), "{kind}");
        let course = r#"{"key": "c", "slug": "c", "title": "C", "status": "open", "modules": null}"#;
        assert_eq!(
            errors(&line("course.upsert", course)),
            [
                "data/modules: must be an array",
                "data/status: must be one of `draft`, `published`, `archived`",
            ]
        );
        let workspace = r#"{"key": "b", "name": "B", "owner_email": "b@example.com"}"#;
        assert_eq!(
            errors(&line("workspace.upsert", workspace)),
            ["data/key: is \"b\", but must equal `workspace`, which is \"a\""]
        );
        let old = line("student.delete", r#"{"student": "s"}"#).replace("2026", "1926");
        assert_eq!(errors(&old), ["at: must not be before 1970"]);
        assert_eq!(errors("[]"), [": the line must be an object"]);
    }

    #[test]
    fn an_absent_field_keeps_its_value_and_null_clears_it() {
        let line = line("student.upsert", r#"{"key": "s", "email": "s@example.com", "name": null}"#);
        let Action::StudentUpsert(student) = parse(line.as_bytes()).unwrap().action else { panic!() };
        assert_eq!(
            (student.name, student.external_id),
            (domain::FieldUpdate::Null, domain::FieldUpdate::Absent)
        );
    }

    #[test]
    fn a_byte_order_mark_is_reported() {
        assert!(errors("\u{feff}{}")[0].contains("byte order mark"));
    }
}
