//! What a new list of lessons means for those who are enrolled.

use std::collections::{HashMap, HashSet};

use entity::{courses, enrollments, lesson_completions, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::Result;
use super::progress::settle;
use super::row::save;
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Enrolments recounted at a time.
const BATCH: u64 = 200;

/// Counts the lessons of every enrolment of a course again, without those that are about to go. The caller holds the
/// course, so that nobody enrols or makes progress meanwhile; all its students are held from here on.
///
/// An enrolment is completed as long as every lesson is done: a new lesson makes a completed one active again,
/// and taking the last open one away completes it.
pub(crate) async fn recount(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    course: &courses::Model,
    gone: &[Uuid],
) -> Result<()> {
    let gone: HashSet<Uuid> = gone.iter().copied().collect();
    let rows = enrollments::in_workspace(workspace.uuid());
    let mut after = None;
    loop {
        let batch = rows.of_course(write.conn(), course.id, after, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(()) };
        after = Some(last.student_id);
        // Students first, then their enrolments: the order in which every writer takes them.
        let ids: Vec<_> = batch.iter().map(|row| row.student_id).collect();
        let students = students::in_workspace(workspace.uuid()).lock_many(write.conn(), &ids).await?;
        let ids: Vec<_> = batch.iter().map(|row| row.id).collect();
        let batch = rows.lock_many(write.conn(), &ids).await?;
        recount_batch(write, workspace, at, course, &gone, &students, batch).await?;
    }
}

async fn recount_batch(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    course: &courses::Model,
    gone: &HashSet<Uuid>,
    students: &[students::Model],
    batch: Vec<enrollments::Model>,
) -> Result<()> {
    let ids: Vec<_> = batch.iter().map(|row| row.id).collect();
    let mut done: HashMap<Uuid, i32> = HashMap::new();
    for lesson in lesson_completions::of_enrollments(write.conn(), workspace.uuid(), &ids).await? {
        if !gone.contains(&lesson.lesson_id) {
            *done.entry(lesson.enrollment_id).or_default() += 1;
        }
    }
    let students: HashMap<Uuid, &students::Model> =
        students.iter().map(|student| (student.id, student)).collect();
    for before in batch {
        let Some(student) = students.get(&before.student_id) else { continue };
        let mut row = before.clone();
        row.total_lessons = course.lesson_count;
        row.completed_lessons = done.get(&row.id).copied().unwrap_or_default();
        settle(&mut row, at.as_millisecond());
        if row != before {
            save(write, workspace, student, &before, row).await?;
        }
    }
    Ok(())
}
