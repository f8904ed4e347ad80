// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! The types of requests and responses.

use contract_runtime::scalar::Timestamp;

/// Where a page stands in its list.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Pagination {
    /// Pass it as `cursor` to get the next page. Null on the last page.
    #[oai(nullable)]
    pub cursor: Option<String>,
    /// True when more items follow.
    pub has_more: bool,
}

/// Whether a course is on offer. An archived course is no longer listed, but can still be read by its id.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CourseStatus {
    /// `published`.
    #[oai(rename = "published")]
    #[serde(rename = "published")]
    Published,
    /// `archived`.
    #[oai(rename = "archived")]
    #[serde(rename = "archived")]
    Archived,
}

impl CourseStatus {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Published, Self::Archived];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Archived => "archived",
        }
    }
}

/// What a lesson consists of.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum LessonType {
    /// `video`.
    #[oai(rename = "video")]
    #[serde(rename = "video")]
    Video,
    /// `audio`.
    #[oai(rename = "audio")]
    #[serde(rename = "audio")]
    Audio,
    /// `text`.
    #[oai(rename = "text")]
    #[serde(rename = "text")]
    Text,
    /// `download`.
    #[oai(rename = "download")]
    #[serde(rename = "download")]
    Download,
    /// `quiz`.
    #[oai(rename = "quiz")]
    #[serde(rename = "quiz")]
    Quiz,
    /// `assignment`.
    #[oai(rename = "assignment")]
    #[serde(rename = "assignment")]
    Assignment,
    /// `live`.
    #[oai(rename = "live")]
    #[serde(rename = "live")]
    Live,
}

impl LessonType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Video,
        Self::Audio,
        Self::Text,
        Self::Download,
        Self::Quiz,
        Self::Assignment,
        Self::Live,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Text => "text",
            Self::Download => "download",
            Self::Quiz => "quiz",
            Self::Assignment => "assignment",
            Self::Live => "live",
        }
    }
}

/// Order of a list of courses. A leading `-` means descending.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CourseSort {
    /// `created_at`.
    #[oai(rename = "created_at")]
    #[serde(rename = "created_at")]
    CreatedAt,
    /// `-created_at`.
    #[oai(rename = "-created_at")]
    #[serde(rename = "-created_at")]
    CreatedAtDescending,
    /// `updated_at`.
    #[oai(rename = "updated_at")]
    #[serde(rename = "updated_at")]
    UpdatedAt,
    /// `-updated_at`.
    #[oai(rename = "-updated_at")]
    #[serde(rename = "-updated_at")]
    UpdatedAtDescending,
}

impl CourseSort {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::CreatedAt,
        Self::CreatedAtDescending,
        Self::UpdatedAt,
        Self::UpdatedAtDescending,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::CreatedAtDescending => "-created_at",
            Self::UpdatedAt => "updated_at",
            Self::UpdatedAtDescending => "-updated_at",
        }
    }
}

/// What something costs.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Price {
    /// Whole number of minor units of `currency`.
    #[oai(validator(minimum(value = "0")))]
    pub amount: i64,
    /// ISO 4217 code in upper case. It says what the minor unit of the amounts beside it is.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
}

