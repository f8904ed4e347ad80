//! The transactional outbox: appends an event and its webhook deliveries in the transaction of the change.
//!
//! Defines the events and their envelope. Never sends anything, and does not depend on the JSON form of an event: the
//! encoder in `App` encodes the body once, and these bytes are stored.

mod append;
mod deliveries;
mod fanout;
mod fast_path;
pub mod filters;
pub mod remote_wakes;
mod slots;
mod wake_signal;

use jiff::Timestamp;

use crate::certificates::Certificate;
use crate::courses::Course;
use crate::enrollments::EnrollmentSnapshot;
use crate::live_sessions::LiveSession;
use crate::orders::{Order, Refund};
use crate::recordings::Recording;
use crate::students::{DeletedStudent, StudentSummary};
use foundation::id::{EventId, WorkspaceId};

pub use super::contract::{EventType, FieldKind};
pub use append::append;
pub use fanout::fan_out;
pub use fast_path::{FastPath, FastPathPermit, MAX_PRE_LEASED_PER_SUBSCRIPTION, PreLeasedDelivery};
pub use slots::{Capacity, DeliverySlot, DeliverySlots};
pub use wake_signal::{PendingWakes, WakeSignal};

/// How many days events are stored after they were recorded, and deliveries after they ended.
pub const RETENTION_DAYS: i64 = 30;
/// The value of `messaging.system` in spans.
pub const MESSAGING_SYSTEM: &str = "creator_api";

/// The names of all event types, in the contract's order.
pub const EVENT_TYPES: &[&str] = EventType::NAMES;

macro_rules! events {
    ($($variant:ident($data:ty) = $text:literal;)*) => {
        /// An event, with the data of its record right after the change.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event { $(#[doc = $text] $variant($data)),* }

        impl Event {
            /// Returns the event type, such as `student.created`.
            pub const fn event_type(&self) -> &'static str {
                match self { $(Self::$variant(_) => EventType::$variant.as_str()),* }
            }
        }

        impl EventType {
            /// Returns a sentence that describes when the event happens.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}

events! {
    StudentCreated(StudentSummary) = "A student was created.";
    StudentUpdated(StudentUpdated) = "A student was updated.";
    StudentDeleted(DeletedStudent) = "A student was deleted.";
    EnrollmentCreated(EnrollmentSnapshot) = "A student got access to a course, or regained it.";
    EnrollmentRevoked(EnrollmentSnapshot) = "Access to a course was revoked.";
    OrderPaid(Order) = "An order was paid.";
    OrderRefunded(OrderRefunded) = "An order was refunded, in full or in part.";
    CoursePublished(Course) = "A course was published.";
    CourseArchived(Course) = "A course was archived.";
    LiveSessionStarted(LiveSession) = "A live session started.";
    LiveSessionEnded(LiveSession) = "A live session ended.";
    RecordingReady(Recording) = "A recording became ready.";
    CertificateIssued(Certificate) = "A certificate was issued.";
}

/// A student after a change, and what changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentUpdated {
    /// The student.
    pub student: StudentSummary,
    /// The names of the fields that changed, such as `name` or `tags`. At least one.
    pub changed: Vec<&'static str>,
}

/// An order after a refund, and the refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRefunded {
    /// The order.
    pub order: Order,
    /// The refund that this event reports. It is also in `order.refunds`.
    pub refund: Refund,
}

/// An event with its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventEnvelope {
    /// The event's id, by which receivers deduplicate.
    pub id: EventId,
    /// When the event happened.
    pub created_at: Timestamp,
    /// The workspace in which it happened.
    pub workspace: WorkspaceId,
    /// The event and its data.
    pub event: Event,
}

/// Encodes an event's body: the exact bytes that are stored, signed and sent.
pub type EventEncoder = fn(&EventEnvelope) -> Vec<u8>;

/// Encodes the contract's example of an event of this type, with the specified id, time and workspace. Returns `None` for an
/// unknown type.
pub type ExampleEncoder = fn(event_type: &str, EventId, Timestamp, WorkspaceId) -> Option<Vec<u8>>;
