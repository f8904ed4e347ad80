// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! What webhooks send.

use super::schemas;
use contract_runtime::scalar::Timestamp;

/// Every type of event, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &[
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

/// The body of one event, as it is delivered.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// A student was created
    StudentCreated(StudentCreatedEvent),
    /// A student was updated
    StudentUpdated(StudentUpdatedEvent),
    /// A student was deleted
    StudentDeleted(StudentDeletedEvent),
    /// An enrollment was created
    EnrollmentCreated(EnrollmentCreatedEvent),
    /// An enrollment was revoked
    EnrollmentRevoked(EnrollmentRevokedEvent),
    /// An order was paid
    OrderPaid(OrderPaidEvent),
    /// An order was refunded
    OrderRefunded(OrderRefundedEvent),
    /// A course was published
    CoursePublished(CoursePublishedEvent),
    /// A course was archived
    CourseArchived(CourseArchivedEvent),
    /// A live session started
    LiveSessionStarted(LiveSessionStartedEvent),
    /// A live session ended
    LiveSessionEnded(LiveSessionEndedEvent),
    /// A recording became ready
    RecordingReady(RecordingReadyEvent),
    /// A certificate was issued
    CertificateIssued(CertificateIssuedEvent),
}

impl Event {
    /// The type of the event.
    pub const fn event_type(&self) -> &'static str {
        match self {
            Self::StudentCreated(_) => "student.created",
            Self::StudentUpdated(_) => "student.updated",
            Self::StudentDeleted(_) => "student.deleted",
            Self::EnrollmentCreated(_) => "enrollment.created",
            Self::EnrollmentRevoked(_) => "enrollment.revoked",
            Self::OrderPaid(_) => "order.paid",
            Self::OrderRefunded(_) => "order.refunded",
            Self::CoursePublished(_) => "course.published",
            Self::CourseArchived(_) => "course.archived",
            Self::LiveSessionStarted(_) => "live_session.started",
            Self::LiveSessionEnded(_) => "live_session.ended",
            Self::RecordingReady(_) => "recording.ready",
            Self::CertificateIssued(_) => "certificate.issued",
        }
    }
}

/// A student without the enrollment history.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StudentSummary {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It holds exactly one `@` with something on both sides, and neither blanks nor control characters; more is not checked. Letters keep the case in which they came, and are compared without regard to it.
    pub email: String,
    /// Full name. Null when not known.
    pub name: Option<String>,
    /// Id of this person in a system of yours, such as a CRM. Null when there is none. It need not be unique.
    pub external_id: Option<String>,
    /// Labels of your own, each at most once.
    pub tags: Vec<String>,
    /// Facts of your own about the record, up to 50 of them. The service stores them and does nothing else with them. Keep no secrets here.
    pub metadata: std::collections::BTreeMap<String, String>,
    /// Progress of a student over all enrollments.
    pub progress: schemas::StudentProgress,
    /// When the student was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown in the student, progress and enrollments included.
    pub updated_at: Timestamp,
}

/// A student right after a change, with the names of the fields that changed.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UpdatedStudent {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It holds exactly one `@` with something on both sides, and neither blanks nor control characters; more is not checked. Letters keep the case in which they came, and are compared without regard to it.
    pub email: String,
    /// Full name. Null when not known.
    pub name: Option<String>,
    /// Id of this person in a system of yours, such as a CRM. Null when there is none. It need not be unique.
    pub external_id: Option<String>,
    /// Labels of your own, each at most once.
    pub tags: Vec<String>,
    /// Facts of your own about the record, up to 50 of them. The service stores them and does nothing else with them. Keep no secrets here.
    pub metadata: std::collections::BTreeMap<String, String>,
    /// Progress of a student over all enrollments.
    pub progress: schemas::StudentProgress,
    /// When the student was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown in the student, progress and enrollments included.
    pub updated_at: Timestamp,
    /// Names of the fields of the student that changed, such as `name` or `tags`.
    pub changed: Vec<String>,
}

