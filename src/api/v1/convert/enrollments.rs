//! Conversions of enrollments.

use super::{enum_map, id_string, optional_id_string};
use crate::generated::schemas;
use domain::enrollments::{Enrollment, EnrollmentProgress, EnrollmentSource, EnrollmentStatus};

enum_map!(EnrollmentStatus => schemas::EnrollmentStatus, and back);
enum_map!(EnrollmentSource => schemas::EnrollmentSource);

impl From<EnrollmentProgress> for schemas::EnrollmentProgress {
    fn from(progress: EnrollmentProgress) -> Self {
        Self {
            percent_complete: progress.percent_complete,
            completed_lessons: progress.completed_lessons,
            total_lessons: progress.total_lessons,
            last_activity_at: progress.last_activity_at.map(Into::into),
        }
    }
}

impl From<Enrollment> for schemas::Enrollment {
    fn from(enrollment: Enrollment) -> Self {
        Self {
            id: id_string(enrollment.id),
            student_id: id_string(enrollment.student_id),
            course_id: id_string(enrollment.course_id),
            status: enrollment.status.into(),
            source: enrollment.source.into(),
            order_id: optional_id_string(enrollment.order_id),
            progress: enrollment.progress.into(),
            enrolled_at: enrollment.enrolled_at.into(),
            expires_at: enrollment.expires_at.map(Into::into),
            completed_at: enrollment.completed_at.map(Into::into),
            revoked_at: enrollment.revoked_at.map(Into::into),
            created_at: enrollment.created_at.into(),
            updated_at: enrollment.updated_at.into(),
        }
    }
}
