//! Maps each kind of change to the records that it locks and to the domain operation that applies it.

use std::collections::HashMap;

use jiff::Timestamp;

use super::change::{Action, Change};
use domain::app::App;
use domain::error::NotFound;
use domain::locks::LockSet;
use domain::workspaces::Mode;
use domain::{Error, Result, certificates, courses, enrollments, live_sessions, orders};
use domain::{recordings, students, workspaces};
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Returns whether the records that a change needs are only known while it is applied. It does not use the records in
/// memory. On PostgreSQL, it runs in a separate transaction, in which the domain operation takes all locks in the right
/// order.
pub(super) fn runs_alone(action: &Action) -> bool {
    matches!(action, Action::WorkspaceUpsert(_) | Action::CourseUpsert(_))
}

/// Returns whether the change deletes records that later changes of the transaction can have in memory.
pub(super) fn deletes_records(action: &Action) -> bool {
    matches!(action, Action::StudentDelete(_))
}

/// Adds the records that a change needs. A change that [runs alone](runs_alone) adds none. `recording.ready` adds none
/// either, because it changes no existing record.
pub(super) fn add_locks<'a>(action: &'a Action, locks: &mut LockSet<'a>) {
    match action {
        Action::WorkspaceUpsert(_) | Action::CourseUpsert(_) => {}
        Action::StudentUpsert(data) => {
            locks.student_keys.push(&data.key);
            locks.student_emails.push(&data.email);
        }
        Action::StudentDelete(student) => locks.students.push(student),
        Action::EnrollmentGrant(data) => {
            locks.courses.push(&data.course);
            locks.students.push(&data.student);
        }
        Action::EnrollmentRevoke(data) => {
            locks.courses.push(&data.course);
            locks.students.push(&data.student);
            locks.entitlements = true;
        }
        Action::ProgressRecord(data) => {
            locks.courses.push(&data.course);
            locks.lessons.push(&data.lesson);
            locks.students.push(&data.student);
        }
        Action::OrderPay(data) => {
            locks.courses.extend(data.items.iter().map(|item| &item.course));
            locks.students.push(&data.student);
            locks.order_keys.push(&data.key);
            locks.order_numbers.push(&data.number);
        }
        Action::OrderRefund(data) => {
            locks.orders.push(&data.order);
            locks.entitlements = true;
        }
        Action::LiveSessionUpsert(data) => locks.live_session_keys.push(&data.key),
        Action::LiveSessionStart(session) | Action::LiveSessionEnd(session) => {
            locks.live_sessions.push(session);
        }
        Action::RecordingReady(_) => {}
        Action::CertificateIssue(data) => {
            locks.courses.push(&data.course);
            locks.students.push(&data.student);
            locks.certificates = true;
        }
    }
}

/// Returns the id of the workspace with this key.
///
/// # Errors
/// Returns [`Error::NotFound`] when there is none with this mode.
pub(super) async fn find_workspace(write: &Write, mode: Mode, key: &str) -> Result<WorkspaceId> {
    let workspace = workspaces::by_key_in(write, key).await?;
    if workspace.mode != mode {
        let (key, mode) = (workspace.key, workspace.mode.as_str());
        return Err(Error::NotFound(NotFound::OtherMode { key, mode }));
    }
    Ok(workspace.id)
}

/// Applies one change through the domain. `mode` is that of the workspaces, and `workspaces` contains the ids of known workspaces by
/// key; a new one is added.
pub(super) async fn apply(
    app: &App,
    write: &mut Write,
    mode: Mode,
    workspaces: &mut HashMap<String, WorkspaceId>,
    change: &Change,
) -> Result<()> {
    let Change { workspace: key, at, action, .. } = change;
    let workspace = match (workspaces.get(key), action) {
        (_, Action::WorkspaceUpsert(_)) if mode == Mode::Test => {
            return Err(Error::invalid(
                "key",
                "cannot be used: changes with the mode `test` create and update no workspace; send this one without the mode",
            ));
        }
        (_, Action::WorkspaceUpsert(upsert)) => workspaces::upsert(app, write, *at, upsert.clone()).await?,
        (Some(id), _) => *id,
        (None, _) => find_workspace(write, mode, key).await?,
    };
    workspaces.insert(key.clone(), workspace);
    dispatch(app, write, workspace, *at, action.clone()).await
}

/// Calls the domain operation for the kind of change. Does nothing for `workspace.upsert`, which [`apply`] has
/// executed.
async fn dispatch(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    action: Action,
) -> Result<()> {
    match action {
        Action::WorkspaceUpsert(_) => Ok(()),
        Action::CourseUpsert(data) => courses::upsert(app, write, workspace, at, data).await.map(drop),
        Action::StudentUpsert(data) => students::upsert(app, write, workspace, at, data).await.map(drop),
        Action::StudentDelete(student) => {
            students::delete(app, write, workspace, at, &student).await.map(drop)
        }
        Action::EnrollmentGrant(data) => enrollments::grant(app, write, workspace, at, data).await.map(drop),
        Action::EnrollmentRevoke(data) => {
            enrollments::revoke(app, write, workspace, at, data).await.map(drop)
        }
        Action::ProgressRecord(data) => {
            enrollments::record_progress(write, workspace, at, data).await.map(drop)
        }
        Action::OrderPay(data) => orders::pay(app, write, workspace, at, data).await.map(drop),
        Action::OrderRefund(data) => orders::refund(app, write, workspace, at, data).await.map(drop),
        Action::LiveSessionUpsert(data) => {
            live_sessions::upsert(app, write, workspace, at, data).await.map(drop)
        }
        Action::LiveSessionStart(session) => {
            live_sessions::start(app, write, workspace, at, &session).await.map(drop)
        }
        Action::LiveSessionEnd(session) => {
            live_sessions::end(app, write, workspace, at, &session).await.map(drop)
        }
        Action::RecordingReady(data) => recordings::ready(app, write, workspace, at, data).await.map(drop),
        Action::CertificateIssue(data) => {
            certificates::issue(app, write, workspace, at, data).await.map(drop)
        }
    }
}
