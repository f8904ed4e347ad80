//! The tables whose rows can be cached.

use std::collections::{HashMap, HashSet};

use sea_orm::{ColumnTrait, DbBackend, DbErr, EntityTrait, QueryFilter, QueryTrait};
use uuid::Uuid;

use super::rows::{PendingStatement, TableRows, pending_new_rows};
use crate::webhook_subscriptions::Subscriber;
use crate::{
    certificates, courses, enrollments, entitlements, lesson_completions, lessons, live_sessions,
    order_items, orders, refunds, statement, student_tags, students,
};

/// The names of all tables with cached rows. The last two are never changed in memory: their subscriptions are only
/// remembered.
pub(super) const NAMES: &[&str] = &[
    "courses",
    "lessons",
    "students",
    "student_tags",
    "orders",
    "order_items",
    "refunds",
    "enrollments",
    "lesson_completions",
    "entitlements",
    "live_sessions",
    "certificates",
    "webhook_subscriptions",
    "webhook_topics",
];

/// The lock that a transaction holds on the cached rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowLock {
    /// Other transactions can lock the rows in shared mode, too.
    Shared,
    /// Only this transaction can change the rows, or lock them.
    Exclusive,
}

/// A table that can have cached rows. The default implementation is for tables that have none.
pub trait CachedTable: EntityTrait {
    /// The lock on the cached rows.
    const LOCK: RowLock = RowLock::Exclusive;
    /// The columns by which cached rows are found, besides their id.
    const LOOKUPS: &'static [Self::Column] = &[];
    /// The columns of `LOOKUPS` whose values are unique in a workspace.
    const UNIQUE: &'static [Self::Column] = &[];

    /// Returns the cached rows of this table.
    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        let _ = tables;
        None
    }

    /// Records that no rows refer to a new row of this table.
    fn set_childless(tables: &mut CachedTables, workspace: Uuid, id: Uuid) {
        let _ = (tables, workspace, id);
    }
}

/// The cached rows of all tables.
#[derive(Debug, Default)]
pub struct CachedTables {
    courses: TableRows<courses::Entity>,
    lessons: TableRows<lessons::Entity>,
    students: TableRows<students::Entity>,
    pub(crate) tags: Tags,
    orders: TableRows<orders::Entity>,
    order_items: TableRows<order_items::Entity>,
    refunds: TableRows<refunds::Entity>,
    enrollments: TableRows<enrollments::Entity>,
    pub(crate) completions: Completions,
    entitlements: TableRows<entitlements::Entity>,
    live_sessions: TableRows<live_sessions::Entity>,
    certificates: TableRows<certificates::Entity>,
    /// The subscriptions to each type of event in each workspace, locked against deletion. By workspace, type
    /// and maximum number.
    pub(crate) subscribed: HashMap<(Uuid, String, usize), Subscribed>,
}

/// Subscriptions to an event, and whether there are more.
pub(crate) type Subscribed = (Vec<Subscriber>, bool);

impl CachedTables {
    /// Returns the statements that write the new and changed rows, in the order of their foreign keys.
    pub(super) fn take_pending(&mut self, backend: DbBackend) -> Result<Vec<PendingStatement>, DbErr> {
        let mut statements = self.courses.take_pending(backend)?;
        statements.extend(self.lessons.take_pending(backend)?);
        statements.extend(self.students.take_pending(backend)?);
        statements.extend(self.tags.take_pending(backend)?);
        statements.extend(self.orders.take_pending(backend)?);
        statements.extend(self.order_items.take_pending(backend)?);
        statements.extend(self.refunds.take_pending(backend)?);
        statements.extend(self.enrollments.take_pending(backend)?);
        statements.extend(self.completions.take_pending(backend)?);
        statements.extend(self.entitlements.take_pending(backend)?);
        statements.extend(self.live_sessions.take_pending(backend)?);
        statements.extend(self.certificates.take_pending(backend)?);
        Ok(statements)
    }
}

impl CachedTable for courses::Entity {
    const LOCK: RowLock = RowLock::Shared;
    const LOOKUPS: &'static [Self::Column] = &[courses::Column::Key];
    const UNIQUE: &'static [Self::Column] = &[courses::Column::Key];

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.courses)
    }
}

impl CachedTable for lessons::Entity {
    const LOCK: RowLock = RowLock::Shared;
    const LOOKUPS: &'static [Self::Column] = &[lessons::Column::Key];
    const UNIQUE: &'static [Self::Column] = &[lessons::Column::Key];

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.lessons)
    }
}

impl CachedTable for students::Entity {
    const LOOKUPS: &'static [Self::Column] = &[students::Column::Key, students::Column::EmailFolded];
    const UNIQUE: &'static [Self::Column] = Self::LOOKUPS;

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.students)
    }

    fn set_childless(tables: &mut CachedTables, workspace: Uuid, id: Uuid) {
        tables.enrollments.set_complete(workspace, enrollments::Column::StudentId, id.into());
        tables.certificates.set_complete(workspace, certificates::Column::StudentId, id.into());
    }
}

