//! Locks that a transaction of several changes acquires before its first change, and the records that it then keeps in
//! memory.
//!
//! Each domain operation locks what it needs, in the order that [`retry`](super::retry) documents. Without this module,
//! several operations in one transaction would break that order: the second one would lock its course after the student
//! of the first.

use std::collections::{BTreeMap, HashSet};

use entity::{
    certificates, courses, enrollments, entitlements, lesson_completions, lessons, live_sessions,
    order_items, orders, refunds, students,
};
use uuid::Uuid;

use super::email;
use super::{IdOrKey, Result};
use foundation::database::Write;
use foundation::id::{
    Course as CourseIdKind, IdKind, Lesson as LessonIdKind, LiveSession as LiveSessionIdKind,
    Order as OrderIdKind, Student as StudentIdKind, WorkspaceId,
};

/// The records of one workspace that changes need. Ids, keys and email addresses without a record are ignored.
#[derive(Debug, Default)]
pub struct LockSet<'a> {
    /// Courses that students buy, are enrolled in or make progress in. They are locked in shared mode.
    pub courses: Vec<&'a IdOrKey>,
    /// Lessons that students complete. They are not locked; their courses are.
    pub lessons: Vec<&'a IdOrKey>,
    /// Students, by id or key.
    pub students: Vec<&'a IdOrKey>,
    /// Keys of students that are created or changed.
    pub student_keys: Vec<&'a str>,
    /// Email addresses of students that are created or changed.
    pub student_emails: Vec<&'a str>,
    /// Orders, by id or key. Their students are locked as well.
    pub orders: Vec<&'a IdOrKey>,
    /// Keys of orders that are created.
    pub order_keys: Vec<&'a str>,
    /// Numbers of orders that are created.
    pub order_numbers: Vec<&'a str>,
    /// Live sessions, by id or key.
    pub live_sessions: Vec<&'a IdOrKey>,
    /// Keys of live sessions that are created or changed.
    pub live_session_keys: Vec<&'a str>,
    /// Whether a change needs the entitlements of the enrollments.
    pub entitlements: bool,
    /// Whether a change needs the certificates of the students.
    pub certificates: bool,
}

/// Locks the records in `locks`, kind by kind over all its workspaces, in the order that [`retry`](super::retry) documents, and
/// keeps them in the [row cache](entity::row_cache) of the transaction, so that the changes need few statements.
///
/// The cache remembers which keys and other unique values are unused. If another transaction uses one at the same time,
/// a later statement or the commit fails with a [conflict](super::retry::Conflict).
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn acquire(write: &Write, locks: &BTreeMap<WorkspaceId, LockSet<'_>>) -> Result<()> {
    let conn = write.conn();
    conn.activate_cache().await?;
    for (workspace, set) in locks {
        let (ids, keys) = split_ids_and_keys::<CourseIdKind>(&set.courses);
        courses::in_workspace(workspace.uuid()).lock_and_remember(conn, &ids, &keys).await?;
    }
    let mut students = Vec::with_capacity(locks.len());
    for (workspace, set) in locks {
        students.push(lock_students(write, *workspace, set).await?);
    }
    for ((workspace, set), students) in locks.iter().zip(students) {
        let orders = lock_orders(write, *workspace, set, &students).await?;
        read_details(write, *workspace, set, &students, &orders).await?;
    }
    for (workspace, set) in locks {
        let (ids, mut keys) = split_ids_and_keys::<LiveSessionIdKind>(&set.live_sessions);
        keys.extend(&set.live_session_keys);
        live_sessions::in_workspace(workspace.uuid()).lock_and_remember(conn, &ids, &keys).await?;
    }
    Ok(())
}

/// Ends the use of the records that [`acquire`] keeps in memory. They stay locked.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a statement fails.
pub async fn forget(write: &Write) -> Result<()> {
    Ok(write.conn().deactivate_cache().await?)
}

/// Locks the students of the set and the students of its orders. Returns their ids.
async fn lock_students(write: &Write, workspace: WorkspaceId, set: &LockSet<'_>) -> Result<Vec<Uuid>> {
    let (mut ids, mut keys) = split_ids_and_keys::<StudentIdKind>(&set.students);
    keys.extend(&set.student_keys);
    let emails: Vec<String> = set.student_emails.iter().map(|email| email::comparison_key(email)).collect();
    let (order_ids, order_keys) = split_ids_and_keys::<OrderIdKind>(&set.orders);
    let orders = orders::in_workspace(workspace.uuid());
    ids.extend(orders.students_of(write.conn(), &order_ids, &order_keys).await?);
    let rows = students::in_workspace(workspace.uuid());
    let rows = rows.lock_students(write.conn(), &ids, &keys, &emails).await?;
    Ok(rows.iter().map(|row| row.id).collect())
}

/// Locks the orders of the set. Returns the ids of those that no other transaction can change, because their student is locked or
/// deleted. The student of an order that was just inserted may not be locked.
async fn lock_orders(
    write: &Write,
    workspace: WorkspaceId,
    set: &LockSet<'_>,
    students: &[Uuid],
) -> Result<Vec<Uuid>> {
    let rows = orders::in_workspace(workspace.uuid());
    let (ids, mut keys) = split_ids_and_keys::<OrderIdKind>(&set.orders);
    keys.extend(&set.order_keys);
    let orders = rows.lock_and_remember(write.conn(), &ids, &keys).await?;
    rows.remember_unused_numbers(write.conn(), &set.order_numbers).await?;
    let is_guarded =
        |order: &&orders::Model| order.student_id.is_none_or(|student| students.contains(&student));
    Ok(orders.iter().filter(is_guarded).map(|order| order.id).collect())
}

/// Keeps the records in memory that belong to these students and orders.
async fn read_details(
    write: &Write,
    workspace: WorkspaceId,
    set: &LockSet<'_>,
    students: &[Uuid],
    orders: &[Uuid],
) -> Result<()> {
    let (conn, workspace) = (write.conn(), workspace.uuid());
    let enrollments =
        enrollments::in_workspace(workspace).remember_of_students(conn, students, orders).await?;
    let (ids, keys) = split_ids_and_keys::<LessonIdKind>(&set.lessons);
    let lessons = lessons::in_workspace(workspace).remember_by_ids_or_keys(conn, &ids, &keys).await?;
    let courses: HashSet<Uuid> = lessons.iter().map(|lesson| lesson.course_id).collect();
    let in_progress = enrollments.iter().filter(|enrollment| courses.contains(&enrollment.course_id));
    let in_progress: Vec<Uuid> = in_progress.map(|enrollment| enrollment.id).collect();
    lesson_completions::remember(conn, workspace, &in_progress, &lessons).await?;
    order_items::in_workspace(workspace).remember_of_orders(conn, orders).await?;
    refunds::in_workspace(workspace).remember_of_orders(conn, orders).await?;
    let enrollments = if set.entitlements { enrollments } else { Vec::new() };
    let enrollments: Vec<Uuid> = enrollments.iter().map(|enrollment| enrollment.id).collect();
    entitlements::in_workspace(workspace).remember_of(conn, orders, &enrollments).await?;
    let certified = if set.certificates { students } else { &[] };
    certificates::in_workspace(workspace).remember_of_students(conn, certified).await?;
    Ok(())
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
