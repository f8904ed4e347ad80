//! What a write transaction adds to the rollups, collected until it commits.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr, Statement, Value};
use uuid::Uuid;

use super::{ALL_COURSES, ActivitySums, Grain, RevenueSums};

/// Rows of one statement at most, well below the bind limits of both databases.
const ROWS: usize = 500;

/// Additions of one write transaction, in the order they were recorded.
#[derive(Debug, Default)]
pub struct Pending {
    revenue: Vec<Addition<RevenueSums>>,
    activity: Vec<Addition<ActivitySums>>,
}

/// One addition: to the row of all courses and to that of each course named, in both grains.
#[derive(Debug)]
struct Addition<S> {
    workspace: Uuid,
    courses: Vec<Uuid>,
    at_ms: i64,
    /// Empty for activity.
    currency: String,
    sums: S,
}

/// A place in a [`Pending`] to go back to.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    revenue: usize,
    activity: usize,
}

impl Pending {
    /// Adds revenue at `at_ms`: once over all courses, and once for each course named, doubles counting once.
    pub fn revenue(
        &mut self,
        workspace: Uuid,
        courses: Vec<Uuid>,
        at_ms: i64,
        currency: &str,
        sums: RevenueSums,
    ) {
        let courses = with_all(courses);
        self.revenue.push(Addition { workspace, courses, at_ms, currency: currency.to_owned(), sums });
    }

    /// Adds activity at `at_ms`: over all courses, and for `course` when there is one.
    pub fn activity(&mut self, workspace: Uuid, course: Option<Uuid>, at_ms: i64, sums: ActivitySums) {
        let courses = with_all(course.into_iter().collect());
        self.activity.push(Addition { workspace, courses, at_ms, currency: String::new(), sums });
    }

    /// Adds activity at `at_ms` to one course alone, not to the sums over all courses.
    pub fn activity_of_course(&mut self, workspace: Uuid, course: Uuid, at_ms: i64, sums: ActivitySums) {
        let courses = vec![course];
        self.activity.push(Addition { workspace, courses, at_ms, currency: String::new(), sums });
    }

    /// The place reached so far, for [`Self::rewind`] when a savepoint is rolled back.
    pub fn mark(&self) -> Mark {
        Mark { revenue: self.revenue.len(), activity: self.activity.len() }
    }

    /// Forgets what was recorded after the mark.
    pub fn rewind(&mut self, mark: Mark) {
        self.revenue.truncate(mark.revenue);
        self.activity.truncate(mark.activity);
    }

    /// Writes everything, as the last statements before the commit: rows are held locked from here on.
    ///
    /// Rows go in the order of their keys, so that two transactions never wait for each other in a circle.
    /// `shard` is 0 on SQLite and comes from [`super::Shards`] on PostgreSQL.
    ///
    /// # Errors
    /// When the database fails; the transaction must then be rolled back.
    pub async fn flush(&mut self, connection: &impl ConnectionTrait, shard: i16) -> Result<(), DbErr> {
        let revenue = merge(std::mem::take(&mut self.revenue), |into, sums| *into += sums);
        let rows = revenue.into_iter().map(|((workspace, course, grain, starts_at, currency), sums)| {
            let mut row = key(workspace, course, grain, starts_at);
            row.extend([currency.into(), shard.into()]);
            row.extend(sums.values().map(Value::from));
            row
        });
        let keys = ["workspace_id", "course_id", "grain", "starts_at", "currency", "shard"];
        upsert(connection, "revenue_rollups", &keys, RevenueSums::COLUMNS, rows.collect()).await?;

        let activity = merge(std::mem::take(&mut self.activity), |into, sums| *into += sums);
        let rows = activity.into_iter().map(|((workspace, course, grain, starts_at, _), sums)| {
            let mut row = key(workspace, course, grain, starts_at);
            row.push(shard.into());
            row.extend(sums.values().map(Value::from));
            row
        });
        let keys = ["workspace_id", "course_id", "grain", "starts_at", "shard"];
        upsert(connection, "activity_rollups", &keys, ActivitySums::COLUMNS, rows.collect()).await
    }
}

/// The columns with which both tables' keys begin.
fn key(workspace: Uuid, course: Uuid, grain: Grain, starts_at: i64) -> Vec<Value> {
    vec![workspace.into(), course.into(), grain.as_str().into(), starts_at.into()]
}

/// The courses and the row over all of them, each once.
fn with_all(mut courses: Vec<Uuid>) -> Vec<Uuid> {
    courses.push(ALL_COURSES);
    courses.sort_unstable();
    courses.dedup();
    courses
}

/// A row's key: workspace, course, grain, start, currency.
type Key = (Uuid, Uuid, Grain, i64, String);

/// One row for each key, in the order of the keys; rows that add nothing are left out.
fn merge<S: Copy + Default + PartialEq>(additions: Vec<Addition<S>>, add: fn(&mut S, S)) -> BTreeMap<Key, S> {
    let mut rows = BTreeMap::new();
    for Addition { workspace, courses, at_ms, currency, sums } in additions {
        for course in courses {
            for grain in Grain::ALL {
                let key = (workspace, course, grain, grain.floor(at_ms), currency.clone());
                add(rows.entry(key).or_default(), sums);
            }
        }
    }
    rows.retain(|_, sums| *sums != S::default());
    rows
}

/// Adds the rows to the table, those whose key stands there already by adding to their sums.
///
/// Everything is bound, so that the text depends on the number of rows alone and is prepared once.
async fn upsert(
    connection: &impl ConnectionTrait,
    table: &str,
    keys: &[&str],
    sums: &[&str],
    rows: Vec<Vec<Value>>,
) -> Result<(), DbErr> {
    let columns = [keys, sums].concat();
    let adds: Vec<String> =
        sums.iter().map(|sum| format!("{sum} = {table}.{sum} + excluded.{sum}")).collect();
    for rows in rows.chunks(ROWS) {
        let tuples: Vec<String> = (0..rows.len()).map(|row| places(row, columns.len())).collect();
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES {} ON CONFLICT ({}) DO UPDATE SET {}",
            columns.join(", "),
            tuples.join(", "),
            keys.join(", "),
            adds.join(", ")
        );
        let values: Vec<Value> = rows.iter().flatten().cloned().collect();
        connection
            .execute_raw(Statement::from_sql_and_values(connection.get_database_backend(), sql, values))
            .await?;
    }
    Ok(())
}

/// `($1, $2, ...)` of one row.
fn places(row: usize, width: usize) -> String {
    let places: Vec<String> = (1..=width).map(|column| format!("${}", row * width + column)).collect();
    format!("({})", places.join(", "))
}
