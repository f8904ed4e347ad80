//! The format of one change.
//!
//! A line is a JSON object with five fields, all required: `change` (its kind), `id` (the platform's own, unique
//! in the workspace), `workspace` (its key), `at` (when it happened; it becomes the record's time), and `data`:
//!
//! | change | data; fields in brackets are optional |
//! |---|---|
//! | `workspace.upsert` | `key name owner_email [per_minute per_day]` |
//! | `course.upsert` | `key slug title status [description language image_url url price{amount currency} modules[]{key title lessons[]{key title type [duration_seconds free_preview]}}]` |
//! | `student.upsert` | `key email [name external_id tags metadata]` |
//! | `student.delete` | `student` |
//! | `enrollment.grant` | `student course [source expires_at]` |
//! | `enrollment.revoke` | `student course [reason]` |
//! | `progress.record` | `student course lesson` |
//! | `order.pay` | `key number student currency items[]{course [title quantity] unit_amount} [discount_amount tax_amount receipt{number url}]` |
//! | `order.refund` | `order [amount reason]` |
//! | `live_session.upsert` | `key title [course scheduled_at]` |
//! | `live_session.start`, `live_session.end` | `live_session` |
//! | `recording.ready` | `key live_session [title] duration_seconds size_bytes content_type` |
//! | `certificate.issue` | `student course [number]` |
//!
//! Records are named by our id or by the platform's key. Whatever else stands in a line is refused: unknown
//! fields, names that stand twice, values of another type. In an upsert a field that is left out keeps its value,
//! and null empties it; lists and maps (`modules`, `tags`, `metadata`) replace what was there.
//!
//! # Owners
//!
//! A `workspace.upsert` that makes a workspace gives the person with its `owner_email` access to the dashboard. Another
//! `owner_email` moves the access: the new owner gets it, and the previous owner is removed, with all sessions in the workspace and
//! all links made in it. The same address in another case is the same owner. To keep the previous owner, invite them again.
//!
//! # Access
//!
//! A student has access to a course as long as one of these gives it:
//!
//! - An order for the course that is not fully refunded gives access without end.
//! - Grants give access until the latest end that was given. A grant without `expires_at` gives access without end, and an
//!   earlier end never shortens access. Only a grant that gives access to a student without access emits `enrollment.created`.
//! - A student who completed the course while having access keeps it after the end of the grant.
//!
//! `enrollment.revoke` ends access at once, whatever gave it. Orders and grants that were applied before it no longer count,
//! and the entitlements of these orders become `revoked`. A full refund ends what its order gave: another order or a grant that
//! still counts keeps the access, otherwise the enrollment is revoked. The order in which changes are applied decides,
//! not their `at`. `createEnrollment` and the dashboard's form give access like a grant, but only to a student without access:
//! otherwise they change nothing.

use jiff::Timestamp;
use serde_json::Value;

use super::data::{
    certificate, course, grant, live_session, pay, progress, recording, refund, revoke, student, workspace,
};
use super::fields::{Faults, Fields};
use super::reject::fault;
use contract_runtime::json;
use domain::certificates::CertificateIssue;
use domain::courses::CourseUpsert;
use domain::enrollments::{EnrollmentGrant, EnrollmentRevoke, ProgressRecord};
use domain::live_sessions::LiveSessionUpsert;
use domain::orders::{OrderPay, OrderRefund};
use domain::recordings::RecordingReady;
use domain::students::StudentUpsert;
use domain::workspaces::WorkspaceUpsert;
use domain::{Fault, Named};

/// Characters of a change's id and of a workspace's key at most.
const MAX_ID: usize = 200;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The platform's own id of it, unique in the workspace.
    pub id: String,
    /// The key of the workspace.
    pub workspace: String,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub action: Action,
}

