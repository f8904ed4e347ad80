//! Makes events of any type happen in a sandbox: real changes of new records, through the operations that other changes use.

use entity::Keyset;
use entity::courses::{self as course_rows, Column, CourseRowFilter, StoredCourseStatus};
use entity::lessons;
use jiff::{SignedDuration, Timestamp};

use crate::app::App;
use crate::certificates::{self, CertificateIssue};
use crate::courses::{self, CourseStatus, CourseUpsert, LessonType, LessonUpsert, ModuleUpsert, Money};
use crate::enrollments::{self, EnrollmentGrant, EnrollmentRevoke, EnrollmentSource, ProgressRecord};
use crate::event_feed::{EventPosition, FeedEvent};
use crate::live_sessions::{self, LiveSessionUpsert};
use crate::orders::{self, OrderPay, OrderPayItem, OrderRefund};
use crate::outbox::EventType;
use crate::recordings::{self, RecordingReady};
use crate::records::new_uuid;
use crate::students::{self, StudentUpsert};
use crate::{FieldUpdate, IdOrKey, Result};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{CourseId, LessonId, Student as StudentIdKind, StudentId, WorkspaceId};

/// The names of new students.
const NAMES: [(&str, &str); 8] = [
    ("Ada", "Osei"),
    ("Bruno", "Keller"),
    ("Chiara", "Conti"),
    ("Dilan", "Yildiz"),
    ("Emeka", "Obi"),
    ("Freja", "Lund"),
    ("Grace", "Kim"),
    ("Hugo", "Marin"),
];
/// How many courses are examined for one to use.
const EXAMINED_COURSES: u64 = 25;
/// Maximum number of lessons of a course to use: for a certificate, each is completed.
const MAX_LESSONS: i32 = 40;
/// The price of a course that has none.
const DEFAULT_PRICE: (i64, &str) = (4900, "EUR");
/// The duration of a live session that has ended.
const SESSION_DURATION: SignedDuration = SignedDuration::from_mins(45);
/// Size of a recording per second, in bytes.
const BYTES_PER_SECOND: i64 = 250_000;

/// The events of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxEvents {
    /// The event of the requested type.
    pub event: FeedEvent,
    /// The other events that the change caused, in their order.
    pub others: Vec<FeedEvent>,
}

/// Makes an event of this type happen in a workspace, with new records, and a course that is published if there is one. The caller has
/// checked that the workspace is a sandbox, and has appended no event in this write.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn create(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    event_type: EventType,
) -> Result<SandboxEvents> {
    Sandbox::new(app, write, workspace).cause(event_type).await?;
    let (mut event, mut others) = (None, Vec::new());
    for appended in write.events() {
        let feed_event =
            FeedEvent { position: EventPosition::from_uuid(appended.id), body: appended.body.clone() };
        match &event {
            None if appended.event_type == event_type.as_str() => event = Some(feed_event),
            _ => others.push(feed_event),
        }
    }
    let event =
        event.ok_or_else(|| anyhow::anyhow!("the change caused no event `{}`", event_type.as_str()))?;
    Ok(SandboxEvents { event, others })
}

/// A change of a sandbox.
struct Sandbox<'a> {
    app: &'a App,
    write: &'a mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    /// Makes the keys, email addresses and numbers of new records unique: 12 characters.
    suffix: String,
}

/// The course of a change.
struct SandboxCourse {
    id: CourseId,
    price: Money,
}

impl<'a> Sandbox<'a> {
    fn new(app: &'a App, write: &'a mut Write, workspace: WorkspaceId) -> Self {
        let id = StudentId::from_uuid(new_uuid::<StudentIdKind>(app, write)).to_string();
        // The last characters of an id are random.
        let suffix = id[id.len() - 12..].to_owned();
        let at = from_ms(write.now_ms());
        Self { app, write, workspace, at, suffix }
    }

