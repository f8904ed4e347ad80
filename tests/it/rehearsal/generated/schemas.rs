// Generated from tests/it/rehearsal/v2.yaml (sha256 ed84963bdcaa9cb541f49980fa61eddaf2358629fad989072505beb9c4c6a3fa), do not edit. Run `cargo xtask codegen`.

//! The types of requests and responses.

use contract_runtime::scalar::Timestamp;

/// `ListSort`.
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
pub enum ListSort {
    /// `-created_at`.
    #[oai(rename = "-created_at")]
    #[serde(rename = "-created_at")]
    CreatedAtDescending,
    /// `updated_at`.
    #[oai(rename = "updated_at")]
    #[serde(rename = "updated_at")]
    UpdatedAt,
}

impl ListSort {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CreatedAtDescending, Self::UpdatedAt];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAtDescending => "-created_at",
            Self::UpdatedAt => "updated_at",
        }
    }
}

/// `MetadataEntry`.
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
pub struct MetadataEntry {
    /// `key`.
    #[oai(
        validator(min_length = 1, max_length = 40, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    pub key: String,
    /// `value`.
    #[oai(validator(max_length = 500, pattern = "^[^\\x00]*$"))]
    pub value: String,
}

/// `CourseStatus`.
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

/// `LessonType`.
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

/// `Price`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Price {
    /// `amount`.
    #[oai(validator(minimum(value = "0")))]
    pub amount: i64,
    /// `currency`.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
}

/// `Course`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Course {
    /// `id`.
    #[oai(validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `slug`.
    #[oai(
        validator(min_length = 1, max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")
    )]
    pub slug: String,
    /// `title`.
    pub title: String,
    /// `description`.
    #[oai(nullable)]
    pub description: Option<String>,
    /// `language`.
    #[oai(nullable)]
    pub language: Option<String>,
    /// `status`.
    pub status: CourseStatus,
    /// Absent if the course has none.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// Absent if the course has none.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `price`.
    #[oai(nullable)]
    pub price: Option<Price>,
    /// `module_count`.
    #[oai(validator(minimum(value = "0")))]
    pub module_count: i32,
    /// `lesson_count`.
    #[oai(validator(minimum(value = "0")))]
    pub lesson_count: i32,
    /// `duration_seconds`.
    #[oai(validator(minimum(value = "0")))]
    pub duration_seconds: i64,
    /// `published_at`.
    #[oai(nullable)]
    pub published_at: Option<Timestamp>,
    /// `created_at`.
    pub created_at: Timestamp,
    /// `updated_at`.
    pub updated_at: Timestamp,
}

/// `Lesson`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Lesson {
    /// `id`.
    #[oai(validator(pattern = "^les_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `title`.
    pub title: String,
    /// `position`.
    #[oai(validator(minimum(value = "1")))]
    pub position: i32,
    /// `type`.
    pub r#type: LessonType,
    /// `duration_seconds`.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub duration_seconds: Option<i64>,
    /// `free_preview`.
    pub free_preview: bool,
}

/// `Module`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Module {
    /// `id`.
    #[oai(validator(pattern = "^mod_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `title`.
    pub title: String,
    /// `position`.
    #[oai(validator(minimum(value = "1")))]
    pub position: i32,
    /// `lessons`.
    pub lessons: Vec<Lesson>,
}

/// `CourseDetail`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct CourseDetail {
    /// `id`.
    #[oai(validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `slug`.
    #[oai(
        validator(min_length = 1, max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")
    )]
    pub slug: String,
    /// `title`.
    pub title: String,
    /// `description`.
    #[oai(nullable)]
    pub description: Option<String>,
    /// `language`.
    #[oai(nullable)]
    pub language: Option<String>,
    /// `status`.
    pub status: CourseStatus,
    /// Absent if the course has none.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// Absent if the course has none.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `price`.
    #[oai(nullable)]
    pub price: Option<Price>,
    /// `module_count`.
    #[oai(validator(minimum(value = "0")))]
    pub module_count: i32,
    /// `lesson_count`.
    #[oai(validator(minimum(value = "0")))]
    pub lesson_count: i32,
    /// `duration_seconds`.
    #[oai(validator(minimum(value = "0")))]
    pub duration_seconds: i64,
    /// `published_at`.
    #[oai(nullable)]
    pub published_at: Option<Timestamp>,
    /// `created_at`.
    pub created_at: Timestamp,
    /// `updated_at`.
    pub updated_at: Timestamp,
    /// `modules`.
    pub modules: Vec<Module>,
}

