//! The modules and lessons of a course, replaced as a whole by their keys.

use std::collections::HashMap;

use entity::{Set, lessons, modules};
use uuid::Uuid;

use super::super::find::fresh;
use super::super::{Error, Fault, Result};
use super::row::stored_type;
use super::{LessonUpsert, ModuleUpsert};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{Lesson as LessonKind, Module as ModuleKind, WorkspaceId};

/// What a replacement did.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    /// Whether anything shown is different.
    pub(super) changed: bool,
    /// Whether a lesson came or went.
    pub(super) lessons_changed: bool,
    /// Modules, lessons, and seconds of all lessons, once replaced.
    pub(super) counts: Option<(i32, i32, i64)>,
    /// Lessons that are no longer named, for [`remove`].
    pub(super) gone_lessons: Vec<Uuid>,
    /// Modules that are no longer named, for [`remove`].
    pub(super) gone_modules: Vec<Uuid>,
}

/// Makes these the course's modules and lessons. What keeps its key keeps its id, even in another module; what
/// is not named is left for [`remove`]. The caller holds the course.
pub(super) async fn replace(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    course: Uuid,
    wanted: &[ModuleUpsert],
) -> Result<Replaced> {
    free_keys(write, workspace, course, wanted).await?;
    let module_rows = modules::in_workspace(workspace.uuid());
    let lesson_rows = lessons::in_workspace(workspace.uuid());
    let old_modules = module_rows.of_courses(write.conn(), &[course]).await?;
    let old_lessons = lesson_rows.of_courses(write.conn(), &[course]).await?;

    let modules = module_models(app, write, workspace, course, wanted, &old_modules);
    let mut new_lessons = Vec::new();
    for (module, wanted) in modules.iter().zip(wanted) {
        new_lessons.extend(lesson_models(app, write, module, &wanted.lessons, &old_lessons));
    }
    let counts = counts(&modules, &new_lessons)?;
    let modules = differences(&old_modules, modules, |module| module.id);
    let lessons = differences(&old_lessons, new_lessons, |lesson| lesson.id);
    let replaced = Replaced {
        gone_lessons: lessons.removed.clone(),
        gone_modules: modules.removed.clone(),
        changed: !modules.is_empty() || !lessons.is_empty(),
        lessons_changed: !(lessons.added.is_empty() && lessons.removed.is_empty()),
        counts: Some(counts),
    };
    // A lesson finds its new module there.
    module_rows.insert_many(write.conn(), modules.added).await?;
    for module in modules.changed {
        module_rows.update(write.conn(), module.id, module_changes(module)).await?;
    }
    lesson_rows.insert_many(write.conn(), lessons.added).await?;
    for lesson in lessons.changed {
        lesson_rows.update(write.conn(), lesson.id, lesson_changes(lesson)).await?;
    }
    Ok(replaced)
}

/// Deletes what is no longer named, with the completions of its lessons.
///
/// Last, when the caller holds every student of the course: whoever deletes one of them meanwhile would otherwise
/// hold the student and wait for a completion, and the caller the other way round.
pub(super) async fn remove(write: &Write, workspace: WorkspaceId, replaced: &Replaced) -> Result<()> {
    lessons::in_workspace(workspace.uuid()).delete_many(write.conn(), &replaced.gone_lessons).await?;
    modules::in_workspace(workspace.uuid()).delete_many(write.conn(), &replaced.gone_modules).await?;
    Ok(())
}

