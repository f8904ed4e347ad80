// Generated from openapi/v1.yaml (sha256 0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115), do not edit. Run `cargo xtask codegen`.

//! The types of requests and responses.

use contract_runtime::scalar::Timestamp;

/// Pagination state of a list.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Pagination {
    /// Set `cursor` to this value to get the next page. Null on the last page.
    #[oai(nullable)]
    pub cursor: Option<String>,
    /// True if more items follow.
    pub has_more: bool,
}

/// Status of a course. An archived course is no longer listed, but can still be retrieved by its id.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Published, Self::Archived];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Archived => "archived",
        }
    }
}

/// Type of content of a lesson.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Video,
        Self::Audio,
        Self::Text,
        Self::Download,
        Self::Quiz,
        Self::Assignment,
        Self::Live,
    ];
    /// Returns the value as a string.
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

/// Sort order of a list of courses. A leading `-` means descending order.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::CreatedAt,
        Self::CreatedAtDescending,
        Self::UpdatedAt,
        Self::UpdatedAtDescending,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::CreatedAtDescending => "-created_at",
            Self::UpdatedAt => "updated_at",
            Self::UpdatedAtDescending => "-updated_at",
        }
    }
}

/// A price.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Price {
    /// Integer amount in the minor unit of `currency`.
    #[oai(validator(minimum(value = "0")))]
    pub amount: i64,
    /// Uppercase ISO 4217 currency code. It determines the minor unit of the amounts next to it.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
}

/// A course that is published or archived.
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
    /// URL-friendly name of a course, unique in the workspace.
    #[oai(
        validator(min_length = 1, max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")
    )]
    pub slug: String,
    /// Title as shown to students.
    pub title: String,
    /// Short description of the course. Null if it has none.
    #[oai(nullable)]
    pub description: Option<String>,
    /// Language of the course, a BCP 47 tag such as `en` or `pt-BR`. Null if not specified.
    #[oai(nullable)]
    pub language: Option<String>,
    /// Status of a course. An archived course is no longer listed, but can still be retrieved by its id.
    pub status: CourseStatus,
    /// URL of the cover image. Null if the course has none.
    #[oai(nullable)]
    pub image_url: Option<String>,
    /// URL of the course's public page. Null if it has none.
    #[oai(nullable)]
    pub url: Option<String>,
    /// List price. Null if the course has no price of its own. The amounts actually paid are in the orders.
    #[oai(nullable)]
    pub price: Option<Price>,
    /// Number of modules.
    #[oai(validator(minimum(value = "0")))]
    pub module_count: i32,
    /// Number of lessons in all modules.
    #[oai(validator(minimum(value = "0")))]
    pub lesson_count: i32,
    /// Total duration of the lessons; a lesson without a duration counts as 0.
    #[oai(validator(minimum(value = "0")))]
    pub duration_seconds: i64,
    /// When the course was last published. Null for a course that was archived without ever being published.
    #[oai(nullable)]
    pub published_at: Option<Timestamp>,
    /// When the course was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in this record.
    pub updated_at: Timestamp,
}

/// Metadata of a lesson. The API provides neither its text nor links to its media.
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
    /// Title as shown to students.
    pub title: String,
    /// Position in the module, starting at 1.
    #[oai(validator(minimum(value = "1")))]
    pub position: i32,
    /// Type of content of a lesson.
    pub r#type: LessonType,
    /// Duration of the lesson. Null if the lesson has no duration, such as a text lesson.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub duration_seconds: Option<i64>,
    /// True if the lesson is available without an enrollment.
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
    /// Title as shown to students.
    pub title: String,
    /// Position in the course, starting at 1.
    #[oai(validator(minimum(value = "1")))]
    pub position: i32,
    /// The lessons, sorted by `position`.
    pub lessons: Vec<Lesson>,
}

