//! Courses with their modules and lessons.

use jiff::Timestamp;

use super::FieldUpdate;
use super::page::TimeSpan;
use super::text_enum::text_enum;
use foundation::id::{CourseId, LessonId, ModuleId};

pub mod catalog;
mod outline;
mod read;
mod row;
mod status;
mod upsert;

pub use super::contract::LessonType;
pub use read::{by_ids, get, get_any_status, list, search};
pub(crate) use row::status;
pub use status::set_status;
pub use upsert::upsert;

/// The status of a course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CourseStatus {
    /// Hidden from the API.
    Draft,
    /// Listed and open for enrollment.
    Published,
    /// Not listed, but readable by id.
    Archived,
}

text_enum!(CourseStatus, "a course status", { Draft = "draft", Published = "published", Archived = "archived" });

/// An amount in minor units of a currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    /// The amount in minor units.
    pub amount: i64,
    /// ISO 4217 code, upper case.
    pub currency: String,
}

/// A course without its modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// Its id.
    pub id: CourseId,
    /// The name of the course in URLs, unique in the workspace.
    pub slug: String,
    /// The title, shown to students.
    pub title: String,
    /// The description, possibly several paragraphs.
    pub description: Option<String>,
    /// BCP 47 language tag, if known.
    pub language: Option<String>,
    /// The status.
    pub status: CourseStatus,
    /// URL of the cover image, if any.
    pub image_url: Option<String>,
    /// URL of the course's page on the platform, if any.
    pub url: Option<String>,
    /// The price. `None` if the course is not sold separately.
    pub price: Option<Money>,
    /// Number of modules.
    pub module_count: i32,
    /// Number of lessons in all modules.
    pub lesson_count: i32,
    /// Total duration of all lessons in seconds, without lessons that have no duration.
    pub duration_seconds: i64,
    /// The time of the most recent publication. `None` if the course was never published.
    pub published_at: Option<Timestamp>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the most recent recorded change.
    pub updated_at: Timestamp,
}

/// A course with its modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourseDetail {
    /// The course.
    pub course: Course,
    /// Its modules, sorted by position.
    pub modules: Vec<Module>,
}

/// A module of a course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its id.
    pub id: ModuleId,
    /// Its title.
    pub title: String,
    /// The position in the course, starting at 1.
    pub position: i32,
    /// Its lessons, sorted by position.
    pub lessons: Vec<Lesson>,
}

text_enum!(LessonType, "a lesson type");

/// The metadata of a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// Its id.
    pub id: LessonId,
    /// Its title.
    pub title: String,
    /// The position in the module, starting at 1.
    pub position: i32,
    /// The type of its content.
    pub lesson_type: LessonType,
    /// The duration in seconds. `None` if the lesson has no defined duration.
    pub duration_seconds: Option<i64>,
    /// Whether the lesson is available without enrollment.
    pub free_preview: bool,
}

/// Filters of the course list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CourseFilter {
    /// Only the course with exactly this slug.
    pub slug: Option<String>,
    /// Only courses with exactly this language.
    pub language: Option<String>,
    /// Only courses created in this span.
    pub created: TimeSpan,
    /// Only courses whose most recent recorded change is in this span.
    pub updated: TimeSpan,
}

/// A search for courses of any status. An empty search matches all courses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CourseSearch {
    /// Text that the title or the slug contains, ignoring case.
    pub text: Option<String>,
    /// The status.
    pub status: Option<CourseStatus>,
}

/// The data of a `course.upsert` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourseUpsert {
    /// The platform's key of the course.
    pub key: String,
    /// The name of the course in URLs, unique in the workspace.
    pub slug: String,
    /// The title, shown to students.
    pub title: String,
    /// The new status.
    pub status: CourseStatus,
    /// The description, possibly several paragraphs.
    pub description: FieldUpdate<String>,
    /// BCP 47 language tag.
    pub language: FieldUpdate<String>,
    /// URL of the cover image.
    pub image_url: FieldUpdate<String>,
    /// URL of the course's page.
    pub url: FieldUpdate<String>,
    /// The price.
    pub price: FieldUpdate<Money>,
    /// The complete list of modules. Modules that are not listed are deleted. `None` leaves the modules unchanged.
    pub modules: Option<Vec<ModuleUpsert>>,
}

/// A module in [`CourseUpsert`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleUpsert {
    /// The platform's key of the module.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Its lessons, in order.
    pub lessons: Vec<LessonUpsert>,
}

/// A lesson in [`ModuleUpsert`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonUpsert {
    /// The platform's key of the lesson.
    pub key: String,
    /// Its title.
    pub title: String,
    /// The type of its content.
    pub lesson_type: LessonType,
    /// The duration in seconds. `None` if the lesson has no defined duration.
    pub duration_seconds: Option<i64>,
    /// Whether the lesson is available without enrollment.
    pub free_preview: bool,
}
