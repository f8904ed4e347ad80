//! The demo workspace: one year of a small academy, applied as changes.
//!
//! The times in `demo.ndjson` are fixed. The first run shifts all of them by the same number of whole days, so that the
//! newest change is less than a day old and the last 30 days have data. This number is stored in the database, so that
//! a later run uses the same shift and skips every change. A sandbox has the same data, shifted when it is created.

use anyhow::Context as _;
use entity::server_state;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::apply::apply_with;
use super::{ApplyOptions, ApplyOutcome, Importer};
use domain::app::{App, AppParts};
use domain::keys::PrincipalCache;
use foundation::id::{CourseId, Ids, OrderId, StudentId, WorkspaceId};

/// The key of the demo workspace.
pub const WORKSPACE: &str = "demo";

/// The changes, in chronological order.
const CHANGES: &str = include_str!("demo.ndjson");
/// The key of the `server_state` row that stores the number of days by which the times are shifted.
const SHIFT_KEY: &str = "demo_shift_days";
/// The length of a day.
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// The fields that contain a time, in a change and in its data.
const TIME_FIELDS: [&str; 3] = ["at", "expires_at", "scheduled_at"];

/// The number of first changes that create the workspace, a course and a student, whose ids are those in the contract's examples.
const EXAMPLE_CHANGES: usize = 3;
/// The index of the change that creates the first order, whose id is that in the contract's examples.
const EXAMPLE_ORDER_INDEX: usize = 6;
/// The id of the course in the contract's examples.
const EXAMPLE_COURSE: &str = "crs_01k424mh00e2mbrajjfteg1k8f";
/// The id of the student in the contract's examples.
const EXAMPLE_STUDENT: &str = "stu_01kerv87j8fgjt30swgcw4scc1";
/// The id of the order in the contract's examples.
const EXAMPLE_ORDER: &str = "ord_01khdps1znf0yt63fefph15bgz";

/// Applies the changes of the demo workspace. A later run skips all that were applied. The first course, the first student and the
/// first order have the ids of the contract's examples, so that requests with these work.
///
/// # Errors
/// Returns an error when the database fails.
pub async fn load(app: &App, options: ApplyOptions<'_>) -> anyhow::Result<ApplyOutcome> {
    let days = shift_days(app).await?;
    let lines = CHANGES
        .lines()
        .map(|line| shifted(line, days, WORKSPACE))
        .collect::<anyhow::Result<Vec<String>>>()?;
    let app_with_ids = with_example_ids(app)?;
    let (first, rest) = lines.split_at(EXAMPLE_ORDER_INDEX + 1);
    let (examples, others) = first.split_at(EXAMPLE_CHANGES);
    let (others, order) = others.split_at(EXAMPLE_ORDER_INDEX - EXAMPLE_CHANGES);
    let mut outcome = ApplyOutcome::default();
    for (app, lines, options) in [
        (&app_with_ids, examples, ApplyOptions::default()),
        (app, others, ApplyOptions::default()),
        (&app_with_ids, order, ApplyOptions::default()),
        (app, rest, options),
    ] {
        let part = super::apply(app, lines.join("\n").as_bytes(), options).await?;
        outcome.applied += part.applied;
        outcome.repeated += part.repeated;
        outcome.rejected += part.rejected;
    }
    Ok(outcome)
}

/// Applies the changes of the demo workspace to another one, which exists and has no records, except the change that creates the
/// workspace. All records have new ids.
///
/// # Errors
/// Returns an error when the database fails.
pub async fn seed(app: &App, workspace: WorkspaceId, key: &str) -> anyhow::Result<()> {
    let days = days_since_newest(app)?;
    let lines = CHANGES.lines().skip(1).map(|line| shifted(line, days, key));
    let lines = lines.collect::<anyhow::Result<Vec<String>>>()?.join("\n");
    let importer = Importer::into_sandbox(app.clone(), workspace, key);
    let outcome = apply_with(importer, lines.as_bytes(), ApplyOptions::default()).await?;
    anyhow::ensure!(outcome.rejected == 0, "{} changes of the demo data were rejected", outcome.rejected);
    Ok(())
}

/// Returns a state on the same database that creates one course, one student and one order with the ids of the contract's examples.
fn with_example_ids(app: &App) -> anyhow::Result<App> {
    let (course, student): (CourseId, StudentId) = (EXAMPLE_COURSE.parse()?, EXAMPLE_STUDENT.parse()?);
    let order: OrderId = EXAMPLE_ORDER.parse()?;
    let parts = AppParts {
        config: app.config.clone(),
        clock: app.clock.clone(),
        ids: Ids::default().fix(course).fix(student).fix(order),
        encode: app.encode,
        example: app.example,
        read_fields: app.read_fields,
        seed: app.seed,
        principals: PrincipalCache::default(),
    };
    Ok(App::new(app.db.clone(), parts))
}

/// Returns the number of changes, for a progress bar.
pub fn change_count() -> usize {
    CHANGES.lines().count()
}

/// Returns the number of days by which the times are shifted. The first call determines and stores it.
async fn shift_days(app: &App) -> anyhow::Result<i64> {
    let days = days_since_newest(app)?;
    let write = app.begin_write().await?;
    server_state::put_if_absent(write.conn(), SHIFT_KEY, &days.to_string()).await?;
    let stored = server_state::get(write.conn(), SHIFT_KEY).await?;
    write.commit().await?;
    Ok(stored.context("the number of days by which the demo is shifted is not stored")?.parse()?)
}

/// Returns the number of days by which the times are shifted now.
fn days_since_newest(app: &App) -> anyhow::Result<i64> {
    Ok(app.clock.now().duration_since(newest_time()?).as_hours().div_euclid(DAY.as_hours()))
}

/// Returns the time of the newest change.
fn newest_time() -> anyhow::Result<Timestamp> {
    let last: Value = serde_json::from_str(CHANGES.lines().last().unwrap_or_default())?;
    Ok(last["at"].as_str().context("the last change has no time")?.parse()?)
}

/// Returns the line as a change of this workspace, with all times shifted by this number of days.
fn shifted(line: &str, days: i64, workspace: &str) -> anyhow::Result<String> {
    let mut change: Value = serde_json::from_str(line)?;
    change["workspace"] = workspace.into();
    let shift = SignedDuration::from_hours(days * DAY.as_hours());
    let mut times: Vec<&mut Value> = Vec::new();
    if let Value::Object(fields) = &mut change {
        for (name, value) in fields {
            match value {
                Value::Object(data) => {
                    let fields = data.iter_mut().filter(|(name, _)| TIME_FIELDS.contains(&name.as_str()));
                    times.extend(fields.map(|(_, value)| value));
                }
                value if TIME_FIELDS.contains(&name.as_str()) => times.push(value),
                _ => {}
            }
        }
    }
    for value in times {
        if let Some(text) = value.as_str() {
            let time: Timestamp = text.parse()?;
            *value = Value::String(time.checked_add(shift)?.to_string());
        }
    }
    Ok(change.to_string())
}
