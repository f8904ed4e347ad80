//! Conversions between database rows and courses.

use entity::courses::{Model, StoredCourseStatus};
use entity::lessons::{self, StoredLessonType};
use entity::modules;

use super::super::records::id;
use super::{Course, CourseStatus, Lesson, LessonType, Module, Money};
use foundation::clock::from_ms;

/// Converts a row to a course without its modules.
pub(super) fn course(row: Model) -> Course {
    Course {
        id: id(row.id),
        slug: row.slug,
        title: row.title,
        description: row.description,
        language: row.language,
        status: status(row.status),
        image_url: row.image_url,
        url: row.url,
        price: row.price_amount.zip(row.price_currency).map(|(amount, currency)| Money { amount, currency }),
        module_count: row.module_count,
        lesson_count: row.lesson_count,
        duration_seconds: row.duration_seconds,
        published_at: row.published_at.map(from_ms),
        created_at: from_ms(row.created_at),
        updated_at: from_ms(row.updated_at),
    }
}

/// Converts a stored status.
pub(crate) const fn status(status: StoredCourseStatus) -> CourseStatus {
    match status {
        StoredCourseStatus::Draft => CourseStatus::Draft,
        StoredCourseStatus::Published => CourseStatus::Published,
        StoredCourseStatus::Archived => CourseStatus::Archived,
    }
}

/// Converts a status to its stored form.
pub(super) const fn stored_status(status: CourseStatus) -> StoredCourseStatus {
    match status {
        CourseStatus::Draft => StoredCourseStatus::Draft,
        CourseStatus::Published => StoredCourseStatus::Published,
        CourseStatus::Archived => StoredCourseStatus::Archived,
    }
}

/// Combines the modules of one course with their lessons. Modules must be sorted by position, lessons by position
/// within each module.
pub(super) fn outline(modules: Vec<modules::Model>, lessons: &[lessons::Model]) -> Vec<Module> {
    let module = |row: modules::Model| Module {
        id: id(row.id),
        title: row.title,
        position: row.position,
        lessons: lessons.iter().filter(|lesson| lesson.module_id == row.id).map(lesson).collect(),
    };
    modules.into_iter().map(module).collect()
}

fn lesson(row: &lessons::Model) -> Lesson {
    Lesson {
        id: id(row.id),
        title: row.title.clone(),
        position: row.position,
        lesson_type: lesson_type(row.lesson_type),
        duration_seconds: row.duration_seconds,
        free_preview: row.free_preview,
    }
}

const fn lesson_type(stored_type: StoredLessonType) -> LessonType {
    match stored_type {
        StoredLessonType::Video => LessonType::Video,
        StoredLessonType::Audio => LessonType::Audio,
        StoredLessonType::Text => LessonType::Text,
        StoredLessonType::Download => LessonType::Download,
        StoredLessonType::Quiz => LessonType::Quiz,
        StoredLessonType::Assignment => LessonType::Assignment,
        StoredLessonType::Live => LessonType::Live,
    }
}

/// Converts a lesson type to its stored form.
pub(super) const fn stored_type(lesson_type: LessonType) -> StoredLessonType {
    match lesson_type {
        LessonType::Video => StoredLessonType::Video,
        LessonType::Audio => StoredLessonType::Audio,
        LessonType::Text => StoredLessonType::Text,
        LessonType::Download => StoredLessonType::Download,
        LessonType::Quiz => StoredLessonType::Quiz,
        LessonType::Assignment => StoredLessonType::Assignment,
        LessonType::Live => StoredLessonType::Live,
    }
}