/// A course with its modules and lesson metadata.
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
    /// URL-friendly name of a course, unique in the workspace.
    #[oai(
        validator(min_length = 1, max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")
    )]
    pub slug: String,
    /// Title as shown to students.
    pub title: String,
    /// Short description of the course. Null if it has none.
    #[oai(nullable)]
    pub description: Option<String>,
    /// Language of the course, a BCP 47 tag such as `en` or `pt-BR`. Null if not specified.
    #[oai(nullable)]
    pub language: Option<String>,
    /// Status of a course. An archived course is no longer listed, but can still be retrieved by its id.
    pub status: CourseStatus,
    /// URL of the cover image. Null if the course has none.
    #[oai(nullable)]
    pub image_url: Option<String>,
    /// URL of the course's public page. Null if it has none.
    #[oai(nullable)]
    pub url: Option<String>,
    /// List price. Null if the course has no price of its own. The amounts actually paid are in the orders.
    #[oai(nullable)]
    pub price: Option<Price>,
    /// Number of modules.
    #[oai(validator(minimum(value = "0")))]
    pub module_count: i32,
    /// Number of lessons in all modules.
    #[oai(validator(minimum(value = "0")))]
    pub lesson_count: i32,
    /// Total duration of the lessons; a lesson without a duration counts as 0.
    #[oai(validator(minimum(value = "0")))]
    pub duration_seconds: i64,
    /// When the course was last published. Null for a course that was archived without ever being published.
    #[oai(nullable)]
    pub published_at: Option<Timestamp>,
    /// When the course was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in this record.
    pub updated_at: Timestamp,
    /// The modules, sorted by `position`.
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
    /// The courses on this page.
    pub data: Vec<Course>,
    /// Pagination state of a list.
    pub pagination: Pagination,
}

/// Sort order of a list of students. A leading `-` means descending order.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::CreatedAt,
        Self::CreatedAtDescending,
        Self::UpdatedAt,
        Self::UpdatedAtDescending,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "created_at",
            Self::CreatedAtDescending => "-created_at",
            Self::UpdatedAt => "updated_at",
            Self::UpdatedAtDescending => "-updated_at",
        }
    }
}

/// Progress of a student across all enrollments.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct StudentProgress {
    /// Number of enrollments, including expired and revoked ones.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_total: i32,
    /// Number of enrollments with status `active`.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_active: i32,
    /// Number of enrollments with status `completed`.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_completed: i32,
    /// Mean of `percent_complete` over the enrollments that are not revoked, rounded down. Null if there are none.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub average_percent_complete: Option<i32>,
    /// When the student last worked on a lesson. Null if the student has not worked on a lesson yet.
    #[oai(nullable)]
    pub last_activity_at: Option<Timestamp>,
}

/// A student with progress and the complete enrollment history.
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
    /// An email address. It must contain exactly one `@` with text on both sides, and neither whitespace nor control characters; nothing else is checked. The spelling is preserved. Two emails are equal if the parts before the `@` differ at most in the case of the letters A to Z, and the domains have the same ASCII form (IDNA): `ada@bücher.example` equals `Ada@XN--BCHER-KVA.example`. Of a domain without an ASCII form, only the case of the letters A to Z is ignored.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// Full name. Null if unknown.
    #[oai(nullable)]
    pub name: Option<String>,
    /// Id of the student in your own system, such as a CRM. Null if there is none. It does not have to be unique.
    #[oai(nullable)]
    pub external_id: Option<String>,
    /// Your own labels, without duplicates.
    pub tags: Vec<String>,
    /// Your own key-value pairs for the record, at most 50. The service stores them without interpreting them. Do not store secrets here.
    #[oai(validator(max_length = 500, pattern = "^[^\\x00]*$", max_properties = 50))]
    pub metadata: std::collections::BTreeMap<String, String>,
    /// Progress of a student across all enrollments.
    pub progress: StudentProgress,
    /// When the student was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in the student, including progress and enrollments.
    pub updated_at: Timestamp,
    /// All enrollments, including expired and revoked ones, newest first.
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
    /// The students on this page.
    pub data: Vec<Student>,
    /// Pagination state of a list.
    pub pagination: Pagination,
}