/// A course that is or was published.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Course {
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[oai(validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Readable name of a course in its address, unique in the workspace.
    #[oai(
        validator(min_length = 1, max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")
    )]
    pub slug: String,
    /// Title as students see it.
    pub title: String,
    /// Short text about the course. Null when it has none.
    #[oai(nullable)]
    pub description: Option<String>,
    /// Language in which it is taught, a BCP 47 tag such as `en` or `pt-BR`. Null when not stated.
    #[oai(nullable)]
    pub language: Option<String>,
    /// Whether a course is on offer. An archived course is no longer listed, but can still be read by its id.
    pub status: CourseStatus,
    /// Address of its cover image. Null when it has none.
    #[oai(nullable)]
    pub image_url: Option<String>,
    /// Address of its public page. Null when it has none.
    #[oai(nullable)]
    pub url: Option<String>,
    /// List price. Null when the course has no price of its own. What was paid stands in the orders.
    #[oai(nullable)]
    pub price: Option<Price>,
    /// Number of its modules.
    #[oai(validator(minimum(value = "0")))]
    pub module_count: i32,
    /// Number of its lessons, over all modules.
    #[oai(validator(minimum(value = "0")))]
    pub lesson_count: i32,
    /// Sum of the durations of its lessons; a lesson without one counts as 0.
    #[oai(validator(minimum(value = "0")))]
    pub duration_seconds: i64,
    /// When it was published last. Null for a course that was archived without ever being published.
    #[oai(nullable)]
    pub published_at: Option<Timestamp>,
    /// When the course was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown here.
    pub updated_at: Timestamp,
}

/// Metadata of a lesson. Neither its text nor links to its media are part of the API.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Lesson {
    /// Id of a lesson, such as `les_01k425s4w0f1q885vj4tta0bkd`.
    #[oai(validator(pattern = "^les_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Title as students see it.
    pub title: String,
    /// Place in its module, from 1.
    #[oai(validator(minimum(value = "1")))]
    pub position: i32,
    /// What a lesson consists of.
    pub r#type: LessonType,
    /// Length of the lesson. Null when it has none, such as a text.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub duration_seconds: Option<i64>,
    /// True when it can be seen without being enrolled.
    pub free_preview: bool,
}

/// A part of a course, with its lessons.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Module {
    /// Id of a module, such as `mod_01k4256ty0ebab9jtd73jyvgt8`.
    #[oai(validator(pattern = "^mod_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Title as students see it.
    pub title: String,
    /// Place in the course, from 1.
    #[oai(validator(minimum(value = "1")))]
    pub position: i32,
    /// Its lessons by `position`.
    pub lessons: Vec<Lesson>,
}

/// A course with its modules and the metadata of their lessons.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct CourseDetail {
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[oai(validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Readable name of a course in its address, unique in the workspace.
    #[oai(
        validator(min_length = 1, max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")
    )]
    pub slug: String,
    /// Title as students see it.
    pub title: String,
    /// Short text about the course. Null when it has none.
    #[oai(nullable)]
    pub description: Option<String>,
    /// Language in which it is taught, a BCP 47 tag such as `en` or `pt-BR`. Null when not stated.
    #[oai(nullable)]
    pub language: Option<String>,
    /// Whether a course is on offer. An archived course is no longer listed, but can still be read by its id.
    pub status: CourseStatus,
    /// Address of its cover image. Null when it has none.
    #[oai(nullable)]
    pub image_url: Option<String>,
    /// Address of its public page. Null when it has none.
    #[oai(nullable)]
    pub url: Option<String>,
    /// List price. Null when the course has no price of its own. What was paid stands in the orders.
    #[oai(nullable)]
    pub price: Option<Price>,
    /// Number of its modules.
    #[oai(validator(minimum(value = "0")))]
    pub module_count: i32,
    /// Number of its lessons, over all modules.
    #[oai(validator(minimum(value = "0")))]
    pub lesson_count: i32,
    /// Sum of the durations of its lessons; a lesson without one counts as 0.
    #[oai(validator(minimum(value = "0")))]
    pub duration_seconds: i64,
    /// When it was published last. Null for a course that was archived without ever being published.
    #[oai(nullable)]
    pub published_at: Option<Timestamp>,
    /// When the course was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown here.
    pub updated_at: Timestamp,
    /// Its modules by `position`.
    pub modules: Vec<Module>,
}

/// A page of courses.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct CourseList {
    /// The courses of this page.
    pub data: Vec<Course>,
    /// Where a page stands in its list.
    pub pagination: Pagination,
}

