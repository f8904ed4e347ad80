//! Courses made and changed by `course.upsert`.

use std::collections::BTreeSet;

use entity::Set;
use entity::courses::{self, ActiveModel, Model, Status};
use jiff::Timestamp;

use super::super::error::taken;
use super::super::faults::Faults;
use super::super::find::{fresh, id};
use super::super::{Error, Given, Result, enrollments};
use super::row::stored_status;
use super::status::{become_status, tell};
use super::{CourseUpsert, ModuleUpsert, catalogue, outline};
use crate::app::App;
use foundation::database::{Unique, Write};
use foundation::id::{Course as CourseKind, CourseId, WorkspaceId};

/// Makes or changes a course; emits `course.published` or `course.archived` when the status becomes that.
///
/// With `modules`, the whole list is replaced: what keeps its key keeps its id, and whoever is enrolled is
/// counted again along the new lessons.
///
/// # Errors
/// [`Error::Invalid`] for a taken slug, a repeated key, a bad currency.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: CourseUpsert,
) -> Result<CourseId> {
    check(&upsert)?;
    let rows = courses::in_workspace(workspace.uuid());
    let before = rows.lock_by_key(write.conn(), &upsert.key).await?;
    let holder = rows.by_slug(write.conn(), &upsert.slug).await?;
    if holder.is_some_and(|holder| before.as_ref().is_none_or(|before| before.id != holder.id)) {
        return Err(slug_taken());
    }
    let new = before.is_none();
    let before = before.unwrap_or_else(|| blank(app, write, workspace, at, &upsert));
    let mut row = described(&before, at, &upsert);
    if new && !rows.insert_unless_taken(write.conn(), row.clone()).await? {
        return Err(Error::raced());
    }
    let replaced = match &upsert.modules {
        Some(modules) => outline::replace(app, write, workspace, row.id, modules).await?,
        None => outline::Replaced::default(),
    };
    if let Some(counts) = replaced.counts {
        (row.module_count, row.lesson_count, row.duration_seconds) = counts;
    }
    let course_id = id(row.id);
    if !new && row == before && !replaced.changed {
        return Ok(course_id);
    }
    row.updated_at = write.now_ms();
    let changes = changes(row.clone());
    rows.update(write.conn(), row.id, changes).await.map_err(raced)?;
    if replaced.lessons_changed && !new {
        enrollments::recount(write, workspace, at, &row, &replaced.gone_lessons).await?;
    }
    outline::remove(write, workspace, &replaced).await?;
    tell(app, write, workspace, at, (!new).then_some(before.status), row).await?;
    catalogue::mark(app, write, workspace).await?;
    Ok(course_id)
}

/// A course of which nothing but its key is known.
fn blank(app: &App, write: &Write, workspace: WorkspaceId, at: Timestamp, upsert: &CourseUpsert) -> Model {
    Model {
        id: fresh::<CourseKind>(app, write),
        workspace_id: workspace.uuid(),
        key: Some(upsert.key.clone()),
        slug: upsert.slug.clone(),
        title: upsert.title.clone(),
        description: None,
        language: None,
        status: Status::Draft,
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
        updated_at: write.now_ms(),
    }
}

/// The row as the upsert says it, all but its modules.
fn described(before: &Model, at: Timestamp, upsert: &CourseUpsert) -> Model {
    let mut row = before.clone();
    row.slug.clone_from(&upsert.slug);
    row.title.clone_from(&upsert.title);
    row.description = upsert.description.clone().or(row.description);
    row.language = upsert.language.clone().or(row.language);
    row.image_url = upsert.image_url.clone().or(row.image_url);
    row.url = upsert.url.clone().or(row.url);
    match &upsert.price {
        Given::Absent => {}
        Given::Null => (row.price_amount, row.price_currency) = (None, None),
        Given::Value(price) => {
            (row.price_amount, row.price_currency) = (Some(price.amount), Some(price.currency.clone()));
        }
    }
    become_status(&mut row, stored_status(upsert.status), at);
    row
}

/// Every column that an upsert may change.
fn changes(row: Model) -> ActiveModel {
    ActiveModel {
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
        updated_at: Set(row.updated_at),
        ..Default::default()
    }
}

fn check(upsert: &CourseUpsert) -> Result<()> {
    let mut faults = Faults::default();
    faults.key("key", &upsert.key);
    faults.slug("slug", &upsert.slug);
    faults.line("title", &upsert.title, 500);
    faults.prose("description", upsert.description.value(), 20_000);
    faults.language("language", upsert.language.value());
    faults.url("image_url", upsert.image_url.value());
    faults.url("url", upsert.url.value());
    if let Some(price) = upsert.price.value() {
        faults.not_negative("price/amount", price.amount);
        faults.currency("price/currency", &price.currency);
    }
    if let Some(modules) = &upsert.modules {
        check_modules(&mut faults, modules);
    }
    faults.check()
}

fn check_modules(faults: &mut Faults, modules: &[ModuleUpsert]) {
    let (mut module_keys, mut lesson_keys) = (BTreeSet::new(), BTreeSet::new());
    let lessons: usize = modules.iter().map(|module| module.lessons.len()).sum();
    if modules.len() > 500 || lessons > 5000 {
        faults.add("modules", "must hold at most 500 modules and 5000 lessons");
    }
    for (place, module) in modules.iter().enumerate() {
        let field = |name: &str| format!("modules/{place}/{name}");
        faults.key(&field("key"), &module.key);
        faults.line(&field("title"), &module.title, 500);
        if !module_keys.insert(&module.key) {
            faults.add(field("key"), "names a module that is named above already");
        }
        for (place, lesson) in module.lessons.iter().enumerate() {
            let field = |name: &str| format!("{}/{place}/{name}", field("lessons"));
            faults.key(&field("key"), &lesson.key);
            faults.line(&field("title"), &lesson.title, 500);
            faults.seconds(&field("duration_seconds"), lesson.duration_seconds);
            if !lesson_keys.insert(&lesson.key) {
                faults.add(field("key"), "names a lesson that is named above already");
            }
        }
    }
}

/// The fault of a taken slug, where the database is the first to see it.
fn raced(error: sea_orm::DbErr) -> Error {
    taken(error, Unique::COURSE_SLUG, slug_taken)
}

fn slug_taken() -> Error {
    Error::invalid("slug", "is taken by another course of this workspace")
}
