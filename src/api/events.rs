//! Encodes domain events as the webhook bodies of the contract. These exact bytes are stored, signed and sent.

use jiff::Timestamp;
use serde_json::Value;

use super::generated::document::JSON;
use super::generated::events as contract;
use super::generated::schemas;
use super::v1::{enum_map, id_string, optional_id_string};
use domain::certificates::Certificate;
use domain::enrollments::EnrollmentSnapshot;
use domain::live_sessions::{LiveSession, LiveSessionStatus};
use domain::outbox::filters::FieldValue;
use domain::outbox::{Event, EventEnvelope, OrderRefunded, StudentUpdated};
use domain::recordings::Recording;
use domain::students::{DeletedStudent, StudentSummary};
use foundation::id::{EventId, WorkspaceId};

enum_map!(LiveSessionStatus => contract::LiveSessionStatus);

/// Encodes the body of an event. `AppParts::encode` is set to this function.
///
/// # Panics
/// Never: generated types can be serialized.
pub fn encode(envelope: &EventEnvelope) -> Vec<u8> {
    serde_json::to_vec(&to_contract(envelope.clone())).expect("generated types can be serialized")
}

/// Returns the contract's example of an event type, with the specified id, time and workspace, marked as a test event. Returns
/// `None` if the contract has no example of the type. `AppParts::example` is set to this function.
pub fn example(event_type: &str, id: EventId, at: Timestamp, workspace: WorkspaceId) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_str(JSON).ok()?;
    let content = &mut document["webhooks"].get_mut(event_type)?["post"]["requestBody"]["content"];
    let mut body = content["application/json"]["examples"].get_mut(event_type)?["value"].take();
    body["id"] = id_string(id).into();
    body["created_at"] = serde_json::to_value(contract_runtime::scalar::Timestamp::from(at)).ok()?;
    body["workspace_id"] = id_string(workspace).into();
    body["test"] = true.into();
    // The conversion to the generated type and back restores the order of the contract's fields.
    serde_json::to_vec(&serde_json::from_value::<contract::Event>(body).ok()?).ok()
}

/// Reads fields in the data of an encoded event: one value for each JSON pointer. `AppParts::read_fields` is set to this
/// function.
pub fn read_fields(body: &[u8], pointers: &[&str]) -> Vec<FieldValue> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    pointers.iter().map(|pointer| field_value(body["data"].pointer(pointer))).collect()
}

