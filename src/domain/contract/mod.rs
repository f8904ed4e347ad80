// Generated from openapi/v1.yaml (sha256 0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115), do not edit. Run `cargo xtask codegen`.

//! Creator Platform API: names that the contract defines.

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Required by `listCourses` and `getCourse`.
    ReadCourses,
    /// Required by `listStudents` and `getStudent`.
    ReadStudents,
    /// Required by `createStudent`.
    WriteStudents,
    /// Required by `listOrders` and `getOrder`.
    ReadOrders,
    /// Required by `createEnrollment`.
    WriteEnrollments,
    /// Required by `getAnalyticsSummary`.
    ReadAnalytics,
}

impl Scope {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::ReadCourses,
        Self::ReadStudents,
        Self::WriteStudents,
        Self::ReadOrders,
        Self::WriteEnrollments,
        Self::ReadAnalytics,
    ];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &[
        "read:courses",
        "read:students",
        "write:students",
        "read:orders",
        "write:enrollments",
        "read:analytics",
    ];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadCourses => "read:courses",
            Self::ReadStudents => "read:students",
            Self::WriteStudents => "write:students",
            Self::ReadOrders => "read:orders",
            Self::WriteEnrollments => "write:enrollments",
            Self::ReadAnalytics => "read:analytics",
        }
    }
}

/// An event type of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// A student was created
    StudentCreated,
    /// A student was updated
    StudentUpdated,
    /// A student was deleted
    StudentDeleted,
    /// An enrollment was created
    EnrollmentCreated,
    /// An enrollment was revoked
    EnrollmentRevoked,
    /// An order was paid
    OrderPaid,
    /// An order was refunded
    OrderRefunded,
    /// A course was published
    CoursePublished,
    /// A course was archived
    CourseArchived,
    /// A live session started
    LiveSessionStarted,
    /// A live session ended
    LiveSessionEnded,
    /// A recording is ready
    RecordingReady,
    /// A certificate was issued
    CertificateIssued,
}

impl EventType {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::StudentCreated,
        Self::StudentUpdated,
        Self::StudentDeleted,
        Self::EnrollmentCreated,
        Self::EnrollmentRevoked,
        Self::OrderPaid,
        Self::OrderRefunded,
        Self::CoursePublished,
        Self::CourseArchived,
        Self::LiveSessionStarted,
        Self::LiveSessionEnded,
        Self::RecordingReady,
        Self::CertificateIssued,
    ];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &[
        "student.created",
        "student.updated",
        "student.deleted",
        "enrollment.created",
        "enrollment.revoked",
        "order.paid",
        "order.refunded",
        "course.published",
        "course.archived",
        "live_session.started",
        "live_session.ended",
        "recording.ready",
        "certificate.issued",
    ];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StudentCreated => "student.created",
            Self::StudentUpdated => "student.updated",
            Self::StudentDeleted => "student.deleted",
            Self::EnrollmentCreated => "enrollment.created",
            Self::EnrollmentRevoked => "enrollment.revoked",
            Self::OrderPaid => "order.paid",
            Self::OrderRefunded => "order.refunded",
            Self::CoursePublished => "course.published",
            Self::CourseArchived => "course.archived",
            Self::LiveSessionStarted => "live_session.started",
            Self::LiveSessionEnded => "live_session.ended",
            Self::RecordingReady => "recording.ready",
            Self::CertificateIssued => "certificate.issued",
        }
    }
}

/// The kind of a field in the data of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// `true` or `false`.
    Boolean,
    /// An integer.
    Integer,
    /// A string, except for timestamps.
    Text,
    /// A timestamp.
    Timestamp,
    /// A list of strings.
    TextList,
    /// An object with arbitrary keys and strings as values.
    TextMap,
    /// Any other list.
    List,
    /// Any other value.
    Object,
}

