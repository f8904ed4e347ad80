//! Conversions of students with their progress.

use super::id_string;
use crate::generated::schemas;
use domain::students::{NewStudent, Student, StudentProgress};

impl From<StudentProgress> for schemas::StudentProgress {
    fn from(progress: StudentProgress) -> Self {
        Self {
            enrollments_total: progress.enrollments_total,
            enrollments_active: progress.enrollments_active,
            enrollments_completed: progress.enrollments_completed,
            average_percent_complete: progress.average_percent_complete,
            last_activity_at: progress.last_activity_at.map(Into::into),
        }
    }
}

impl From<Student> for schemas::Student {
    fn from(student: Student) -> Self {
        let summary = student.summary;
        Self {
            id: id_string(summary.id),
            email: summary.email,
            name: summary.name,
            external_id: summary.external_id,
            tags: summary.tags,
            metadata: summary.metadata,
            progress: summary.progress.into(),
            created_at: summary.created_at.into(),
            updated_at: summary.updated_at.into(),
            enrollments: student.enrollments.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<schemas::NewStudent> for NewStudent {
    fn from(student: schemas::NewStudent) -> Self {
        Self {
            email: student.email,
            name: student.name,
            external_id: student.external_id,
            tags: student.tags.unwrap_or_default(),
            metadata: student.metadata.unwrap_or_default(),
        }
    }
}