    async fn cause(&mut self, event_type: EventType) -> Result<()> {
        match event_type {
            EventType::StudentCreated => self.create_student().await.map(drop),
            EventType::StudentUpdated => {
                self.create_student().await?;
                let tags = vec!["sandbox".to_owned(), "newsletter".to_owned()];
                self.upsert_student(tags).await.map(drop)
            }
            EventType::StudentDeleted => {
                let student = self.create_student().await?.into();
                students::delete(self.app, self.write, self.workspace, self.at, &student).await.map(drop)
            }
            EventType::EnrollmentCreated => self.enroll().await.map(drop),
            EventType::EnrollmentRevoked => self.revoke_enrollment().await,
            EventType::OrderPaid => self.pay_order().await.map(drop),
            EventType::OrderRefunded => self.refund_order().await,
            EventType::CoursePublished => self.create_course().await.map(drop),
            EventType::CourseArchived => {
                let (course, archived) = (self.create_course().await?.id, CourseStatus::Archived);
                courses::set_status(self.app, self.write, self.workspace, self.at, course, archived)
                    .await
                    .map(drop)
            }
            EventType::LiveSessionStarted => self.start_session(self.at).await.map(drop),
            EventType::LiveSessionEnded => self.hold_session().await.map(drop),
            EventType::RecordingReady => self.record_session().await,
            EventType::CertificateIssued => self.issue_certificate().await,
        }
    }

    /// Returns the key of the new record of each kind.
    fn key(&self) -> String {
        format!("sandbox-{}", self.suffix)
    }

    async fn create_student(&mut self) -> Result<StudentId> {
        self.upsert_student(vec!["sandbox".to_owned()]).await
    }

    async fn upsert_student(&mut self, tags: Vec<String>) -> Result<StudentId> {
        let index = usize::from(self.suffix.as_bytes().last().copied().unwrap_or_default()) % NAMES.len();
        let (first, last) = NAMES[index];
        let address = format!("{first}.{last}.{}@example.com", self.suffix).to_ascii_lowercase();
        let student = StudentUpsert {
            key: self.key(),
            email: address,
            name: FieldUpdate::Value(format!("{first} {last}")),
            external_id: FieldUpdate::Value(self.key()),
            tags: Some(tags),
            metadata: None,
        };
        students::upsert(self.app, self.write, self.workspace, self.at, student).await
    }

    /// Returns the course with the fewest lessons among the newest that are published, or creates one.
    async fn course(&mut self) -> Result<SandboxCourse> {
        let filter =
            CourseRowFilter { status: Some(StoredCourseStatus::Published), ..CourseRowFilter::default() };
        let newest = Keyset {
            column: Column::CreatedAt,
            descending: true,
            after: None,
            to: None,
            limit: EXAMINED_COURSES,
            updated_before: None,
        };
        let rows = course_rows::in_workspace(self.workspace.uuid());
        let rows = rows.page(self.write.conn(), &filter, newest).await?;
        let short = rows.into_iter().filter(|row| row.lesson_count <= MAX_LESSONS);
        let Some(row) = short.min_by_key(|row| row.lesson_count) else { return self.create_course().await };
        let price = row.price_amount.zip(row.price_currency);
        Ok(SandboxCourse { id: CourseId::from_uuid(row.id), price: price.map_or_else(default_price, money) })
    }

    /// Creates a published course.
    async fn create_course(&mut self) -> Result<SandboxCourse> {
        let lesson = |number: i64, title: &str| LessonUpsert {
            key: format!("{}-{number}", self.key()),
            title: title.to_owned(),
            lesson_type: LessonType::Video,
            duration_seconds: Some(300 * number),
            free_preview: number == 1,
        };
        let lessons = vec![lesson(1, "Welcome"), lesson(2, "First steps")];
        let course = CourseUpsert {
            key: self.key(),
            slug: self.key(),
            title: format!("Sandbox course {}", self.suffix),
            status: CourseStatus::Published,
            description: FieldUpdate::Value("A course that an event of the sandbox created.".to_owned()),
            language: FieldUpdate::Value("en".to_owned()),
            image_url: FieldUpdate::Absent,
            url: FieldUpdate::Value(format!("https://school.example.com/courses/{}", self.key())),
            price: FieldUpdate::Value(default_price()),
            modules: Some(vec![ModuleUpsert { key: self.key(), title: "Introduction".to_owned(), lessons }]),
        };
        let id = courses::upsert(self.app, self.write, self.workspace, self.at, course).await?;
        Ok(SandboxCourse { id, price: default_price() })
    }

