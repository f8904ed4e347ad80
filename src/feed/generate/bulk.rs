//! Inserts the synthetic workspace directly into the database: many rows per statement, thousands of records per
//! transaction.
//!
//! The workspace and its courses are imported as changes. Students and orders are inserted as the rows that their
//! changes would create, and counted in the same [`rollups`], the stored sums for analytics. The progress is stored in
//! the same transactions, so that an interrupted run can be resumed.

use anyhow::Context as _;
use entity::{server_state, workspaces};
use serde_json::{Value, json};

use super::rows::{BaseRecords, insert_orders, insert_students};
use super::{RecordCounts, Spec, WORKSPACE, changes, model};
use domain::app::App;
use domain::rollups;

/// Number of students per transaction.
const STUDENTS_PER_TRANSACTION: u32 = 5_000;
/// Minimum number of orders per transaction, except for the last one. A transaction contains whole days, so that each
/// sum is written once.
const ORDERS_PER_TRANSACTION: u32 = 4_000;
/// The key of the `server_state` row that stores the progress.
const STATE_KEY: &str = "generate";

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
struct GenerationState {
    spec: Spec,
    /// Number of students written.
    students_done: u32,
    /// Number of orders written.
    orders_done: u32,
}

/// Writes the whole workspace to the database. Calls `progress` with the number of students and orders written so far.
///
/// # Errors
/// Returns an error when the spec is invalid, the workspace exists already, or the database fails. To resume an
/// interrupted run, call this again with the same counts and the same seed; the end of the year is that of the first
/// run.
pub async fn write_to_database(
    app: &App,
    spec: &Spec,
    progress: &mut (dyn FnMut(u64) + Send),
) -> anyhow::Result<RecordCounts> {
    spec.validate_at(app.clock.now())?;
    let mut state = load_state(app, spec).await?;
    let spec = state.spec;
    import_courses(app, &spec).await?;
    let base = BaseRecords::read(app, &spec).await?;
    while state.students_done < spec.students {
        let end = spec.students.min(state.students_done.saturating_add(STUDENTS_PER_TRANSACTION));
        let mut write = app.begin_write().await?;
        insert_students(&spec, &base, state.students_done..end, &mut write).await?;
        state.students_done = end;
        state.save(&write).await?;
        write.commit().await?;
        progress(state.records_done());
    }
    while state.orders_done < spec.orders {
        let end = day_end(&spec, spec.orders.min(state.orders_done.saturating_add(ORDERS_PER_TRANSACTION)));
        let mut write = app.begin_write().await?;
        insert_orders(&spec, &base, state.orders_done..end, &mut write).await?;
        state.orders_done = end;
        state.save(&write).await?;
        write.commit().await?;
        progress(state.records_done());
    }
    while rollups::merge_shards(app).await? > 0 {}
    Ok(changes::count(&spec))
}

/// Returns the initial progress, or the progress of an interrupted run of the same spec, whose end of the year may
/// differ.
async fn load_state(app: &App, spec: &Spec) -> anyhow::Result<GenerationState> {
    let stored = server_state::get(app.db.read(), STATE_KEY).await?;
    let Some(stored) = stored else {
        if workspaces::by_key(app.db.read(), WORKSPACE).await?.is_some() {
            anyhow::bail!(
                "the workspace `{WORKSPACE}` exists but was not generated; use another data folder or database"
            );
        }
        let state = GenerationState { spec: *spec, students_done: 0, orders_done: 0 };
        let write = app.begin_write().await?;
        state.save(&write).await?;
        write.commit().await?;
        return Ok(state);
    };
    let state = GenerationState::parse(&stored).context("cannot read the progress of an earlier run")?;
    if (Spec { until: spec.until, ..state.spec }) != *spec {
        let Spec { courses, students, orders, seed, .. } = state.spec;
        anyhow::bail!(
            "the workspace `{WORKSPACE}` was generated with --courses {courses} --students {students} --orders {orders} \
             --seed {seed}; pass the same values to resume, or use another data folder or database"
        );
    }
    if state.students_done == spec.students && state.orders_done == spec.orders && state.records_done() > 0 {
        anyhow::bail!(
            "the workspace `{WORKSPACE}` is already complete; to generate another one, use another data folder or database"
        );
    }
    Ok(state)
}

/// Imports the workspace and its courses as changes.
async fn import_courses(app: &App, spec: &Spec) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    changes::write_changes(&Spec { students: 0, orders: 0, ..*spec }, &mut lines, &mut |_| ())?;
    let mut reasons = Vec::new();
    let options = crate::ApplyOptions {
        on_rejected: Box::new(|rejected| reasons.push(rejected.to_string())),
        ..Default::default()
    };
    crate::apply(app, &lines[..], options).await?;
    anyhow::ensure!(reasons.is_empty(), "cannot create the workspace: {}", reasons.join("; "));
    Ok(())
}

/// Returns the first order at or after `number` that is paid on a later day than the order before it, or the number of
/// orders if there is none.
fn day_end(spec: &Spec, mut number: u32) -> u32 {
    let day = |number: u32| entity::rollups::Grain::Day.floor(model::paid_ms(spec, number));
    while number < spec.orders && day(number) == day(number - 1) {
        number += 1;
    }
    number
}

impl GenerationState {
    fn records_done(&self) -> u64 {
        u64::from(self.students_done) + u64::from(self.orders_done)
    }

    async fn save(&self, write: &foundation::database::Write) -> anyhow::Result<()> {
        let Spec { courses, students, orders, seed, until } = self.spec;
        let value = json!({
            "courses": courses, "students": students, "orders": orders, "seed": seed,
            "until": until.as_millisecond(), "students_done": self.students_done, "orders_done": self.orders_done,
        });
        Ok(server_state::put(write.conn(), STATE_KEY, &value.to_string()).await?)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        let number = |name: &str| value[name].as_u64().with_context(|| format!("{name} is missing"));
        let count = |name: &str| Ok::<_, anyhow::Error>(u32::try_from(number(name)?)?);
        let until = value["until"].as_i64().context("until is missing")?;
        Ok(Self {
            spec: Spec {
                courses: count("courses")?,
                students: count("students")?,
                orders: count("orders")?,
                seed: number("seed")?,
                until: foundation::clock::from_ms(until),
            },
            students_done: count("students_done")?,
            orders_done: count("orders_done")?,
        })
    }
}
