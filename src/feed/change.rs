//! The format of a change. The platform, the system that sells the courses, sends changes.
//!
//! A line is a JSON object with five required fields: `change` (the kind), `id` (assigned by the platform, unique in
//! the workspace), `workspace` (the key of the workspace), `at` (when the change happened, stored as the time of what
//! it records, such as the payment of an order), and `data`. In the table, `[...]` contains optional fields,
//! `name{...}` is an object with these fields, and `name[]{...}` is a list of such objects:
//!
//! | change | data |
//! |---|---|
//! | `workspace.upsert` | `key name owner_email [per_minute per_day]` |
//! | `course.upsert` | `key slug title status [description language image_url url price{amount currency} modules[]{key title lessons[]{key title type [duration_seconds free_preview]}}]` |
//! | `student.upsert` | `key email [name external_id tags metadata]` |
//! | `student.delete` | `student` |
//! | `enrollment.grant` | `student course [source expires_at]` |
//! | `enrollment.revoke` | `student course [reason]` |
//! | `progress.record` | `student course lesson` |
//! | `order.pay` | `key number student currency items[]{course [title quantity] unit_amount} [discount_amount tax_amount receipt{number [url]}]` |
//! | `order.refund` | `order [amount reason]` |
//! | `live_session.upsert` | `key title [course scheduled_at]` |
//! | `live_session.start`, `live_session.end` | `live_session` |
//! | `recording.ready` | `key live_session [title] duration_seconds size_bytes content_type` |
//! | `certificate.issue` | `student course [number]` |
//!
//! A field such as `student` or `course` contains the id of the record, or the key that the platform assigned to it. A
//! line with an unknown field, a duplicate field or a value of a wrong type is rejected. In an upsert, a missing field
//! keeps its value and null clears it; lists and maps (`modules`, `tags`, `metadata`) replace the previous ones and
//! must not be null.
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

use jiff::Timestamp;
use serde_json::Value;

use super::data::{
    certificate, course, grant, live_session, pay, progress, recording, refund, revoke, student, workspace,
};
use super::fields::{LineErrors, ObjectFields};
use super::reject::field_error;
use contract_runtime::json;
use domain::certificates::CertificateIssue;
use domain::courses::CourseUpsert;
use domain::enrollments::{EnrollmentGrant, EnrollmentRevoke, ProgressRecord};
use domain::live_sessions::LiveSessionUpsert;
use domain::orders::{OrderPay, OrderRefund};
use domain::recordings::RecordingReady;
use domain::students::StudentUpsert;
use domain::workspaces::WorkspaceUpsert;
use domain::{FieldError, IdOrKey};