fn field_value(value: Option<&Value>) -> FieldValue {
    match value {
        None => FieldValue::Missing,
        Some(Value::Null) => FieldValue::Null,
        Some(Value::Bool(value)) => FieldValue::Boolean(*value),
        Some(Value::Number(number)) => number.as_i64().map_or(FieldValue::Object, FieldValue::Integer),
        Some(Value::String(text)) => FieldValue::Text(text.clone()),
        Some(Value::Array(items)) => {
            FieldValue::List(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
        }
        Some(Value::Object(_)) => FieldValue::Object,
    }
}

macro_rules! convert_events {
    ($($variant:ident($body:ident),)*) => {
        /// Converts a domain event into the generated type.
        fn to_contract(envelope: EventEnvelope) -> contract::Event {
            match envelope.event {
                $(Event::$variant(data) => contract::Event::$variant(contract::$body {
                    id: id_string(envelope.id),
                    r#type: Default::default(),
                    created_at: envelope.created_at.into(),
                    workspace_id: id_string(envelope.workspace),
                    test: None,
                    data: data.into(),
                }),)*
            }
        }
    };
}

contract::each_event!(convert_events);

impl From<StudentSummary> for contract::StudentSummary {
    fn from(student: StudentSummary) -> Self {
        Self {
            id: id_string(student.id),
            email: student.email,
            name: student.name,
            external_id: student.external_id,
            tags: student.tags,
            metadata: student.metadata,
            progress: student.progress.into(),
            created_at: student.created_at.into(),
            updated_at: student.updated_at.into(),
        }
    }
}

impl From<StudentUpdated> for contract::UpdatedStudent {
    fn from(updated: StudentUpdated) -> Self {
        let student: contract::StudentSummary = updated.student.into();
        Self {
            id: student.id,
            email: student.email,
            name: student.name,
            external_id: student.external_id,
            tags: student.tags,
            metadata: student.metadata,
            progress: student.progress,
            created_at: student.created_at,
            updated_at: student.updated_at,
            changed: updated.changed.into_iter().map(str::to_owned).collect(),
        }
    }
}

impl From<DeletedStudent> for contract::DeletedStudent {
    fn from(student: DeletedStudent) -> Self {
        Self {
            id: id_string(student.id),
            email: student.email,
            external_id: student.external_id,
            deleted_at: student.deleted_at.into(),
        }
    }
}

impl From<EnrollmentSnapshot> for contract::EnrollmentEventData {
    fn from(snapshot: EnrollmentSnapshot) -> Self {
        let enrollment: schemas::Enrollment = snapshot.enrollment.into();
        let (student, course) = (snapshot.student, snapshot.course);
        Self {
            id: enrollment.id,
            student_id: enrollment.student_id,
            course_id: enrollment.course_id,
            status: enrollment.status,
            source: enrollment.source,
            order_id: enrollment.order_id,
            progress: enrollment.progress,
            enrolled_at: enrollment.enrolled_at,
            expires_at: enrollment.expires_at,
            completed_at: enrollment.completed_at,
            revoked_at: enrollment.revoked_at,
            created_at: enrollment.created_at,
            updated_at: enrollment.updated_at,
            student: contract::EnrollmentStudent {
                id: id_string(student.id),
                email: student.email,
                name: student.name,
            },
            course: contract::EnrollmentCourse {
                id: id_string(course.id),
                slug: course.slug,
                title: course.title,
            },
        }
    }
}

impl From<OrderRefunded> for contract::RefundedOrder {
    fn from(refunded: OrderRefunded) -> Self {
        let order: schemas::Order = refunded.order.into();
        Self {
            id: order.id,
            number: order.number,
            student_id: order.student_id,
            customer: order.customer,
            status: order.status,
            currency: order.currency,
            subtotal_amount: order.subtotal_amount,
            discount_amount: order.discount_amount,
            tax_amount: order.tax_amount,
            total_amount: order.total_amount,
            refunded_amount: order.refunded_amount,
            items: order.items,
            receipt: order.receipt,
            refunds: order.refunds,
            entitlements: order.entitlements,
            paid_at: order.paid_at,
            created_at: order.created_at,
            updated_at: order.updated_at,
            refund: refunded.refund.into(),
        }
    }
}

impl From<LiveSession> for contract::LiveSession {
    fn from(session: LiveSession) -> Self {
        Self {
            id: id_string(session.id),
            course_id: optional_id_string(session.course_id),
            title: session.title,
            status: session.status.into(),
            scheduled_at: session.scheduled_at.map(Into::into),
            started_at: session.started_at.map(Into::into),
            ended_at: session.ended_at.map(Into::into),
            duration_seconds: session.duration_seconds,
        }
    }
}

impl From<Recording> for contract::Recording {
    fn from(recording: Recording) -> Self {
        Self {
            id: id_string(recording.id),
            live_session_id: id_string(recording.live_session_id),
            course_id: optional_id_string(recording.course_id),
            title: recording.title,
            duration_seconds: recording.duration_seconds,
            size_bytes: recording.size_bytes,
            content_type: recording.content_type,
            created_at: recording.created_at.into(),
        }
    }
}

impl From<Certificate> for contract::Certificate {
    fn from(certificate: Certificate) -> Self {
        Self {
            id: id_string(certificate.id),
            number: certificate.number,
            student_id: id_string(certificate.student_id),
            course_id: id_string(certificate.course_id),
            enrollment_id: id_string(certificate.enrollment_id),
            recipient_name: certificate.recipient_name,
            issued_at: certificate.issued_at.into(),
            verification_url: certificate.verification_url,
        }
    }
}
