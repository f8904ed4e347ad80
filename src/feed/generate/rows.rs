//! Inserts the rows of synthetic students and orders directly: apart from ids, the same rows that applying their
//! change-feed lines would create in these tables.

use std::ops::Range;

use entity::{
    StringList, StringMap, certificates, courses, enrollments, entitlements, lesson_completions, lessons,
    order_items, orders, refunds, student_tags, students,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::changes::{
    certificate_number, course_key, lesson_key, order_key, order_number, student_email, student_key,
};
use super::model::{self, LESSONS_PER_COURSE, RandomPurpose, SyntheticItem, SyntheticOrder};
use super::{Spec, WORKSPACE};
use domain::app::App;
use domain::rollups::{self, CountedEnrollment, PaidOrder};
use domain::workspaces;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{CourseId, WorkspaceId};

/// The workspace and its courses, to which students and orders refer.
pub(super) struct BaseRecords {
    workspace: WorkspaceId,
    courses: Vec<BaseCourse>,
}

/// A course of the workspace.
struct BaseCourse {
    id: CourseId,
    title: String,
    /// The ids of the lessons, in their order in the course.
    lessons: Vec<Uuid>,
}

/// The kind of a record, so that ids of different tables differ.
#[derive(Clone, Copy)]
enum RecordKind {
    Student = 1,
    Order,
    Item,
    Enrollment,
    Entitlement,
    Refund,
    Certificate,
}

impl BaseRecords {
    /// Reads the workspace and its courses.
    pub(super) async fn read(app: &App, spec: &Spec) -> anyhow::Result<Self> {
        let workspace = workspaces::by_key(app, WORKSPACE).await?.id;
        let (course_table, lesson_table) =
            (courses::in_workspace(workspace.uuid()), lessons::in_workspace(workspace.uuid()));
        let mut base_courses = Vec::new();
        for course in 0..spec.courses {
            let missing_error = || {
                anyhow::anyhow!(
                    "course {course} or one of its lessons was deleted; use another data folder or database"
                )
            };
            let row =
                course_table.by_key(app.db.read(), &course_key(course)).await?.ok_or_else(missing_error)?;
            let keys: Vec<String> =
                (0..LESSONS_PER_COURSE).map(|lesson| lesson_key(course, lesson)).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let mut lessons = lesson_table.by_keys(app.db.read(), &keys).await?;
            anyhow::ensure!(lessons.len() == keys.len(), missing_error());
            lessons.sort_by_key(|lesson| keys.iter().position(|key| *key == lesson.key));
            let lessons = lessons.iter().map(|lesson| lesson.id).collect();
            base_courses.push(BaseCourse { id: CourseId::from_uuid(row.id), title: row.title, lessons });
        }
        Ok(Self { workspace, courses: base_courses })
    }
}

/// Inserts students with their tags.
pub(super) async fn insert_students(
    spec: &Spec,
    base: &BaseRecords,
    numbers: Range<u32>,
    write: &mut Write,
) -> anyhow::Result<()> {
    let workspace_id = base.workspace.uuid();
    let (mut student_rows, mut tag_rows) = (Vec::new(), Vec::new());
    for number in numbers {
        let created_at = model::student_created_ms(spec, number);
        let id = student_id(spec, number);
        let tags: Vec<String> = model::student_tags(spec, number).into_iter().map(str::to_owned).collect();
        tag_rows.extend(tags.iter().map(|tag| student_tags::Model {
            student_id: id,
            workspace_id,
            tag: tag.clone(),
        }));
        rollups::count_created_student(write, base.workspace, from_ms(created_at));
        student_rows.push(students::Model {
            id,
            workspace_id,
            key: Some(student_key(number)),
            email: student_email(number),
            email_folded: student_email(number),
            name: Some(model::student_name(spec, number)),
            external_id: None,
            tags: StringList(tags),
            metadata: StringMap::default(),
            created_at,
            updated_at: write.recorded_ms(),
        });
    }
    students::in_workspace(workspace_id).insert_many(write.conn(), student_rows).await?;
    Ok(student_tags::insert_many(write.conn(), tag_rows).await?)
}

/// The rows of several orders, by table.
#[derive(Default)]
struct OrderRows {
    orders: Vec<orders::Model>,
    items: Vec<order_items::Model>,
    enrollments: Vec<enrollments::Model>,
    entitlements: Vec<entitlements::Model>,
    refunds: Vec<refunds::Model>,
    completions: Vec<lesson_completions::Model>,
    certificates: Vec<certificates::Model>,
}

/// Inserts orders with the rows that belong to them.
pub(super) async fn insert_orders(
    spec: &Spec,
    base: &BaseRecords,
    numbers: Range<u32>,
    write: &mut Write,
) -> anyhow::Result<()> {
    let mut rows = OrderRows::default();
    for number in numbers {
        let order = model::order(spec, number);
        rows.add_order(spec, base, &order, write.recorded_ms());
        for (index, item) in order.items.iter().enumerate() {
            rows.add_item(spec, base, &order, index, item);
            if order.creates_enrollment(item) {
                rows.add_enrollment(spec, base, &order, item, write);
            }
        }
        count_revenue(base, &order, write);
    }
    let (workspace_id, conn) = (base.workspace.uuid(), write.conn());
    orders::in_workspace(workspace_id).insert_many(conn, rows.orders).await?;
    order_items::in_workspace(workspace_id).insert_many(conn, rows.items).await?;
    enrollments::in_workspace(workspace_id).insert_many(conn, rows.enrollments).await?;
    entitlements::in_workspace(workspace_id).insert_many(conn, rows.entitlements).await?;
    refunds::in_workspace(workspace_id).insert_many(conn, rows.refunds).await?;
    lesson_completions::insert_many(conn, rows.completions).await?;
    certificates::in_workspace(workspace_id).insert_many(conn, rows.certificates).await?;
    Ok(())
}

/// Counts the revenue and the refund of an order in the stored sums for analytics.
fn count_revenue(base: &BaseRecords, order: &SyntheticOrder, write: &mut Write) {
    let courses: Vec<CourseId> =
        order.items.iter().map(|item| base.courses[item.course as usize].id).collect();
    let paid_order = PaidOrder {
        courses: &courses,
        paid_at: from_ms(order.paid_ms),
        currency: order.currency,
        total_amount: order.total(),
        discount_amount: order.discount,
        tax_amount: order.tax,
    };
    rollups::count_paid_order(write, base.workspace, paid_order);
    if let Some(refund) = order.refund {
        let at = from_ms(refund.at_ms);
        rollups::count_refund(write, base.workspace, &courses, at, order.currency, refund.amount);
    }
}

impl OrderRows {
    /// Adds an order and its refund.
    fn add_order(&mut self, spec: &Spec, base: &BaseRecords, order: &SyntheticOrder, now_ms: i64) {
        let (id, at_ms) = (order_id(spec, order.number), order.paid_ms);
        self.orders.push(orders::Model {
            id,
            workspace_id: base.workspace.uuid(),
            key: Some(order_key(order.number)),
            number: order_number(order.number),
            student_id: Some(student_id(spec, order.student)),
            customer_email: student_email(order.student),
            customer_name: Some(model::student_name(spec, order.student)),
            status: match order.refund {
                None => orders::StoredOrderStatus::Paid,
                Some(refund) if refund.is_full => orders::StoredOrderStatus::Refunded,
                Some(_) => orders::StoredOrderStatus::PartiallyRefunded,
            },
            currency: order.currency.to_owned(),
            subtotal_amount: order.subtotal(),
            discount_amount: order.discount,
            tax_amount: order.tax,
            total_amount: order.total(),
            refunded_amount: order.refund.map_or(0, |refund| refund.amount),
            receipt_number: order_number(order.number),
            receipt_url: None,
            receipt_issued_at: at_ms,
            // `paid_at` and `created_at` must be equal: a list that is ordered by one applies filters on the other to
            // the same index.
            paid_at: at_ms,
            created_at: at_ms,
            updated_at: now_ms,
        });
        if let Some(refund) = order.refund {
            self.refunds.push(refunds::Model {
                id: record_id(spec, RecordKind::Refund, order.number.into(), refund.at_ms),
                workspace_id: base.workspace.uuid(),
                order_id: id,
                amount: refund.amount,
                reason: None,
                created_at: refund.at_ms,
            });
        }
    }

    /// Adds an item and its entitlement.
    fn add_item(
        &mut self,
        spec: &Spec,
        base: &BaseRecords,
        order: &SyntheticOrder,
        index: usize,
        item: &SyntheticItem,
    ) {
        let course = &base.courses[item.course as usize];
        let (workspace_id, order_id) = (base.workspace.uuid(), order_id(spec, order.number));
        let number = u64::from(order.number) * 2 + index as u64;
        self.items.push(order_items::Model {
            id: record_id(spec, RecordKind::Item, number, order.paid_ms),
            workspace_id,
            order_id,
            position: index as i32 + 1,
            course_id: course.id.uuid(),
            title: course.title.clone(),
            quantity: 1,
            unit_amount: item.amount,
            total_amount: item.amount,
        });
        let revoked_at = order.refund.filter(|refund| refund.is_full).map(|refund| refund.at_ms);
        self.entitlements.push(entitlements::Model {
            id: record_id(spec, RecordKind::Entitlement, number, order.paid_ms),
            workspace_id,
            order_id,
            course_id: course.id.uuid(),
            enrollment_id: Some(enrollment_id(spec, item)),
            status: match revoked_at {
                Some(_) => entitlements::StoredEntitlementStatus::Revoked,
                None => entitlements::StoredEntitlementStatus::Active,
            },
            granted_at: order.paid_ms,
            expires_at: None,
            revoked_at,
        });
    }

    /// Adds the enrollment that an item creates, with its completed lessons and its certificate.
    fn add_enrollment(
        &mut self,
        spec: &Spec,
        base: &BaseRecords,
        order: &SyntheticOrder,
        item: &SyntheticItem,
        write: &mut Write,
    ) {
        let course = &base.courses[item.course as usize];
        let row = enrollment_row(spec, base, order, item, write.recorded_ms());
        let counted = CountedEnrollment {
            course: course.id,
            student_created_at: from_ms(model::student_created_ms(spec, order.student)),
            created_at: from_ms(row.created_at),
            active: row.status == enrollments::StoredEnrollmentStatus::Active,
            revoked_at: row.revoked_at.map(from_ms),
            completed_lessons: row.completed_lessons,
            total_lessons: row.total_lessons,
        };
        rollups::count_enrollment(write, base.workspace, None, Some(counted));
        let completions = course.lessons.iter().zip(&item.lesson_completions_ms);
        self.completions.extend(completions.map(|(lesson, at_ms)| lesson_completions::Model {
            enrollment_id: row.id,
            lesson_id: *lesson,
            workspace_id: row.workspace_id,
            completed_at: *at_ms,
        }));
        if let Some(at_ms) = item.certificate_issued_ms {
            rollups::count_certificate(write, base.workspace, course.id, from_ms(at_ms));
            self.certificates.push(certificates::Model {
                id: record_id(spec, RecordKind::Certificate, enrollment_number(item), at_ms),
                workspace_id: row.workspace_id,
                student_id: Some(row.student_id),
                course_id: row.course_id,
                enrollment_id: Some(row.id),
                number: certificate_number(order.number, item.course),
                recipient_name: Some(model::student_name(spec, order.student)),
                issued_at: at_ms,
            });
        }
        self.enrollments.push(row);
    }
}

fn enrollment_row(
    spec: &Spec,
    base: &BaseRecords,
    order: &SyntheticOrder,
    item: &SyntheticItem,
    now_ms: i64,
) -> enrollments::Model {
    let completed_lessons = item.lesson_completions_ms.len() as i32;
    let revoked_at = order.refund.filter(|refund| refund.is_full).map(|refund| refund.at_ms);
    let is_completed = completed_lessons == LESSONS_PER_COURSE as i32;
    enrollments::Model {
        id: enrollment_id(spec, item),
        workspace_id: base.workspace.uuid(),
        student_id: student_id(spec, order.student),
        course_id: base.courses[item.course as usize].id.uuid(),
        status: match (revoked_at, is_completed) {
            (Some(_), _) => enrollments::StoredEnrollmentStatus::Revoked,
            (None, true) => enrollments::StoredEnrollmentStatus::Completed,
            (None, false) => enrollments::StoredEnrollmentStatus::Active,
        },
        source: enrollments::StoredEnrollmentSource::Order,
        order_id: Some(order_id(spec, order.number)),
        completed_lessons,
        total_lessons: LESSONS_PER_COURSE as i32,
        last_activity_at: item.lesson_completions_ms.last().copied(),
        enrolled_at: order.paid_ms,
        expires_at: None,
        completed_at: item.lesson_completions_ms.last().copied().filter(|_| is_completed),
        revoked_at,
        revoke_reason: revoked_at.map(|_| format!("order {} was refunded", order_number(order.number))),
        created_at: order.paid_ms,
        updated_at: now_ms,
        granted_until: None,
    }
}

fn student_id(spec: &Spec, student: u32) -> Uuid {
    record_id(spec, RecordKind::Student, student.into(), model::student_created_ms(spec, student))
}

fn order_id(spec: &Spec, order: u32) -> Uuid {
    record_id(spec, RecordKind::Order, order.into(), model::paid_ms(spec, order))
}

fn enrollment_id(spec: &Spec, item: &SyntheticItem) -> Uuid {
    record_id(spec, RecordKind::Enrollment, enrollment_number(item), model::paid_ms(spec, item.first_order))
}

/// Returns the number of an enrollment, derived from the order item that created it.
fn enrollment_number(item: &SyntheticItem) -> u64 {
    u64::from(item.first_order) * 2 + u64::from(item.first_index)
}

/// Returns the id of a record: a UUIDv7 with the time of the record and random bits derived from the spec.
fn record_id(spec: &Spec, kind: RecordKind, number: u64, at_ms: i64) -> Uuid {
    let number = number * 16 + kind as u64;
    let random = [
        model::random_number(spec, RandomPurpose::Id, number * 2),
        model::random_number(spec, RandomPurpose::Id, number * 2 + 1),
    ];
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&random[0].to_be_bytes());
    bytes[8..].copy_from_slice(&random[1].to_be_bytes()[..2]);
    let at_ms =
        u64::try_from(Timestamp::from_millisecond(at_ms).map_or(0, Timestamp::as_millisecond)).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(at_ms, &bytes).into_uuid()
}
