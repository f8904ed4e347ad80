//! Students made, changed and deleted.

use entity::students::{self, ActiveModel, Model};
use entity::{Set, StringList, StringMap, enrollments, orders, student_tags};
use jiff::Timestamp;
use sea_orm::DbErr;

use super::super::enrollments::facts;
use super::super::error::taken;
use super::super::faults::Faults;
use super::super::find::{self, fresh, id};
use super::super::{Error, Named, Result, rollups};
use super::{DeletedStudent, NewStudent, Student, StudentUpsert, fold, summary};
use crate::app::App;
use crate::outbox::{self, Event, StudentUpdated};
use foundation::database::{Unique, Write};
use foundation::id::{Student as StudentKind, StudentId, WorkspaceId};

/// Creates a student; emits `student.created`.
///
/// # Errors
/// [`Error::Invalid`] for a taken email and for values out of their bounds.
pub async fn create(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: NewStudent,
) -> Result<Student> {
    let mut faults = Faults::default();
    faults.email("email", &student.email);
    faults.maybe_line("name", student.name.as_ref(), 200);
    faults.maybe_line("external_id", student.external_id.as_ref(), 255);
    faults.tags(&student.tags);
    faults.metadata(&student.metadata);
    faults.check()?;
    let row = insert(app, write, workspace, at, None, student).await?;
    Ok(Student { summary: summary(row, &[], at.as_millisecond()), enrollments: Vec::new() })
}

/// Makes or changes a student; emits `student.created`, or `student.updated` when a field changed.
///
/// A student without a key who has this email (made through the API) is taken over under the key.
///
/// # Errors
/// [`Error::Invalid`] for a taken email and for values out of their bounds.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: StudentUpsert,
) -> Result<StudentId> {
    check_upsert(&upsert)?;
    let rows = students::in_workspace(workspace.uuid());
    let known = rows.lock_by_key(write.conn(), &upsert.key).await?;
    let holder = rows.by_email_folded(write.conn(), &fold(&upsert.email)).await?;
    match (known, holder) {
        (Some(known), Some(holder)) if holder.id != known.id => Err(email_taken()),
        (Some(known), _) => update(app, write, workspace, at, known, upsert).await,
        (None, Some(holder)) if holder.key.is_some() => Err(email_taken()),
        (None, Some(holder)) => {
            // Read again now that it is locked: meanwhile it may have gone, or got a key or another address.
            let locked = rows.lock(write.conn(), holder.id).await?;
            let holder = locked.filter(|locked| *locked == holder).ok_or_else(Error::raced)?;
            update(app, write, workspace, at, holder, upsert).await
        }
        (None, None) => {
            let student = NewStudent {
                email: upsert.email,
                name: upsert.name.or(None),
                external_id: upsert.external_id.or(None),
                tags: upsert.tags.unwrap_or_default(),
                metadata: upsert.metadata.unwrap_or_default(),
            };
            let row = insert(app, write, workspace, at, Some(upsert.key), student).await?;
            Ok(id(row.id))
        }
    }
}

/// Deletes a student with enrolments, completions and tags; orders stay without the person. Emits
/// `student.deleted`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such student.
pub async fn delete(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: &Named,
) -> Result<StudentId> {
    let scope = workspace.uuid();
    let rows = students::in_workspace(scope);
    let student = find::lock::<StudentKind, _>(write.conn(), rows, student).await?;
    for enrolled in enrollments::in_workspace(scope).of_students(write.conn(), &[student.id]).await? {
        rollups::enrollment(write, workspace, Some(facts(&enrolled, student.created_at)), None);
    }
    rollups::student_deleted(write, workspace, foundation::clock::from_ms(student.created_at));
    // The orders lose the person and their entitlements the enrolment, by the database's own references.
    let orders = orders::in_workspace(scope);
    let bought = orders.of_student(write.conn(), student.id).await?;
    let bought: Vec<_> = bought.iter().map(|order| order.id).collect();
    orders.touch(write.conn(), &bought, write.now_ms()).await?;
    rows.delete(write.conn(), student.id).await?;
    let gone = DeletedStudent {
        id: id(student.id),
        email: student.email,
        external_id: student.external_id,
        deleted_at: at,
    };
    let student = gone.id;
    outbox::append(app, write, workspace, at, Event::StudentDeleted(gone)).await?;
    Ok(student)
}

