//! Locks that a transaction of several changes acquires before its first change.
//!
//! Each domain operation locks what it needs, in the order that [`retry`](super::retry) documents. Without this module,
//! several operations in one transaction would break that order: the second one would lock its course after the student
//! of the first.

use std::collections::BTreeMap;

use entity::{courses, live_sessions, orders, students};
use uuid::Uuid;

use super::students::fold_email;
use super::{IdOrKey, Result};
use foundation::database::Write;
use foundation::id::{
    Course as CourseIdKind, IdKind, LiveSession as LiveSessionIdKind, Order as OrderIdKind,
    Student as StudentIdKind, WorkspaceId,
};

/// The records of one workspace to lock. Ids, keys and email addresses without a record are ignored.
#[derive(Debug, Default)]
pub struct LockSet<'a> {
    /// Courses that students buy, are enrolled in or make progress in. They are locked in shared mode.
    pub courses: Vec<&'a IdOrKey>,
    /// Students, by id or key.
    pub students: Vec<&'a IdOrKey>,
    /// Keys of students that are created or changed.
    pub student_keys: Vec<&'a str>,
    /// Email addresses of students that are created or changed.
    pub student_emails: Vec<&'a str>,
    /// Orders, by id or key. Their students are locked as well.
    pub orders: Vec<&'a IdOrKey>,
    /// Live sessions, by id or key.
    pub live_sessions: Vec<&'a IdOrKey>,
    /// Keys of live sessions that are created or changed.
    pub live_session_keys: Vec<&'a str>,
}

/// Locks the records in `locks`, kind by kind over all its workspaces, in the order that [`retry`](super::retry) documents. Call
/// this on PostgreSQL only: SQLite runs one write at a time.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn acquire(write: &Write, locks: &BTreeMap<WorkspaceId, LockSet<'_>>) -> Result<()> {
    let conn = write.conn();
    for (workspace, set) in locks {
        let (ids, keys) = split_ids_and_keys::<CourseIdKind>(&set.courses);
        courses::in_workspace(workspace.uuid()).lock_shared_by_ids_or_keys(conn, &ids, &keys).await?;
    }
    for (workspace, set) in locks {
        lock_students(write, *workspace, set).await?;
    }
    for (workspace, set) in locks {
        let (ids, keys) = split_ids_and_keys::<OrderIdKind>(&set.orders);
        orders::in_workspace(workspace.uuid()).lock_by_ids_or_keys(conn, &ids, &keys).await?;
    }
    for (workspace, set) in locks {
        let (ids, mut keys) = split_ids_and_keys::<LiveSessionIdKind>(&set.live_sessions);
        keys.extend(&set.live_session_keys);
        live_sessions::in_workspace(workspace.uuid()).lock_by_ids_or_keys(conn, &ids, &keys).await?;
    }
    Ok(())
}

/// Locks the students of the set and the students of its orders.
async fn lock_students(write: &Write, workspace: WorkspaceId, set: &LockSet<'_>) -> Result<()> {
    let rows = students::in_workspace(workspace.uuid());
    let (mut ids, mut keys) = split_ids_and_keys::<StudentIdKind>(&set.students);
    keys.extend(&set.student_keys);
    let emails: Vec<String> = set.student_emails.iter().map(|email| fold_email(email)).collect();
    ids.extend(rows.ids_by_emails(write.conn(), &emails).await?);
    let (order_ids, order_keys) = split_ids_and_keys::<OrderIdKind>(&set.orders);
    let orders = orders::in_workspace(workspace.uuid());
    ids.extend(orders.students_of(write.conn(), &order_ids, &order_keys).await?);
    Ok(rows.lock_by_ids_or_keys(write.conn(), &ids, &keys).await?)
}

/// Splits references into ids of kind `K` and keys.
fn split_ids_and_keys<'a, K: IdKind>(references: &[&'a IdOrKey]) -> (Vec<Uuid>, Vec<&'a str>) {
    let (mut ids, mut keys) = (Vec::new(), Vec::new());
    for reference in references {
        match reference.id::<K>() {
            Some(id) => ids.push(id.uuid()),
            None => keys.push(reference.as_str()),
        }
    }
    (ids, keys)
}
