//! Recounts the progress of enrollments after the lessons of their course changed.

use std::collections::{HashMap, HashSet};

use entity::{courses, enrollments, lesson_completions, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::Result;
use super::progress::update_completion;
use super::row::save;
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Number of enrollments that are locked and recounted at a time.
const BATCH: u64 = 200;

/// Recounts the lessons of every enrollment of a course. `removed` are lessons that are about to be deleted and do not
/// count. The caller has locked the course, so that no student enrolls or makes progress in the meantime. Locks all
/// students who have an enrollment in the course.
///
/// An enrollment is completed while every lesson is completed: a new lesson makes a completed enrollment active again,
/// and the removal of the last lesson that is not completed completes it.
pub(crate) async fn recount(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    course: &courses::Model,
    removed: &[Uuid],
) -> Result<()> {
    let removed: HashSet<Uuid> = removed.iter().copied().collect();
    let rows = enrollments::in_workspace(workspace.uuid());
    let mut after_student = None;
    loop {
        let batch = rows.of_course(write.conn(), course.id, after_student, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(()) };
        after_student = Some(last.student_id);
        // Lock order: students before their enrollments.
        let student_ids: Vec<_> = batch.iter().map(|row| row.student_id).collect();
        let students = students::in_workspace(workspace.uuid()).lock_many(write.conn(), &student_ids).await?;
        let ids: Vec<_> = batch.iter().map(|row| row.id).collect();
        let batch = rows.lock_many(write.conn(), &ids).await?;
        recount_batch(write, workspace, at, course, &removed, &students, batch).await?;
    }
}

/// Recounts these enrollments. The caller has locked them and their students.
async fn recount_batch(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    course: &courses::Model,
    removed: &HashSet<Uuid>,
    students: &[students::Model],
    batch: Vec<enrollments::Model>,
) -> Result<()> {
    let ids: Vec<_> = batch.iter().map(|row| row.id).collect();
    let mut completed_lessons: HashMap<Uuid, i32> = HashMap::new();
    for completion in lesson_completions::of_enrollments(write.conn(), workspace.uuid(), &ids).await? {
        if !removed.contains(&completion.lesson_id) {
            *completed_lessons.entry(completion.enrollment_id).or_default() += 1;
        }
    }
    let students: HashMap<Uuid, &students::Model> =
        students.iter().map(|student| (student.id, student)).collect();
    for before in batch {
        let Some(student) = students.get(&before.student_id) else { continue };
        let mut row = before.clone();
        row.total_lessons = course.lesson_count;
        row.completed_lessons = completed_lessons.get(&row.id).copied().unwrap_or_default();
        update_completion(&mut row, at.as_millisecond());
        if row != before {
            save(write, workspace, student, &before, row).await?;
        }
    }
    Ok(())
}