/// Order of a list of students. A leading `-` means descending.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum StudentSort {
    /// `created_at`.
    #[oai(rename = "created_at")]
    #[serde(rename = "created_at")]
    CreatedAt,
    /// `-created_at`.
    #[oai(rename = "-created_at")]
    #[serde(rename = "-created_at")]
    CreatedAtDescending,
    /// `updated_at`.
    #[oai(rename = "updated_at")]
    #[serde(rename = "updated_at")]
    UpdatedAt,
    /// `-updated_at`.
    #[oai(rename = "-updated_at")]
    #[serde(rename = "-updated_at")]
    UpdatedAtDescending,
}

impl StudentSort {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::CreatedAt,
        Self::CreatedAtDescending,
        Self::UpdatedAt,
        Self::UpdatedAtDescending,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::CreatedAtDescending => "-created_at",
            Self::UpdatedAt => "updated_at",
            Self::UpdatedAtDescending => "-updated_at",
        }
    }
}

/// Progress of a student over all enrollments.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct StudentProgress {
    /// All enrollments, expired and revoked ones included.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_total: i32,
    /// Those with the status `active`.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_active: i32,
    /// Those with the status `completed`.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_completed: i32,
    /// Mean of `percent_complete` over the enrollments that are not revoked, rounded down. Null when there are none.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub average_percent_complete: Option<i32>,
    /// When a lesson was last worked on. Null before the first time.
    #[oai(nullable)]
    pub last_activity_at: Option<Timestamp>,
}

/// A student with progress and the whole enrollment history.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Student {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    #[oai(validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// An email address. It holds exactly one `@` with something on both sides, and neither blanks nor control characters; more is not checked. Letters keep the case in which they came, and are compared without regard to it.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// Full name. Null when not known.
    #[oai(nullable)]
    pub name: Option<String>,
    /// Id of this person in a system of yours, such as a CRM. Null when there is none. It need not be unique.
    #[oai(nullable)]
    pub external_id: Option<String>,
    /// Labels of your own, each at most once.
    pub tags: Vec<String>,
    /// Facts of your own about the record, up to 50 of them. The service stores them and does nothing else with them. Keep no secrets here.
    #[oai(validator(max_length = 500, pattern = "^[^\\x00]*$", max_properties = 50))]
    pub metadata: std::collections::BTreeMap<String, String>,
    /// Progress of a student over all enrollments.
    pub progress: StudentProgress,
    /// When the student was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown in the student, progress and enrollments included.
    pub updated_at: Timestamp,
    /// All enrollments, expired and revoked ones included, newest first.
    pub enrollments: Vec<Enrollment>,
}

/// A page of students.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct StudentList {
    /// The students of this page.
    pub data: Vec<Student>,
    /// Where a page stands in its list.
    pub pagination: Pagination,
}

/// A student to create. `name` and `external_id` count as absent when they are null.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct NewStudent {
    /// An email address. It holds exactly one `@` with something on both sides, and neither blanks nor control characters; more is not checked. Letters keep the case in which they came, and are compared without regard to it.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// Full name.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(min_length = 1, max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Id of this person in a system of yours, such as a CRM.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(min_length = 1, max_length = 255, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Labels of your own. Their order is kept.
    #[oai(
        skip_serializing_if_is_none,
        validator(
            min_length = 1,
            max_length = 64,
            pattern = "^[^\\x00-\\x1f\\x7f]*$",
            max_items = 20,
            unique_items
        )
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Facts of your own about the record, up to 50 of them. The service stores them and does nothing else with them. Keep no secrets here.
    #[oai(
        skip_serializing_if_is_none,
        validator(max_length = 500, pattern = "^[^\\x00]*$", max_properties = 50)
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<std::collections::BTreeMap<String, String>>,
}

