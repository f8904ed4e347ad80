//! Conversions and updates of enrollment rows.

use entity::enrollments::{
    self, ActiveModel, EffectiveStatus, Model, StoredEnrollmentSource, StoredEnrollmentStatus,
};
use entity::{NotSet, Set, courses, students};
use jiff::Timestamp;

use super::super::Result;
use super::super::records::id;
use super::super::rollups::{self, CountedEnrollment, percent_complete};
use super::{
    Enrollment, EnrollmentCourse, EnrollmentProgress, EnrollmentSnapshot, EnrollmentSource, EnrollmentStatus,
    EnrollmentStudent,
};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// Converts a row to an enrollment, with its status at `now_ms`. Expiry is not stored; it follows from `expires_at`.
pub(crate) fn enrollment(row: &Model, now_ms: i64) -> Enrollment {
    Enrollment {
        id: id(row.id),
        student_id: id(row.student_id),
        course_id: id(row.course_id),
        status: match row.status_at(now_ms) {
            EffectiveStatus::Active => EnrollmentStatus::Active,
            EffectiveStatus::Completed => EnrollmentStatus::Completed,
            EffectiveStatus::Expired => EnrollmentStatus::Expired,
            EffectiveStatus::Revoked => EnrollmentStatus::Revoked,
        },
        source: match row.source {
            StoredEnrollmentSource::Api => EnrollmentSource::Api,
            StoredEnrollmentSource::Order => EnrollmentSource::Order,
            StoredEnrollmentSource::Manual => EnrollmentSource::Manual,
            StoredEnrollmentSource::Import => EnrollmentSource::Import,
        },
        order_id: row.order_id.map(id),
        progress: EnrollmentProgress {
            percent_complete: percent_complete(row.completed_lessons, row.total_lessons),
            completed_lessons: row.completed_lessons,
            total_lessons: row.total_lessons,
            last_activity_at: row.last_activity_at.map(from_ms),
        },
        enrolled_at: from_ms(row.enrolled_at),
        expires_at: row.expires_at.map(from_ms),
        completed_at: row.completed_at.map(from_ms),
        revoked_at: row.revoked_at.map(from_ms),
        created_at: from_ms(row.created_at),
        updated_at: from_ms(row.updated_at),
    }
}

/// Converts a source to its stored form.
pub(super) const fn stored_source(source: EnrollmentSource) -> StoredEnrollmentSource {
    match source {
        EnrollmentSource::Api => StoredEnrollmentSource::Api,
        EnrollmentSource::Order => StoredEnrollmentSource::Order,
        EnrollmentSource::Manual => StoredEnrollmentSource::Manual,
        EnrollmentSource::Import => StoredEnrollmentSource::Import,
    }
}

/// Returns the enrollment with its student and its course, for an event that happened at `at`.
pub(crate) fn snapshot(
    row: &Model,
    student: &students::Model,
    course: &courses::Model,
    at: Timestamp,
) -> EnrollmentSnapshot {
    EnrollmentSnapshot {
        enrollment: enrollment(row, at.as_millisecond()),
        student: EnrollmentStudent {
            id: id(student.id),
            email: student.email.clone(),
            name: student.name.clone(),
        },
        course: EnrollmentCourse {
            id: id(course.id),
            slug: course.slug.clone(),
            title: course.title.clone(),
        },
    }
}

/// Appends `enrollment.created`.
pub(crate) async fn append_created_event(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    snapshot: EnrollmentSnapshot,
) -> Result<()> {
    outbox::append(app, write, workspace, at, Event::EnrollmentCreated(snapshot)).await.map(drop)
}

/// Returns the properties of an enrollment that analytics counts. `student_created_ms` is `created_at` of its student.
pub(crate) fn counted_enrollment(row: &Model, student_created_ms: i64) -> CountedEnrollment {
    CountedEnrollment {
        course: id(row.course_id),
        student_created_at: from_ms(student_created_ms),
        created_at: from_ms(row.created_at),
        active: row.status == StoredEnrollmentStatus::Active,
        revoked_at: row.revoked_at.filter(|_| row.status == StoredEnrollmentStatus::Revoked).map(from_ms),
        completed_lessons: row.completed_lessons,
        total_lessons: row.total_lessons,
    }
}

/// Updates an enrollment and its rollups, and sets `updated_at` of its student.
///
/// The caller has locked the student and the enrollment.
pub(super) async fn save(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    before: &Model,
    mut after: Model,
) -> Result<Model> {
    let recorded_ms = write.recorded_ms();
    after.updated_at = recorded_ms;
    let rows = enrollments::in_workspace(workspace.uuid());
    rows.update(write.conn(), after.id, changes(&after)).await?;
    students::in_workspace(workspace.uuid()).touch(write.conn(), &[student.id], recorded_ms).await?;
    let counted = |row: &Model| Some(counted_enrollment(row, student.created_at));
    rollups::count_enrollment(write, workspace, counted(before), counted(&after));
    Ok(after)
}

/// Returns the columns that can change after an enrollment was created.
fn changes(row: &Model) -> ActiveModel {
    ActiveModel {
        id: NotSet,
        workspace_id: NotSet,
        student_id: NotSet,
        course_id: NotSet,
        status: Set(row.status),
        source: Set(row.source),
        order_id: Set(row.order_id),
        completed_lessons: Set(row.completed_lessons),
        total_lessons: Set(row.total_lessons),
        last_activity_at: Set(row.last_activity_at),
        enrolled_at: Set(row.enrolled_at),
        expires_at: Set(row.expires_at),
        completed_at: Set(row.completed_at),
        revoked_at: Set(row.revoked_at),
        revoke_reason: Set(row.revoke_reason.clone()),
        created_at: NotSet,
        updated_at: Set(row.updated_at),
        granted_until: Set(row.granted_until),
    }
}

/// Returns whether the enrollment gives access at this time.
pub(super) fn has_access(row: &Model, at: Timestamp) -> bool {
    matches!(row.status_at(at.as_millisecond()), EffectiveStatus::Active | EffectiveStatus::Completed)
}
