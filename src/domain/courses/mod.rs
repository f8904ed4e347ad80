//! Courses with their modules and lessons.

use jiff::Timestamp;

use super::Given;
use super::page::Span;
use super::word::words;
use foundation::id::{CourseId, LessonId, ModuleId};

pub mod catalogue;
mod outline;
mod read;
mod row;
mod status;
mod upsert;

pub use read::{all, by_ids, detail, get, list};
pub(crate) use row::status;
pub use status::set_status;
pub use upsert::upsert;

/// Where a course stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CourseStatus {
    /// Not shown by the API.
    Draft,
    /// Listed and open for enrolment.
    Published,
    /// Readable by id, no longer listed.
    Archived,
}

words!(CourseStatus, "a course status", { Draft = "draft", Published = "published", Archived = "archived" });

/// An amount in minor units of a currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    /// Minor units.
    pub amount: i64,
    /// ISO 4217, upper case.
    pub currency: String,
}

/// A course without its modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// Its id.
    pub id: CourseId,
    /// Unique in the workspace.
    pub slug: String,
    /// Shown to students.
    pub title: String,
    /// Long text.
    pub description: Option<String>,
    /// BCP 47.
    pub language: Option<String>,
    /// Draft, published or archived.
    pub status: CourseStatus,
    /// Cover image.
    pub image_url: Option<String>,
    /// The course's page.
    pub url: Option<String>,
    /// What it costs; `None` when it is not sold by itself.
    pub price: Option<Money>,
    /// Modules.
    pub module_count: i32,
    /// Lessons over all modules.
    pub lesson_count: i32,
    /// Seconds of all lessons together.
    pub duration_seconds: i64,
    /// When it was published last; `None` before the first time.
    pub published_at: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last recorded change.
    pub updated_at: Timestamp,
}

/// A course with its modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourseDetail {
    /// The course.
    pub course: Course,
    /// Its modules, by position.
    pub modules: Vec<Module>,
}

/// A module of a course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its id.
    pub id: ModuleId,
    /// Its title.
    pub title: String,
    /// From 1.
    pub position: i32,
    /// Its lessons, by position.
    pub lessons: Vec<Lesson>,
}

/// What a lesson is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the contract's seven words")]
pub enum LessonType {
    Video,
    Audio,
    Text,
    Download,
    Quiz,
    Assignment,
    Live,
}

words!(LessonType, "a lesson type", { Video = "video", Audio = "audio", Text = "text", Download = "download", Quiz = "quiz", Assignment = "assignment", Live = "live" });

/// A lesson's metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// Its id.
    pub id: LessonId,
    /// Its title.
    pub title: String,
    /// From 1, within the module.
    pub position: i32,
    /// What it is made of.
    pub lesson_type: LessonType,
    /// Seconds; `None` where time has no meaning.
    pub duration_seconds: Option<i64>,
    /// Open without enrolment.
    pub free_preview: bool,
}

/// Filters of the course list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CourseFilter {
    /// Exact slug.
    pub slug: Option<String>,
    /// Exact language.
    pub language: Option<String>,
    /// By creation.
    pub created: Span,
    /// By last change.
    pub updated: Span,
}

/// Which courses of any status are wanted; an empty search wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CourseSearch {
    /// With this text in the title or the slug, without regard to case.
    pub text: Option<String>,
    /// With this status.
    pub status: Option<CourseStatus>,
}

/// What `course.upsert` says of a course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourseUpsert {
    /// The platform's own key.
    pub key: String,
    /// Unique in the workspace.
    pub slug: String,
    /// Shown to students.
    pub title: String,
    /// The status it shall have.
    pub status: CourseStatus,
    /// Long text.
    pub description: Given<String>,
    /// BCP 47.
    pub language: Given<String>,
    /// Cover image.
    pub image_url: Given<String>,
    /// The course's page.
    pub url: Given<String>,
    /// What it costs.
    pub price: Given<Money>,
    /// The whole list of modules; what is not named is removed. `None` leaves them as they are.
    pub modules: Option<Vec<ModuleUpsert>>,
}

/// A module within [`CourseUpsert`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleUpsert {
    /// The platform's own key.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Its lessons, in order.
    pub lessons: Vec<LessonUpsert>,
}

/// A lesson within [`ModuleUpsert`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonUpsert {
    /// The platform's own key.
    pub key: String,
    /// Its title.
    pub title: String,
    /// What it is made of.
    pub lesson_type: LessonType,
    /// Seconds.
    pub duration_seconds: Option<i64>,
    /// Open without enrolment.
    pub free_preview: bool,
}