impl CachedTable for orders::Entity {
    const LOOKUPS: &'static [Self::Column] = &[orders::Column::Key, orders::Column::Number];
    const UNIQUE: &'static [Self::Column] = Self::LOOKUPS;

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.orders)
    }

    fn set_childless(tables: &mut CachedTables, workspace: Uuid, id: Uuid) {
        tables.order_items.set_complete(workspace, order_items::Column::OrderId, id.into());
        tables.refunds.set_complete(workspace, refunds::Column::OrderId, id.into());
        tables.entitlements.set_complete(workspace, entitlements::Column::OrderId, id.into());
        tables.enrollments.set_complete(workspace, enrollments::Column::OrderId, id.into());
    }
}

impl CachedTable for order_items::Entity {
    const LOOKUPS: &'static [Self::Column] = &[order_items::Column::OrderId];

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.order_items)
    }
}

impl CachedTable for refunds::Entity {
    const LOOKUPS: &'static [Self::Column] = &[refunds::Column::OrderId];

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.refunds)
    }
}

impl CachedTable for enrollments::Entity {
    const LOOKUPS: &'static [Self::Column] = &[enrollments::Column::StudentId, enrollments::Column::OrderId];

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.enrollments)
    }

    fn set_childless(tables: &mut CachedTables, workspace: Uuid, id: Uuid) {
        tables.completions.new_enrollments.insert(id);
        tables.entitlements.set_complete(workspace, entitlements::Column::EnrollmentId, id.into());
    }
}

impl CachedTable for entitlements::Entity {
    const LOOKUPS: &'static [Self::Column] =
        &[entitlements::Column::OrderId, entitlements::Column::EnrollmentId];

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.entitlements)
    }
}

impl CachedTable for live_sessions::Entity {
    const LOOKUPS: &'static [Self::Column] = &[live_sessions::Column::Key];
    const UNIQUE: &'static [Self::Column] = Self::LOOKUPS;

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.live_sessions)
    }
}

impl CachedTable for certificates::Entity {
    const LOOKUPS: &'static [Self::Column] = &[certificates::Column::StudentId];

    fn cached_rows(tables: &mut CachedTables) -> Option<&mut TableRows<Self>> {
        Some(&mut tables.certificates)
    }
}

/// The completed lessons of enrollments.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    /// The enrollments and lessons whose completions are cached: those of each of these enrollments with each of these
    /// lessons.
    enrollments: HashSet<Uuid>,
    lessons: HashSet<Uuid>,
    /// Enrollments all of whose completions are cached.
    new_enrollments: HashSet<Uuid>,
    /// Enrollments with a completed lesson.
    completed: HashSet<(Uuid, Uuid)>,
    new: Vec<lesson_completions::Model>,
}

impl Completions {
    /// Adds all completions of these enrollments with these lessons.
    pub(crate) fn remember(
        &mut self,
        enrollments: &[Uuid],
        lessons: &[Uuid],
        completions: Vec<lesson_completions::Model>,
    ) {
        self.enrollments.extend(enrollments);
        self.lessons.extend(lessons);
        self.completed.extend(completions.iter().map(|row| (row.enrollment_id, row.lesson_id)));
    }

    /// Adds a new completion. Returns false if the lesson is already completed, and `None` if that is not known.
    pub(crate) fn insert_if_absent(&mut self, row: &lesson_completions::Model) -> Option<bool> {
        let is_known = self.new_enrollments.contains(&row.enrollment_id)
            || (self.enrollments.contains(&row.enrollment_id) && self.lessons.contains(&row.lesson_id));
        if !is_known {
            return None;
        }
        let is_new = self.completed.insert((row.enrollment_id, row.lesson_id));
        if is_new {
            self.new.push(row.clone());
        }
        Some(is_new)
    }

    fn take_pending(&mut self, backend: DbBackend) -> Result<Vec<PendingStatement>, DbErr> {
        let new = std::mem::take(&mut self.new);
        pending_new_rows::<_, lesson_completions::ActiveModel>(backend, new)
    }
}

/// Changes of the tags of students.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    /// The students whose earlier tags are deleted.
    replaced: Vec<Uuid>,
    new: Vec<student_tags::Model>,
}

impl Tags {
    /// Adds tags of students who have none yet.
    pub(crate) fn insert(&mut self, rows: Vec<student_tags::Model>) {
        self.new.extend(rows);
    }

    /// Removes all tags of a student.
    pub(crate) fn delete(&mut self, student: Uuid) {
        self.new.retain(|tag| tag.student_id != student);
        self.replaced.push(student);
    }

    fn take_pending(&mut self, backend: DbBackend) -> Result<Vec<PendingStatement>, DbErr> {
        let replaced = std::mem::take(&mut self.replaced);
        let deletes = statement::batches(replaced).map(|batch| {
            let rows =
                student_tags::Entity::delete_many().filter(student_tags::Column::StudentId.is_in(batch));
            PendingStatement::Delete(rows.into_query())
        });
        let new = std::mem::take(&mut self.new);
        let inserts = pending_new_rows::<_, student_tags::ActiveModel>(backend, new)?;
        Ok(deletes.chain(inserts).collect())
    }
}
