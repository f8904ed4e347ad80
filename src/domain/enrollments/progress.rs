//! Records the progress of students in courses.

use entity::enrollments::{self, Model, StoredEnrollmentStatus};
use entity::{courses, lesson_completions, lessons, students};
use jiff::Timestamp;

use super::super::records::{self, id, not_found};
use super::super::{Error, Result};
use super::ProgressRecord;
use super::revoke::enrollment_not_found;
use super::row::{has_access, save};
use foundation::database::Write;
use foundation::id::{
    Course as CourseIdKind, EnrollmentId, Lesson as LessonIdKind, Student as StudentIdKind, WorkspaceId,
};

/// Records that a lesson was completed. Does nothing if it is already completed. Emits no event.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student, the course, the lesson or the enrollment does not exist. Returns
/// [`Error::Invalid`] on `course` if the student had no access at the time `at`.
pub async fn record_progress(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    progress: ProgressRecord,
) -> Result<EnrollmentId> {
    let workspace_uuid = workspace.uuid();
    // The shared lock prevents other transactions from replacing the lessons.
    let course = courses::in_workspace(workspace_uuid);
    let course = records::lock_shared::<CourseIdKind, _>(write.conn(), course, &progress.course).await?;
    let lesson = lessons::in_workspace(workspace_uuid);
    let lesson = records::read::<LessonIdKind, _>(write.conn(), lesson, &progress.lesson).await?;
    if lesson.course_id != course.id {
        return Err(not_found::<LessonIdKind>(format!("{} of course {}", progress.lesson, progress.course)));
    }
    let student = students::in_workspace(workspace_uuid);
    let student = records::lock::<StudentIdKind, _>(write.conn(), student, &progress.student).await?;
    let row = enrollments::in_workspace(workspace_uuid)
        .lock_by_student_and_course(write.conn(), student.id, course.id)
        .await?;
    let row = row.ok_or_else(|| enrollment_not_found(&progress.student, &progress.course))?;
    if !has_access(&row, at) {
        let message = format!(
            "gives {} no access at {at}: the enrollment was revoked or has expired",
            progress.student
        );
        return Err(Error::invalid("course", message));
    }
    let completion = lesson_completions::Model {
        enrollment_id: row.id,
        lesson_id: lesson.id,
        workspace_id: workspace_uuid,
        completed_at: at.as_millisecond(),
    };
    if lesson_completions::insert_if_absent(write.conn(), completion).await? {
        let after = with_completed_lesson(&row, at.as_millisecond());
        save(write, workspace, &student, &row, after).await?;
    }
    Ok(id(row.id))
}

/// Returns the enrollment with one more lesson completed. An earlier `at_ms` does not move `last_activity_at` back.
fn with_completed_lesson(row: &Model, at_ms: i64) -> Model {
    let mut after = row.clone();
    after.completed_lessons += 1;
    after.last_activity_at = after.last_activity_at.max(Some(at_ms));
    update_completion(&mut after, at_ms);
    after
}

/// Updates `status` and `completed_at` from the lesson counts: an enrollment is completed while every lesson is
/// completed and there is at least one. A revoked enrollment stays revoked.
pub(super) fn update_completion(row: &mut Model, at_ms: i64) {
    let is_completed = row.total_lessons > 0 && row.completed_lessons >= row.total_lessons;
    row.completed_at = if is_completed { row.completed_at.or(Some(at_ms)) } else { None };
    if row.status != StoredEnrollmentStatus::Revoked {
        row.status = match is_completed {
            true => StoredEnrollmentStatus::Completed,
            false => StoredEnrollmentStatus::Active,
        };
    }
}

#[cfg(test)]
mod tests {
    use entity::enrollments::StoredEnrollmentSource;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn row(status: StoredEnrollmentStatus, completed_lessons: i32, total_lessons: i32) -> Model {
        Model {
            id: Uuid::nil(),
            workspace_id: Uuid::nil(),
            student_id: Uuid::nil(),
            course_id: Uuid::nil(),
            status,
            source: StoredEnrollmentSource::Api,
            order_id: None,
            completed_lessons,
            total_lessons,
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
    fn the_last_lesson_completes_an_enrollment_and_a_new_lesson_reopens_it() {
        let mut row = with_completed_lesson(&row(StoredEnrollmentStatus::Active, 1, 2), 7);
        assert_eq!(
            (row.status, row.completed_at, row.last_activity_at),
            (StoredEnrollmentStatus::Completed, Some(7), Some(7))
        );
        row.total_lessons = 3;
        update_completion(&mut row, 8);
        assert_eq!((row.status, row.completed_at), (StoredEnrollmentStatus::Active, None));
    }

    #[test]
    fn an_older_completion_does_not_move_the_last_activity_back() {
        let mut before = row(StoredEnrollmentStatus::Active, 0, 3);
        before.last_activity_at = Some(10);
        assert_eq!(with_completed_lesson(&before, 5).last_activity_at, Some(10));
    }

    #[test]
    fn a_revoked_enrollment_stays_revoked() {
        let mut row = row(StoredEnrollmentStatus::Revoked, 2, 2);
        update_completion(&mut row, 7);
        assert_eq!(row.status, StoredEnrollmentStatus::Revoked);
    }

    proptest! {
        #[test]
        fn an_enrollment_is_completed_exactly_at_a_hundred_percent(
            completed in 0_i32..50,
            total in 0_i32..50,
        ) {
            let mut row = row(StoredEnrollmentStatus::Active, completed.min(total), total);
            update_completion(&mut row, 1);
            let percent = super::super::super::rollups::percent_complete(row.completed_lessons, total);
            prop_assert_eq!(row.status == StoredEnrollmentStatus::Completed, percent == 100);
            prop_assert_eq!(row.completed_at.is_some(), percent == 100);
        }
    }
}
