//! Converts student rows.

use entity::enrollments::{EffectiveStatus, Model as EnrollmentRow};
use entity::students::Model;

use super::super::records::id;
use super::super::rollups::percent_complete;
use super::{StudentProgress, StudentSummary};
use foundation::clock::from_ms;

/// Converts a row to a student without the enrollment history. `enrollments` are all enrollments of the student, whose
/// status is determined at `now_ms`.
pub(crate) fn summary(student: Model, enrollments: &[EnrollmentRow], now_ms: i64) -> StudentSummary {
    StudentSummary {
        id: id(student.id),
        progress: progress(enrollments, now_ms),
        email: student.email,
        name: student.name,
        external_id: student.external_id,
        tags: student.tags.0,
        metadata: student.metadata.0,
        created_at: from_ms(student.created_at),
        updated_at: from_ms(student.updated_at),
    }
}

/// Calculates the progress over all enrollments.
fn progress(enrollments: &[EnrollmentRow], now_ms: i64) -> StudentProgress {
    let count_with = |status: EffectiveStatus| {
        let count = enrollments.iter().filter(|row| row.status_at(now_ms) == status).count();
        i32::try_from(count).unwrap_or(i32::MAX)
    };
    let percents: Vec<i64> = enrollments
        .iter()
        .filter(|row| row.status_at(now_ms) != EffectiveStatus::Revoked)
        .map(|row| i64::from(percent_complete(row.completed_lessons, row.total_lessons)))
        .collect();
    let average = percents.iter().sum::<i64>().checked_div(i64::try_from(percents.len()).unwrap_or(i64::MAX));
    StudentProgress {
        enrollments_total: i32::try_from(enrollments.len()).unwrap_or(i32::MAX),
        enrollments_active: count_with(EffectiveStatus::Active),
        enrollments_completed: count_with(EffectiveStatus::Completed),
        average_percent_complete: average.map(|percent| i32::try_from(percent).unwrap_or(100)),
        last_activity_at: enrollments.iter().filter_map(|row| row.last_activity_at).max().map(from_ms),
    }
}

#[cfg(test)]
mod tests {
    use entity::enrollments::{StoredEnrollmentSource, StoredEnrollmentStatus};

    use super::*;

    fn row(
        status: StoredEnrollmentStatus,
        completed_lessons: i32,
        total_lessons: i32,
        expires_at: Option<i64>,
    ) -> EnrollmentRow {
        EnrollmentRow {
            id: uuid::Uuid::nil(),
            workspace_id: uuid::Uuid::nil(),
            student_id: uuid::Uuid::nil(),
            course_id: uuid::Uuid::nil(),
            status,
            source: StoredEnrollmentSource::Api,
            order_id: None,
            completed_lessons,
            total_lessons,
            last_activity_at: (completed_lessons > 0).then_some(i64::from(completed_lessons)),
            enrolled_at: 0,
            expires_at,
            completed_at: None,
            revoked_at: None,
            revoke_reason: None,
            created_at: 0,
            updated_at: 0,
            granted_until: None,
        }
    }

    #[test]
    fn the_average_excludes_revoked_enrollments_and_is_rounded_down() {
        let rows = [
            row(StoredEnrollmentStatus::Active, 1, 3, None),
            row(StoredEnrollmentStatus::Completed, 2, 2, Some(5)),
            row(StoredEnrollmentStatus::Active, 0, 4, Some(10)),
            row(StoredEnrollmentStatus::Revoked, 4, 4, None),
        ];
        let progress = progress(&rows, 10);
        assert_eq!(
            progress,
            StudentProgress {
                enrollments_total: 4,
                enrollments_active: 1,
                enrollments_completed: 1,
                average_percent_complete: Some(44),
                last_activity_at: Some(from_ms(4)),
            }
        );
    }

    #[test]
    fn the_average_of_no_enrollments_is_none() {
        assert_eq!(progress(&[], 0).average_percent_complete, None);
        assert_eq!(
            progress(&[row(StoredEnrollmentStatus::Revoked, 1, 1, None)], 0).average_percent_complete,
            None
        );
    }
}
