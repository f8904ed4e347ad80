//! The statement that sums spans of buckets: one a table, however many points a series has.

use std::fmt::Write as _;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};
use uuid::Uuid;

use super::{ALL_COURSES, Piece};

/// The part that a row belongs to.
pub(crate) fn part(row: &QueryResult) -> Result<usize, DbErr> {
    usize::try_from(row.try_get_by_index::<i64>(0)?).map_err(|error| DbErr::Type(error.to_string()))
}

/// Sums the columns over the pieces, for each part and for each value of `within`, a further column: those come first, then
/// the sums.
pub(crate) fn statement(
    connection: &impl ConnectionTrait,
    table: &str,
    within: Option<&str>,
    columns: &[String],
    workspace: Uuid,
    course: Option<Uuid>,
    pieces: &[Piece],
) -> Statement {
    let backend = connection.get_database_backend();
    let sums: Vec<String> =
        columns.iter().map(|column| format!("CAST(SUM(piece.sign * {column}) AS BIGINT)")).collect();
    // The buckets of a piece.
    let bucket = format!(
        "workspace_id = $2 AND course_id = $3 AND {table}.grain = piece.grain \
         AND starts_at >= piece.from_ms AND starts_at < piece.to_ms"
    );
    // Either database takes the pieces one by one, each as one range of the primary key: SQLite because of the CROSS JOIN,
    // PostgreSQL because OFFSET keeps it from joining the tables as it would.
    let buckets = match backend {
        DbBackend::Postgres => {
            format!("CROSS JOIN LATERAL (SELECT * FROM {table} WHERE {bucket} OFFSET 0) AS bucket")
        }
        _ => format!("CROSS JOIN {table} WHERE {bucket}"),
    };
    let within = within.map(|column| format!(", {column}")).unwrap_or_default();
    let sql = format!(
        "WITH {} SELECT piece.first_part + (starts_at - piece.from_ms) / piece.step_ms AS part{within}, {} \
         FROM piece {buckets} GROUP BY part{within}",
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
            "piece AS MATERIALIZED (SELECT (value->>0)::bigint AS first_part, value->>1 AS grain, \
             (value->>2)::bigint AS sign, (value->>3)::bigint AS from_ms, (value->>4)::bigint AS to_ms, \
             (value->>5)::bigint AS step_ms \
             FROM json_array_elements($1::json))"
        }
        _ => {
            "piece AS MATERIALIZED (SELECT value->>0 AS first_part, value->>1 AS grain, value->>2 AS sign, \
             value->>3 AS from_ms, value->>4 AS to_ms, value->>5 AS step_ms FROM json_each($1))"
        }
    }
}

fn as_json(pieces: &[Piece]) -> String {
    let mut text = String::with_capacity(2 + pieces.len() * 56);
    for (place, Piece { part, grain, sign, from_ms, to_ms, step_ms }) in pieces.iter().enumerate() {
        let before = if place == 0 { '[' } else { ',' };
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}[{part},\"{}\",{sign},{from_ms},{to_ms},{step_ms}]", grain.as_str());
    }
    if pieces.is_empty() { "[]".to_owned() } else { text + "]" }
}
