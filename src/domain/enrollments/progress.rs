//! Progress along a course.

use entity::enrollments::{self, Model, Status};
use entity::{courses, lesson_completions, lessons, students};
use jiff::Timestamp;

use super::super::find::{self, absent, id};
use super::super::{Error, Result};
use super::ProgressRecord;
use super::admit::has_access;
use super::revoke::no_pair;
use super::row::save;
use crate::app::App;
use foundation::database::Write;
use foundation::id::{
    Course as CourseKind, EnrollmentId, Lesson as LessonKind, Student as StudentKind, WorkspaceId,
};

/// Records that a lesson is done; the same lesson again changes nothing.
///
/// # Errors
/// [`Error::NotFound`] for an absent student, course, lesson or enrolment; [`Error::Invalid`] on `course` when
/// the student had no access at that time.
pub async fn record_progress(
    _app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    progress: ProgressRecord,
) -> Result<EnrollmentId> {
    let scope = workspace.uuid();
    // Shared, so that the lessons are not replaced meanwhile.
    let course = courses::in_workspace(scope);
    let course = find::share::<CourseKind, _>(write.conn(), course, &progress.course).await?;
    let lesson = lessons::in_workspace(scope);
    let lesson = find::read::<LessonKind, _>(write.conn(), lesson, &progress.lesson).await?;
    if lesson.course_id != course.id {
        return Err(absent::<LessonKind>(format!("{} of course {}", progress.lesson, progress.course)));
    }
    let student = students::in_workspace(scope);
    let student = find::lock::<StudentKind, _>(write.conn(), student, &progress.student).await?;
    let row = enrollments::in_workspace(scope).lock_pair(write.conn(), student.id, course.id).await?;
    let row = row.ok_or_else(|| no_pair(&progress.student, &progress.course))?;
    if !has_access(&row, at) {
        let message = format!("gives {} no access at {at}: revoked or expired", progress.student);
        return Err(Error::invalid("course", message));
    }
    let done = lesson_completions::Model {
        enrollment_id: row.id,
        lesson_id: lesson.id,
        workspace_id: scope,
        completed_at: at.as_millisecond(),
    };
    if lesson_completions::insert_if_absent(write.conn(), done).await? {
        let after = advanced(&row, at.as_millisecond());
        save(write, workspace, &student, &row, after).await?;
    }
    Ok(id(row.id))
}

/// The enrolment with one lesson more done.
fn advanced(row: &Model, at_ms: i64) -> Model {
    let mut after = row.clone();
    after.completed_lessons += 1;
    after.last_activity_at = after.last_activity_at.max(Some(at_ms));
    settle(&mut after, at_ms);
    after
}

/// Makes status and `completed_at` follow the counts: completed as long as every lesson of at least one is done.
/// A revoked enrolment stays revoked.
pub(super) fn settle(row: &mut Model, at_ms: i64) {
    let done = row.total_lessons > 0 && row.completed_lessons >= row.total_lessons;
    row.completed_at = if done { row.completed_at.or(Some(at_ms)) } else { None };
    if row.status != Status::Revoked {
        row.status = if done { Status::Completed } else { Status::Active };
    }
}

#[cfg(test)]
mod tests {
    use entity::enrollments::Source;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn row(status: Status, done: i32, of: i32) -> Model {
        Model {
            id: Uuid::nil(),
            workspace_id: Uuid::nil(),
            student_id: Uuid::nil(),
            course_id: Uuid::nil(),
            status,
            source: Source::Api,
            order_id: None,
            completed_lessons: done,
            total_lessons: of,
            last_activity_at: None,
            enrolled_at: 0,
            expires_at: None,
            completed_at: None,
            revoked_at: None,
            revoke_reason: None,
            created_at: 0,
            updated_at: 0,
            granted_until: None,
        }
    }

    #[test]
    fn the_last_lesson_completes_and_a_new_one_reopens() {
        let mut row = advanced(&row(Status::Active, 1, 2), 7);
        assert_eq!(
            (row.status, row.completed_at, row.last_activity_at),
            (Status::Completed, Some(7), Some(7))
        );
        row.total_lessons = 3;
        settle(&mut row, 8);
        assert_eq!((row.status, row.completed_at), (Status::Active, None));
    }

    #[test]
    fn an_older_lesson_does_not_move_the_last_activity_back() {
        let mut before = row(Status::Active, 0, 3);
        before.last_activity_at = Some(10);
        assert_eq!(advanced(&before, 5).last_activity_at, Some(10));
    }

    #[test]
    fn revoked_stays_revoked() {
        let mut row = row(Status::Revoked, 2, 2);
        settle(&mut row, 7);
        assert_eq!(row.status, Status::Revoked);
    }

    proptest! {
        #[test]
        fn completed_is_exactly_every_lesson_done(done in 0_i32..50, of in 0_i32..50) {
            let mut row = row(Status::Active, done.min(of), of);
            settle(&mut row, 1);
            let percent = super::super::super::rollups::percent_complete(row.completed_lessons, of);
            prop_assert_eq!(row.status == Status::Completed, percent == 100);
            prop_assert_eq!(row.completed_at.is_some(), percent == 100);
        }
    }
}