/// Maximum number of characters of a change's id and of a workspace's key.
const MAX_ID_CHARACTERS: usize = 200;

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
    ($($(#[$doc:meta])* $variant:ident($data:ty) = $kind:literal, $read:expr;)*) => {
        /// The action of a change.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum Action { $($(#[$doc])* $variant($data)),* }

        /// All kinds of changes, as written in `change`.
        pub(crate) const KINDS: &[&str] = &[$($kind),*];

        impl Action {
            /// Reads the data of a change of this kind. Returns `None` if the kind is unknown.
            fn read(kind: &str, data: &mut ObjectFields<'_>) -> Option<Self> {
                match kind {
                    $($kind => Some(Self::$variant($read(data))),)*
                    _ => None,
                }
            }
        }
    };
}

actions! {
    /// A workspace was created or updated.
    WorkspaceUpsert(WorkspaceUpsert) = "workspace.upsert", workspace;
    /// A course was created or updated.
    CourseUpsert(CourseUpsert) = "course.upsert", course;
    /// A student was created or updated.
    StudentUpsert(StudentUpsert) = "student.upsert", student;
    /// A student was deleted.
    StudentDelete(IdOrKey) = "student.delete", |data: &mut ObjectFields<'_>| data.required("student");
    /// A student was granted access to a course.
    EnrollmentGrant(EnrollmentGrant) = "enrollment.grant", grant;
    /// A student's access to a course was revoked.
    EnrollmentRevoke(EnrollmentRevoke) = "enrollment.revoke", revoke;
    /// A student completed a lesson.
    ProgressRecord(ProgressRecord) = "progress.record", progress;
    /// An order was paid.
    OrderPay(OrderPay) = "order.pay", pay;
    /// An order was refunded.
    OrderRefund(OrderRefund) = "order.refund", refund;
    /// A live session was created or updated.
    LiveSessionUpsert(LiveSessionUpsert) = "live_session.upsert", live_session;
    /// A live session started.
    LiveSessionStart(IdOrKey) = "live_session.start", |data: &mut ObjectFields<'_>| data.required("live_session");
    /// A live session ended.
    LiveSessionEnd(IdOrKey) = "live_session.end", |data: &mut ObjectFields<'_>| data.required("live_session");
    /// A recording is ready.
    RecordingReady(RecordingReady) = "recording.ready", recording;
    /// A certificate was issued.
    CertificateIssue(CertificateIssue) = "certificate.issue", certificate;
}

/// Parses the change of a line.
///
/// # Errors
/// Returns all errors of the line, with the id of the change if it could be read.
pub(crate) fn parse(line: &[u8]) -> Result<Change, (Option<String>, Vec<FieldError>)> {
    let value = json::parse(line).map_err(|errors| (None, errors.into_iter().map(syntax_error).collect()))?;
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    let errors = LineErrors::default();
    let change = read(value, &errors);
    let errors = errors.into_inner();
    match change {
        Some(change) if errors.is_empty() => Ok(change),
        _ => Err((id, errors)),
    }
}

/// Converts an error in the JSON syntax of the line.
fn syntax_error(error: json::SyntaxError) -> FieldError {
    match error.pointer.strip_prefix('/') {
        Some(path) => field_error(path, error.message),
        None => field_error("", format!("the line {}", error.message)),
    }
}

/// Reads the change. Returns `None` if the line is not an object, if it has no data or if its kind is unknown. The
/// caller must not use the change if errors were reported.
fn read(value: Value, errors: &LineErrors) -> Option<Change> {
    let mut line = ObjectFields::new("", value, errors);
    if line.error_count() > 0 {
        return None;
    }
    let kind: String = line.required("change");
    let (id, workspace) = (identifier(&mut line, "id"), identifier(&mut line, "workspace"));
    let at: Timestamp = line.required("at");
    if at < Timestamp::UNIX_EPOCH {
        line.report("at", "must not be before 1970");
    }
    let data = line.optional_not_null::<RawData>("data");
    if data.is_none() {
        line.report_missing("data");
    }
    let data = data?;
    let mut data = ObjectFields::new("data", data.0, errors);
    let action = Action::read(&kind, &mut data);
    match &action {
        Some(Action::WorkspaceUpsert(upsert)) if upsert.key != workspace => {
            data.report(
                "key",
                format!("is {:?}, but must equal `workspace`, which is {workspace:?}", upsert.key),
            );
        }
        None if !kind.is_empty() => {
            line.report("change", format!("unknown change {kind:?}; expected one of {}", KINDS.join(", ")));
        }
        _ => {}
    }
    if action.is_some() {
        data.finish();
    }
    line.finish();
    Some(Change { id, workspace, at, action: action? })
}

/// Reads a required string of 1 to [`MAX_ID_CHARACTERS`] characters.
fn identifier(line: &mut ObjectFields<'_>, name: &'static str) -> String {
    let errors_before = line.error_count();
    let text: String = line.required(name);
    if line.error_count() == errors_before && !(1..=MAX_ID_CHARACTERS).contains(&text.chars().count()) {
        line.report(name, format!("must have 1 to {MAX_ID_CHARACTERS} characters"));
    }
    text
}

/// The data of a change, before its kind is known.
struct RawData(Value);

impl super::fields::FieldValue for RawData {
    fn read(value: Value) -> Result<Self, String> {
        Ok(Self(value))
    }

    fn placeholder() -> Self {
        Self(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(line: &str) -> Vec<String> {
        parse(line.as_bytes()).unwrap_err().1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_valid_line_is_parsed() {
        let line = r#"{"change": "order.pay", "id": "c-17", "workspace": "acme", "at": "2026-03-01T10:00:00Z",
            "data": {"key": "o-1", "number": "A-1", "student": "s-1", "currency": "EUR",
                     "items": [{"course": "c-1", "unit_amount": 9900}]}}"#;
        let change = parse(line.as_bytes()).unwrap();
        assert_eq!((change.id.as_str(), change.workspace.as_str()), ("c-17", "acme"));
        let Action::OrderPay(pay) = change.action else { panic!("{:?}", change.action) };
        assert_eq!((pay.items[0].quantity, pay.discount_amount, pay.receipt), (1, 0, None));
    }

    #[test]
    fn all_errors_of_a_line_are_reported() {
        let line = r#"{"change": "order.pay", "id": "", "at": "yesterday", "extra": 1,
            "data": {"key": 7, "number": "A-1", "studnet": "s-1", "currency": "EUR",
                     "items": [{"course": "c-1", "unit_amount": "9900"}]}}"#;
        assert_eq!(
            errors(line),
            [
                "id: must have 1 to 200 characters",
                "workspace: is required",
                "at: \"yesterday\" is not an RFC 3339 time, such as `2026-03-01T10:00:00Z`",
                "data/items/0/unit_amount: expected an integer, got a string",
                "data/key: expected a string, got a number",
                "data/student: is required",
                "data/studnet: unknown field; did you mean `student`?",
                "extra: unknown field",
            ]
        );
    }

    #[test]
    fn an_unknown_kind_an_invalid_value_and_a_null_are_rejected() {
        let line = |change: &str, data: &str| {
            format!(
                r#"{{"change": "{change}", "id": "1", "workspace": "a", "at": "2026-03-01T10:00:00Z", "data": {data}}}"#
            )
        };
        assert!(
            errors(&line("order.paid", "{}"))[0]
                .starts_with("change: unknown change \"order.paid\"; expected one of workspace.upsert,")
        );
        let course = r#"{"key": "c", "slug": "c", "title": "C", "status": "open", "modules": null}"#;
        assert_eq!(
            errors(&line("course.upsert", course)),
            [
                "data/status: \"open\" is not a course status; expected one of draft, published, archived",
                "data/modules: expected an array of objects, got null"
            ]
        );
        let workspace = r#"{"key": "b", "name": "B", "owner_email": "b@example.com"}"#;
        assert_eq!(
            errors(&line("workspace.upsert", workspace)),
            ["data/key: is \"b\", but must equal `workspace`, which is \"a\""]
        );
        assert_eq!(errors("[]"), [": expected an object, got an array"]);
    }

    #[test]
    fn an_absent_field_keeps_its_value_and_null_clears_it() {
        let line = r#"{"change": "student.upsert", "id": "1", "workspace": "a", "at": "2026-03-01T10:00:00Z",
            "data": {"key": "s", "email": "s@example.com", "name": null}}"#;
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