/// Where an enrollment stands. `active`: the student has access. `completed`: every lesson is done. `expired`: `expires_at` has passed. `revoked`: access was taken away.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EnrollmentStatus {
    /// `active`.
    #[oai(rename = "active")]
    #[serde(rename = "active")]
    Active,
    /// `completed`.
    #[oai(rename = "completed")]
    #[serde(rename = "completed")]
    Completed,
    /// `expired`.
    #[oai(rename = "expired")]
    #[serde(rename = "expired")]
    Expired,
    /// `revoked`.
    #[oai(rename = "revoked")]
    #[serde(rename = "revoked")]
    Revoked,
}

impl EnrollmentStatus {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Active,
        Self::Completed,
        Self::Expired,
        Self::Revoked,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// Where an enrollment came from. `api`: `createEnrollment`. `order`: a paid order. `manual`: somebody in the workspace. `import`: a transfer from another system.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EnrollmentSource {
    /// `api`.
    #[oai(rename = "api")]
    #[serde(rename = "api")]
    Api,
    /// `order`.
    #[oai(rename = "order")]
    #[serde(rename = "order")]
    Order,
    /// `manual`.
    #[oai(rename = "manual")]
    #[serde(rename = "manual")]
    Manual,
    /// `import`.
    #[oai(rename = "import")]
    #[serde(rename = "import")]
    Import,
}

impl EnrollmentSource {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Api,
        Self::Order,
        Self::Manual,
        Self::Import,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Order => "order",
            Self::Manual => "manual",
            Self::Import => "import",
        }
    }
}

/// Progress in one course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct EnrollmentProgress {
    /// Share of the lessons that are done, rounded down; 100 only when every lesson is done.
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub percent_complete: i32,
    /// Number of lessons done.
    #[oai(validator(minimum(value = "0")))]
    pub completed_lessons: i32,
    /// Number of lessons of the course.
    #[oai(validator(minimum(value = "0")))]
    pub total_lessons: i32,
    /// When a lesson was last worked on. Null before the first time.
    #[oai(nullable)]
    pub last_activity_at: Option<Timestamp>,
}

/// The link of a student to a course. There is at most one for each pair (`studentId`, `courseId`).
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Enrollment {
    /// Id of an enrollment, such as `enr_01khdps1zne5kt2bysnfgbbyhs`.
    #[oai(validator(pattern = "^enr_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    #[oai(
        rename = "studentId",
        validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$")
    )]
    #[serde(rename = "studentId")]
    pub student_id: String,
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[oai(rename = "courseId", validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// Where an enrollment stands. `active`: the student has access. `completed`: every lesson is done. `expired`: `expires_at` has passed. `revoked`: access was taken away.
    pub status: EnrollmentStatus,
    /// Where an enrollment came from. `api`: `createEnrollment`. `order`: a paid order. `manual`: somebody in the workspace. `import`: a transfer from another system.
    pub source: EnrollmentSource,
    /// The order that it came from. Null when it came from none.
    #[oai(nullable, validator(pattern = "^ord_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub order_id: Option<String>,
    /// Progress in one course.
    pub progress: EnrollmentProgress,
    /// When access was given, the last time if it was given more than once.
    pub enrolled_at: Timestamp,
    /// When access ends. Null when it does not end.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
    /// When the last lesson was done. Null before.
    #[oai(nullable)]
    pub completed_at: Option<Timestamp>,
    /// When access was taken away. Null while it is not.
    #[oai(nullable)]
    pub revoked_at: Option<Timestamp>,
    /// When the enrollment was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown here.
    pub updated_at: Timestamp,
}

/// An enrollment to create. An optional field that is null counts as absent.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct NewEnrollment {
    /// Id of a student of the workspace. One that does not resolve, malformed ones included, is 404.
    #[oai(rename = "studentId", validator(min_length = 1))]
    #[serde(rename = "studentId")]
    pub student_id: String,
    /// Id of a course of the workspace. One that does not resolve, malformed ones included, is 404; one of a course that is not published is 422.
    #[oai(rename = "courseId", validator(min_length = 1))]
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// When access ends, a time in the future. Without it access does not end.
    #[oai(nullable, skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// How much of a paid order was given back. `paid`: nothing. `partially_refunded`: a part. `refunded`: all of it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum OrderStatus {
    /// `paid`.
    #[oai(rename = "paid")]
    #[serde(rename = "paid")]
    Paid,
    /// `partially_refunded`.
    #[oai(rename = "partially_refunded")]
    #[serde(rename = "partially_refunded")]
    PartiallyRefunded,
    /// `refunded`.
    #[oai(rename = "refunded")]
    #[serde(rename = "refunded")]
    Refunded,
}

