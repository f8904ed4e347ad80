//! The synthetic workspace straight into the database: many rows a statement, thousands of records a transaction.
//!
//! The workspace and its courses come in as changes. Students and orders are written as the rows that their changes
//! would have left, and counted with the same [`rollups`]. How far it is stands in the database and moves in the
//! same transactions, so that a run which was cut short goes on where it was.

use anyhow::Context as _;
use entity::{server_state, workspaces};
use serde_json::{Value, json};

use super::rows::{Ground, order_rows, student_rows};
use super::{Counts, Spec, WORKSPACE, changes, model};
use domain::app::App;
use domain::rollups;

/// Students of one transaction.
const STUDENTS: u32 = 5_000;
/// Orders of one transaction at least; it goes on to the end of the day, so that each sum is written once.
const ORDERS: u32 = 4_000;
/// The name of the state in the database.
const STATE: &str = "generate";

/// How far a run is.
#[derive(Debug, Clone, Copy)]
struct State {
    spec: Spec,
    students: u32,
    orders: u32,
}

/// Writes the whole workspace into the database. `progress` hears how many of `students + orders` are written.
///
/// # Errors
/// When the spec cannot be made, the workspace is there already, or the database fails. A run that was cut short
/// goes on when it is started again with the same numbers and seed; its year then ends where it was to end.
pub async fn into_database(
    app: &App,
    spec: &Spec,
    progress: &mut (dyn FnMut(u64) + Send),
) -> anyhow::Result<Counts> {
    spec.check_by(app.clock.now())?;
    let mut state = begin(app, spec).await?;
    let spec = state.spec;
    found(app, &spec).await?;
    let ground = Ground::read(app, &spec).await?;
    while state.students < spec.students {
        let end = spec.students.min(state.students.saturating_add(STUDENTS));
        let mut write = app.begin_write().await?;
        student_rows(&spec, &ground, state.students..end, &mut write).await?;
        state.students = end;
        state.save(&write).await?;
        write.commit().await?;
        progress(state.done());
    }
    while state.orders < spec.orders {
        let end = day_end(&spec, spec.orders.min(state.orders.saturating_add(ORDERS)));
        let mut write = app.begin_write().await?;
        order_rows(&spec, &ground, state.orders..end, &mut write).await?;
        state.orders = end;
        state.save(&write).await?;
        write.commit().await?;
        progress(state.done());
    }
    while rollups::fold(app).await? > 0 {}
    Ok(changes::count(&spec))
}

/// Where to begin: at the start, or where a run of the same spec was cut short.
async fn begin(app: &App, spec: &Spec) -> anyhow::Result<State> {
    let kept = server_state::get(app.db.read(), STATE).await?;
    let Some(kept) = kept else {
        if workspaces::by_key(app.db.read(), WORKSPACE).await?.is_some() {
            anyhow::bail!(
                "there is a workspace `{WORKSPACE}` already, which was not made here; use another data folder or database"
            );
        }
        let state = State { spec: *spec, students: 0, orders: 0 };
        let write = app.begin_write().await?;
        state.save(&write).await?;
        write.commit().await?;
        return Ok(state);
    };
    let state = State::parse(&kept).context("the state of an earlier run cannot be read")?;
    if (Spec { until: spec.until, ..state.spec }) != *spec {
        let Spec { courses, students, orders, seed, .. } = state.spec;
        anyhow::bail!(
            "the workspace `{WORKSPACE}` was generated with --courses {courses} --students {students} --orders {orders} \
             --seed {seed}; give the same to go on, or use another data folder or database"
        );
    }
    if state.students == spec.students && state.orders == spec.orders && state.done() > 0 {
        anyhow::bail!(
            "the workspace `{WORKSPACE}` is complete; use another data folder or database for another one"
        );
    }
    Ok(state)
}

/// The workspace and its courses, as changes.
async fn found(app: &App, spec: &Spec) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    changes::write_changes(&Spec { students: 0, orders: 0, ..*spec }, &mut lines, &mut |_| ())?;
    let mut reasons = Vec::new();
    let options = crate::Options {
        rejected: Box::new(|reject| reasons.push(reject.to_string())),
        ..Default::default()
    };
    crate::apply(app, &lines[..], options).await?;
    anyhow::ensure!(reasons.is_empty(), "the workspace cannot be made: {}", reasons.join("; "));
    Ok(())
}

/// The first order at or after `number` that is paid on another day than the one before it.
fn day_end(spec: &Spec, mut number: u32) -> u32 {
    let day = |number: u32| entity::rollups::Grain::Day.floor(model::paid_ms(spec, number));
    while number < spec.orders && day(number) == day(number - 1) {
        number += 1;
    }
    number
}

impl State {
    fn done(&self) -> u64 {
        u64::from(self.students) + u64::from(self.orders)
    }

    async fn save(&self, write: &foundation::database::Write) -> anyhow::Result<()> {
        let Spec { courses, students, orders, seed, until } = self.spec;
        let value = json!({
            "courses": courses, "students": students, "orders": orders, "seed": seed,
            "until": until.as_millisecond(), "students_done": self.students, "orders_done": self.orders,
        });
        Ok(server_state::put(write.conn(), STATE, &value.to_string()).await?)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        let number = |name: &str| value[name].as_u64().with_context(|| format!("{name} is missing"));
        let small = |name: &str| Ok::<_, anyhow::Error>(u32::try_from(number(name)?)?);
        let until = value["until"].as_i64().context("until is missing")?;
        Ok(Self {
            spec: Spec {
                courses: small("courses")?,
                students: small("students")?,
                orders: small("orders")?,
                seed: number("seed")?,
                until: foundation::clock::from_ms(until),
            },
            students: small("students_done")?,
            orders: small("orders_done")?,
        })
    }
}