/// What is left of a student who was deleted.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DeletedStudent {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It holds exactly one `@` with something on both sides, and neither blanks nor control characters; more is not checked. Letters keep the case in which they came, and are compared without regard to it.
    pub email: String,
    /// Id of this person in a system of yours. Null when there was none.
    pub external_id: Option<String>,
    /// When the student was deleted.
    pub deleted_at: Timestamp,
}

/// The student of an enrollment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnrollmentStudent {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It holds exactly one `@` with something on both sides, and neither blanks nor control characters; more is not checked. Letters keep the case in which they came, and are compared without regard to it.
    pub email: String,
    /// Full name. Null when not known.
    pub name: Option<String>,
}

/// The course of an enrollment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnrollmentCourse {
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    pub id: String,
    /// Readable name of a course in its address, unique in the workspace.
    pub slug: String,
    /// Title as students see it.
    pub title: String,
}

/// An enrollment with its student and its course.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnrollmentEventData {
    /// Id of an enrollment, such as `enr_01khdps1zne5kt2bysnfgbbyhs`.
    pub id: String,
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    #[serde(rename = "studentId")]
    pub student_id: String,
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// Where an enrollment stands. `active`: the student has access. `completed`: every lesson is done. `expired`: `expires_at` has passed. `revoked`: access was taken away.
    pub status: schemas::EnrollmentStatus,
    /// Where an enrollment came from. `api`: `createEnrollment`. `order`: a paid order. `manual`: somebody in the workspace. `import`: a transfer from another system.
    pub source: schemas::EnrollmentSource,
    /// The order that it came from. Null when it came from none.
    pub order_id: Option<String>,
    /// Progress in one course.
    pub progress: schemas::EnrollmentProgress,
    /// When access was given, the last time if it was given more than once.
    pub enrolled_at: Timestamp,
    /// When access ends. Null when it does not end.
    pub expires_at: Option<Timestamp>,
    /// When the last lesson was done. Null before.
    pub completed_at: Option<Timestamp>,
    /// When access was taken away. Null while it is not.
    pub revoked_at: Option<Timestamp>,
    /// When the enrollment was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown here.
    pub updated_at: Timestamp,
    /// The student of an enrollment.
    pub student: EnrollmentStudent,
    /// The course of an enrollment.
    pub course: EnrollmentCourse,
}

/// An order with the refund that the event is about.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RefundedOrder {
    /// Id of an order, such as `ord_01khdps1znf0yt63fefph15bgz`.
    pub id: String,
    /// Number of the order as the buyer sees it.
    pub number: String,
    /// The student who bought. Null once that student is deleted; the order stays.
    #[serde(rename = "studentId")]
    pub student_id: Option<String>,
    /// The buyer as known when the order was paid. It does not follow later changes of the student.
    pub customer: schemas::OrderCustomer,
    /// How much of a paid order was given back. `paid`: nothing. `partially_refunded`: a part. `refunded`: all of it.
    pub status: schemas::OrderStatus,
    /// ISO 4217 code in upper case. It says what the minor unit of the amounts beside it is.
    pub currency: String,
    /// Sum of `total_amount` over the items.
    pub subtotal_amount: i64,
    /// What was taken off.
    pub discount_amount: i64,
    /// Tax on the order.
    pub tax_amount: i64,
    /// What was paid.
    pub total_amount: i64,
    /// Sum of the refunds, at most `total_amount`.
    pub refunded_amount: i64,
    /// What was bought.
    pub items: Vec<schemas::OrderItem>,
    /// Its receipt. Null when none was issued.
    pub receipt: Option<schemas::Receipt>,
    /// What was given back, oldest first.
    pub refunds: Vec<schemas::Refund>,
    /// The rights that it gave, revoked and expired ones included.
    pub entitlements: Vec<schemas::Entitlement>,
    /// When it was paid.
    pub paid_at: Timestamp,
    /// When the order was created.
    pub created_at: Timestamp,
    /// When this server recorded the last change of anything shown here.
    pub updated_at: Timestamp,
    /// Money given back for an order, in the currency of the order.
    pub refund: schemas::Refund,
}