impl OrderStatus {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Paid,
        Self::PartiallyRefunded,
        Self::Refunded,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::PartiallyRefunded => "partially_refunded",
            Self::Refunded => "refunded",
        }
    }
}

/// Whether an entitlement still gives access.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EntitlementStatus {
    /// `active`.
    #[oai(rename = "active")]
    #[serde(rename = "active")]
    Active,
    /// `revoked`.
    #[oai(rename = "revoked")]
    #[serde(rename = "revoked")]
    Revoked,
    /// `expired`.
    #[oai(rename = "expired")]
    #[serde(rename = "expired")]
    Expired,
}

impl EntitlementStatus {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Revoked, Self::Expired];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}

/// Order of a list of orders. A leading `-` means descending.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum OrderSort {
    /// `created_at`.
    #[oai(rename = "created_at")]
    #[serde(rename = "created_at")]
    CreatedAt,
    /// `-created_at`.
    #[oai(rename = "-created_at")]
    #[serde(rename = "-created_at")]
    CreatedAtDescending,
    /// `updated_at`.
    #[oai(rename = "updated_at")]
    #[serde(rename = "updated_at")]
    UpdatedAt,
    /// `-updated_at`.
    #[oai(rename = "-updated_at")]
    #[serde(rename = "-updated_at")]
    UpdatedAtDescending,
    /// `paid_at`.
    #[oai(rename = "paid_at")]
    #[serde(rename = "paid_at")]
    PaidAt,
    /// `-paid_at`.
    #[oai(rename = "-paid_at")]
    #[serde(rename = "-paid_at")]
    PaidAtDescending,
}

impl OrderSort {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::CreatedAt,
        Self::CreatedAtDescending,
        Self::UpdatedAt,
        Self::UpdatedAtDescending,
        Self::PaidAt,
        Self::PaidAtDescending,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::CreatedAtDescending => "-created_at",
            Self::UpdatedAt => "updated_at",
            Self::UpdatedAtDescending => "-updated_at",
            Self::PaidAt => "paid_at",
            Self::PaidAtDescending => "-paid_at",
        }
    }
}

/// The buyer as known when the order was paid. It does not follow later changes of the student.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderCustomer {
    /// An email address. It holds exactly one `@` with something on both sides, and neither blanks nor control characters; more is not checked. Letters keep the case in which they came, and are compared without regard to it.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// Full name. Null when it was not known.
    #[oai(nullable)]
    pub name: Option<String>,
}

/// A course bought with an order.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderItem {
    /// Id of an item of an order, such as `oli_01khdps1znfrwsmvhrez60vdtf`.
    #[oai(validator(pattern = "^oli_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[oai(rename = "courseId", validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// Title of the course when the order was paid.
    pub title: String,
    /// How many were bought.
    #[oai(validator(minimum(value = "1")))]
    pub quantity: i32,
    /// Price of one, before discount and tax.
    #[oai(validator(minimum(value = "0")))]
    pub unit_amount: i64,
    /// `unit_amount` times `quantity`.
    #[oai(validator(minimum(value = "0")))]
    pub total_amount: i64,
}

/// The receipt issued for an order.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Receipt {
    /// Number of the receipt.
    pub number: String,
    /// Address at which it can be read. Null when there is none.
    #[oai(nullable)]
    pub url: Option<String>,
    /// When it was issued.
    pub issued_at: Timestamp,
}

