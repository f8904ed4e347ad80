//! Enrolments.

use super::{text, texts, twins};
use crate::generated::schemas;
use domain::enrollments::{Enrollment, EnrollmentProgress, EnrollmentSource, EnrollmentStatus};

twins!(EnrollmentStatus => schemas::EnrollmentStatus, and back: Active, Completed, Expired, Revoked);
twins!(EnrollmentSource => schemas::EnrollmentSource: Api, Order, Manual, Import);

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
            id: text(enrollment.id),
            student_id: text(enrollment.student_id),
            course_id: text(enrollment.course_id),
            status: enrollment.status.into(),
            source: enrollment.source.into(),
            order_id: texts(enrollment.order_id),
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
