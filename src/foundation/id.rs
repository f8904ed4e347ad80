//! Typed ids: a UUIDv7 in the database, a TypeID (`crs_01h...`) in text.
//!
//! Owns the list of id kinds and their prefixes. Never asks the database whether an id exists.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use type_safe_id::{DynamicType, StaticType, TypeSafeId};
use uuid::{ContextV7, Timestamp as UuidTime, Uuid};

/// What an id names: its prefix in text and the noun used in messages.
pub trait Kind: StaticType {
    /// The noun of a message: "a course id begins with `crs_`".
    const NOUN: &'static str;
}

/// The id of one kind of record. Compares and sorts as its UUID, which sorts by creation time.
pub struct Id<K> {
    uuid: Uuid,
    kind: PhantomData<fn() -> K>,
}

macro_rules! kinds {
    ($($alias:ident, $kind:ident, $prefix:literal, $noun:literal;)*) => {
        $(
            #[doc = concat!("The kind of ", $noun, " ids.")]
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $kind;
            impl StaticType for $kind {
                const TYPE: &'static str = $prefix;
            }
            impl Kind for $kind {
                const NOUN: &'static str = $noun;
            }
            #[doc = concat!("Names ", $noun, ": `", $prefix, "_...`.")]
            pub type $alias = Id<$kind>;
        )*
        /// Each prefix with the noun it stands for, as messages name them.
        const NOUNS: &[(&str, &str)] = &[$(($prefix, $noun)),*];
    };
}

kinds! {
    WorkspaceId, Workspace, "wks", "a workspace";
    CourseId, Course, "crs", "a course";
    ModuleId, Module, "mod", "a module";
    LessonId, Lesson, "les", "a lesson";
    StudentId, Student, "stu", "a student";
    EnrollmentId, Enrollment, "enr", "an enrollment";
    OrderId, Order, "ord", "an order";
    OrderItemId, OrderItem, "oli", "an order item";
    RefundId, Refund, "rfd", "a refund";
    EntitlementId, Entitlement, "ent", "an entitlement";
    CertificateId, Certificate, "crt", "a certificate";
    LiveSessionId, LiveSession, "lvs", "a live session";
    RecordingId, Recording, "rec", "a recording";
    EventId, Event, "evt", "an event";
    SubscriptionId, Subscription, "whs", "a webhook subscription";
    SecretId, Secret, "whk", "a webhook secret";
    DeliveryId, Delivery, "dlv", "a delivery";
    AttemptId, Attempt, "att", "an attempt";
    ReplayId, Replay, "rpl", "a replay";
    KeyId, ApiKey, "key", "an API key";
    MailId, Mail, "mail", "a mail";
    UserId, User, "usr", "a user";
    SessionId, Session, "ses", "a session";
    LinkId, Link, "lnk", "a link";
    AuditId, Audit, "aud", "an audit entry";
    RequestId, Request, "req", "a request";
    LoggedRequestId, LoggedRequest, "log", "a logged request";
}

impl<K> Id<K> {
    /// The id that stands for this UUID.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self { uuid, kind: PhantomData }
    }

    /// The UUID as the database keeps it.
    pub const fn uuid(self) -> Uuid {
        self.uuid
    }
}

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdError {
    /// The text is no id of any kind.
    #[error("{given:?} is not an id; {noun} id begins with `{prefix}_` and has 26 characters after it")]
    Malformed {
        /// The text, cut to a length that fits a message.
        given: String,
        /// The wanted noun.
        noun: &'static str,
        /// The wanted prefix.
        prefix: &'static str,
    },
    /// The text is an id of another kind.
    #[error("`{given}` names {other}; {noun} id begins with `{prefix}_`")]
    OtherKind {
        /// The text.
        given: String,
        /// What it names.
        other: &'static str,
        /// The wanted noun.
        noun: &'static str,
        /// The wanted prefix.
        prefix: &'static str,
    },
}

impl<K: Kind> FromStr for Id<K> {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        if let Ok(id) = TypeSafeId::<K>::from_str(text) {
            return Ok(Self::from_uuid(id.uuid()));
        }
        let other = TypeSafeId::<DynamicType>::from_str(text)
            .ok()
            .and_then(|id| NOUNS.iter().find(|(prefix, _)| *prefix == id.type_prefix()));
        Err(match other {
            Some((_, other)) => {
                ParseIdError::OtherKind { given: text.to_owned(), other, noun: K::NOUN, prefix: K::TYPE }
            }
            None => ParseIdError::Malformed {
                given: text.chars().take(64).collect(),
                noun: K::NOUN,
                prefix: K::TYPE,
            },
        })
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TypeSafeId::<K>::from_uuid(self.uuid).fmt(f)
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.uuid == other.uuid
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.uuid.cmp(&other.uuid)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.uuid.hash(state);
    }
}

/// The least id that could have been made at this time, in milliseconds since the epoch: all ids made before are less.
pub fn first_of(ms: i64) -> Uuid {
    Uuid::from_u128(u128::from(u64::try_from(ms).unwrap_or(0)) << 80)
}

/// Makes ids: UUIDv7, rising within the process even inside one millisecond.
#[derive(Debug)]
pub struct Ids {
    context: std::sync::Mutex<ContextV7>,
}

impl Default for Ids {
    fn default() -> Self {
        Self { context: std::sync::Mutex::new(ContextV7::new()) }
    }
}

impl Ids {
    /// A new id whose time part is `now`.
    pub fn next<K>(&self, now: jiff::Timestamp) -> Id<K> {
        let context = self.context.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let seconds = u64::try_from(now.as_second()).unwrap_or(0);
        let nanos = u32::try_from(now.subsec_nanosecond()).unwrap_or(0);
        Id::from_uuid(Uuid::new_v7(UuidTime::from_unix(&*context, seconds, nanos)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_its_text_and_names_its_kind() {
        let ids = Ids::default();
        let id: CourseId = ids.next(jiff::Timestamp::UNIX_EPOCH);
        let text = id.to_string();
        assert!(text.starts_with("crs_") && text.len() == 30, "{text}");
        assert_eq!(text.parse::<CourseId>(), Ok(id));
    }

    #[test]
    fn a_wrong_id_is_told_what_it_names() {
        let order: OrderId = Ids::default().next(jiff::Timestamp::UNIX_EPOCH);
        let error = order.to_string().parse::<CourseId>().unwrap_err();
        assert_eq!(error.to_string(), format!("`{order}` names an order; a course id begins with `crs_`"));
        let error = "abc".parse::<CourseId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"abc\" is not an id; a course id begins with `crs_` and has 26 characters after it"
        );
    }

    #[test]
    fn ids_rise_within_a_millisecond() {
        let ids = Ids::default();
        let many: Vec<CourseId> = (0..1000).map(|_| ids.next(jiff::Timestamp::UNIX_EPOCH)).collect();
        assert!(many.is_sorted());
    }
}