/// A student to create. A null `name` or `external_id` is the same as an omitted one.
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
    /// An email address. It must contain exactly one `@` with text on both sides, and neither whitespace nor control characters; nothing else is checked. The spelling is preserved. Two emails are equal if the parts before the `@` differ at most in the case of the letters A to Z, and the domains have the same ASCII form (IDNA): `ada@bücher.example` equals `Ada@XN--BCHER-KVA.example`. Of a domain without an ASCII form, only the case of the letters A to Z is ignored.
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
    /// Id of the student in your own system, such as a CRM.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(min_length = 1, max_length = 255, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// Your own labels. Their order is preserved.
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
    /// Your own key-value pairs for the record, at most 50. The service stores them without interpreting them. Do not store secrets here.
    #[oai(
        skip_serializing_if_is_none,
        validator(max_length = 500, pattern = "^[^\\x00]*$", max_properties = 50)
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<std::collections::BTreeMap<String, String>>,
}

/// Status of an enrollment. `active`: the student has access. `completed`: every lesson is completed. `expired`: `expires_at` has passed. `revoked`: access was revoked.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Active,
        Self::Completed,
        Self::Expired,
        Self::Revoked,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// How an enrollment was created. `api`: by `createEnrollment`. `order`: by a paid order. `manual`: by a member of the workspace in the dashboard, or by the platform. `import`: by a transfer from another system.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Api,
        Self::Order,
        Self::Manual,
        Self::Import,
    ];
    /// Returns the value as a string.
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
    /// Percentage of completed lessons, rounded down; 100 only if every lesson is completed.
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub percent_complete: i32,
    /// Number of completed lessons.
    #[oai(validator(minimum(value = "0")))]
    pub completed_lessons: i32,
    /// Number of lessons in the course.
    #[oai(validator(minimum(value = "0")))]
    pub total_lessons: i32,
    /// When the student last worked on a lesson. Null if the student has not worked on a lesson yet.
    #[oai(nullable)]
    pub last_activity_at: Option<Timestamp>,
}

/// An enrollment of a student in a course. At most one exists for each pair (`studentId`, `courseId`).
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
    /// Status of an enrollment. `active`: the student has access. `completed`: every lesson is completed. `expired`: `expires_at` has passed. `revoked`: access was revoked.
    pub status: EnrollmentStatus,
    /// How an enrollment was created. `api`: by `createEnrollment`. `order`: by a paid order. `manual`: by a member of the workspace in the dashboard, or by the platform. `import`: by a transfer from another system.
    pub source: EnrollmentSource,
    /// The order that created the enrollment. Null if there is none.
    #[oai(nullable, validator(pattern = "^ord_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub order_id: Option<String>,
    /// Progress in one course.
    pub progress: EnrollmentProgress,
    /// When access was last granted.
    pub enrolled_at: Timestamp,
    /// When access expires. Null if it does not expire.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
    /// When the last lesson was completed. Null until then.
    #[oai(nullable)]
    pub completed_at: Option<Timestamp>,
    /// When access was revoked. Null if it is not revoked.
    #[oai(nullable)]
    pub revoked_at: Option<Timestamp>,
    /// When the enrollment was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in this record.
    pub updated_at: Timestamp,
}