macro_rules! actions {
    ($($(#[$doc:meta])* $variant:ident($data:ty) = $kind:literal, $read:expr;)*) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum Action { $($(#[$doc])* $variant($data)),* }

        /// Every kind of change, as it is written.
        pub(crate) const KINDS: &[&str] = &[$($kind),*];

        impl Action {
            /// Reads the data of a change of this kind; `None` when there is no such kind.
            fn read(kind: &str, data: &mut Fields<'_>) -> Option<Self> {
                match kind {
                    $($kind => Some(Self::$variant($read(data))),)*
                    _ => None,
                }
            }
        }
    };
}

actions! {
    /// A workspace is there, with these facts.
    WorkspaceUpsert(WorkspaceUpsert) = "workspace.upsert", workspace;
    /// A course is there, with these facts.
    CourseUpsert(CourseUpsert) = "course.upsert", course;
    /// A student is there, with these facts.
    StudentUpsert(StudentUpsert) = "student.upsert", student;
    /// A student is gone.
    StudentDelete(Named) = "student.delete", |data: &mut Fields<'_>| data.required("student");
    /// A student has access to a course.
    EnrollmentGrant(EnrollmentGrant) = "enrollment.grant", grant;
    /// A student has access no more.
    EnrollmentRevoke(EnrollmentRevoke) = "enrollment.revoke", revoke;
    /// A student has done a lesson.
    ProgressRecord(ProgressRecord) = "progress.record", progress;
    /// An order was paid.
    OrderPay(OrderPay) = "order.pay", pay;
    /// Money was given back.
    OrderRefund(OrderRefund) = "order.refund", refund;
    /// A live session is there, with these facts.
    LiveSessionUpsert(LiveSessionUpsert) = "live_session.upsert", live_session;
    /// A live session began.
    LiveSessionStart(Named) = "live_session.start", |data: &mut Fields<'_>| data.required("live_session");
    /// A live session ended.
    LiveSessionEnd(Named) = "live_session.end", |data: &mut Fields<'_>| data.required("live_session");
    /// A recording can be watched.
    RecordingReady(RecordingReady) = "recording.ready", recording;
    /// A certificate was issued.
    CertificateIssue(CertificateIssue) = "certificate.issue", certificate;
}

/// The change that a line holds.
///
/// # Errors
/// Every fault of the line, with the change's id where it could be read.
pub(crate) fn parse(line: &[u8]) -> Result<Change, (Option<String>, Vec<Fault>)> {
    let value = json::read(line).map_err(|faults| (None, faults.into_iter().map(of_text).collect()))?;
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    let faults = Faults::default();
    let change = read(value, &faults);
    let faults = faults.into_inner();
    match change {
        Some(change) if faults.is_empty() => Ok(change),
        _ => Err((id, faults)),
    }
}

/// A fault of the line's text.
fn of_text(found: json::Fault) -> Fault {
    match found.pointer.strip_prefix('/') {
        Some(path) => fault(path, found.message),
        None => fault("", format!("the line {}", found.message)),
    }
}

/// The change; `None` when its kind is unknown. Not to be used when there are faults.
fn read(value: Value, faults: &Faults) -> Option<Change> {
    let mut line = Fields::new("", value, faults);
    if line.faults() > 0 {
        return None;
    }
    let kind: String = line.required("change");
    let (id, workspace) = (identifier(&mut line, "id"), identifier(&mut line, "workspace"));
    let at: Timestamp = line.required("at");
    if at < Timestamp::UNIX_EPOCH {
        line.say("at", "lies before 1970");
    }
    let data = line.kept::<Data>("data");
    if data.is_none() {
        line.missing("data");
    }
    let data = data?;
    let mut data = Fields::new("data", data.0, faults);
    let action = Action::read(&kind, &mut data);
    match &action {
        Some(Action::WorkspaceUpsert(upsert)) if upsert.key != workspace => {
            data.say("key", format!("is {:?}, but the change's `workspace` is {workspace:?}", upsert.key));
        }
        None if !kind.is_empty() => {
            line.say("change", format!("is {kind:?}; one of {} is wanted", KINDS.join(", ")));
        }
        _ => {}
    }
    if action.is_some() {
        data.finish();
    }
    line.finish();
    Some(Change { id, workspace, at, action: action? })
}

/// A text of 1 to 200 characters.
fn identifier(line: &mut Fields<'_>, name: &'static str) -> String {
    let before = line.faults();
    let text: String = line.required(name);
    if line.faults() == before && !(1..=MAX_ID).contains(&text.chars().count()) {
        line.say(name, format!("must have 1 to {MAX_ID} characters"));
    }
    text
}

/// The data as it stands, to be read once the kind is known.
struct Data(Value);

impl super::fields::Read for Data {
    fn read(value: Value) -> Result<Self, String> {
        Ok(Self(value))
    }

    fn blank() -> Self {
        Self(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(line: &str) -> Vec<String> {
        parse(line.as_bytes()).unwrap_err().1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_line_of_the_manual_is_a_change() {
        let line = r#"{"change": "order.pay", "id": "c-17", "workspace": "acme", "at": "2026-03-01T10:00:00Z",
            "data": {"key": "o-1", "number": "A-1", "student": "s-1", "currency": "EUR",
                     "items": [{"course": "c-1", "unit_amount": 9900}]}}"#;
        let change = parse(line.as_bytes()).unwrap();
        assert_eq!((change.id.as_str(), change.workspace.as_str()), ("c-17", "acme"));
        let Action::OrderPay(pay) = change.action else { panic!("{:?}", change.action) };
        assert_eq!((pay.items[0].quantity, pay.discount_amount, pay.receipt), (1, 0, None));
    }

    #[test]
    fn all_faults_of_a_line_are_named() {
        let line = r#"{"change": "order.pay", "id": "", "at": "yesterday", "extra": 1,
            "data": {"key": 7, "number": "A-1", "studnet": "s-1", "currency": "EUR",
                     "items": [{"course": "c-1", "unit_amount": "9900"}]}}"#;
        assert_eq!(
            faults(line),
            [
                "id: must have 1 to 200 characters",
                "workspace: is missing",
                "at: \"yesterday\" is not a time; write it as `2026-03-01T10:00:00Z`",
                "data/items/0/unit_amount: is a text; a whole number is wanted",
                "data/key: is a number; a text is wanted",
                "data/student: is missing",
                "data/studnet: is not a field; perhaps `student` is meant",
                "extra: is not a field",
            ]
        );
    }

    #[test]
    fn unknown_kinds_words_and_nulls_are_refused() {
        let line = |change: &str, data: &str| {
            format!(
                r#"{{"change": "{change}", "id": "1", "workspace": "a", "at": "2026-03-01T10:00:00Z", "data": {data}}}"#
            )
        };
        assert!(
            faults(&line("order.paid", "{}"))[0]
                .starts_with("change: is \"order.paid\"; one of workspace.upsert,")
        );
        let course = r#"{"key": "c", "slug": "c", "title": "C", "status": "open", "modules": null}"#;
        assert_eq!(
            faults(&line("course.upsert", course)),
            [
                "data/status: \"open\" is not a course status; one of draft, published, archived is",
                "data/modules: is null; a list of objects is wanted"
            ]
        );
        let workspace = r#"{"key": "b", "name": "B", "owner_email": "b@example.com"}"#;
        assert_eq!(
            faults(&line("workspace.upsert", workspace)),
            ["data/key: is \"b\", but the change's `workspace` is \"a\""]
        );
        assert_eq!(faults("[]"), [": is a list; an object is wanted"]);
    }

    #[test]
    fn an_absent_field_keeps_and_null_empties() {
        let line = r#"{"change": "student.upsert", "id": "1", "workspace": "a", "at": "2026-03-01T10:00:00Z",
            "data": {"key": "s", "email": "s@example.com", "name": null}}"#;
        let Action::StudentUpsert(student) = parse(line.as_bytes()).unwrap().action else { panic!() };
        assert_eq!((student.name, student.external_id), (domain::Given::Null, domain::Given::Absent));
    }

    #[test]
    fn a_byte_order_mark_is_named() {
        assert!(faults("\u{feff}{}")[0].contains("byte order mark"));
    }
}