impl EventType {
    /// Returns the fields of the event's data: the JSON pointer and the kind of each. Contains the fields of objects,
    /// but not those of objects in lists.
    pub const fn fields(self) -> &'static [(&'static str, FieldKind)] {
        match self {
            Self::StudentCreated => {
                &[
                    ("/id", FieldKind::Text),
                    ("/email", FieldKind::Text),
                    ("/name", FieldKind::Text),
                    ("/external_id", FieldKind::Text),
                    ("/tags", FieldKind::TextList),
                    ("/metadata", FieldKind::TextMap),
                    ("/progress", FieldKind::Object),
                    ("/progress/enrollments_total", FieldKind::Integer),
                    ("/progress/enrollments_active", FieldKind::Integer),
                    ("/progress/enrollments_completed", FieldKind::Integer),
                    ("/progress/average_percent_complete", FieldKind::Integer),
                    ("/progress/last_activity_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                ]
            }
            Self::StudentUpdated => {
                &[
                    ("/id", FieldKind::Text),
                    ("/email", FieldKind::Text),
                    ("/name", FieldKind::Text),
                    ("/external_id", FieldKind::Text),
                    ("/tags", FieldKind::TextList),
                    ("/metadata", FieldKind::TextMap),
                    ("/progress", FieldKind::Object),
                    ("/progress/enrollments_total", FieldKind::Integer),
                    ("/progress/enrollments_active", FieldKind::Integer),
                    ("/progress/enrollments_completed", FieldKind::Integer),
                    ("/progress/average_percent_complete", FieldKind::Integer),
                    ("/progress/last_activity_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                    ("/changed", FieldKind::TextList),
                ]
            }
            Self::StudentDeleted => {
                &[
                    ("/id", FieldKind::Text),
                    ("/email", FieldKind::Text),
                    ("/external_id", FieldKind::Text),
                    ("/deleted_at", FieldKind::Timestamp),
                ]
            }
            Self::EnrollmentCreated => {
                &[
                    ("/id", FieldKind::Text),
                    ("/studentId", FieldKind::Text),
                    ("/courseId", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/source", FieldKind::Text),
                    ("/order_id", FieldKind::Text),
                    ("/progress", FieldKind::Object),
                    ("/progress/percent_complete", FieldKind::Integer),
                    ("/progress/completed_lessons", FieldKind::Integer),
                    ("/progress/total_lessons", FieldKind::Integer),
                    ("/progress/last_activity_at", FieldKind::Timestamp),
                    ("/enrolled_at", FieldKind::Timestamp),
                    ("/expires_at", FieldKind::Timestamp),
                    ("/completed_at", FieldKind::Timestamp),
                    ("/revoked_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                    ("/student", FieldKind::Object),
                    ("/student/id", FieldKind::Text),
                    ("/student/email", FieldKind::Text),
                    ("/student/name", FieldKind::Text),
                    ("/course", FieldKind::Object),
                    ("/course/id", FieldKind::Text),
                    ("/course/slug", FieldKind::Text),
                    ("/course/title", FieldKind::Text),
                ]
            }
            Self::EnrollmentRevoked => {
                &[
                    ("/id", FieldKind::Text),
                    ("/studentId", FieldKind::Text),
                    ("/courseId", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/source", FieldKind::Text),
                    ("/order_id", FieldKind::Text),
                    ("/progress", FieldKind::Object),
                    ("/progress/percent_complete", FieldKind::Integer),
                    ("/progress/completed_lessons", FieldKind::Integer),
                    ("/progress/total_lessons", FieldKind::Integer),
                    ("/progress/last_activity_at", FieldKind::Timestamp),
                    ("/enrolled_at", FieldKind::Timestamp),
                    ("/expires_at", FieldKind::Timestamp),
                    ("/completed_at", FieldKind::Timestamp),
                    ("/revoked_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                    ("/student", FieldKind::Object),
                    ("/student/id", FieldKind::Text),
                    ("/student/email", FieldKind::Text),
                    ("/student/name", FieldKind::Text),
                    ("/course", FieldKind::Object),
                    ("/course/id", FieldKind::Text),
                    ("/course/slug", FieldKind::Text),
                    ("/course/title", FieldKind::Text),
                ]
            }
            Self::OrderPaid => {
                &[
                    ("/id", FieldKind::Text),
                    ("/number", FieldKind::Text),
                    ("/studentId", FieldKind::Text),
                    ("/customer", FieldKind::Object),
                    ("/customer/email", FieldKind::Text),
                    ("/customer/name", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/currency", FieldKind::Text),
                    ("/subtotal_amount", FieldKind::Integer),
                    ("/discount_amount", FieldKind::Integer),
                    ("/tax_amount", FieldKind::Integer),
                    ("/total_amount", FieldKind::Integer),
                    ("/refunded_amount", FieldKind::Integer),
                    ("/items", FieldKind::List),
                    ("/receipt", FieldKind::Object),
                    ("/receipt/number", FieldKind::Text),
                    ("/receipt/url", FieldKind::Text),
                    ("/receipt/issued_at", FieldKind::Timestamp),
                    ("/refunds", FieldKind::List),
                    ("/entitlements", FieldKind::List),
                    ("/paid_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                ]
            }
            Self::OrderRefunded => {
                &[
                    ("/id", FieldKind::Text),
                    ("/number", FieldKind::Text),
                    ("/studentId", FieldKind::Text),
                    ("/customer", FieldKind::Object),
                    ("/customer/email", FieldKind::Text),
                    ("/customer/name", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/currency", FieldKind::Text),
                    ("/subtotal_amount", FieldKind::Integer),
                    ("/discount_amount", FieldKind::Integer),
                    ("/tax_amount", FieldKind::Integer),
                    ("/total_amount", FieldKind::Integer),
                    ("/refunded_amount", FieldKind::Integer),
                    ("/items", FieldKind::List),
                    ("/receipt", FieldKind::Object),
                    ("/receipt/number", FieldKind::Text),
                    ("/receipt/url", FieldKind::Text),
                    ("/receipt/issued_at", FieldKind::Timestamp),
                    ("/refunds", FieldKind::List),
                    ("/entitlements", FieldKind::List),
                    ("/paid_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                    ("/refund", FieldKind::Object),
                    ("/refund/id", FieldKind::Text),
                    ("/refund/amount", FieldKind::Integer),
                    ("/refund/reason", FieldKind::Text),
                    ("/refund/created_at", FieldKind::Timestamp),
                ]
            }
            Self::CoursePublished => {
                &[
                    ("/id", FieldKind::Text),
                    ("/slug", FieldKind::Text),
                    ("/title", FieldKind::Text),
                    ("/description", FieldKind::Text),
                    ("/language", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/image_url", FieldKind::Text),
                    ("/url", FieldKind::Text),
                    ("/price", FieldKind::Object),
                    ("/price/amount", FieldKind::Integer),
                    ("/price/currency", FieldKind::Text),
                    ("/module_count", FieldKind::Integer),
                    ("/lesson_count", FieldKind::Integer),
                    ("/duration_seconds", FieldKind::Integer),
                    ("/published_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                ]
            }
            Self::CourseArchived => {
                &[
                    ("/id", FieldKind::Text),
                    ("/slug", FieldKind::Text),
                    ("/title", FieldKind::Text),
                    ("/description", FieldKind::Text),
                    ("/language", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/image_url", FieldKind::Text),
                    ("/url", FieldKind::Text),
                    ("/price", FieldKind::Object),
                    ("/price/amount", FieldKind::Integer),
                    ("/price/currency", FieldKind::Text),
                    ("/module_count", FieldKind::Integer),
                    ("/lesson_count", FieldKind::Integer),
                    ("/duration_seconds", FieldKind::Integer),
                    ("/published_at", FieldKind::Timestamp),
                    ("/created_at", FieldKind::Timestamp),
                    ("/updated_at", FieldKind::Timestamp),
                ]
            }
            Self::LiveSessionStarted => {
                &[
                    ("/id", FieldKind::Text),
                    ("/courseId", FieldKind::Text),
                    ("/title", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/scheduled_at", FieldKind::Timestamp),
                    ("/started_at", FieldKind::Timestamp),
                    ("/ended_at", FieldKind::Timestamp),
                    ("/duration_seconds", FieldKind::Integer),
                ]
            }
            Self::LiveSessionEnded => {
                &[
                    ("/id", FieldKind::Text),
                    ("/courseId", FieldKind::Text),
                    ("/title", FieldKind::Text),
                    ("/status", FieldKind::Text),
                    ("/scheduled_at", FieldKind::Timestamp),
                    ("/started_at", FieldKind::Timestamp),
                    ("/ended_at", FieldKind::Timestamp),
                    ("/duration_seconds", FieldKind::Integer),
                ]
            }
            Self::RecordingReady => {
                &[
                    ("/id", FieldKind::Text),
                    ("/live_session_id", FieldKind::Text),
                    ("/courseId", FieldKind::Text),
                    ("/title", FieldKind::Text),
                    ("/duration_seconds", FieldKind::Integer),
                    ("/size_bytes", FieldKind::Integer),
                    ("/content_type", FieldKind::Text),
                    ("/created_at", FieldKind::Timestamp),
                ]
            }
            Self::CertificateIssued => {
                &[
                    ("/id", FieldKind::Text),
                    ("/number", FieldKind::Text),
                    ("/studentId", FieldKind::Text),
                    ("/courseId", FieldKind::Text),
                    ("/enrollment_id", FieldKind::Text),
                    ("/recipient_name", FieldKind::Text),
                    ("/issued_at", FieldKind::Timestamp),
                    ("/verification_url", FieldKind::Text),
                ]
            }
        }
    }
}

/// Type of content of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LessonType {
    /// `video`.
    Video,
    /// `audio`.
    Audio,
    /// `text`.
    Text,
    /// `download`.
    Download,
    /// `quiz`.
    Quiz,
    /// `assignment`.
    Assignment,
    /// `live`.
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
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &[
        "video",
        "audio",
        "text",
        "download",
        "quiz",
        "assignment",
        "live",
    ];
    /// Returns the name of the value in the contract.
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

/// Status of an enrollment. `active`: the student has access. `completed`: every lesson is completed. `expired`: `expires_at` has passed. `revoked`: access was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EnrollmentStatus {
    /// `active`.
    Active,
    /// `completed`.
    Completed,
    /// `expired`.
    Expired,
    /// `revoked`.
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
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &[
        "active",
        "completed",
        "expired",
        "revoked",
    ];
    /// Returns the name of the value in the contract.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EnrollmentSource {
    /// `api`.
    Api,
    /// `order`.
    Order,
    /// `manual`.
    Manual,
    /// `import`.
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
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &["api", "order", "manual", "import"];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Order => "order",
            Self::Manual => "manual",
            Self::Import => "import",
        }
    }
}

/// How much of a paid order was refunded. `paid`: nothing. `partially_refunded`: a part. `refunded`: everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderStatus {
    /// `paid`.
    Paid,
    /// `partially_refunded`.
    PartiallyRefunded,
    /// `refunded`.
    Refunded,
}

impl OrderStatus {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Paid,
        Self::PartiallyRefunded,
        Self::Refunded,
    ];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &[
        "paid",
        "partially_refunded",
        "refunded",
    ];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::PartiallyRefunded => "partially_refunded",
            Self::Refunded => "refunded",
        }
    }
}

/// Status of an entitlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntitlementStatus {
    /// `active`.
    Active,
    /// `revoked`.
    Revoked,
    /// `expired`.
    Expired,
}

impl EntitlementStatus {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Active, Self::Revoked, Self::Expired];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &["active", "revoked", "expired"];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}

/// Status of a live session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiveSessionStatus {
    /// `scheduled`.
    Scheduled,
    /// `live`.
    Live,
    /// `ended`.
    Ended,
}

impl LiveSessionStatus {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Scheduled, Self::Live, Self::Ended];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &["scheduled", "live", "ended"];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Live => "live",
            Self::Ended => "ended",
        }
    }
}

/// Length of an interval in `series`. A day starts at midnight, a week on Monday, and a month on its first day, all in `timezone`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interval {
    /// `day`.
    Day,
    /// `week`.
    Week,
    /// `month`.
    Month,
}

impl Interval {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Day, Self::Week, Self::Month];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &["day", "week", "month"];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }
}
