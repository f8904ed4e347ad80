// Generated from openapi/v1.yaml (sha256 0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

use super::schemas;
use contract_runtime::scalar::Timestamp;

/// All event types, in the order of the contract.
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

/// The body of an event, as webhooks receive it.
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
    /// A recording is ready
    RecordingReady(RecordingReadyEvent),
    /// A certificate was issued
    CertificateIssued(CertificateIssuedEvent),
}

impl Event {
    /// Returns the event type.
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

/// Calls a macro with the variants of [`Event`], each with the type of its body.
macro_rules! each_event {
    ($call:ident) => {
        $call ! { StudentCreated(StudentCreatedEvent),
        StudentUpdated(StudentUpdatedEvent), StudentDeleted(StudentDeletedEvent),
        EnrollmentCreated(EnrollmentCreatedEvent),
        EnrollmentRevoked(EnrollmentRevokedEvent), OrderPaid(OrderPaidEvent),
        OrderRefunded(OrderRefundedEvent), CoursePublished(CoursePublishedEvent),
        CourseArchived(CourseArchivedEvent), LiveSessionStarted(LiveSessionStartedEvent),
        LiveSessionEnded(LiveSessionEndedEvent), RecordingReady(RecordingReadyEvent),
        CertificateIssued(CertificateIssuedEvent), }
    };
}

pub(crate) use each_event;

/// A student without the enrollment history.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StudentSummary {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It must contain exactly one `@` with text on both sides, and neither whitespace nor control characters; nothing else is checked. The spelling is preserved. Two emails are equal if the parts before the `@` differ at most in the case of the letters A to Z, and the domains have the same ASCII form (IDNA): `ada@bücher.example` equals `Ada@XN--BCHER-KVA.example`. Of a domain without an ASCII form, only the case of the letters A to Z is ignored.
    pub email: String,
    /// Full name. Null if unknown.
    pub name: Option<String>,
    /// Id of the student in your own system, such as a CRM. Null if there is none. It does not have to be unique.
    pub external_id: Option<String>,
    /// Your own labels, without duplicates.
    pub tags: Vec<String>,
    /// Your own key-value pairs for the record, at most 50. The service stores them without interpreting them. Do not store secrets here.
    pub metadata: std::collections::BTreeMap<String, String>,
    /// Progress of a student across all enrollments.
    pub progress: schemas::StudentProgress,
    /// When the student was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in the student, including progress and enrollments.
    pub updated_at: Timestamp,
}

/// A student after a change, with the names of the changed fields.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct UpdatedStudent {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It must contain exactly one `@` with text on both sides, and neither whitespace nor control characters; nothing else is checked. The spelling is preserved. Two emails are equal if the parts before the `@` differ at most in the case of the letters A to Z, and the domains have the same ASCII form (IDNA): `ada@bücher.example` equals `Ada@XN--BCHER-KVA.example`. Of a domain without an ASCII form, only the case of the letters A to Z is ignored.
    pub email: String,
    /// Full name. Null if unknown.
    pub name: Option<String>,
    /// Id of the student in your own system, such as a CRM. Null if there is none. It does not have to be unique.
    pub external_id: Option<String>,
    /// Your own labels, without duplicates.
    pub tags: Vec<String>,
    /// Your own key-value pairs for the record, at most 50. The service stores them without interpreting them. Do not store secrets here.
    pub metadata: std::collections::BTreeMap<String, String>,
    /// Progress of a student across all enrollments.
    pub progress: schemas::StudentProgress,
    /// When the student was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in the student, including progress and enrollments.
    pub updated_at: Timestamp,
    /// Names of the changed fields of the student, such as `name` or `tags`.
    pub changed: Vec<String>,
}

/// A deleted student.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DeletedStudent {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It must contain exactly one `@` with text on both sides, and neither whitespace nor control characters; nothing else is checked. The spelling is preserved. Two emails are equal if the parts before the `@` differ at most in the case of the letters A to Z, and the domains have the same ASCII form (IDNA): `ada@bücher.example` equals `Ada@XN--BCHER-KVA.example`. Of a domain without an ASCII form, only the case of the letters A to Z is ignored.
    pub email: String,
    /// Id of the student in your own system. Null if there was none.
    pub external_id: Option<String>,
    /// When the student was deleted.
    pub deleted_at: Timestamp,
}

/// The student of an enrollment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnrollmentStudent {
    /// Id of a student, such as `stu_01kerv87j8fgjt30swgcw4scc1`.
    pub id: String,
    /// An email address. It must contain exactly one `@` with text on both sides, and neither whitespace nor control characters; nothing else is checked. The spelling is preserved. Two emails are equal if the parts before the `@` differ at most in the case of the letters A to Z, and the domains have the same ASCII form (IDNA): `ada@bücher.example` equals `Ada@XN--BCHER-KVA.example`. Of a domain without an ASCII form, only the case of the letters A to Z is ignored.
    pub email: String,
    /// Full name. Null if unknown.
    pub name: Option<String>,
}

/// The course of an enrollment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EnrollmentCourse {
    /// Id of a course, such as `crs_01k424mh00e2mbrajjfteg1k8f`.
    pub id: String,
    /// URL-friendly name of a course, unique in the workspace.
    pub slug: String,
    /// Title as shown to students.
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
    /// Status of an enrollment. `active`: the student has access. `completed`: every lesson is completed. `expired`: `expires_at` has passed. `revoked`: access was revoked.
    pub status: schemas::EnrollmentStatus,
    /// How an enrollment was created. `api`: by `createEnrollment`. `order`: by a paid order. `manual`: by a member of the workspace in the dashboard, or by the platform. `import`: by a transfer from another system.
    pub source: schemas::EnrollmentSource,
    /// The order that created the enrollment. Null if there is none.
    pub order_id: Option<String>,
    /// Progress in one course.
    pub progress: schemas::EnrollmentProgress,
    /// When access was last granted.
    pub enrolled_at: Timestamp,
    /// When access expires. Null if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// When the last lesson was completed. Null until then.
    pub completed_at: Option<Timestamp>,
    /// When access was revoked. Null if it is not revoked.
    pub revoked_at: Option<Timestamp>,
    /// When the enrollment was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in this record.
    pub updated_at: Timestamp,
    /// The student of an enrollment.
    pub student: EnrollmentStudent,
    /// The course of an enrollment.
    pub course: EnrollmentCourse,
}

