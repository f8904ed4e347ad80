//! A course as the database keeps it, made a record.

use entity::courses::{Model, Status};
use entity::lessons::{self, Kind};
use entity::modules;

use super::super::find::id;
use super::{Course, CourseStatus, Lesson, LessonType, Module, Money};
use foundation::clock::from_ms;

/// The record without its modules.
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

/// The status as the domain names it.
pub(crate) const fn status(status: Status) -> CourseStatus {
    match status {
        Status::Draft => CourseStatus::Draft,
        Status::Published => CourseStatus::Published,
        Status::Archived => CourseStatus::Archived,
    }
}

/// The status as the database keeps it.
pub(super) const fn stored_status(status: CourseStatus) -> Status {
    match status {
        CourseStatus::Draft => Status::Draft,
        CourseStatus::Published => Status::Published,
        CourseStatus::Archived => Status::Archived,
    }
}

/// The modules with their lessons, both by position; both lists come sorted by course, module and position.
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
        lesson_type: lesson_type(row.kind),
        duration_seconds: row.duration_seconds,
        free_preview: row.free_preview,
    }
}

const fn lesson_type(kind: Kind) -> LessonType {
    match kind {
        Kind::Video => LessonType::Video,
        Kind::Audio => LessonType::Audio,
        Kind::Text => LessonType::Text,
        Kind::Download => LessonType::Download,
        Kind::Quiz => LessonType::Quiz,
        Kind::Assignment => LessonType::Assignment,
        Kind::Live => LessonType::Live,
    }
}

/// The type as the database keeps it.
pub(super) const fn stored_type(lesson_type: LessonType) -> Kind {
    match lesson_type {
        LessonType::Video => Kind::Video,
        LessonType::Audio => Kind::Audio,
        LessonType::Text => Kind::Text,
        LessonType::Download => Kind::Download,
        LessonType::Quiz => Kind::Quiz,
        LessonType::Assignment => Kind::Assignment,
        LessonType::Live => Kind::Live,
    }
}
