//! Creates and updates courses from `course.upsert` changes.

use std::collections::BTreeSet;

use entity::courses::{self, ActiveModel, Model, StoredCourseStatus};
use entity::{NotSet, Set};
use jiff::Timestamp;

use super::super::error::map_unique_violation;
use super::super::field_errors::FieldErrors;
use super::super::records::{id, new_uuid};
use super::super::{Error, FieldUpdate, Result, enrollments};
use super::row::stored_status;
use super::status::{append_status_event, set_row_status};
use super::{CourseUpsert, ModuleUpsert, catalog, outline};
use crate::app::App;
use foundation::database::{UniqueConstraint, Write};
use foundation::id::{Course as CourseIdKind, CourseId, WorkspaceId};

/// Creates or updates a course. Emits `course.published` or `course.archived` when the course gets that status.
///
/// `modules` replaces all modules of the course. Modules and lessons that keep their key keep their id. The progress of
/// enrolled students is recounted if lessons were added or removed.
///
/// # Errors
/// Returns [`Error::Invalid`] if the slug is taken, if a key of a module or lesson is repeated or belongs to another
/// course, or if a value is invalid.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: CourseUpsert,
) -> Result<CourseId> {
    validate(&upsert)?;
    let rows = courses::in_workspace(workspace.uuid());
    let before = rows.lock_by_key(write.conn(), &upsert.key).await?;
    let slug_owner = rows.by_slug(write.conn(), &upsert.slug).await?;
    if let Some(slug_owner) = slug_owner
        && before.as_ref().is_none_or(|before| before.id != slug_owner.id)
    {
        // Another write can have created this course between the two queries.
        let is_this_course = slug_owner.key.as_ref() == Some(&upsert.key);
        return Err(if is_this_course { Error::lost_race() } else { slug_taken() });
    }
    let is_new = before.is_none();
    let before = before.unwrap_or_else(|| new_row(app, write, workspace, at, &upsert));
    let mut row = apply_upsert(&before, at, &upsert);
    if is_new && !rows.insert_unless_taken(write.conn(), row.clone()).await? {
        return Err(Error::lost_race());
    }
    let outline_change = match &upsert.modules {
        Some(modules) => outline::replace(app, write, workspace, row.id, modules).await?,
        None => outline::OutlineChange::default(),
    };
    if let Some(counts) = outline_change.counts {
        (row.module_count, row.lesson_count, row.duration_seconds) = counts;
    }
    let course_id = id(row.id);
    if !is_new && row == before && !outline_change.changed {
        return Ok(course_id);
    }
    row.updated_at = write.recorded_ms();
    let changes = changes(row.clone());
    rows.update(write.conn(), row.id, changes).await.map_err(map_slug_conflict)?;
    if outline_change.lessons_added_or_removed && !is_new {
        enrollments::recount(write, workspace, at, &row, &outline_change.removed_lessons).await?;
    }
    outline::remove_unlisted(write, workspace, &outline_change).await?;
    append_status_event(app, write, workspace, at, (!is_new).then_some(before.status), row).await?;
    catalog::mark_changed(app, write, workspace).await?;
    Ok(course_id)
}

/// Creates the row of a new course. [`apply_upsert`] then sets the fields of the upsert.
fn new_row(app: &App, write: &Write, workspace: WorkspaceId, at: Timestamp, upsert: &CourseUpsert) -> Model {
    Model {
        id: new_uuid::<CourseIdKind>(app, write),
        workspace_id: workspace.uuid(),
        key: Some(upsert.key.clone()),
        slug: upsert.slug.clone(),
        title: upsert.title.clone(),
        description: None,
        language: None,
        status: StoredCourseStatus::Draft,
        image_url: None,
        url: None,
        price_amount: None,
        price_currency: None,
        module_count: 0,
        lesson_count: 0,
        duration_seconds: 0,
        published_at: None,
        archived_at: None,
        created_at: at.as_millisecond(),
        updated_at: write.recorded_ms(),
    }
}