/// An enrollment to create. An optional field that is null is the same as an omitted one.
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
    /// Id of a student in the workspace. An id that does not exist or is malformed returns 404.
    #[oai(rename = "studentId", validator(min_length = 1))]
    #[serde(rename = "studentId")]
    pub student_id: String,
    /// Id of a course in the workspace. An id that does not exist or is malformed returns 404; the id of a course that is not published returns 422.
    #[oai(rename = "courseId", validator(min_length = 1))]
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// When access expires. Must be in the future. If omitted, access does not expire.
    #[oai(nullable, skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// How much of a paid order was refunded. `paid`: nothing. `partially_refunded`: a part. `refunded`: everything.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Paid,
        Self::PartiallyRefunded,
        Self::Refunded,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::PartiallyRefunded => "partially_refunded",
            Self::Refunded => "refunded",
        }
    }
}

/// Status of an entitlement.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Revoked, Self::Expired];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}

/// Sort order of a list of orders. A leading `-` means descending order.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::CreatedAt,
        Self::CreatedAtDescending,
        Self::UpdatedAt,
        Self::UpdatedAtDescending,
        Self::PaidAt,
        Self::PaidAtDescending,
    ];
    /// Returns the value as a string.
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

/// The buyer at the time of payment. Later changes to the student do not affect it.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderCustomer {
    /// An email address. It must contain exactly one `@` with text on both sides, and neither whitespace nor control characters; nothing else is checked. The spelling is preserved. Two emails are equal if the parts before the `@` differ at most in the case of the letters A to Z, and the domains have the same ASCII form (IDNA): `ada@bücher.example` equals `Ada@XN--BCHER-KVA.example`. Of a domain without an ASCII form, only the case of the letters A to Z is ignored.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// Full name. Null if unknown.
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
    /// Id of an order item, such as `oli_01khdps1znfrwsmvhrez60vdtf`.
    #[oai(validator(pattern = "^oli_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[oai(rename = "courseId", validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// Title of the course at the time of payment.
    pub title: String,
    /// Quantity of the item.
    #[oai(validator(minimum(value = "1")))]
    pub quantity: i32,
    /// Unit price before discount and tax.
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
    /// Receipt number.
    pub number: String,
    /// URL of the receipt. Null if there is none.
    #[oai(nullable)]
    pub url: Option<String>,
    /// When the receipt was issued.
    pub issued_at: Timestamp,
}

/// A refund of an order, in the currency of the order.
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
    /// Refunded amount in minor units.
    #[oai(validator(minimum(value = "0")))]
    pub amount: i64,
    /// Reason for the refund. Null if none was specified.
    #[oai(nullable)]
    pub reason: Option<String>,
    /// When the refund was made.
    pub created_at: Timestamp,
}

/// Access to a course granted by an order.
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
    /// The enrollment that the entitlement grants. Null after it was deleted together with the student.
    #[oai(nullable, validator(pattern = "^enr_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub enrollment_id: Option<String>,
    /// Status of an entitlement.
    pub status: EntitlementStatus,
    /// When access was granted.
    pub granted_at: Timestamp,
    /// When access expires. Null if it does not expire.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
    /// When access was revoked. Null if it is not revoked.
    #[oai(nullable)]
    pub revoked_at: Option<Timestamp>,
}