    /// Gives a new student access to a course.
    async fn enroll(&mut self) -> Result<(IdOrKey, CourseId)> {
        let course = self.course().await?.id;
        let student: IdOrKey = self.create_student().await?.into();
        let grant = EnrollmentGrant {
            student: student.clone(),
            course: course.into(),
            source: EnrollmentSource::Manual,
            expires_at: None,
        };
        enrollments::grant(self.app, self.write, self.workspace, self.at, grant).await?;
        Ok((student, course))
    }

    async fn revoke_enrollment(&mut self) -> Result<()> {
        let (student, course) = self.enroll().await?;
        let reason = Some("Requested in the sandbox".to_owned());
        let revoke = EnrollmentRevoke { student, course: course.into(), reason };
        enrollments::revoke(self.app, self.write, self.workspace, self.at, revoke).await.map(drop)
    }

    async fn pay_order(&mut self) -> Result<IdOrKey> {
        let SandboxCourse { id, price } = self.course().await?;
        let student = self.create_student().await?;
        let item = OrderPayItem { course: id.into(), title: None, quantity: 1, unit_amount: price.amount };
        let pay = OrderPay {
            key: self.key(),
            number: format!("T-{}", self.suffix.to_ascii_uppercase()),
            student: student.into(),
            currency: price.currency,
            items: vec![item],
            discount_amount: 0,
            tax_amount: 0,
            receipt: None,
        };
        let order = orders::pay(self.app, self.write, self.workspace, self.at, pay).await?;
        Ok(order.into())
    }

    async fn refund_order(&mut self) -> Result<()> {
        let order = self.pay_order().await?;
        let reason = Some("Requested in the sandbox".to_owned());
        let refund = OrderRefund { order, amount: None, reason };
        orders::refund(self.app, self.write, self.workspace, self.at, refund).await.map(drop)
    }

    async fn start_session(&mut self, start: Timestamp) -> Result<IdOrKey> {
        let course = self.course().await?.id;
        let session = LiveSessionUpsert {
            key: self.key(),
            title: "Office hour".to_owned(),
            course: FieldUpdate::Value(course.into()),
            scheduled_at: FieldUpdate::Value(start),
        };
        let session =
            live_sessions::upsert(self.app, self.write, self.workspace, start, session).await?.into();
        live_sessions::start(self.app, self.write, self.workspace, start, &session).await?;
        Ok(session)
    }

    /// Starts a session in the past, and ends it now.
    async fn hold_session(&mut self) -> Result<IdOrKey> {
        let session = self.start_session(self.at - SESSION_DURATION).await?;
        live_sessions::end(self.app, self.write, self.workspace, self.at, &session).await?;
        Ok(session)
    }

    async fn record_session(&mut self) -> Result<()> {
        let live_session = self.hold_session().await?;
        let duration_seconds = SESSION_DURATION.as_secs();
        let recording = RecordingReady {
            key: self.key(),
            live_session,
            title: None,
            duration_seconds,
            size_bytes: duration_seconds * BYTES_PER_SECOND,
            content_type: "video/mp4".to_owned(),
        };
        recordings::ready(self.app, self.write, self.workspace, self.at, recording).await.map(drop)
    }

    /// Completes a course with a new student.
    async fn issue_certificate(&mut self) -> Result<()> {
        let (student, course) = self.enroll().await?;
        let rows = lessons::in_workspace(self.workspace.uuid());
        for lesson in rows.of_courses(self.write.conn(), &[course.uuid()]).await? {
            let progress = ProgressRecord {
                student: student.clone(),
                course: course.into(),
                lesson: LessonId::from_uuid(lesson.id).into(),
            };
            enrollments::record_progress(self.write, self.workspace, self.at, progress).await?;
        }
        let issue = CertificateIssue { student, course: course.into(), number: None };
        certificates::issue(self.app, self.write, self.workspace, self.at, issue).await.map(drop)
    }
}

fn money((amount, currency): (i64, String)) -> Money {
    Money { amount, currency }
}

fn default_price() -> Money {
    let (amount, currency) = DEFAULT_PRICE;
    money((amount, currency.to_owned()))
}
