//! The statement that sums ranges of buckets: one statement per table, for any number of points in a series.

use std::fmt::Write as _;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};
use uuid::Uuid;

use super::{ALL_COURSES, BucketRange};

/// Decodes the index of the part to which a row belongs.
pub(crate) fn part(row: &QueryResult) -> Result<usize, DbErr> {
    usize::try_from(row.try_get_by_index::<i64>(0)?).map_err(|error| DbErr::Type(error.to_string()))
}

/// Builds the statement that sums the columns over the ranges, for each part and, if specified, each value of the column
/// `within`. The result has the part first, then the value of `within`, then the sums.
pub(crate) fn statement(
    connection: &impl ConnectionTrait,
    table: &str,
    within: Option<&str>,
    columns: &[String],
    workspace: Uuid,
    course: Option<Uuid>,
    pieces: &[BucketRange],
) -> Statement {
    let backend = connection.get_database_backend();
    let sums: Vec<String> =
        columns.iter().map(|column| format!("CAST(SUM(piece.sign * {column}) AS BIGINT)")).collect();
    // The condition for the buckets of a range.
    let bucket = format!(
        "workspace_id = $2 AND course_id = $3 AND {table}.grain = piece.grain \
         AND starts_at >= piece.from_ms AND starts_at < piece.to_ms"
    );
    // Forces both databases to read one range of the primary key per range of buckets: SQLite by the CROSS JOIN, PostgreSQL by
    // OFFSET, which prevents another join order.
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

/// Returns the ranges as a table, built from one parameter, so that the statement's text is constant and stays prepared.
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

fn as_json(pieces: &[BucketRange]) -> String {
    let mut text = String::with_capacity(2 + pieces.len() * 56);
    for (index, BucketRange { part, grain, sign, from_ms, to_ms, step_ms }) in pieces.iter().enumerate() {
        let separator = if index == 0 { '[' } else { ',' };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}[{part},\"{}\",{sign},{from_ms},{to_ms},{step_ms}]", grain.as_str());
    }
    if pieces.is_empty() { "[]".to_owned() } else { text + "]" }
}