/// A paid order. All amounts are in the order's `currency`. `total_amount` = `subtotal_amount` - `discount_amount` + `tax_amount`.
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
    /// Order number as shown to the buyer.
    pub number: String,
    /// The student who placed the order. Null after the student was deleted; the order is kept.
    #[oai(
        rename = "studentId",
        nullable,
        validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$")
    )]
    #[serde(rename = "studentId")]
    pub student_id: Option<String>,
    /// The buyer at the time of payment. Later changes to the student do not affect it.
    pub customer: OrderCustomer,
    /// How much of a paid order was refunded. `paid`: nothing. `partially_refunded`: a part. `refunded`: everything.
    pub status: OrderStatus,
    /// Uppercase ISO 4217 currency code. It determines the minor unit of the amounts next to it.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    /// Sum of `total_amount` of the items.
    #[oai(validator(minimum(value = "0")))]
    pub subtotal_amount: i64,
    /// Discount on the order.
    #[oai(validator(minimum(value = "0")))]
    pub discount_amount: i64,
    /// Tax on the order.
    #[oai(validator(minimum(value = "0")))]
    pub tax_amount: i64,
    /// Amount paid.
    #[oai(validator(minimum(value = "0")))]
    pub total_amount: i64,
    /// Sum of the refunds, at most `total_amount`.
    #[oai(validator(minimum(value = "0")))]
    pub refunded_amount: i64,
    /// Items of the order.
    pub items: Vec<OrderItem>,
    /// Receipt of the order. Null if none was issued.
    #[oai(nullable)]
    pub receipt: Option<Receipt>,
    /// Refunds of the order, oldest first.
    pub refunds: Vec<Refund>,
    /// Entitlements granted by the order, including revoked and expired ones.
    pub entitlements: Vec<Entitlement>,
    /// When the order was paid.
    pub paid_at: Timestamp,
    /// When the order was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in this record.
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
    /// The orders on this page.
    pub data: Vec<Order>,
    /// Pagination state of a list.
    pub pagination: Pagination,
}

/// Length of an interval in `series`. A day starts at midnight, a week on Monday, and a month on its first day, all in `timezone`.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Day, Self::Week, Self::Month];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}

/// The time window of the metrics.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsWindow {
    /// Start of the window, inclusive.
    pub from: Timestamp,
    /// End of the window, exclusive.
    pub to: Timestamp,
    /// IANA time zone of the intervals in `series`.
    pub timezone: String,
}

/// Revenue in one currency. Orders are counted by `paid_at`, refunds by their own `created_at`, even if the order was paid before the window.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Revenue {
    /// Uppercase ISO 4217 currency code. It determines the minor unit of the amounts next to it.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    /// Sum of `total_amount` of the orders paid in the window.
    #[oai(validator(minimum(value = "0")))]
    pub gross_amount: i64,
    /// Sum of `discount_amount` of the orders paid in the window.
    #[oai(validator(minimum(value = "0")))]
    pub discount_amount: i64,
    /// Sum of `tax_amount` of the orders paid in the window.
    #[oai(validator(minimum(value = "0")))]
    pub tax_amount: i64,
    /// Sum of `amount` of the refunds made in the window.
    #[oai(validator(minimum(value = "0")))]
    pub refunded_amount: i64,
    /// `gross_amount` - `refunded_amount`. Negative if refunds exceed payments.
    pub net_amount: i64,
    /// Number of orders paid in the window.
    #[oai(validator(minimum(value = "0")))]
    pub orders: i32,
    /// Number of refunds made in the window.
    #[oai(validator(minimum(value = "0")))]
    pub refunds: i32,
}

/// Student counts, without deleted students. With `courseId`, only students with an enrollment in that course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsStudents {
    /// Students created in the window.
    #[oai(validator(minimum(value = "0")))]
    pub new: i32,
    /// Students created before the end of the window.
    #[oai(validator(minimum(value = "0")))]
    pub total: i32,
}

/// Enrollment counts. With `courseId`, only enrollments in that course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsEnrollments {
    /// Enrollments created in the window.
    #[oai(validator(minimum(value = "0")))]
    pub created: i32,
    /// Enrollments revoked in the window and not reactivated since.
    #[oai(validator(minimum(value = "0")))]
    pub revoked: i32,
    /// Enrollments created before the end of the window that are `active` now.
    #[oai(validator(minimum(value = "0")))]
    pub active: i32,
}

/// Current progress of a cohort: the enrollments created in the window. With `courseId`, only enrollments in that course.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsCompletion {
    /// Number of enrollments in the cohort.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_in_cohort: i32,
    /// Enrollments of the cohort in which every lesson is completed.
    #[oai(validator(minimum(value = "0")))]
    pub completed: i32,
    /// `completed` as a percentage of the cohort, rounded down. Null if the cohort is empty.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub completion_rate_percent: Option<i32>,
    /// Mean of `percent_complete` over the cohort, rounded down. Null if the cohort is empty.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub average_percent_complete: Option<i32>,
}