/// Keys of modules and lessons are unique in the workspace: one that another course uses is a fault.
async fn free_keys(
    write: &Write,
    workspace: WorkspaceId,
    course: Uuid,
    wanted: &[ModuleUpsert],
) -> Result<()> {
    let mut faults = Vec::new();
    let mut fault = |field: String| {
        let message = "is the key of another course's, and keys are unique in the workspace".to_owned();
        faults.push(Fault { field, message });
    };
    let keys: Vec<&str> = wanted.iter().map(|module| module.key.as_str()).collect();
    for row in modules::in_workspace(workspace.uuid()).by_keys(write.conn(), &keys).await? {
        if row.course_id != course {
            let place = wanted.iter().position(|module| module.key == row.key).unwrap_or_default();
            fault(format!("modules/{place}/key"));
        }
    }
    let places = wanted.iter().enumerate().flat_map(|(module, wanted)| {
        wanted.lessons.iter().enumerate().map(move |(lesson, wanted)| (wanted.key.as_str(), (module, lesson)))
    });
    let places: HashMap<&str, (usize, usize)> = places.collect();
    let keys: Vec<&str> = places.keys().copied().collect();
    for row in lessons::in_workspace(workspace.uuid()).by_keys(write.conn(), &keys).await? {
        if let Some((module, lesson)) = places.get(row.key.as_str()).filter(|_| row.course_id != course) {
            fault(format!("modules/{module}/lessons/{lesson}/key"));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

fn module_models(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    course: Uuid,
    wanted: &[ModuleUpsert],
    old: &[modules::Model],
) -> Vec<modules::Model> {
    let old: HashMap<&str, Uuid> = old.iter().map(|row| (row.key.as_str(), row.id)).collect();
    let model = |(position, module): (i32, &ModuleUpsert)| modules::Model {
        id: old.get(module.key.as_str()).copied().unwrap_or_else(|| fresh::<ModuleKind>(app, write)),
        workspace_id: workspace.uuid(),
        course_id: course,
        key: module.key.clone(),
        title: module.title.clone(),
        position,
    };
    (1..).zip(wanted).map(model).collect()
}

fn lesson_models(
    app: &App,
    write: &Write,
    module: &modules::Model,
    wanted: &[LessonUpsert],
    old: &[lessons::Model],
) -> Vec<lessons::Model> {
    let old: HashMap<&str, Uuid> = old.iter().map(|row| (row.key.as_str(), row.id)).collect();
    let model = |(position, lesson): (i32, &LessonUpsert)| lessons::Model {
        id: old.get(lesson.key.as_str()).copied().unwrap_or_else(|| fresh::<LessonKind>(app, write)),
        workspace_id: module.workspace_id,
        course_id: module.course_id,
        module_id: module.id,
        key: lesson.key.clone(),
        title: lesson.title.clone(),
        kind: stored_type(lesson.lesson_type),
        position,
        duration_seconds: lesson.duration_seconds,
        free_preview: lesson.free_preview,
    };
    (1..).zip(wanted).map(model).collect()
}

fn counts(modules: &[modules::Model], lessons: &[lessons::Model]) -> Result<(i32, i32, i64)> {
    let too_many = |_| anyhow::anyhow!("a count of modules or lessons overflows");
    Ok((
        i32::try_from(modules.len()).map_err(too_many)?,
        i32::try_from(lessons.len()).map_err(too_many)?,
        lessons.iter().filter_map(|lesson| lesson.duration_seconds).sum(),
    ))
}

/// How one list of rows becomes another.
struct Differences<M> {
    added: Vec<M>,
    changed: Vec<M>,
    removed: Vec<Uuid>,
}

impl<M> Differences<M> {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

fn differences<M: PartialEq>(old: &[M], new: Vec<M>, id: impl Fn(&M) -> Uuid) -> Differences<M> {
    let before: HashMap<Uuid, &M> = old.iter().map(|row| (id(row), row)).collect();
    let kept: std::collections::HashSet<Uuid> = new.iter().map(&id).collect();
    let removed = old.iter().map(&id).filter(|old| !kept.contains(old)).collect();
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for row in new {
        match before.get(&id(&row)) {
            None => added.push(row),
            Some(before) if **before != row => changed.push(row),
            Some(_) => {}
        }
    }
    Differences { added, changed, removed }
}

fn module_changes(row: modules::Model) -> modules::ActiveModel {
    modules::ActiveModel { title: Set(row.title), position: Set(row.position), ..Default::default() }
}

fn lesson_changes(row: lessons::Model) -> lessons::ActiveModel {
    lessons::ActiveModel {
        module_id: Set(row.module_id),
        title: Set(row.title),
        kind: Set(row.kind),
        position: Set(row.position),
        duration_seconds: Set(row.duration_seconds),
        free_preview: Set(row.free_preview),
        ..Default::default()
    }
}