/// Returns the row with the fields of the upsert, except modules.
fn apply_upsert(before: &Model, at: Timestamp, upsert: &CourseUpsert) -> Model {
    // No `..`, so that the compiler reports a new field.
    let CourseUpsert {
        key: _,
        slug,
        title,
        status,
        description,
        language,
        image_url,
        url,
        price,
        modules: _,
    } = upsert;
    let mut row = before.clone();
    row.slug.clone_from(slug);
    row.title.clone_from(title);
    row.description = description.clone().apply_to(row.description);
    row.language = language.clone().apply_to(row.language);
    row.image_url = image_url.clone().apply_to(row.image_url);
    row.url = url.clone().apply_to(row.url);
    match price {
        FieldUpdate::Absent => {}
        FieldUpdate::Null => (row.price_amount, row.price_currency) = (None, None),
        FieldUpdate::Value(price) => {
            (row.price_amount, row.price_currency) = (Some(price.amount), Some(price.currency.clone()));
        }
    }
    set_row_status(&mut row, stored_status(*status), at);
    row
}

/// Returns the columns that an upsert can change.
fn changes(row: Model) -> ActiveModel {
    ActiveModel {
        id: NotSet,
        workspace_id: NotSet,
        key: NotSet,
        slug: Set(row.slug),
        title: Set(row.title),
        description: Set(row.description),
        language: Set(row.language),
        status: Set(row.status),
        image_url: Set(row.image_url),
        url: Set(row.url),
        price_amount: Set(row.price_amount),
        price_currency: Set(row.price_currency),
        module_count: Set(row.module_count),
        lesson_count: Set(row.lesson_count),
        duration_seconds: Set(row.duration_seconds),
        published_at: Set(row.published_at),
        archived_at: Set(row.archived_at),
        created_at: NotSet,
        updated_at: Set(row.updated_at),
    }
}

fn validate(upsert: &CourseUpsert) -> Result<()> {
    let CourseUpsert { key, slug, title, status: _, description, language, image_url, url, price, modules } =
        upsert;
    let mut errors = FieldErrors::default();
    errors.check_key("key", key);
    errors.check_slug("slug", slug);
    errors.check_single_line("title", title, 500);
    errors.check_text("description", description.value(), 20_000);
    errors.check_language("language", language.value());
    errors.check_url("image_url", image_url.value());
    errors.check_url("url", url.value());
    if let Some(price) = price.value() {
        errors.check_not_negative("price/amount", price.amount);
        errors.check_currency("price/currency", &price.currency);
    }
    if let Some(modules) = modules {
        validate_modules(&mut errors, modules);
    }
    errors.into_result()
}

fn validate_modules(errors: &mut FieldErrors, modules: &[ModuleUpsert]) {
    let (mut module_keys, mut lesson_keys) = (BTreeSet::new(), BTreeSet::new());
    let lesson_count: usize = modules.iter().map(|module| module.lessons.len()).sum();
    if modules.len() > 500 || lesson_count > 5000 {
        errors.add("modules", "must contain at most 500 modules and 5000 lessons");
    }
    for (index, module) in modules.iter().enumerate() {
        let field = |name: &str| format!("modules/{index}/{name}");
        errors.check_key(&field("key"), &module.key);
        errors.check_single_line(&field("title"), &module.title, 500);
        if !module_keys.insert(&module.key) {
            errors.add(field("key"), "repeats the key of an earlier module");
        }
        for (index, lesson) in module.lessons.iter().enumerate() {
            let field = |name: &str| format!("{}/{index}/{name}", field("lessons"));
            errors.check_key(&field("key"), &lesson.key);
            errors.check_single_line(&field("title"), &lesson.title, 500);
            errors.check_seconds(&field("duration_seconds"), lesson.duration_seconds);
            if !lesson_keys.insert(&lesson.key) {
                errors.add(field("key"), "repeats the key of an earlier lesson");
            }
        }
    }
}

/// Maps a violation of the unique constraint on slugs to the error for a taken slug. The check before the write does
/// not see slugs that are taken concurrently.
fn map_slug_conflict(error: sea_orm::DbErr) -> Error {
    map_unique_violation(error, UniqueConstraint::COURSE_SLUG, slug_taken)
}

fn slug_taken() -> Error {
    Error::invalid("slug", "is taken by another course of this workspace")
}
