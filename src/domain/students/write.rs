//! Creates, updates and deletes students.

use entity::students::{self, ActiveModel, Model};
use entity::{NotSet, Set, StringList, StringMap, enrollments, orders, student_tags};
use jiff::Timestamp;
use sea_orm::DbErr;

use super::super::enrollments::counted_enrollment;
use super::super::error::map_unique_violation;
use super::super::field_errors::FieldErrors;
use super::super::records::{self, id, new_uuid};
use super::super::{Error, IdOrKey, Result, rollups};
use super::{DeletedStudent, NewStudent, Student, StudentUpsert, summary};
use crate::app::App;
use crate::email;
use crate::outbox::{self, Event, StudentUpdated};
use foundation::database::{UniqueConstraint, Write};
use foundation::id::{Student as StudentIdKind, StudentId, WorkspaceId};

/// Creates a student. Emits `student.created`.
///
/// # Errors
/// Returns [`Error::Invalid`] if the email address is taken or a value is invalid.
pub async fn create(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: NewStudent,
) -> Result<Student> {
    let NewStudent { email, name, external_id, tags, metadata } = &student;
    let mut errors = FieldErrors::default();
    errors.check_email("email", email);
    errors.check_optional_single_line("name", name.as_ref(), 200);
    errors.check_optional_single_line("external_id", external_id.as_ref(), 255);
    errors.check_tags(tags);
    errors.check_metadata(metadata);
    errors.into_result()?;
    let row = insert(app, write, workspace, at, None, student).await?;
    Ok(Student { summary: summary(row, &[], at.as_millisecond()), enrollments: Vec::new() })
}

/// Creates or updates a student. Emits `student.created`, or `student.updated` if a field other than the key changed.
///
/// If no student has the key, a student without a key who has this email address, such as one created through the API,
/// gets the key and is updated.
///
/// # Errors
/// Returns [`Error::Invalid`] if the email address is taken or a value is invalid.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: StudentUpsert,
) -> Result<StudentId> {
    validate_upsert(&upsert)?;
    let rows = students::in_workspace(workspace.uuid());
    let by_key = rows.lock_by_key(write.conn(), &upsert.key).await?;
    let by_email = rows.by_email_folded(write.conn(), &email::comparison_key(&upsert.email)).await?;
    match (by_key, by_email) {
        (Some(by_key), Some(by_email)) if by_email.id != by_key.id => Err(email_taken()),
        (Some(by_key), _) => update(app, write, workspace, at, by_key, upsert).await,
        // Another write created this student between the two queries.
        (None, Some(by_email)) if by_email.key.as_ref() == Some(&upsert.key) => Err(Error::lost_race()),
        (None, Some(by_email)) if by_email.key.is_some() => Err(email_taken()),
        (None, Some(by_email)) => {
            // Compared again after locking: in the meantime the student may have been deleted or changed.
            let locked = rows.lock(write.conn(), by_email.id).await?;
            let by_email = locked.filter(|locked| *locked == by_email).ok_or_else(Error::lost_race)?;
            update(app, write, workspace, at, by_email, upsert).await
        }
        (None, None) => {
            let student = NewStudent {
                email: upsert.email,
                name: upsert.name.apply_to(None),
                external_id: upsert.external_id.apply_to(None),
                tags: upsert.tags.unwrap_or_default(),
                metadata: upsert.metadata.unwrap_or_default(),
            };
            let row = insert(app, write, workspace, at, Some(upsert.key), student).await?;
            Ok(id(row.id))
        }
    }
}

/// Deletes a student with all enrollments, lesson completions and tags. Orders and certificates are kept without the
/// student. Emits `student.deleted`.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student does not exist.
pub async fn delete(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: &IdOrKey,
) -> Result<StudentId> {
    let workspace_uuid = workspace.uuid();
    let rows = students::in_workspace(workspace_uuid);
    let student = records::lock::<StudentIdKind, _>(write.conn(), rows, student).await?;
    for row in enrollments::in_workspace(workspace_uuid).of_students(write.conn(), &[student.id]).await? {
        rollups::count_enrollment(write, workspace, Some(counted_enrollment(&row, student.created_at)), None);
    }
    rollups::count_deleted_student(write, workspace, foundation::clock::from_ms(student.created_at));
    // Foreign keys set `student_id` of the orders and `enrollment_id` of their entitlements to null.
    let orders = orders::in_workspace(workspace_uuid);
    let order_ids = orders.of_student(write.conn(), student.id).await?;
    let order_ids: Vec<_> = order_ids.iter().map(|order| order.id).collect();
    orders.touch(write.conn(), &order_ids, write.recorded_ms()).await?;
    rows.delete(write.conn(), student.id).await?;
    let deleted = DeletedStudent {
        id: id(student.id),
        email: student.email,
        external_id: student.external_id,
        deleted_at: at,
    };
    let student = deleted.id;
    outbox::append(app, write, workspace, at, Event::StudentDeleted(deleted)).await?;
    Ok(student)
}