/// Money given back for an order, in the currency of the order.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Refund {
    /// Id of a refund, such as `rfd_01kjfzhcpqfextwd9ea9sztbnc`.
    #[oai(validator(pattern = "^rfd_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// What was given back, in minor units.
    #[oai(validator(minimum(value = "0")))]
    pub amount: i64,
    /// Why. Null when no reason was given.
    #[oai(nullable)]
    pub reason: Option<String>,
    /// When it was given back.
    pub created_at: Timestamp,
}

/// The right to a course that an order gave.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Entitlement {
    /// Id of an entitlement, such as `ent_01khdps1znenqr9yh4myc328br`.
    #[oai(validator(pattern = "^ent_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[oai(rename = "courseId", validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// The enrollment through which it is used. Null once that is gone because its student was deleted.
    #[oai(nullable, validator(pattern = "^enr_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub enrollment_id: Option<String>,
    /// Whether an entitlement still gives access.
    pub status: EntitlementStatus,
    /// When the right was given.
    pub granted_at: Timestamp,
    /// When it ends. Null when it does not end.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
    /// When it was taken away. Null while it is not.
    #[oai(nullable)]
    pub revoked_at: Option<Timestamp>,
}

/// A paid order. All its amounts are in its own `currency`, and `total_amount` = `subtotal_amount` - `discount_amount` + `tax_amount`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Order {
    /// Id of an order, such as `ord_01khdps1znf0yt63fefph15bgz`.
    #[oai(validator(pattern = "^ord_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Number of the order as the buyer sees it.
    pub number: String,
    /// The student who bought. Null once that student is deleted; the order stays.
    #[oai(
        rename = "studentId",
        nullable,
        validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$")
    )]
    #[serde(rename = "studentId")]
    pub student_id: Option<String>,
    /// The buyer as known when the order was paid. It does not follow later changes of the student.
    pub customer: OrderCustomer,
    /// How much of a paid order was given back. `paid`: nothing. `partially_refunded`: a part. `refunded`: all of it.
    pub status: OrderStatus,
    /// ISO 4217 code in upper case. It says what the minor unit of the amounts beside it is.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    /// Sum of `total_amount` over the items.
    #[oai(validator(minimum(value = "0")))]
    pub subtotal_amount: i64,
    /// What was taken off.
    #[oai(validator(minimum(value = "0")))]
    pub discount_amount: i64,
    /// Tax on the order.
    #[oai(validator(minimum(value = "0")))]
    pub tax_amount: i64,
    /// What was paid.
    #[oai(validator(minimum(value = "0")))]
    pub total_amount: i64,
    /// Sum of the refunds, at most `total_amount`.
    #[oai(validator(minimum(value = "0")))]
    pub refunded_amount: i64,
    /// What was bought.
    pub items: Vec<OrderItem>,
    /// Its receipt. Null when none was issued.
    #[oai(nullable)]
    pub receipt: Option<Receipt>,
    /// What was given back, oldest first.
    pub refunds: Vec<Refund>,
    /// The rights that it gave, revoked and expired ones included.
    pub entitlements: Vec<Entitlement>,
    /// When it was paid.
    pub paid_at: Timestamp,
    /// When the order was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown here.
    pub updated_at: Timestamp,
}

/// A page of orders.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderList {
    /// The orders of this page.
    pub data: Vec<Order>,
    /// Where a page stands in its list.
    pub pagination: Pagination,
}

/// Length of a point of `series`. A day begins at midnight, a week on Monday, a month on its first day, all in `timezone`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum Interval {
    /// `day`.
    #[oai(rename = "day")]
    #[serde(rename = "day")]
    Day,
    /// `week`.
    #[oai(rename = "week")]
    #[serde(rename = "week")]
    Week,
    /// `month`.
    #[oai(rename = "month")]
    #[serde(rename = "month")]
    Month,
}

impl Interval {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Day, Self::Week, Self::Month];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