/// `CourseList`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct CourseList {
    /// `items`.
    pub items: Vec<Course>,
    /// Set `cursor` to this value to get the next page. Absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// `StudentProgress`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct StudentProgress {
    /// `enrollments_total`.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_total: i32,
    /// `enrollments_active`.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_active: i32,
    /// `enrollments_completed`.
    #[oai(validator(minimum(value = "0")))]
    pub enrollments_completed: i32,
    /// `average_percent_complete`.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub average_percent_complete: Option<i32>,
    /// `last_activity_at`.
    #[oai(nullable)]
    pub last_activity_at: Option<Timestamp>,
}

/// `Student`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Student {
    /// `id`.
    #[oai(validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `email`.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// `name`.
    #[oai(nullable)]
    pub name: Option<String>,
    /// `external_id`.
    #[oai(nullable)]
    pub external_id: Option<String>,
    /// `tags`.
    pub tags: Vec<String>,
    /// Your own key-value pairs for the record.
    #[oai(validator(max_items = 50))]
    pub metadata: Vec<MetadataEntry>,
    /// `progress`.
    pub progress: StudentProgress,
    /// `created_at`.
    pub created_at: Timestamp,
    /// `updated_at`.
    pub updated_at: Timestamp,
    /// `enrollments`.
    pub enrollments: Vec<Enrollment>,
}

/// `StudentList`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct StudentList {
    /// `items`.
    pub items: Vec<Student>,
    /// Set `cursor` to this value to get the next page. Absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// `NewStudent`.
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
    /// Students that v1 created can have other emails, so `Email` is wider.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+\\.[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// `name`.
    #[oai(
        validator(min_length = 1, max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    pub name: String,
    /// `external_id`.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(min_length = 1, max_length = 255, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// `tags`.
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
    /// Your own key-value pairs for the record.
    #[oai(skip_serializing_if_is_none, validator(max_items = 50))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Vec<MetadataEntry>>,
}

/// `EnrollmentStatus`.
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

/// `EnrollmentSource`.
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

/// `EnrollmentProgress`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct EnrollmentProgress {
    /// `percent_complete`.
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub percent_complete: i32,
    /// `completed_lessons`.
    #[oai(validator(minimum(value = "0")))]
    pub completed_lessons: i32,
    /// `total_lessons`.
    #[oai(validator(minimum(value = "0")))]
    pub total_lessons: i32,
    /// `last_activity_at`.
    #[oai(nullable)]
    pub last_activity_at: Option<Timestamp>,
}

/// `Enrollment`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Enrollment {
    /// `id`.
    #[oai(validator(pattern = "^enr_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `student_id`.
    #[oai(validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub student_id: String,
    /// `course_id`.
    #[oai(validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub course_id: String,
    /// `status`.
    pub status: EnrollmentStatus,
    /// `source`.
    pub source: EnrollmentSource,
    /// `order_id`.
    #[oai(nullable, validator(pattern = "^ord_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub order_id: Option<String>,
    /// `progress`.
    pub progress: EnrollmentProgress,
    /// `enrolled_at`.
    pub enrolled_at: Timestamp,
    /// `expires_at`.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
    /// `completed_at`.
    #[oai(nullable)]
    pub completed_at: Option<Timestamp>,
    /// `revoked_at`.
    #[oai(nullable)]
    pub revoked_at: Option<Timestamp>,
    /// `created_at`.
    pub created_at: Timestamp,
    /// `updated_at`.
    pub updated_at: Timestamp,
}

/// `NewEnrollment`.
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
    /// `student_id`.
    #[oai(validator(min_length = 1))]
    pub student_id: String,
    /// `course_id`.
    #[oai(validator(min_length = 1))]
    pub course_id: String,
    /// `expires_at`.
    #[oai(nullable, skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// `OrderStatus`.
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

/// `EntitlementStatus`.
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

/// `OrderCustomer`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderCustomer {
    /// `email`.
    #[oai(
        validator(
            min_length = 3,
            max_length = 320,
            pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
        )
    )]
    pub email: String,
    /// `name`.
    #[oai(nullable)]
    pub name: Option<String>,
}

