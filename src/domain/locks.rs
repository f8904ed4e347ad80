//! The locks of a transaction that applies many changes, taken before its first change.
//!
//! Each domain operation locks what it needs, in the order that [`retry`](super::retry) documents. Several operations in
//! one transaction would break that order: the second one locks its course after the first one has locked its student.

use std::collections::BTreeMap;

use entity::{courses, live_sessions, orders, students};
use uuid::Uuid;

use super::students::fold;
use super::{Named, Result};
use foundation::database::Write;
use foundation::id::{
    Course as CourseKind, Kind, LiveSession as LiveSessionKind, Order as OrderKind, Student as StudentKind,
    WorkspaceId,
};

/// What the changes of one workspace lock. A record that does not exist is ignored.
#[derive(Debug, Default)]
pub struct Records<'a> {
    /// Courses that students are enrolled in or progress along.
    pub courses: Vec<&'a Named>,
    /// Students.
    pub students: Vec<&'a Named>,
    /// Keys of students that are made or changed.
    pub student_keys: Vec<&'a str>,
    /// The addresses of these students.
    pub student_emails: Vec<&'a str>,
    /// Orders, whose students are locked as well.
    pub orders: Vec<&'a Named>,
    /// Live sessions.
    pub live_sessions: Vec<&'a Named>,
    /// Keys of live sessions that are made or changed.
    pub live_session_keys: Vec<&'a str>,
}

/// Locks the records in lock order, over all workspaces. PostgreSQL only: SQLite runs one write at a time.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn take(write: &Write, wanted: &BTreeMap<WorkspaceId, Records<'_>>) -> Result<()> {
    let conn = write.conn();
    for (workspace, records) in wanted {
        let (ids, keys) = split::<CourseKind>(&records.courses);
        courses::in_workspace(workspace.uuid()).share_named(conn, &ids, &keys).await?;
    }
    for (workspace, records) in wanted {
        lock_students(write, *workspace, records).await?;
    }
    for (workspace, records) in wanted {
        let (ids, keys) = split::<OrderKind>(&records.orders);
        orders::in_workspace(workspace.uuid()).lock_named(conn, &ids, &keys).await?;
    }
    for (workspace, records) in wanted {
        let (ids, mut keys) = split::<LiveSessionKind>(&records.live_sessions);
        keys.extend(&records.live_session_keys);
        live_sessions::in_workspace(workspace.uuid()).lock_named(conn, &ids, &keys).await?;
    }
    Ok(())
}

async fn lock_students(write: &Write, workspace: WorkspaceId, records: &Records<'_>) -> Result<()> {
    let rows = students::in_workspace(workspace.uuid());
    let (mut ids, mut keys) = split::<StudentKind>(&records.students);
    keys.extend(&records.student_keys);
    let emails: Vec<String> = records.student_emails.iter().map(|email| fold(email)).collect();
    ids.extend(rows.ids_by_emails(write.conn(), &emails).await?);
    let (order_ids, order_keys) = split::<OrderKind>(&records.orders);
    let orders = orders::in_workspace(workspace.uuid());
    ids.extend(orders.students_of(write.conn(), &order_ids, &order_keys).await?);
    Ok(rows.lock_named(write.conn(), &ids, &keys).await?)
}

/// The names that are ids of this kind, and the others, which are keys.
fn split<'a, K: Kind>(named: &[&'a Named]) -> (Vec<Uuid>, Vec<&'a str>) {
    let (mut ids, mut keys) = (Vec::new(), Vec::new());
    for name in named {
        match name.id::<K>() {
            Some(id) => ids.push(id.uuid()),
            None => keys.push(name.as_str()),
        }
    }
    (ids, keys)
}