/// Where a live session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum LiveSessionStatus {
    /// `scheduled`.
    #[serde(rename = "scheduled")]
    Scheduled,
    /// `live`.
    #[serde(rename = "live")]
    Live,
    /// `ended`.
    #[serde(rename = "ended")]
    Ended,
}

impl LiveSessionStatus {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Scheduled, Self::Live, Self::Ended];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Live => "live",
            Self::Ended => "ended",
        }
    }
}

/// A session held live.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LiveSession {
    /// Id of a live session, such as `lvs_01kjmma2g0eef9xyc5pf6jbxrw`.
    pub id: String,
    /// The course that it belongs to. Null when it belongs to none.
    #[serde(rename = "courseId")]
    pub course_id: Option<String>,
    /// Title as students see it.
    pub title: String,
    /// Where a live session stands.
    pub status: LiveSessionStatus,
    /// When it was to begin. Null when no time was set.
    pub scheduled_at: Option<Timestamp>,
    /// When it began. Null before.
    pub started_at: Option<Timestamp>,
    /// When it ended. Null before.
    pub ended_at: Option<Timestamp>,
    /// From `started_at` to `ended_at`. Null before it ended.
    pub duration_seconds: Option<i64>,
}

/// The recording of a live session. A link to the media is not part of it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Recording {
    /// Id of a recording, such as `rec_01kkck26r0f5y946hqwsjadk5y`.
    pub id: String,
    /// Id of a live session, such as `lvs_01kjmma2g0eef9xyc5pf6jbxrw`.
    pub live_session_id: String,
    /// The course of the live session. Null when it belongs to none.
    #[serde(rename = "courseId")]
    pub course_id: Option<String>,
    /// Its title, that of the live session unless it has one of its own.
    pub title: String,
    /// Length of the recording.
    pub duration_seconds: i64,
    /// Size of the file.
    pub size_bytes: i64,
    /// Media type of the file, such as `video/mp4`.
    pub content_type: String,
    /// When the recording was ready.
    pub created_at: Timestamp,
}

/// Proof that a student completed a course.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Certificate {
    /// Id of a certificate, such as `crt_01km685v20eb29n7m8h307kqsr`.
    pub id: String,
    /// Number printed on the certificate.
    pub number: String,
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    #[serde(rename = "studentId")]
    pub student_id: String,
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    #[serde(rename = "courseId")]
    pub course_id: String,
    /// Id of an enrollment, such as `enr_01khdps1zne5kt2bysnfgbbyhs`.
    pub enrollment_id: String,
    /// Name printed on the certificate. Null when the name of the student was not known.
    pub recipient_name: Option<String>,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// Address at which others can verify it. Null when there is none.
    pub verification_url: Option<String>,
}

/// The envelope of `student.created`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StudentCreatedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: StudentCreatedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// A student without the enrollment history.
    pub data: StudentSummary,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum StudentCreatedEventType {
    /// `student.created`.
    #[default]
    #[serde(rename = "student.created")]
    StudentCreated,
}

impl StudentCreatedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentCreated];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StudentCreated => "student.created",
        }
    }
}

/// The envelope of `student.updated`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StudentUpdatedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: StudentUpdatedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// A student right after a change, with the names of the fields that changed.
    pub data: UpdatedStudent,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum StudentUpdatedEventType {
    /// `student.updated`.
    #[default]
    #[serde(rename = "student.updated")]
    StudentUpdated,
}

impl StudentUpdatedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentUpdated];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StudentUpdated => "student.updated",
        }
    }
}

/// The envelope of `student.deleted`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StudentDeletedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: StudentDeletedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// What is left of a student who was deleted.
    pub data: DeletedStudent,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum StudentDeletedEventType {
    /// `student.deleted`.
    #[default]
    #[serde(rename = "student.deleted")]
    StudentDeleted,
}

impl StudentDeletedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentDeleted];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StudentDeleted => "student.deleted",
        }
    }
}

/// The envelope of `enrollment.created`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnrollmentCreatedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: EnrollmentCreatedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// An enrollment with its student and its course.
    pub data: EnrollmentEventData,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EnrollmentCreatedEventType {
    /// `enrollment.created`.
    #[default]
    #[serde(rename = "enrollment.created")]
    EnrollmentCreated,
}