/// The time over which the figures are taken.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsWindow {
    /// Begin, inclusive.
    pub from: Timestamp,
    /// End, exclusive.
    pub to: Timestamp,
    /// IANA time zone in which the points of `series` begin.
    pub timezone: String,
}

/// Revenue in one currency. Orders count at their `paid_at`, refunds at their own `created_at`, even when the order was paid before the window.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Revenue {
    /// ISO 4217 code in upper case. It says what the minor unit of the amounts beside it is.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    /// Sum of `total_amount` of the orders paid in the window.
    #[oai(validator(minimum(value = "0")))]
    pub gross_amount: i64,
    /// Sum of `discount_amount` of the same orders.
    #[oai(validator(minimum(value = "0")))]
    pub discount_amount: i64,
    /// Sum of `tax_amount` of the same orders.
    #[oai(validator(minimum(value = "0")))]
    pub tax_amount: i64,
    /// Sum of `amount` of the refunds made in the window.
    #[oai(validator(minimum(value = "0")))]
    pub refunded_amount: i64,
    /// `gross_amount` - `refunded_amount`. It is negative when more was given back than taken.
    pub net_amount: i64,
    /// Number of orders paid in the window.
    #[oai(validator(minimum(value = "0")))]
    pub orders: i32,
    /// Number of refunds made in the window.
    #[oai(validator(minimum(value = "0")))]
    pub refunds: i32,
}

/// Students. Deleted ones are not counted. With `courseId` only those who have an enrollment in that course are.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsStudents {
    /// Created in the window.
    #[oai(validator(minimum(value = "0")))]
    pub new: i32,
    /// Created before the end of the window.
    #[oai(validator(minimum(value = "0")))]
    pub total: i32,
}

/// Enrollments, with `courseId` only those of that course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsEnrollments {
    /// Created in the window.
    #[oai(validator(minimum(value = "0")))]
    pub created: i32,
    /// Revoked in the window and not made active again since.
    #[oai(validator(minimum(value = "0")))]
    pub revoked: i32,
    /// Created before the end of the window and `active` now.
    #[oai(validator(minimum(value = "0")))]
    pub active: i32,
}

/// How far the cohort has come by now. The cohort is the enrollments created in the window, with `courseId` only those of that course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsCompletion {
    /// Size of the cohort.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_in_cohort: i32,
    /// Those of the cohort in which every lesson is done.
    #[oai(validator(minimum(value = "0")))]
    pub completed: i32,
    /// `completed` as a share of the cohort, rounded down. Null when the cohort is empty.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub completion_rate_percent: Option<i32>,
    /// Mean of `percent_complete` over the cohort, rounded down. Null when the cohort is empty.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub average_percent_complete: Option<i32>,
}

/// The same figures over one interval of the window: where they speak of the window, the interval is meant.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsPoint {
    /// Begin of the interval; the first one begins at `from`. It ends where the next one begins, the last one at `to`.
    pub starts_at: Timestamp,
    /// One entry for each currency in which an order was paid or a refund made, by `currency`.
    pub revenue: Vec<Revenue>,
    /// Students. Deleted ones are not counted. With `courseId` only those who have an enrollment in that course are.
    pub students: AnalyticsStudents,
    /// Enrollments, with `courseId` only those of that course.
    pub enrollments: AnalyticsEnrollments,
    /// How far the cohort has come by now. The cohort is the enrollments created in the window, with `courseId` only those of that course.
    pub completion: AnalyticsCompletion,
    /// Certificates issued, with `courseId` only those of that course.
    #[oai(validator(minimum(value = "0")))]
    pub certificates_issued: i32,
}

