// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! The types of requests and responses.

pub use feed::generated::*;
use contract_runtime::scalar::Timestamp;

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
    /// The machine-readable code.
    pub code: ErrorCode,
    /// What is wrong, for people. It can change.
    pub message: String,
    /// Only on 503. The value of `Retry-After`.
    #[oai(rename = "retryAfterSeconds", skip_serializing_if_is_none)]
    #[serde(rename = "retryAfterSeconds", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i64>,
    /// The value of the header `X-Request-Id`.
    pub request_id: String,
    /// Documentation of the code.
    pub doc_url: String,
    /// The individual errors. Only present if there are any.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<ErrorDetail>>,
}

/// The machine-readable code.
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
    /// `cursor_expired`.
    #[oai(rename = "cursor_expired")]
    #[serde(rename = "cursor_expired")]
    CursorExpired,
    /// `unavailable`.
    #[oai(rename = "unavailable")]
    #[serde(rename = "unavailable")]
    Unavailable,
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
        Self::CursorExpired,
        Self::Unavailable,
        Self::InvalidRequest,
        Self::InternalError,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::CursorExpired => "cursor_expired",
            Self::Unavailable => "unavailable",
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
    /// The part of the request.
    pub r#in: ErrorDetailIn,
    /// The name of the parameter or header, or a JSON pointer into the body.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

/// The part of the request.
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

/// `EventPage`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct EventPage {
    /// The events in their order. There can be fewer than `limit` even if `has_more` is true.
    pub data: Vec<SequencedEvent>,
    /// `pagination`.
    pub pagination: EventPagination,
}

/// `EventPagination`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct EventPagination {
    /// The cursor of the next request. It is never null, even if there are no events.
    pub cursor: String,
    /// Whether there may be more events now. If false, wait before the next request, or use `wait`.
    pub has_more: bool,
}

/// `SequencedEvent`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct SequencedEvent {
    /// The position of the event: 26 characters. Positions compare as text in the order of the list.
    pub sequence: String,
    /// The event, exactly as webhooks receive it. Its `type` determines the form of `data`, see the webhooks of the Creator Platform API.
    pub event: std::collections::BTreeMap<String, serde_json::Value>,
}

/// `NewDashboardLink`.
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
pub struct NewDashboardLink {
    /// Key or id of the workspace, which must not be a sandbox.
    #[oai(validator(min_length = 1, max_length = 200))]
    pub workspace: String,
    /// Email address of the person. The domain must be valid (IDNA), and the part before the `@` must be in the composed form (NFC), without invisible characters. All spellings of an address belong to the same person: the case of the letters A to Z is ignored, and domains are compared in their ASCII form.
    #[oai(validator(min_length = 3, max_length = 254))]
    pub email: String,
    /// Name of the person. It is stored only if the person is new in the workspace.
    #[oai(skip_serializing_if_is_none, validator(min_length = 1, max_length = 200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Roles of the person. They are stored only if the person is new in the workspace; afterwards, an owner changes them in the dashboard. `[developer, manager]` if absent. The owner of the workspace always has the role `owner`.
    #[oai(
        skip_serializing_if_is_none,
        validator(min_items = 1, max_items = 4, unique_items)
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Vec<Role>>,
}

/// What a member of a workspace may do in its dashboard.
///
/// - `owner`: everything, including managing members.
/// - `developer`: manage API keys and webhooks, and read logs with all details.
/// - `manager`: manage courses, students and enrollments, and refund orders.
/// - `viewer`: read everything except for the audit log, details of requests, and contents of deliveries.
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
pub enum Role {
    /// `owner`.
    #[oai(rename = "owner")]
    #[serde(rename = "owner")]
    Owner,
    /// `developer`.
    #[oai(rename = "developer")]
    #[serde(rename = "developer")]
    Developer,
    /// `manager`.
    #[oai(rename = "manager")]
    #[serde(rename = "manager")]
    Manager,
    /// `viewer`.
    #[oai(rename = "viewer")]
    #[serde(rename = "viewer")]
    Viewer,
}

impl Role {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Owner,
        Self::Developer,
        Self::Manager,
        Self::Viewer,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Developer => "developer",
            Self::Manager => "manager",
            Self::Viewer => "viewer",
        }
    }
}

/// `DashboardLink`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct DashboardLink {
    /// The link. Redirect the browser to it.
    pub url: String,
    /// When the link becomes invalid.
    pub expires_at: Timestamp,
}