fn check_upsert(upsert: &StudentUpsert) -> Result<()> {
    let mut faults = Faults::default();
    faults.key("key", &upsert.key);
    faults.email("email", &upsert.email);
    faults.maybe_line("name", upsert.name.value(), 200);
    faults.maybe_line("external_id", upsert.external_id.value(), 255);
    if let Some(tags) = &upsert.tags {
        faults.tags(tags);
    }
    if let Some(metadata) = &upsert.metadata {
        faults.metadata(metadata);
    }
    faults.check()
}

/// Writes a new student, counts it and tells of it.
async fn insert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    key: Option<String>,
    student: NewStudent,
) -> Result<Model> {
    let row = Model {
        id: fresh::<StudentKind>(app, write),
        workspace_id: workspace.uuid(),
        key,
        email_folded: fold(&student.email),
        email: student.email,
        name: student.name,
        external_id: student.external_id,
        tags: StringList(student.tags),
        metadata: StringMap(student.metadata),
        created_at: at.as_millisecond(),
        updated_at: write.now_ms(),
    };
    let rows = students::in_workspace(workspace.uuid());
    if !rows.insert_unless_taken(write.conn(), row.clone()).await? {
        return Err(if row.key.is_some() { Error::raced() } else { email_taken() });
    }
    student_tags::insert(write.conn(), workspace.uuid(), row.id, &row.tags.0).await?;
    rollups::student_created(write, workspace, at);
    let created = summary(row.clone(), &[], at.as_millisecond());
    outbox::append(app, write, workspace, at, Event::StudentCreated(created)).await?;
    Ok(row)
}

/// Writes what an upsert changes, and tells of it when a field did.
async fn update(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    before: Model,
    upsert: StudentUpsert,
) -> Result<StudentId> {
    let mut row = before.clone();
    row.key = Some(upsert.key);
    row.email_folded = fold(&upsert.email);
    row.email = upsert.email;
    row.name = upsert.name.or(row.name);
    row.external_id = upsert.external_id.or(row.external_id);
    row.tags = upsert.tags.map_or(row.tags, StringList);
    row.metadata = upsert.metadata.map_or(row.metadata, StringMap);
    let changed = changed(&before, &row);
    let rows = students::in_workspace(workspace.uuid());
    if changed.is_empty() {
        if row.key != before.key {
            let changes = ActiveModel { key: Set(row.key), ..Default::default() };
            rows.update(write.conn(), row.id, changes).await.map_err(raced)?;
        }
        return Ok(id(row.id));
    }
    row.updated_at = write.now_ms();
    rows.update(write.conn(), row.id, changes(row.clone())).await.map_err(raced)?;
    if row.tags != before.tags {
        student_tags::replace(write.conn(), workspace.uuid(), row.id, &row.tags.0).await?;
    }
    let enrolled = enrollments::in_workspace(workspace.uuid()).of_students(write.conn(), &[row.id]).await?;
    let student = id(row.id);
    let updated = StudentUpdated { student: summary(row, &enrolled, at.as_millisecond()), changed };
    outbox::append(app, write, workspace, at, Event::StudentUpdated(updated)).await?;
    Ok(student)
}

/// The names of the shown fields that differ.
fn changed(before: &Model, after: &Model) -> Vec<&'static str> {
    let fields = [
        ("email", before.email != after.email),
        ("name", before.name != after.name),
        ("external_id", before.external_id != after.external_id),
        ("tags", before.tags != after.tags),
        ("metadata", before.metadata != after.metadata),
    ];
    fields.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

/// The columns that an upsert may change.
fn changes(row: Model) -> ActiveModel {
    ActiveModel {
        key: Set(row.key),
        email: Set(row.email),
        email_folded: Set(row.email_folded),
        name: Set(row.name),
        external_id: Set(row.external_id),
        tags: Set(row.tags),
        metadata: Set(row.metadata),
        updated_at: Set(row.updated_at),
        ..Default::default()
    }
}

/// The fault of a taken email, also where the database is the first to see it.
fn raced(error: DbErr) -> Error {
    taken(error, Unique::STUDENT_EMAIL, email_taken)
}

fn email_taken() -> Error {
    Error::invalid("email", "is taken by another student of this workspace")
}