impl EnrollmentCreatedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::EnrollmentCreated];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EnrollmentCreated => "enrollment.created",
        }
    }
}

/// The envelope of `enrollment.revoked`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnrollmentRevokedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: EnrollmentRevokedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// An enrollment with its student and its course.
    pub data: EnrollmentEventData,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EnrollmentRevokedEventType {
    /// `enrollment.revoked`.
    #[default]
    #[serde(rename = "enrollment.revoked")]
    EnrollmentRevoked,
}

impl EnrollmentRevokedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::EnrollmentRevoked];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EnrollmentRevoked => "enrollment.revoked",
        }
    }
}

/// The envelope of `order.paid`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrderPaidEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: OrderPaidEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// A paid order. All its amounts are in its own `currency`, and `total_amount` = `subtotal_amount` - `discount_amount` + `tax_amount`.
    pub data: schemas::Order,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum OrderPaidEventType {
    /// `order.paid`.
    #[default]
    #[serde(rename = "order.paid")]
    OrderPaid,
}

impl OrderPaidEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::OrderPaid];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OrderPaid => "order.paid",
        }
    }
}

/// The envelope of `order.refunded`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OrderRefundedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: OrderRefundedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// An order with the refund that the event is about.
    pub data: RefundedOrder,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum OrderRefundedEventType {
    /// `order.refunded`.
    #[default]
    #[serde(rename = "order.refunded")]
    OrderRefunded,
}

impl OrderRefundedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::OrderRefunded];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OrderRefunded => "order.refunded",
        }
    }
}

/// The envelope of `course.published`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CoursePublishedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: CoursePublishedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// A course that is or was published.
    pub data: schemas::Course,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CoursePublishedEventType {
    /// `course.published`.
    #[default]
    #[serde(rename = "course.published")]
    CoursePublished,
}

impl CoursePublishedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CoursePublished];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CoursePublished => "course.published",
        }
    }
}

/// The envelope of `course.archived`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CourseArchivedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: CourseArchivedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// A course that is or was published.
    pub data: schemas::Course,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CourseArchivedEventType {
    /// `course.archived`.
    #[default]
    #[serde(rename = "course.archived")]
    CourseArchived,
}

impl CourseArchivedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CourseArchived];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CourseArchived => "course.archived",
        }
    }
}

/// The envelope of `live_session.started`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LiveSessionStartedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: LiveSessionStartedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// A session held live.
    pub data: LiveSession,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum LiveSessionStartedEventType {
    /// `live_session.started`.
    #[default]
    #[serde(rename = "live_session.started")]
    LiveSessionStarted,
}

impl LiveSessionStartedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::LiveSessionStarted];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LiveSessionStarted => "live_session.started",
        }
    }
}

/// The envelope of `live_session.ended`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LiveSessionEndedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: LiveSessionEndedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// A session held live.
    pub data: LiveSession,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum LiveSessionEndedEventType {
    /// `live_session.ended`.
    #[default]
    #[serde(rename = "live_session.ended")]
    LiveSessionEnded,
}

impl LiveSessionEndedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::LiveSessionEnded];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LiveSessionEnded => "live_session.ended",
        }
    }
}

/// The envelope of `recording.ready`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RecordingReadyEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: RecordingReadyEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// The recording of a live session. A link to the media is not part of it.
    pub data: Recording,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum RecordingReadyEventType {
    /// `recording.ready`.
    #[default]
    #[serde(rename = "recording.ready")]
    RecordingReady,
}

impl RecordingReadyEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::RecordingReady];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RecordingReady => "recording.ready",
        }
    }
}

/// The envelope of `certificate.issued`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CertificateIssuedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: CertificateIssuedEventType,
    /// When it happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// Proof that a student completed a course.
    pub data: Certificate,
}

/// The type of the event.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CertificateIssuedEventType {
    /// `certificate.issued`.
    #[default]
    #[serde(rename = "certificate.issued")]
    CertificateIssued,
}

impl CertificateIssuedEventType {
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CertificateIssued];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CertificateIssued => "certificate.issued",
        }
    }
}
