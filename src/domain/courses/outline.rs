//! Replaces all modules and lessons of a course. Existing rows are matched by their keys.

use std::collections::HashMap;

use entity::{NotSet, Set, lessons, modules};
use uuid::Uuid;

use super::super::records::new_uuid;
use super::super::{Error, FieldError, Result};
use super::row::stored_type;
use super::{LessonUpsert, ModuleUpsert};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{Lesson as LessonIdKind, Module as ModuleIdKind, WorkspaceId};

/// The changes that a replacement made.
#[derive(Debug, Default)]
pub(super) struct OutlineChange {
    /// Whether any module or lesson was added, changed or removed.
    pub(super) changed: bool,
    /// Whether a lesson was added or removed.
    pub(super) lessons_added_or_removed: bool,
    /// Number of modules, number of lessons, and total duration of the lessons in seconds. `None` if the upsert has no
    /// modules.
    pub(super) counts: Option<(i32, i32, i64)>,
    /// Ids of the lessons that are no longer listed, for [`remove_unlisted`].
    pub(super) removed_lessons: Vec<Uuid>,
    /// Ids of the modules that are no longer listed, for [`remove_unlisted`].
    pub(super) removed_modules: Vec<Uuid>,
}

/// Replaces the modules and lessons of the course. A module or lesson that keeps its key keeps its id, even if a lesson
/// moves to another module. Does not delete rows that are no longer listed; [`remove_unlisted`] does. The caller has
/// locked the course.
pub(super) async fn replace(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    course: Uuid,
    requested: &[ModuleUpsert],
) -> Result<OutlineChange> {
    check_keys_unused(write, workspace, course, requested).await?;
    let module_rows = modules::in_workspace(workspace.uuid());
    let lesson_rows = lessons::in_workspace(workspace.uuid());
    let old_modules = module_rows.of_courses(write.conn(), &[course]).await?;
    let old_lessons = lesson_rows.of_courses(write.conn(), &[course]).await?;

    let modules = module_models(app, write, workspace, course, requested, &old_modules);
    let mut new_lessons = Vec::new();
    for (module, requested) in modules.iter().zip(requested) {
        new_lessons.extend(lesson_models(app, write, module, &requested.lessons, &old_lessons));
    }
    let counts = count(&modules, &new_lessons)?;
    let modules = compare(&old_modules, modules, |module| module.id);
    let lessons = compare(&old_lessons, new_lessons, |lesson| lesson.id);
    let change = OutlineChange {
        removed_lessons: lessons.removed.clone(),
        removed_modules: modules.removed.clone(),
        changed: !modules.is_empty() || !lessons.is_empty(),
        lessons_added_or_removed: !(lessons.added.is_empty() && lessons.removed.is_empty()),
        counts: Some(counts),
    };
    // Modules come first, because lessons refer to them.
    module_rows.insert_many(write.conn(), modules.added).await?;
    for module in modules.changed {
        module_rows.update(write.conn(), module.id, module_changes(module)).await?;
    }
    lesson_rows.insert_many(write.conn(), lessons.added).await?;
    for lesson in lessons.changed {
        lesson_rows.update(write.conn(), lesson.id, lesson_changes(lesson)).await?;
    }
    Ok(change)
}

/// Deletes the modules and lessons that are no longer listed, with the completions of these lessons.
///
/// Call this last, after every student of the course was locked. Otherwise it can deadlock with the deletion of a
/// student, which locks the student before the completions.
pub(super) async fn remove_unlisted(
    write: &Write,
    workspace: WorkspaceId,
    change: &OutlineChange,
) -> Result<()> {
    lessons::in_workspace(workspace.uuid()).delete_many(write.conn(), &change.removed_lessons).await?;
    modules::in_workspace(workspace.uuid()).delete_many(write.conn(), &change.removed_modules).await?;
    Ok(())
}

/// Rejects keys that another course uses, because keys of modules and lessons are unique in the workspace.
async fn check_keys_unused(
    write: &Write,
    workspace: WorkspaceId,
    course: Uuid,
    requested: &[ModuleUpsert],
) -> Result<()> {
    let mut errors = Vec::new();
    let mut add_error = |field: String| {
        let message = "is already used by another course; keys are unique in the workspace".to_owned();
        errors.push(FieldError { field, message });
    };
    let keys: Vec<&str> = requested.iter().map(|module| module.key.as_str()).collect();
    for row in modules::in_workspace(workspace.uuid()).by_keys(write.conn(), &keys).await? {
        if row.course_id != course {
            let index = requested.iter().position(|module| module.key == row.key).unwrap_or_default();
            add_error(format!("modules/{index}/key"));
        }
    }
    let positions = requested.iter().enumerate().flat_map(|(module_index, module)| {
        let lessons = module.lessons.iter().enumerate();
        lessons.map(move |(lesson_index, lesson)| (lesson.key.as_str(), (module_index, lesson_index)))
    });
    let positions: HashMap<&str, (usize, usize)> = positions.collect();
    let keys: Vec<&str> = positions.keys().copied().collect();
    for row in lessons::in_workspace(workspace.uuid()).by_keys(write.conn(), &keys).await? {
        let position = positions.get(row.key.as_str()).filter(|_| row.course_id != course);
        if let Some((module_index, lesson_index)) = position {
            add_error(format!("modules/{module_index}/lessons/{lesson_index}/key"));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Error::Invalid(errors)) }
}