/// The metrics of one interval. Where a field's description refers to the window, it means this interval.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsPoint {
    /// Start of the interval; the first interval starts at `from`. An interval ends where the next one starts, the last one at `to`.
    pub starts_at: Timestamp,
    /// One entry for each currency with a paid order or a refund, sorted by `currency`.
    pub revenue: Vec<Revenue>,
    /// Student counts, without deleted students. With `courseId`, only students with an enrollment in that course.
    pub students: AnalyticsStudents,
    /// Enrollment counts. With `courseId`, only enrollments in that course.
    pub enrollments: AnalyticsEnrollments,
    /// Current progress of a cohort: the enrollments created in the window. With `courseId`, only enrollments in that course.
    pub completion: AnalyticsCompletion,
    /// Certificates issued. With `courseId`, only certificates for that course.
    #[oai(validator(minimum(value = "0")))]
    pub certificates_issued: i32,
}

/// Aggregate revenue and completion metrics for a time window.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AnalyticsSummary {
    /// The time window of the metrics.
    pub window: AnalyticsWindow,
    /// One entry for each currency with a paid order or a refund, sorted by `currency`.
    pub revenue: Vec<Revenue>,
    /// Student counts, without deleted students. With `courseId`, only students with an enrollment in that course.
    pub students: AnalyticsStudents,
    /// Enrollment counts. With `courseId`, only enrollments in that course.
    pub enrollments: AnalyticsEnrollments,
    /// Current progress of a cohort: the enrollments created in the window. With `courseId`, only enrollments in that course.
    pub completion: AnalyticsCompletion,
    /// Certificates issued. With `courseId`, only certificates for that course.
    #[oai(validator(minimum(value = "0")))]
    pub certificates_issued: i32,
    /// One point for each interval that overlaps the window, oldest first, including intervals without activity. Empty if `interval` is omitted.
    pub series: Vec<AnalyticsPoint>,
    /// The metrics include everything recorded before this time. It advances even if no metric changes, but the `ETag` depends only on the metrics: after a 304, the metrics of the stored response are still current.
    pub data_as_of: Timestamp,
}

/// Type of the error. Version 1 has only these six codes.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::RateLimited,
        Self::InvalidRequest,
        Self::InternalError,
    ];
    /// Returns the value as a string.
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

/// The part of the request that is invalid.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Body,
        Self::Query,
        Self::Path,
        Self::Header,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Query => "query",
            Self::Path => "path",
            Self::Header => "header",
        }
    }
}

/// A single error in the request.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorDetail {
    /// The part of the request that is invalid.
    pub r#in: ErrorLocation,
    /// Name of the parameter or header, or a JSON pointer into the body (empty for the whole body).
    pub field: String,
    /// Human-readable description of the error.
    pub message: String,
}

/// Describes an error. Unlike in other objects, two fields can be absent: `retryAfterSeconds` is present only on 429, and `details` only if individual errors can be named.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Error {
    /// Type of the error. Version 1 has only these six codes.
    pub code: ErrorCode,
    /// Human-readable message. It can change.
    pub message: String,
    /// Seconds to wait before the next request, the same value as in `Retry-After`. Present only on 429.
    #[oai(
        rename = "retryAfterSeconds",
        skip_serializing_if_is_none,
        validator(minimum(value = "1"))
    )]
    #[serde(rename = "retryAfterSeconds", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i32>,
    /// The `X-Request-Id` of the request that failed.
    pub request_id: String,
    /// URL of the documentation of the code on this server.
    pub doc_url: String,
    /// The individual errors in the request.
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
    /// Describes an error. Unlike in other objects, two fields can be absent: `retryAfterSeconds` is present only on 429, and `details` only if individual errors can be named.
    pub error: Error,
}
