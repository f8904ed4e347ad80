//! Typed ids: UUIDv7 in the database, TypeID (`crs_01h...`) as strings.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use type_safe_id::{DynamicType, StaticType, TypeSafeId};
use uuid::{ContextV7, Timestamp as UuidTime, Uuid};

/// The kind of record that an id identifies, with the prefix of its strings.
pub trait IdKind: StaticType {
    /// The noun with its article for messages, such as "a course" in "a course id begins with `crs_`".
    const NOUN: &'static str;
}

/// The id of a record. Ids are ordered by their UUIDs: by the time of creation in milliseconds, and for ids of the same
/// process also within a millisecond.
pub struct Id<K> {
    uuid: Uuid,
    kind: PhantomData<fn() -> K>,
}

macro_rules! id_kinds {
    ($($alias:ident, $kind:ident, $prefix:literal, $noun:literal;)*) => {
        $(
            #[doc = concat!("The id kind of ", $noun, ".")]
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $kind;
            impl StaticType for $kind {
                const TYPE: &'static str = $prefix;
            }
            impl IdKind for $kind {
                const NOUN: &'static str = $noun;
            }
            #[doc = concat!("The id of ", $noun, ": `", $prefix, "_...`.")]
            pub type $alias = Id<$kind>;
        )*
        /// The noun of each prefix, for messages.
        const NOUNS: &[(&str, &str)] = &[$(($prefix, $noun)),*];
    };
}

id_kinds! {
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
    SubscriptionId, Subscription, "whs", "a webhook";
    SecretId, Secret, "whk", "a webhook secret";
    SigningKeyId, SigningKey, "wsk", "a webhook signing key";
    DeliveryId, Delivery, "dlv", "a delivery";
    AttemptId, Attempt, "att", "an attempt";
    ReplayId, Replay, "rpl", "a replay";
    KeyId, ApiKey, "key", "an API key";
    MailId, Mail, "mail", "a mail";
    UserId, User, "usr", "a user";
    PersonId, Person, "per", "a person";
    SessionId, Session, "ses", "a session";
    LinkId, Link, "lnk", "a link";
    PlatformTokenId, PlatformToken, "ptk", "a platform token";
    AuditId, Audit, "aud", "an audit entry";
    RequestId, Request, "req", "a request";
    LoggedRequestId, LoggedRequest, "log", "a logged request";
}

impl<K> Id<K> {
    /// Returns the id with this UUID.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self { uuid, kind: PhantomData }
    }

    /// Returns the UUID, which is what the database stores.
    pub const fn uuid(self) -> Uuid {
        self.uuid
    }
}

/// The error of parsing an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdError {
    /// The string is not an id.
    #[error("{text:?} is not an id; {noun} id begins with `{prefix}_` and has 26 characters after it")]
    Malformed {
        /// The string, truncated to 64 characters.
        text: String,
        /// The noun of the expected kind.
        noun: &'static str,
        /// The prefix of the expected kind.
        prefix: &'static str,
    },
    /// The string is an id of another kind.
    #[error("`{text}` is the id of {actual_noun}; {noun} id begins with `{prefix}_`")]
    WrongKind {
        /// The string.
        text: String,
        /// The noun of the kind that the id has.
        actual_noun: &'static str,
        /// The noun of the expected kind.
        noun: &'static str,
        /// The prefix of the expected kind.
        prefix: &'static str,
    },
}

impl<K: IdKind> FromStr for Id<K> {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        if let Ok(id) = TypeSafeId::<K>::from_str(text) {
            return Ok(Self::from_uuid(id.uuid()));
        }
        let actual_kind = TypeSafeId::<DynamicType>::from_str(text)
            .ok()
            .and_then(|id| NOUNS.iter().find(|(prefix, _)| *prefix == id.type_prefix()));
        Err(match actual_kind {
            Some((_, actual_noun)) => {
                ParseIdError::WrongKind { text: text.to_owned(), actual_noun, noun: K::NOUN, prefix: K::TYPE }
            }
            None => ParseIdError::Malformed {
                text: text.chars().take(64).collect(),
                noun: K::NOUN,
                prefix: K::TYPE,
            },
        })
    }
}

impl<K: IdKind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TypeSafeId::<K>::from_uuid(self.uuid).fmt(f)
    }
}

impl<K: IdKind> fmt::Debug for Id<K> {
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

/// Returns a lower bound for the ids with this time (milliseconds since the epoch) or a later one. Ids with an earlier
/// time are smaller. The bound itself is not a valid UUIDv7. Times before the epoch count as the epoch.
pub fn min_uuid_at(ms: i64) -> Uuid {
    Uuid::from_u128(u128::from(u64::try_from(ms).unwrap_or(0)) << 80)
}

/// Returns the time of an id in milliseconds since the epoch.
pub fn uuid_ms(id: Uuid) -> i64 {
    // 48 bits.
    i64::try_from(id.as_u128() >> 80).unwrap_or(i64::MAX)
}

/// Generates ids. Each id is greater than the previous one, even within a millisecond or when the clock is set back.
#[derive(Debug)]
pub struct Ids {
    context: std::sync::Mutex<ContextV7>,
    /// The ids of [`Ids::fix`], with the prefixes of their kinds.
    fixed: Vec<(&'static str, Uuid)>,
}

impl Default for Ids {
    fn default() -> Self {
        Self { context: std::sync::Mutex::new(ContextV7::new()), fixed: Vec::new() }
    }
}

impl Ids {
    /// Returns a generator whose next ids of the kind of `id` are all this one, to create a single record with it.
    #[must_use]
    pub fn fix<K: IdKind>(mut self, id: Id<K>) -> Self {
        self.fixed.push((K::TYPE, id.uuid()));
        self
    }

    /// Generates an id that contains the time `now` in milliseconds, or the time of the previous id if that is later.
    pub fn next<K: IdKind>(&self, now: jiff::Timestamp) -> Id<K> {
        if let Some((_, uuid)) = self.fixed.iter().find(|(prefix, _)| *prefix == K::TYPE) {
            return Id::from_uuid(*uuid);
        }
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
    fn an_id_round_trips_through_its_string_and_has_the_prefix_of_its_kind() {
        let ids = Ids::default();
        let id: CourseId = ids.next(jiff::Timestamp::UNIX_EPOCH);
        let text = id.to_string();
        assert!(text.starts_with("crs_") && text.len() == 30, "{text}");
        assert_eq!(text.parse::<CourseId>(), Ok(id));
    }

    #[test]
    fn the_error_for_an_id_of_another_kind_names_both_kinds() {
        let order: OrderId = Ids::default().next(jiff::Timestamp::UNIX_EPOCH);
        let error = order.to_string().parse::<CourseId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{order}` is the id of an order; a course id begins with `crs_`")
        );
        let error = "abc".parse::<CourseId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"abc\" is not an id; a course id begins with `crs_` and has 26 characters after it"
        );
    }

    #[test]
    fn ids_increase_within_a_millisecond() {
        let ids = Ids::default();
        let generated: Vec<CourseId> = (0..1000).map(|_| ids.next(jiff::Timestamp::UNIX_EPOCH)).collect();
        assert!(generated.is_sorted());
    }
}