/// Aggregate revenue and completion metrics over a window.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsSummary {
    /// The time over which the figures are taken.
    pub window: AnalyticsWindow,
    /// One entry for each currency in which an order was paid or a refund made, by `currency`.
    pub revenue: Vec<Revenue>,
    /// Students. Deleted ones are not counted. With `courseId` only those who have an enrollment in that course are.
    pub students: AnalyticsStudents,
    /// Enrollments, with `courseId` only those of that course.
    pub enrollments: AnalyticsEnrollments,
    /// How far the cohort has come by now. The cohort is the enrollments created in the window, with `courseId` only those of that course.
    pub completion: AnalyticsCompletion,
    /// Certificates issued, with `courseId` only those of that course.
    #[oai(validator(minimum(value = "0")))]
    pub certificates_issued: i32,
    /// One point for each interval that touches the window, oldest first, those in which nothing happened included. Empty without `interval`.
    pub series: Vec<AnalyticsPoint>,
    /// What was recorded before this time is counted. It goes on while the figures stay, and the `ETag` is that of the figures: a 304 says that those of the kept answer still hold.
    pub data_as_of: Timestamp,
}

/// What kind of error it is. The six codes are the whole list of version 1.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum ErrorCode {
    /// `unauthorized`.
    #[oai(rename = "unauthorized")]
    #[serde(rename = "unauthorized")]
    Unauthorized,
    /// `forbidden`.
    #[oai(rename = "forbidden")]
    #[serde(rename = "forbidden")]
    Forbidden,
    /// `not_found`.
    #[oai(rename = "not_found")]
    #[serde(rename = "not_found")]
    NotFound,
    /// `rate_limited`.
    #[oai(rename = "rate_limited")]
    #[serde(rename = "rate_limited")]
    RateLimited,
    /// `invalid_request`.
    #[oai(rename = "invalid_request")]
    #[serde(rename = "invalid_request")]
    InvalidRequest,
    /// `internal_error`.
    #[oai(rename = "internal_error")]
    #[serde(rename = "internal_error")]
    InternalError,
}

impl ErrorCode {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::RateLimited,
        Self::InvalidRequest,
        Self::InternalError,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::RateLimited => "rate_limited",
            Self::InvalidRequest => "invalid_request",
            Self::InternalError => "internal_error",
        }
    }
}

/// The part of the request that is at fault.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum ErrorLocation {
    /// `body`.
    #[oai(rename = "body")]
    #[serde(rename = "body")]
    Body,
    /// `query`.
    #[oai(rename = "query")]
    #[serde(rename = "query")]
    Query,
    /// `path`.
    #[oai(rename = "path")]
    #[serde(rename = "path")]
    Path,
    /// `header`.
    #[oai(rename = "header")]
    #[serde(rename = "header")]
    Header,
}

impl ErrorLocation {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Body,
        Self::Query,
        Self::Path,
        Self::Header,
    ];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Query => "query",
            Self::Path => "path",
            Self::Header => "header",
        }
    }
}

/// One fault of the request.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorDetail {
    /// The part of the request that is at fault.
    pub r#in: ErrorLocation,
    /// Name of the parameter or header, or the JSON pointer of the place in the body (empty for the body as a whole).
    pub field: String,
    /// What is wrong with it, for people.
    pub message: String,
}

/// What went wrong. Unlike everywhere else, two fields are absent when they have nothing to say: `retryAfterSeconds` stands only on 429, and `details` only when single faults can be named.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Error {
    /// What kind of error it is. The six codes are the whole list of version 1.
    pub code: ErrorCode,
    /// Text for people. It may change.
    pub message: String,
    /// Seconds to wait before the next request, the same number as in `Retry-After`. Only on 429.
    #[oai(
        rename = "retryAfterSeconds",
        skip_serializing_if_is_none,
        validator(minimum(value = "1"))
    )]
    #[serde(rename = "retryAfterSeconds", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i32>,
    /// The `X-Request-Id` of the request that failed.
    pub request_id: String,
    /// A page of this server about the code.
    pub doc_url: String,
    /// The faults of the request.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<ErrorDetail>>,
}

/// The body of every error response.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorEnvelope {
    /// What went wrong. Unlike everywhere else, two fields are absent when they have nothing to say: `retryAfterSeconds` stands only on 429, and `details` only when single faults can be named.
    pub error: Error,
}