/// `ChangeResult`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ChangeResult {
    /// The number of the line in the request, starting at 1.
    #[oai(validator(minimum(value = "1")))]
    pub line: i64,
    /// The id of the change. Null if it could not be read.
    #[oai(nullable)]
    pub id: Option<String>,
    /// - `applied`: the change is committed.
    /// - `duplicate`: a change with this id was applied before.
    /// - `rejected`: the change was not applied; `errors` contains the reasons.
    /// - `valid`: with `dry_run`, the line has the right form.
    pub result: ChangeResultResult,
    /// Why the change was rejected. Otherwise empty.
    pub errors: Vec<ChangeError>,
}

/// - `applied`: the change is committed.
/// - `duplicate`: a change with this id was applied before.
/// - `rejected`: the change was not applied; `errors` contains the reasons.
/// - `valid`: with `dry_run`, the line has the right form.
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
pub enum ChangeResultResult {
    /// `applied`.
    #[oai(rename = "applied")]
    #[serde(rename = "applied")]
    Applied,
    /// `duplicate`.
    #[oai(rename = "duplicate")]
    #[serde(rename = "duplicate")]
    Duplicate,
    /// `rejected`.
    #[oai(rename = "rejected")]
    #[serde(rename = "rejected")]
    Rejected,
    /// `valid`.
    #[oai(rename = "valid")]
    #[serde(rename = "valid")]
    Valid,
}

impl ChangeResultResult {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Applied,
        Self::Duplicate,
        Self::Rejected,
        Self::Valid,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Duplicate => "duplicate",
            Self::Rejected => "rejected",
            Self::Valid => "valid",
        }
    }
}

/// `ChangeError`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ChangeError {
    /// The path of the field, such as `data/items/0/unit_amount`. Empty for the whole line.
    pub field: String,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// `importChanges mode`.
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
pub enum ImportChangesMode {
    /// `live`.
    #[oai(rename = "live")]
    #[serde(rename = "live")]
    Live,
    /// `test`.
    #[oai(rename = "test")]
    #[serde(rename = "test")]
    Test,
}

impl ImportChangesMode {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Live, Self::Test];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }
}

/// `listEvents type`.
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
pub enum ListEventsType {
    /// `student.created`.
    #[oai(rename = "student.created")]
    #[serde(rename = "student.created")]
    StudentCreated,
    /// `student.updated`.
    #[oai(rename = "student.updated")]
    #[serde(rename = "student.updated")]
    StudentUpdated,
    /// `student.deleted`.
    #[oai(rename = "student.deleted")]
    #[serde(rename = "student.deleted")]
    StudentDeleted,
    /// `enrollment.created`.
    #[oai(rename = "enrollment.created")]
    #[serde(rename = "enrollment.created")]
    EnrollmentCreated,
    /// `enrollment.revoked`.
    #[oai(rename = "enrollment.revoked")]
    #[serde(rename = "enrollment.revoked")]
    EnrollmentRevoked,
    /// `order.paid`.
    #[oai(rename = "order.paid")]
    #[serde(rename = "order.paid")]
    OrderPaid,
    /// `order.refunded`.
    #[oai(rename = "order.refunded")]
    #[serde(rename = "order.refunded")]
    OrderRefunded,
    /// `course.published`.
    #[oai(rename = "course.published")]
    #[serde(rename = "course.published")]
    CoursePublished,
    /// `course.archived`.
    #[oai(rename = "course.archived")]
    #[serde(rename = "course.archived")]
    CourseArchived,
    /// `live_session.started`.
    #[oai(rename = "live_session.started")]
    #[serde(rename = "live_session.started")]
    LiveSessionStarted,
    /// `live_session.ended`.
    #[oai(rename = "live_session.ended")]
    #[serde(rename = "live_session.ended")]
    LiveSessionEnded,
    /// `recording.ready`.
    #[oai(rename = "recording.ready")]
    #[serde(rename = "recording.ready")]
    RecordingReady,
    /// `certificate.issued`.
    #[oai(rename = "certificate.issued")]
    #[serde(rename = "certificate.issued")]
    CertificateIssued,
}

impl ListEventsType {
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
    /// Returns the value as a string.
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

/// `listEvents mode`.
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
pub enum ListEventsMode {
    /// `live`.
    #[oai(rename = "live")]
    #[serde(rename = "live")]
    Live,
    /// `test`.
    #[oai(rename = "test")]
    #[serde(rename = "test")]
    Test,
}

impl ListEventsMode {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Live, Self::Test];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }
}