fn validate_upsert(upsert: &StudentUpsert) -> Result<()> {
    let StudentUpsert { key, email, name, external_id, tags, metadata } = upsert;
    let mut errors = FieldErrors::default();
    errors.check_key("key", key);
    errors.check_email("email", email);
    errors.check_optional_single_line("name", name.value(), 200);
    errors.check_optional_single_line("external_id", external_id.value(), 255);
    if let Some(tags) = tags {
        errors.check_tags(tags);
    }
    if let Some(metadata) = metadata {
        errors.check_metadata(metadata);
    }
    errors.into_result()
}

/// Inserts a new student, counts it, and appends the event.
async fn insert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    key: Option<String>,
    student: NewStudent,
) -> Result<Model> {
    let row = Model {
        id: new_uuid::<StudentIdKind>(app, write),
        workspace_id: workspace.uuid(),
        key,
        email_folded: email::comparison_key(&student.email),
        email: student.email,
        name: student.name,
        external_id: student.external_id,
        tags: StringList(student.tags),
        metadata: StringMap(student.metadata),
        created_at: at.as_millisecond(),
        updated_at: write.recorded_ms(),
    };
    let rows = students::in_workspace(workspace.uuid());
    if !rows.insert_unless_taken(write.conn(), row.clone()).await? {
        return Err(if row.key.is_some() { Error::lost_race() } else { email_taken() });
    }
    student_tags::insert(write.conn(), workspace.uuid(), row.id, &row.tags.0).await?;
    rollups::count_created_student(write, workspace, at);
    let created = summary(row.clone(), &[], at.as_millisecond());
    outbox::append(app, write, workspace, at, Event::StudentCreated(created)).await?;
    Ok(row)
}

/// Writes the changes of an upsert, and appends the event if a field other than the key changed.
async fn update(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    before: Model,
    upsert: StudentUpsert,
) -> Result<StudentId> {
    let StudentUpsert { key, email, name, external_id, tags, metadata } = upsert;
    let mut row = before.clone();
    row.key = Some(key);
    row.email_folded = email::comparison_key(&email);
    row.email = email;
    row.name = name.apply_to(row.name);
    row.external_id = external_id.apply_to(row.external_id);
    row.tags = tags.map_or(row.tags, StringList);
    row.metadata = metadata.map_or(row.metadata, StringMap);
    let changed = changed_fields(&before, &row);
    let rows = students::in_workspace(workspace.uuid());
    if changed.is_empty() {
        if row.key != before.key {
            let changes = ActiveModel { key: Set(row.key), ..Default::default() };
            rows.update(write.conn(), row.id, changes).await.map_err(map_email_conflict)?;
        }
        return Ok(id(row.id));
    }
    row.updated_at = write.recorded_ms();
    rows.update(write.conn(), row.id, changes(row.clone())).await.map_err(map_email_conflict)?;
    if row.tags != before.tags {
        student_tags::replace(write.conn(), workspace.uuid(), row.id, &row.tags.0).await?;
    }
    let enrollments =
        enrollments::in_workspace(workspace.uuid()).of_students(write.conn(), &[row.id]).await?;
    let student = id(row.id);
    let updated = StudentUpdated { student: summary(row, &enrollments, at.as_millisecond()), changed };
    outbox::append(app, write, workspace, at, Event::StudentUpdated(updated)).await?;
    Ok(student)
}

/// Returns the names of the fields that differ, as the contract calls them. The key is not part of the contract.
fn changed_fields(before: &Model, after: &Model) -> Vec<&'static str> {
    // No `..`, so that the compiler reports a new column.
    let Model {
        id: _,
        workspace_id: _,
        key: _,
        email,
        email_folded: _,
        name,
        external_id,
        tags,
        metadata,
        created_at: _,
        updated_at: _,
    } = before;
    let fields = [
        ("email", *email != after.email),
        ("name", *name != after.name),
        ("external_id", *external_id != after.external_id),
        ("tags", *tags != after.tags),
        ("metadata", *metadata != after.metadata),
    ];
    fields.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

/// Returns the columns that an upsert can change.
fn changes(row: Model) -> ActiveModel {
    ActiveModel {
        id: NotSet,
        workspace_id: NotSet,
        key: Set(row.key),
        email: Set(row.email),
        email_folded: Set(row.email_folded),
        name: Set(row.name),
        external_id: Set(row.external_id),
        tags: Set(row.tags),
        metadata: Set(row.metadata),
        created_at: NotSet,
        updated_at: Set(row.updated_at),
    }
}

/// Maps a violation of the unique constraint on email addresses to the error for a taken address. The check before the
/// write does not see addresses that are taken concurrently.
fn map_email_conflict(error: DbErr) -> Error {
    map_unique_violation(error, UniqueConstraint::STUDENT_EMAIL, email_taken)
}

fn email_taken() -> Error {
    Error::invalid("email", "is taken by another student of this workspace")
}
