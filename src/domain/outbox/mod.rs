//! The outbox: an event's row and its deliveries, appended inside the transaction of the change it tells of.
//!
//! Owns the list of events and their envelope. Never sends anything, and never knows how `data` is spelled
//! in JSON: the encoder that `App` carries writes the body once, and those bytes are stored.

mod bell;
mod deliveries;
mod fanout;
mod handoff;
mod shares;

use entity::events;
use jiff::Timestamp;

use crate::Result;
use crate::app::App;
use crate::certificates::Certificate;
use crate::courses::Course;
use crate::enrollments::EnrollmentSnapshot;
use crate::live_sessions::LiveSession;
use crate::orders::{Order, Refund};
use crate::recordings::Recording;
use crate::students::{DeletedStudent, StudentSummary};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{EventId, WorkspaceId};

pub use bell::{Bell, Rung};
pub use fanout::fan_out;
pub use handoff::{Born, Handoff, OF_ONE as BORN_OF_ONE, Place};
pub use shares::{Room, Share, Shares};

macro_rules! events {
    ($($variant:ident($data:ty) = $kind:literal, $text:literal;)*) => {
        /// What happened, with the record as it was right after the change (seed 6).
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event { $(#[doc = $text] $variant($data)),* }

        /// The types of all events, in the seed's order.
        pub const KINDS: &[&str] = &[$($kind),*];

        /// Each type with the sentence that says when it happens.
        pub const TOLD: &[(&str, &str)] = &[$(($kind, $text)),*];

        impl Event {
            /// The event's type as it is written: `student.created`.
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind),* }
            }
        }
    };
}

events! {
    StudentCreated(StudentSummary) = "student.created", "A student was created.";
    StudentUpdated(StudentUpdated) = "student.updated", "A student was updated.";
    StudentDeleted(DeletedStudent) = "student.deleted", "A student was deleted.";
    EnrollmentCreated(EnrollmentSnapshot) = "enrollment.created", "A student got access, or has it back.";
    EnrollmentRevoked(EnrollmentSnapshot) = "enrollment.revoked", "Access was taken away.";
    OrderPaid(Order) = "order.paid", "An order was paid.";
    OrderRefunded(OrderRefunded) = "order.refunded", "Money was given back.";
    CoursePublished(Course) = "course.published", "A course was published.";
    CourseArchived(Course) = "course.archived", "A course was archived.";
    LiveSessionStarted(LiveSession) = "live_session.started", "A live session started.";
    LiveSessionEnded(LiveSession) = "live_session.ended", "A live session ended.";
    RecordingReady(Recording) = "recording.ready", "A recording became ready.";
    CertificateIssued(Certificate) = "certificate.issued", "A certificate was issued.";
}

/// A student after a change, and what changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentUpdated {
    /// The student.
    pub student: StudentSummary,
    /// The names of the fields that changed, at least one: `name`, `tags`.
    pub changed: Vec<&'static str>,
}

/// An order after a refund, and the refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRefunded {
    /// The order.
    pub order: Order,
    /// The refund this event is about; also the last of the order's.
    pub refund: Refund,
}

/// An event with its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Unique per event; receivers drop doubles by it.
    pub id: EventId,
    /// When it happened.
    pub created_at: Timestamp,
    /// Where it happened.
    pub workspace: WorkspaceId,
    /// What happened.
    pub event: Event,
}

/// Writes an event's body: the exact bytes that are stored, signed and sent.
pub type Encode = fn(&Envelope) -> Vec<u8>;

/// Writes the body of an event of this type as the contract shows it, with an id, a time and a workspace of its own;
/// `None` for a type that there is not.
pub type Example = fn(kind: &str, EventId, Timestamp, WorkspaceId) -> Option<Vec<u8>>;

/// Appends an event to the outbox, with a delivery for each subscription that wants it; they exist once the write
/// commits. `at` is when it happened.
///
/// # Errors
/// [`crate::Error::Internal`] when the database fails.
pub async fn append(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    event: Event,
) -> Result<EventId> {
    let id: EventId = app.ids.next(from_ms(write.now_ms()));
    let kind = event.kind().to_owned();
    let body = (app.encode)(&Envelope { id, created_at: at, workspace, event });
    let row = events::Model {
        id: id.uuid(),
        workspace_id: workspace.uuid(),
        kind,
        created_at: at.as_millisecond(),
        body,
    };
    deliveries::append(app, write, row).await?;
    Ok(id)
}
