//! Sums over spans of time, read from the rollups.
//!
//! One statement reads all spans of a summary, however many points its series has.

use std::fmt::Write as _;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};
use uuid::Uuid;

use super::{ALL_COURSES, ActivitySums, Grain, RevenueSums};

/// A span of whole days or quarter-hours whose sums are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// To which sum of the caller's this piece belongs; several may belong to one.
    pub part: usize,
    /// The rows to read.
    pub grain: Grain,
    /// 1 to add, -1 to take away.
    pub sign: i64,
    /// The start of the first row.
    pub from_ms: i64,
    /// The start of the first row after.
    pub to_ms: i64,
}

/// The revenue of each part and currency; parts without any are left out.
///
/// # Errors
/// When the database fails.
pub async fn revenue(
    connection: &impl ConnectionTrait,
    workspace: Uuid,
    course: Option<Uuid>,
    pieces: &[Piece],
) -> Result<Vec<(usize, String, RevenueSums)>, DbErr> {
    let statement =
        statement(connection, "revenue_rollups", "currency", RevenueSums::COLUMNS, workspace, course, pieces);
    let rows = connection.query_all_raw(statement).await?;
    rows.iter()
        .map(|row| {
            let mut sums = [0; RevenueSums::COLUMNS.len()];
            for (place, sum) in sums.iter_mut().enumerate() {
                *sum = row.try_get_by_index(place + 2)?;
            }
            Ok((part(row.try_get_by_index(0)?)?, row.try_get_by_index(1)?, RevenueSums::from_values(sums)))
        })
        .collect()
}

/// The activity of each part; parts without any are left out.
///
/// # Errors
/// When the database fails.
pub async fn activity(
    connection: &impl ConnectionTrait,
    workspace: Uuid,
    course: Option<Uuid>,
    pieces: &[Piece],
) -> Result<Vec<(usize, ActivitySums)>, DbErr> {
    let statement =
        statement(connection, "activity_rollups", "''", ActivitySums::COLUMNS, workspace, course, pieces);
    let rows = connection.query_all_raw(statement).await?;
    rows.iter()
        .map(|row| {
            let mut sums = [0; ActivitySums::COLUMNS.len()];
            for (place, sum) in sums.iter_mut().enumerate() {
                *sum = row.try_get_by_index(place + 2)?;
            }
            Ok((part(row.try_get_by_index(0)?)?, ActivitySums::from_values(sums)))
        })
        .collect()
}

fn part(number: i64) -> Result<usize, DbErr> {
    usize::try_from(number).map_err(|error| DbErr::Type(error.to_string()))
}

/// Sums the columns over the pieces, by part and `group`.
fn statement(
    connection: &impl ConnectionTrait,
    table: &str,
    group: &str,
    columns: &[&str],
    workspace: Uuid,
    course: Option<Uuid>,
    pieces: &[Piece],
) -> Statement {
    let backend = connection.get_database_backend();
    let sums: Vec<String> =
        columns.iter().map(|column| format!("CAST(SUM(piece.sign * {column}) AS BIGINT)")).collect();
    // CROSS JOIN makes SQLite take the pieces one by one, each as one range of the primary key.
    let sql = format!(
        "WITH {} SELECT piece.part, {group}, {} FROM piece CROSS JOIN {table} \
         WHERE workspace_id = $2 AND course_id = $3 AND {table}.grain = piece.grain \
         AND starts_at >= piece.from_ms AND starts_at < piece.to_ms GROUP BY piece.part, {group}",
        pieces_table(backend),
        sums.join(", "),
    );
    let course = course.unwrap_or(ALL_COURSES);
    Statement::from_sql_and_values(backend, sql, [as_json(pieces).into(), workspace.into(), course.into()])
}

/// The pieces as a table, from one parameter: so the statement's text is always the same and stays prepared.
fn pieces_table(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "piece AS MATERIALIZED (SELECT (value->>0)::bigint AS part, value->>1 AS grain, \
             (value->>2)::bigint AS sign, (value->>3)::bigint AS from_ms, (value->>4)::bigint AS to_ms \
             FROM json_array_elements($1::json))"
        }
        _ => {
            "piece AS MATERIALIZED (SELECT value->>0 AS part, value->>1 AS grain, value->>2 AS sign, \
             value->>3 AS from_ms, value->>4 AS to_ms FROM json_each($1))"
        }
    }
}

fn as_json(pieces: &[Piece]) -> String {
    let mut text = String::with_capacity(2 + pieces.len() * 56);
    for (place, Piece { part, grain, sign, from_ms, to_ms }) in pieces.iter().enumerate() {
        let before = if place == 0 { '[' } else { ',' };
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}[{part},\"{}\",{sign},{from_ms},{to_ms}]", grain.as_str());
    }
    if pieces.is_empty() { "[]".to_owned() } else { text + "]" }
}
