//! An enrolment as the database keeps it: made a record, counted, saved and told of.

use entity::enrollments::{self, ActiveModel, Model, Source, Standing, Status};
use entity::{Set, courses, students};
use jiff::Timestamp;

use super::super::Result;
use super::super::find::id;
use super::super::rollups::{self, EnrollmentFacts, percent_complete};
use super::{
    CourseName, Enrollment, EnrollmentProgress, EnrollmentSnapshot, EnrollmentSource, EnrollmentStatus,
    StudentName,
};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::WorkspaceId;

/// The record, judged at `now_ms`: expiry is not stored, it comes by itself.
pub(crate) fn enrollment(row: &Model, now_ms: i64) -> Enrollment {
    Enrollment {
        id: id(row.id),
        student_id: id(row.student_id),
        course_id: id(row.course_id),
        status: match row.standing_at(now_ms) {
            Standing::Active => EnrollmentStatus::Active,
            Standing::Completed => EnrollmentStatus::Completed,
            Standing::Expired => EnrollmentStatus::Expired,
            Standing::Revoked => EnrollmentStatus::Revoked,
        },
        source: match row.source {
            Source::Api => EnrollmentSource::Api,
            Source::Order => EnrollmentSource::Order,
            Source::Manual => EnrollmentSource::Manual,
            Source::Import => EnrollmentSource::Import,
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

/// The stored form of a source.
pub(super) const fn stored(source: EnrollmentSource) -> Source {
    match source {
        EnrollmentSource::Api => Source::Api,
        EnrollmentSource::Order => Source::Order,
        EnrollmentSource::Manual => Source::Manual,
        EnrollmentSource::Import => Source::Import,
    }
}

/// The enrolment with its two ends, as events show it.
pub(crate) fn snapshot(
    row: &Model,
    student: &students::Model,
    course: &courses::Model,
    at: Timestamp,
) -> EnrollmentSnapshot {
    EnrollmentSnapshot {
        enrollment: enrollment(row, at.as_millisecond()),
        student: StudentName { id: id(student.id), email: student.email.clone(), name: student.name.clone() },
        course: CourseName { id: id(course.id), slug: course.slug.clone(), title: course.title.clone() },
    }
}

/// Emits `enrollment.created`.
pub(crate) async fn announce(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    snapshot: EnrollmentSnapshot,
) -> Result<()> {
    outbox::append(app, write, workspace, at, Event::EnrollmentCreated(snapshot)).await.map(drop)
}

/// What analytics count of an enrolment.
pub(crate) fn facts(row: &Model, student_created_ms: i64) -> EnrollmentFacts {
    EnrollmentFacts {
        course: id(row.course_id),
        student_created_at: from_ms(student_created_ms),
        created_at: from_ms(row.created_at),
        active: row.status == Status::Active,
        revoked_at: row.revoked_at.filter(|_| row.status == Status::Revoked).map(from_ms),
        completed_lessons: row.completed_lessons,
        total_lessons: row.total_lessons,
    }
}

/// Writes what changed of an enrolment, counts it, and moves the student's `updated_at`.
///
/// The caller holds the student's row and this one.
pub(super) async fn save(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    before: &Model,
    mut after: Model,
) -> Result<Model> {
    let now_ms = write.now_ms();
    after.updated_at = now_ms;
    let rows = enrollments::in_workspace(workspace.uuid());
    rows.update(write.conn(), after.id, changes(&after)).await?;
    students::in_workspace(workspace.uuid()).touch(write.conn(), &[student.id], now_ms).await?;
    let counted = |row: &Model| Some(facts(row, student.created_at));
    rollups::enrollment(write, workspace, counted(before), counted(&after));
    Ok(after)
}

/// The columns that may change once an enrolment exists.
fn changes(row: &Model) -> ActiveModel {
    ActiveModel {
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
        updated_at: Set(row.updated_at),
        granted_until: Set(row.granted_until),
        ..Default::default()
    }
}
