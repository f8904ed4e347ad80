//! Conversions of courses with their modules and lessons.

use super::{enum_map, id_string};
use crate::generated::schemas;
use domain::courses::{Course, CourseDetail, CourseStatus, Lesson, LessonType, Module, Money};

enum_map!(LessonType => schemas::LessonType);

/// # Panics
/// Panics for a draft. The API never returns drafts, and a failed request is better than a leaked draft.
impl From<CourseStatus> for schemas::CourseStatus {
    fn from(status: CourseStatus) -> Self {
        match status {
            CourseStatus::Published => Self::Published,
            CourseStatus::Archived => Self::Archived,
            CourseStatus::Draft => unreachable!("the API never returns a draft"),
        }
    }
}

impl From<Money> for schemas::Price {
    fn from(money: Money) -> Self {
        Self { amount: money.amount, currency: money.currency }
    }
}

impl From<Course> for schemas::Course {
    fn from(course: Course) -> Self {
        Self {
            id: id_string(course.id),
            slug: course.slug,
            title: course.title,
            description: course.description,
            language: course.language,
            status: course.status.into(),
            image_url: course.image_url,
            url: course.url,
            price: course.price.map(Into::into),
            module_count: course.module_count,
            lesson_count: course.lesson_count,
            duration_seconds: course.duration_seconds,
            published_at: course.published_at.map(Into::into),
            created_at: course.created_at.into(),
            updated_at: course.updated_at.into(),
        }
    }
}

impl From<CourseDetail> for schemas::CourseDetail {
    fn from(detail: CourseDetail) -> Self {
        let course: schemas::Course = detail.course.into();
        Self {
            id: course.id,
            slug: course.slug,
            title: course.title,
            description: course.description,
            language: course.language,
            status: course.status,
            image_url: course.image_url,
            url: course.url,
            price: course.price,
            module_count: course.module_count,
            lesson_count: course.lesson_count,
            duration_seconds: course.duration_seconds,
            published_at: course.published_at,
            created_at: course.created_at,
            updated_at: course.updated_at,
            modules: detail.modules.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Module> for schemas::Module {
    fn from(module: Module) -> Self {
        Self {
            id: id_string(module.id),
            title: module.title,
            position: module.position,
            lessons: module.lessons.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Lesson> for schemas::Lesson {
    fn from(lesson: Lesson) -> Self {
        Self {
            id: id_string(lesson.id),
            title: lesson.title,
            position: lesson.position,
            r#type: lesson.lesson_type.into(),
            duration_seconds: lesson.duration_seconds,
            free_preview: lesson.free_preview,
        }
    }
}