/// `OrderItem`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderItem {
    /// `id`.
    #[oai(validator(pattern = "^oli_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `course_id`.
    #[oai(validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub course_id: String,
    /// `title`.
    pub title: String,
    /// `quantity`.
    #[oai(validator(minimum(value = "1")))]
    pub quantity: i32,
    /// `unit_amount`.
    #[oai(validator(minimum(value = "0")))]
    pub unit_amount: i64,
    /// `total_amount`.
    #[oai(validator(minimum(value = "0")))]
    pub total_amount: i64,
}

/// `Receipt`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Receipt {
    /// `number`.
    pub number: String,
    /// `url`.
    #[oai(nullable)]
    pub url: Option<String>,
    /// `issued_at`.
    pub issued_at: Timestamp,
}

/// `Refund`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Refund {
    /// `id`.
    #[oai(validator(pattern = "^rfd_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `amount`.
    #[oai(validator(minimum(value = "0")))]
    pub amount: i64,
    /// `reason`.
    #[oai(nullable)]
    pub reason: Option<String>,
    /// `created_at`.
    pub created_at: Timestamp,
}

/// `Entitlement`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Entitlement {
    /// `id`.
    #[oai(validator(pattern = "^ent_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `course_id`.
    #[oai(validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub course_id: String,
    /// `enrollment_id`.
    #[oai(nullable, validator(pattern = "^enr_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub enrollment_id: Option<String>,
    /// `status`.
    pub status: EntitlementStatus,
    /// `granted_at`.
    pub granted_at: Timestamp,
    /// `expires_at`.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
    /// `revoked_at`.
    #[oai(nullable)]
    pub revoked_at: Option<Timestamp>,
}

/// All amounts of an order, in minor units of the currency.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderAmounts {
    /// `currency`.
    #[oai(validator(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    /// `subtotal`.
    #[oai(validator(minimum(value = "0")))]
    pub subtotal: i64,
    /// `discount`.
    #[oai(validator(minimum(value = "0")))]
    pub discount: i64,
    /// `tax`.
    #[oai(validator(minimum(value = "0")))]
    pub tax: i64,
    /// `total`.
    #[oai(validator(minimum(value = "0")))]
    pub total: i64,
    /// `refunded`.
    #[oai(validator(minimum(value = "0")))]
    pub refunded: i64,
}

/// `Order`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Order {
    /// `id`.
    #[oai(validator(pattern = "^ord_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// `number`.
    pub number: String,
    /// `student_id`.
    #[oai(nullable, validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub student_id: Option<String>,
    /// `customer`.
    pub customer: OrderCustomer,
    /// `status`.
    pub status: OrderStatus,
    /// All amounts of an order, in minor units of the currency.
    pub amounts: OrderAmounts,
    /// `items`.
    pub items: Vec<OrderItem>,
    /// `receipt`.
    #[oai(nullable)]
    pub receipt: Option<Receipt>,
    /// `refunds`.
    pub refunds: Vec<Refund>,
    /// `entitlements`.
    pub entitlements: Vec<Entitlement>,
    /// `paid_at`.
    pub paid_at: Timestamp,
    /// `created_at`.
    pub created_at: Timestamp,
    /// `updated_at`.
    pub updated_at: Timestamp,
}

/// `OrderList`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct OrderList {
    /// `items`.
    pub items: Vec<Order>,
    /// Set `cursor` to this value to get the next page. Absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// `ErrorCode`.
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

/// `ErrorDetail`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorDetail {
    /// `in`.
    pub r#in: ErrorDetailIn,
    /// `field`.
    pub field: String,
    /// `message`.
    pub message: String,
}

/// `ErrorDetail.in`.
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
pub enum ErrorDetailIn {
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

impl ErrorDetailIn {
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

/// `Error`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Error {
    /// `code`.
    pub code: ErrorCode,
    /// `message`.
    pub message: String,
    /// `retryAfterSeconds`.
    #[oai(
        rename = "retryAfterSeconds",
        skip_serializing_if_is_none,
        validator(minimum(value = "1"))
    )]
    #[serde(rename = "retryAfterSeconds", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i32>,
    /// `request_id`.
    pub request_id: String,
    /// `doc_url`.
    pub doc_url: String,
    /// `details`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<ErrorDetail>>,
}

/// `ErrorEnvelope`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorEnvelope {
    /// `error`.
    pub error: Error,
}