/// An order with the refund that caused the event.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RefundedOrder {
    /// Id of an order, such as `ord_01khdps1znf0yt63fefph15bgz`.
    pub id: String,
    /// Order number as shown to the buyer.
    pub number: String,
    /// The student who placed the order. Null after the student was deleted; the order is kept.
    #[serde(rename = "studentId")]
    pub student_id: Option<String>,
    /// The buyer at the time of payment. Later changes to the student do not affect it.
    pub customer: schemas::OrderCustomer,
    /// How much of a paid order was refunded. `paid`: nothing. `partially_refunded`: a part. `refunded`: everything.
    pub status: schemas::OrderStatus,
    /// Uppercase ISO 4217 currency code. It determines the minor unit of the amounts next to it.
    pub currency: String,
    /// Sum of `total_amount` of the items.
    pub subtotal_amount: i64,
    /// Discount on the order.
    pub discount_amount: i64,
    /// Tax on the order.
    pub tax_amount: i64,
    /// Amount paid.
    pub total_amount: i64,
    /// Sum of the refunds, at most `total_amount`.
    pub refunded_amount: i64,
    /// Items of the order.
    pub items: Vec<schemas::OrderItem>,
    /// Receipt of the order. Null if none was issued.
    pub receipt: Option<schemas::Receipt>,
    /// Refunds of the order, oldest first.
    pub refunds: Vec<schemas::Refund>,
    /// Entitlements granted by the order, including revoked and expired ones.
    pub entitlements: Vec<schemas::Entitlement>,
    /// When the order was paid.
    pub paid_at: Timestamp,
    /// When the order was created.
    pub created_at: Timestamp,
    /// When the server recorded the last change to any data shown in this record.
    pub updated_at: Timestamp,
    /// A refund of an order, in the currency of the order.
    pub refund: schemas::Refund,
}

/// Status of a live session.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Scheduled, Self::Live, Self::Ended];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Live => "live",
            Self::Ended => "ended",
        }
    }
}

/// A live session.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LiveSession {
    /// Id of a live session, such as `lvs_01kjmma2g0eef9xyc5pf6jbxrw`.
    pub id: String,
    /// The course of the live session. Null if it does not belong to a course.
    #[serde(rename = "courseId")]
    pub course_id: Option<String>,
    /// Title as shown to students.
    pub title: String,
    /// Status of a live session.
    pub status: LiveSessionStatus,
    /// Scheduled start. Null if no time was set.
    pub scheduled_at: Option<Timestamp>,
    /// When the session started. Null until then.
    pub started_at: Option<Timestamp>,
    /// When the session ended. Null until then.
    pub ended_at: Option<Timestamp>,
    /// Time from `started_at` to `ended_at`. Null until the session has ended.
    pub duration_seconds: Option<i64>,
}

/// The recording of a live session. It does not include a link to the media.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Recording {
    /// Id of a recording, such as `rec_01kkck26r0f5y946hqwsjadk5y`.
    pub id: String,
    /// Id of a live session, such as `lvs_01kjmma2g0eef9xyc5pf6jbxrw`.
    pub live_session_id: String,
    /// The course of the live session. Null if it does not belong to a course.
    #[serde(rename = "courseId")]
    pub course_id: Option<String>,
    /// Title of the recording; the title of the live session unless the recording has its own.
    pub title: String,
    /// Duration of the recording.
    pub duration_seconds: i64,
    /// Size of the file.
    pub size_bytes: i64,
    /// Media type of the file, such as `video/mp4`.
    pub content_type: String,
    /// When the recording became ready.
    pub created_at: Timestamp,
}

/// A certificate issued to a student for completing a course.
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
    /// Name printed on the certificate. Null if the name of the student was unknown.
    pub recipient_name: Option<String>,
    /// When the certificate was issued.
    pub issued_at: Timestamp,
    /// URL at which others can verify the certificate. Null if there is none.
    pub verification_url: Option<String>,
}

/// The envelope of `student.created`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StudentCreatedEvent {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    pub id: String,
    /// The type of the event.
    pub r#type: StudentCreatedEventType,
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentCreated];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A student after a change, with the names of the changed fields.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentUpdated];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A deleted student.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::StudentDeleted];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::EnrollmentCreated];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::EnrollmentRevoked];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A paid order. All amounts are in the order's `currency`. `total_amount` = `subtotal_amount` - `discount_amount` + `tax_amount`.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::OrderPaid];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// An order with the refund that caused the event.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::OrderRefunded];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A course that is published or archived.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CoursePublished];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A course that is published or archived.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CourseArchived];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A live session.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::LiveSessionStarted];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A live session.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::LiveSessionEnded];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// The recording of a live session. It does not include a link to the media.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::RecordingReady];
    /// Returns the value as a string.
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
    /// When the event happened.
    pub created_at: Timestamp,
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    pub workspace_id: String,
    /// True in a test event, which somebody sent to this endpoint only, and whose `data` is fictional. Absent in all other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<bool>,
    /// A certificate issued to a student for completing a course.
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
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::CertificateIssued];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CertificateIssued => "certificate.issued",
        }
    }
}