fn module_models(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    course: Uuid,
    requested: &[ModuleUpsert],
    old: &[modules::Model],
) -> Vec<modules::Model> {
    let old: HashMap<&str, Uuid> = old.iter().map(|row| (row.key.as_str(), row.id)).collect();
    let model = |(position, module): (i32, &ModuleUpsert)| modules::Model {
        id: old.get(module.key.as_str()).copied().unwrap_or_else(|| new_uuid::<ModuleIdKind>(app, write)),
        workspace_id: workspace.uuid(),
        course_id: course,
        key: module.key.clone(),
        title: module.title.clone(),
        position,
    };
    (1..).zip(requested).map(model).collect()
}

fn lesson_models(
    app: &App,
    write: &Write,
    module: &modules::Model,
    requested: &[LessonUpsert],
    old: &[lessons::Model],
) -> Vec<lessons::Model> {
    let old: HashMap<&str, Uuid> = old.iter().map(|row| (row.key.as_str(), row.id)).collect();
    let model = |(position, lesson): (i32, &LessonUpsert)| lessons::Model {
        id: old.get(lesson.key.as_str()).copied().unwrap_or_else(|| new_uuid::<LessonIdKind>(app, write)),
        workspace_id: module.workspace_id,
        course_id: module.course_id,
        module_id: module.id,
        key: lesson.key.clone(),
        title: lesson.title.clone(),
        lesson_type: stored_type(lesson.lesson_type),
        position,
        duration_seconds: lesson.duration_seconds,
        free_preview: lesson.free_preview,
    };
    (1..).zip(requested).map(model).collect()
}

/// Returns the number of modules, the number of lessons, and the total duration of the lessons in seconds.
fn count(modules: &[modules::Model], lessons: &[lessons::Model]) -> Result<(i32, i32, i64)> {
    let overflow = |_| anyhow::anyhow!("the number of modules or lessons exceeds 32 bits");
    Ok((
        i32::try_from(modules.len()).map_err(overflow)?,
        i32::try_from(lessons.len()).map_err(overflow)?,
        lessons.iter().filter_map(|lesson| lesson.duration_seconds).sum(),
    ))
}

/// The differences between two lists of rows.
struct RowDifferences<M> {
    added: Vec<M>,
    changed: Vec<M>,
    /// Ids of the removed rows.
    removed: Vec<Uuid>,
}

impl<M> RowDifferences<M> {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Compares two lists of rows. Rows with the same id are versions of one row.
fn compare<M: PartialEq>(old: &[M], new: Vec<M>, id: impl Fn(&M) -> Uuid) -> RowDifferences<M> {
    let before: HashMap<Uuid, &M> = old.iter().map(|row| (id(row), row)).collect();
    let new_ids: std::collections::HashSet<Uuid> = new.iter().map(&id).collect();
    let removed = old.iter().map(&id).filter(|old| !new_ids.contains(old)).collect();
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for row in new {
        match before.get(&id(&row)) {
            None => added.push(row),
            Some(before) if **before != row => changed.push(row),
            Some(_) => {}
        }
    }
    RowDifferences { added, changed, removed }
}

fn module_changes(row: modules::Model) -> modules::ActiveModel {
    modules::ActiveModel {
        id: NotSet,
        workspace_id: NotSet,
        course_id: NotSet,
        key: NotSet,
        title: Set(row.title),
        position: Set(row.position),
    }
}

fn lesson_changes(row: lessons::Model) -> lessons::ActiveModel {
    lessons::ActiveModel {
        id: NotSet,
        workspace_id: NotSet,
        course_id: NotSet,
        module_id: Set(row.module_id),
        key: NotSet,
        title: Set(row.title),
        lesson_type: Set(row.lesson_type),
        position: Set(row.position),
        duration_seconds: Set(row.duration_seconds),
        free_preview: Set(row.free_preview),
    }
}
